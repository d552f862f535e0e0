"""The names of all notes, to which links and mentions resolve.

A note's edges depend on other notes' names. When a name changes, the registry reports which links
and names are affected, so that the notes with them can be relinked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from indexer.catalogue import NoteRecord
from memvault.model.graph import GraphNode, NoteGraph
from memvault.model.memory import Memory
from memvault.model.note import ParsedNote
from memvault.text.entities import FoundEntity
from memvault.text.name_book import NameChanges
from memvault.text.name_matcher import NameMatcher
from memvault.text.names import Name
from memvault.text.note_graph import note_graph, own_node, with_entities
from memvault.vault.links import LinkIndex, keys_of


@dataclass(slots=True)
class AffectedLinks:
    """The links, projects and mentions in other notes that changed names affect."""

    link_keys: set[str] = field(default_factory=set)
    projects: set[str] = field(default_factory=set)
    changes: list[NameChanges] = field(default_factory=list)

    def __ior__(self, other: AffectedLinks) -> AffectedLinks:
        self.link_keys |= other.link_keys
        self.projects |= other.projects
        self.changes += other.changes
        return self

    @property
    def names(self) -> NameChanges:
        return NameChanges.union(self.changes)

    @property
    def is_any(self) -> bool:
        return bool(self.link_keys or self.projects) or self.names != NameChanges()


def holder_of(owner: str | None, claimants: Iterable[str]) -> str | None:
    """The path of the note that has an id: ``owner``, whose own id it is; without one, the shortest
    path of the notes that claim it, since copies have longer names."""
    return owner or min(claimants, key=lambda path: (len(path), path), default=None)


def _identity(memory: Memory) -> tuple[object, ...]:
    return (
        memory.id,
        memory.path,
        memory.title,
        memory.aliases,
        memory.type,
        memory.project,
        memory.date,
    )


class NameRegistry:
    """The names, links and memories of all notes, including those about to be indexed."""

    def __init__(self, records: Iterable[NoteRecord]) -> None:
        self.version = 0  # counts changes that other notes' edges may depend on
        self.clear()
        for record in records:
            self.update(record.memory.path, record.memory, record.names, *record.ids)

    def clear(self) -> None:
        """Remove all notes."""
        self.version += 1
        self._memories: dict[str, Memory] = {}
        self._by_id: dict[str, Memory] = {}
        self._claimed_ids: dict[str, str] = {}  # by path
        self._claimants: dict[str, set[str]] = defaultdict(set)
        self._own_ids: dict[str, str] = {}  # by path
        self._paths: dict[str, str] = {}  # by own id
        self.links = LinkIndex()
        self.names = NameMatcher()

    def memory(self, path: str) -> Memory | None:
        return self._memories.get(path)

    def has(self, memory_id: str) -> bool:
        """Whether a note has this id."""
        return memory_id in self._by_id

    def claimed_id_of(self, path: str) -> str | None:
        """See `NoteReading`."""
        return self._claimed_ids.get(path)

    def path_of(self, own_id: str) -> str | None:
        """The path of the note whose own id this is, even if the note has another id."""
        return self._paths.get(own_id)

    def own_id_of(self, path: str) -> str | None:
        """See `NoteReading`."""
        return self._own_ids.get(path)

    def claimants(self, memory_id: str) -> set[str]:
        """Paths of the notes that claim this id."""
        return set(self._claimants.get(memory_id, ()))

    def due_ids(self) -> Iterator[tuple[str, str]]:
        """Each note's path, and the id that it has by the rule of `holder_of`."""
        for own_id, path in self._paths.items():
            claimed_id = self._claimed_ids.get(path)
            is_holder = claimed_id is not None and path == holder_of(
                self._paths.get(claimed_id), self._claimants[claimed_id]
            )
            yield path, claimed_id if claimed_id is not None and is_holder else own_id

    def update(
        self,
        path: str,
        new: Memory | None,
        names: Iterable[Name] = (),
        claimed_id: str | None = None,
        own_id: str | None = None,
    ) -> AffectedLinks:
        """Replace the note at this path (None: deleted); returns the affected links."""
        old = self._memories.pop(path, None)
        affected = AffectedLinks()
        self._update_ids(path, claimed_id, own_id)
        if old is None or new is None or _identity(old) != _identity(new):
            self._update_links(path, old, new, affected)
        if old is not None:
            del self._by_id[old.id]
            if new is None or new.id != old.id:
                affected.changes.append(self.names.remove(old.id))
        if new is not None:
            self._memories[path] = self._by_id[new.id] = new
            affected.changes.append(self.names.replace(new.id, names))
        self.version += affected.is_any
        return affected

    def _update_ids(self, path: str, claimed_id: str | None, own_id: str | None) -> None:
        """Record the id that the note claims, and its own."""
        if (before := self._claimed_ids.pop(path, None)) is not None:
            self._claimants[before].discard(path)
        if claimed_id is not None:
            self._claimed_ids[path] = claimed_id
            self._claimants[claimed_id].add(path)
        former_own_id = self._own_ids.pop(path, None)
        if former_own_id is not None and self._paths.get(former_own_id) == path:
            del self._paths[former_own_id]
        if own_id is not None:
            self._own_ids[path] = own_id
            self._paths[own_id] = path

    def _update_links(
        self, path: str, old: Memory | None, new: Memory | None, affected: AffectedLinks
    ) -> None:
        """Let links lead to the note as it is now; adds those that the change affects."""
        for memory in (old, new):
            if memory is not None:
                affected.link_keys |= keys_of(memory.path, memory.aliases)
                affected.projects |= {memory.project} if memory.project else set()
        if old is not None:
            self.links.remove(path)
        if new is not None:
            self.links.add(path, new.aliases)

    def graph_of(
        self, note: ParsedNote, memory: Memory, entities: Iterable[FoundEntity]
    ) -> NoteGraph:
        """The note's nodes and edges, with links and mentions resolved.

        Its entities include the notes at which its edges end, so that it can be written before
        them.
        """
        graph = note_graph(note, memory, self.links, self._memories, self.names)
        graph = with_entities(graph, entities, names=self.names)
        ends = {edge.target for edge in graph.edges if edge.target in self._by_id} - {memory.id}
        notes: list[GraphNode] = [own_node(self._by_id[end]) for end in sorted(ends)]
        return replace(graph, entities=(*graph.entities, *notes))
