"""What can go wrong, in the words of the domain.

Every error carries the code under which clients see it (JSON-RPC 2.0 and the list in the
interface document) and a message that says what to do. Messages never show a path outside
the vault or a trace.
"""

from __future__ import annotations

from typing import Any, ClassVar


class MemvaultError(Exception):
    """Base of all errors that memvault raises on purpose."""

    code: ClassVar[int] = -32603

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        self.message = message
        self.data = data


class InvalidParams(MemvaultError):
    """A tool was called with arguments outside its limits."""

    code = -32602


class SessionNotFound(MemvaultError):
    """The session named by the call has expired or never existed."""

    code = -32000


class GraphQueryError(MemvaultError):
    """The graph could not answer."""

    code = -32001


class StorageError(MemvaultError):
    """A store or the vault could not be read or written."""

    code = -32002


class StoreUnavailable(StorageError):
    """A store does not answer; callers degrade and say so."""


class DiskFull(StorageError):
    """No space is left; nothing was half written."""


class NoteNotFound(MemvaultError):
    """No memory has this id or path."""

    code = -32602


class NoteConflict(StorageError):
    """The note changed while it was being edited, again and again."""


class AmbiguousTarget(InvalidParams):
    """A name that several things go by; ``data['candidates']`` lists them."""


class OutsideVault(InvalidParams):
    """A path, title, project or id that would leave the vault."""


class MalformedFrontmatter(StorageError):
    """The note's YAML cannot be edited safely; ``data['line']`` says where it is wrong."""


class CausalInferenceError(MemvaultError):
    """A question of cause or probability has no answer: its evidence is impossible."""

    code = -32003


class RateLimited(MemvaultError):
    """The client asks too often."""

    code = -32004


class EngineUnavailable(MemvaultError):
    """The engine could not be reached or started."""

    code = -32002


class ModelUnavailable(MemvaultError):
    """The embedding model is missing, cannot be loaded or cannot be exported."""

    code = -32002


class SerializationFailed(MemvaultError):
    """Stored bytes are not what they should be (core ERR-CORE-008)."""

    code = -32603


class UnknownFormat(SerializationFailed):
    """Stored bytes of a format that this program cannot read (core EC-CORE-018)."""
