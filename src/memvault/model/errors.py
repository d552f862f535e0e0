"""Errors of the domain.

Every error carries the code under which clients see it (JSON-RPC 2.0 and the list in the
interface document) and a message that says what to do. Messages never show a path outside
the vault or a trace.
"""

from __future__ import annotations

from typing import Any, ClassVar


class MemvaultError(Exception):
    """Base class of all errors that memvault raises deliberately."""

    code: ClassVar[int] = -32603

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        self.message = message
        self.data = data


def reason_of(message: str) -> str:
    """Why a value is invalid, from a message of pydantic, which puts "Value error, " before it."""
    reason = message.removeprefix("Value error, ")
    return reason[:1].lower() + reason[1:]


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
    """A store does not answer; callers fall back and report it."""


class DiskFull(StorageError):
    """No disk space is left; no partial data was written."""


class VaultMissing(StorageError):
    """The vault's folder was moved, or its drive is not mounted."""


class NoteNotFound(MemvaultError):
    """No memory has this id or path."""

    code = -32602


class NoteQuarantined(NoteNotFound):
    """The note contains what looks like orders to a model; the person can release it."""


class NoteConflict(StorageError):
    """The note kept changing while it was being edited."""


class AmbiguousTarget(InvalidParams):
    """Several memories or concepts have this name; ``data['candidates']`` lists them."""


class OutsideVault(InvalidParams):
    """A path, title, project or id leads out of the vault."""


class ReadOnlyDocument(InvalidParams):
    """A PDF file or a canvas, which memvault reads but never changes."""


class MalformedFrontmatter(StorageError):
    """The note's YAML cannot be edited safely; ``data['line']`` is the line of the error."""


class CausalInferenceError(MemvaultError):
    """A causal or probabilistic query has no answer: its evidence is impossible."""

    code = -32003


class RateLimited(MemvaultError):
    """The client exceeded its rate limit."""

    code = -32004


class EngineUnavailable(MemvaultError):
    """The engine could not be reached or started."""

    code = -32002


class ModelUnavailable(MemvaultError):
    """A model is missing, cannot be loaded or cannot be exported."""

    code = -32002


class SerializationFailed(MemvaultError):
    """Stored bytes cannot be decoded (core ERR-CORE-008)."""

    code = -32603


class UnknownFormat(SerializationFailed):
    """Stored bytes have a format version that this program cannot read (core EC-CORE-018)."""
