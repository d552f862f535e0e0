"""Finds notes, and nodes of the graph, by their ids, paths and names."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from memvault.curation.quarantine import quarantined_note
from memvault.curation.targets import raise_if_excluded, resolve, resolve_note
from memvault.model.errors import (
    AmbiguousTarget,
    GraphQueryError,
    NoteNotFound,
    StorageError,
    StoreUnavailable,
)
from memvault.model.graph import is_uuid
from memvault.model.memory import Memory
from memvault.model.search import NodeRef
from memvault.stores.graph_view import node_ref

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container


class NodeLookup:
    """Finds what a client names. Made once per server; thread-safe."""

    def __init__(self, container: Callable[[], Container]) -> None:
        self._container = container

    def node(self, name: str) -> NodeRef:
        """The graph's node with this id, path or name; ``#name`` is a tag.

        Raises:
            NoteNotFound: no node has this name.
            AmbiguousTarget: several nodes have it.
            StoreUnavailable, GraphQueryError: the graph does not answer.
        """
        live, key = self._container().live, name.strip()
        if live.graph_view.node(key) is not None:
            return node_ref(key, live.graph_view)
        entity = None if key.startswith("#") else live.indexer.names.lookup(key)
        if entity is not None and live.graph_view.node(entity.target) is not None:
            return node_ref(entity.target, live.graph_view)
        target = resolve(key, live.catalogue, live.stores.graph)
        return node_ref(target.node_ids[0], live.graph_view)

    def memory(self, memory_id: str) -> Memory:
        """The memory with this id. Raises NoteNotFound, NoteQuarantined."""
        memory = self._container().live.catalogue.by_id(memory_id)
        if memory is None:
            self.raise_if_quarantined(memory_id)
            raise NoteNotFound(
                f"No memory has the id {memory_id}. Search for what it says.",
                id=memory_id,
            )
        return memory

    def memory_named(self, name: str) -> Memory:
        """The memory of the note with this path, file name, alias or title.

        Raises:
            NoteNotFound: no note has this name; the message has the nearest names, or the rule
                that excludes this path.
            AmbiguousTarget: several notes have this name; the message has their paths.
            NoteQuarantined: the note is in quarantine.
        """
        try:
            return resolve_note(name, self._container().live.catalogue)
        except NoteNotFound:
            self.raise_if_quarantined(name.strip().lstrip("/"), by_file_name=True)
            raise_if_excluded(name, self._container().vault.ignore_rules)
            concept = self._concept(name)
            if concept is None:
                raise
            raise NoteNotFound(
                f"{concept.name!r} has no note of its own; `memvault related`, or the tool "
                "get_neighborhood, lists the notes that name it",
                target=name,
            ) from None

    def _concept(self, name: str) -> NodeRef | None:
        """What notes name so, if it has no note of its own."""
        with suppress(NoteNotFound, AmbiguousTarget, StoreUnavailable, GraphQueryError):
            node = self.node(name)
            return None if node.path else node
        return None

    def memory_of(self, name: str) -> Memory:
        """The memory with this id, or of the note with this name; models give a name as an id."""
        return self.memory(name) if is_uuid(name) else self.memory_named(name)

    def text_of(self, memory: Memory) -> str:
        """The whole note, as it is on disk.

        Raises:
            NoteNotFound: it was just removed.
            StorageError: it cannot be read (core ERR-CORE-002).
        """
        try:
            return self._container().guarded.read(memory.path).decode("utf-8", errors="replace")
        except StorageError as error:
            raise StorageError(
                f"Storage error: Read failed for node {memory.id}: {error.message}", id=memory.id
            ) from error

    def raise_if_quarantined(self, name: str, *, by_file_name: bool = False) -> None:
        """Raises NoteQuarantined: the note with this id or path is in quarantine; or file name, for
        a name that no other note has."""
        for text in self._container().guarded.held_texts():
            is_named = by_file_name and name == PurePosixPath(text.path).stem
            if text.whole and (is_named or name in (text.note_id, text.path)):
                raise quarantined_note(text.path, text.kinds)
