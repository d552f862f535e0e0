"""The versions of the notes that a page showed, which its forms send back.

A note that changed in between, for example by an AI client, is not the note that the person decided
about; such a form is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from memvault.curation.changes.file_edits import check_seen
from memvault.model.errors import MemvaultError, NoteNotFound
from memvault.model.memory import Memory
from memvault.vault.parse import content_hash

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container

UNREADABLE = "unreadable"  # equals no content hash


def shown_versions(container: Container, memories: Iterable[Memory | None]) -> dict[str, str]:
    """The content hash of each note, by id; read it before the text that the page shows."""
    return {memory.id: _version(container, memory) for memory in memories if memory is not None}


def indexed_versions(container: Container, memories: Iterable[Memory]) -> dict[str, str]:
    """As `shown_versions`, for a page that shows the notes as they are indexed.

    A note that has changed since it was indexed gets a version that no form may send back.
    """
    versions = {}
    for memory in memories:
        version = _version(container, memory)
        try:
            indexed = content_hash(container.guarded.read(memory.path))
        except MemvaultError:
            indexed = ""
        versions[memory.id] = version if indexed == memory.content_hash else UNREADABLE
    return versions


def _version(container: Container, memory: Memory) -> str:
    try:
        return content_hash(container.vault.read(memory.path))
    except MemvaultError:
        return UNREADABLE


def check_unchanged(container: Container, seen: Mapping[str, str]) -> None:
    """Check that the notes are still those that the page showed.

    Raises:
        NoteConflict: one changed.
        NoteNotFound: one is gone.
    """
    for note_id in seen:
        memory = container.live.catalogue.by_id(note_id)
        if memory is None:
            raise NoteNotFound("A note that this page showed is gone. Go back and open it again.")
        check_seen(seen[note_id], memory.path, container.vault.read(memory.path))
