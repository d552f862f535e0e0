"""An overview of a vault for a client that connects, and the recent events in it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from heapq import nlargest
from typing import Literal, Protocol

from memvault.model.errors import MemvaultError
from memvault.model.graph import EdgeOrigin, NodeKind
from memvault.model.memory import Memory
from memvault.model.note import ParsedNote
from memvault.model.search import NodeRef
from memvault.reasoning.causal import GIVEN
from memvault.stores.graph_view import GraphView
from memvault.vault.parse import parse_note

MAX_SHOWN = 20  # entries of each list
PROJECT = "project"
_TOLD_APART = (NodeKind.TAG, NodeKind.PROJECT, NodeKind.DATE)


@dataclass(frozen=True, slots=True)
class Concept:
    """A note, or an entity without one; ``notes`` counts the other notes that name it."""

    node: NodeRef
    kind: str
    notes: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """The numbers of notes by kind, project, tag and concept, largest first.

    ``relations`` counts the uses of each relation name. ``first`` and ``last`` are the earliest and
    latest day of a note (its date, else its creation).
    """

    notes: int
    kinds: Sequence[tuple[str, int]] = ()
    projects: Sequence[tuple[str, int]] = ()
    tags: Sequence[tuple[str, int]] = ()
    concepts: Sequence[Concept] = ()
    relations: Sequence[tuple[str, int]] = ()
    first: date | None = None
    last: date | None = None


def manifest_of(memories: Iterable[Memory], edges: GraphView | None) -> Manifest:
    """The manifest of these memories and the edges they state.

    Args:
        edges: None if the graph is unreachable; concepts and relations are then missing.

    Raises:
        StoreUnavailable, GraphQueryError: the graph does not answer.
    """
    known = list(memories)
    days = [memory.moment.date() for memory in known]
    concepts, relations = _of_graph(edges) if edges is not None else ((), ())
    return Manifest(
        notes=len(known),
        kinds=_most(memory.type for memory in known),
        projects=_most(memory.project for memory in known if memory.project),
        tags=_most(tag for memory in known for tag in memory.tags),
        concepts=concepts,
        relations=relations,
        first=min(days, default=None),
        last=max(days, default=None),
    )


def _most(names: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """The most frequent entries, ignoring case."""
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    for name in names:
        spellings[name.casefold()][name] += 1
    ranked = sorted(spellings.values(), key=lambda each: (-each.total(), min(each)))
    return tuple(
        (min(each, key=lambda name: (-each[name], name)), each.total())
        for each in ranked[:MAX_SHOWN]
    )


def _of_graph(
    edges: GraphView,
) -> tuple[tuple[Concept, ...], tuple[tuple[str, int], ...]]:
    naming: dict[str, set[str]] = defaultdict(set)
    relations: list[str] = []
    for edge in edges.all():
        if edge.origin is not EdgeOrigin.TAG:
            naming[edge.target].add(edge.source)
        if edge.origin in GIVEN and edge.relation.casefold() != PROJECT:
            relations.append(edge.relation)
    nodes = {node.id: node for node in edges.nodes() if node.kind not in _TOLD_APART}
    best = sorted(nodes.keys() & naming.keys(), key=lambda key: (-len(naming[key]), key))
    concepts = tuple(
        Concept(NodeRef(key, nodes[key].name, nodes[key].path), nodes[key].kind, len(naming[key]))
        for key in best[:MAX_SHOWN]
    )
    return concepts, _most(relations)


KEPT = 1_000  # notes


class LeadSentences:
    """Caches the first sentence of notes until they change. Thread-safe.

    Args:
        read: returns the bytes of the note at a path.
    """

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self._of = lru_cache(maxsize=KEPT)(self._look_up)

    def of(self, memory: Memory) -> tuple[str, int] | None:
        """The sentence and its line; None if the note has no text or does not exist."""
        return self._of(memory.path, memory.content_hash)

    def _look_up(self, path: str, _content_hash: str) -> tuple[str, int] | None:
        try:
            return lead_sentence(parse_note(path, self._read(path)))
        except MemvaultError:
            return None


def lead_sentence(note: ParsedNote) -> tuple[str, int] | None:
    """The first sentence that is not a field, else the first sentence."""
    sentences = [sentence for block in note.blocks for sentence in block.sentences]
    plain = (sentence for sentence in sentences if sentence.relation is None)
    fields = {field.sentence for field in note.fields}
    found = next((each for each in plain if each.text not in fields), None)
    found = found or next(iter(sentences), None)
    return (found.text, found.line) if found is not None else None


Happening = Literal["created", "changed", "accessed"]


class SavedNote(Protocol):
    """A note and its file's modification time, in nanoseconds since 1970."""

    @property
    def memory(self) -> Memory: ...

    @property
    def mtime_ns(self) -> int: ...


@dataclass(frozen=True, slots=True)
class RecentEvent:
    """The most important event of a memory in a period; ``at`` is its latest time."""

    memory: Memory
    what: Happening
    at: datetime
    in_working_set: bool = False


@dataclass(frozen=True, slots=True)
class RecentActivity:
    """The ``first`` events of a period, and the total number of events."""

    first: list[RecentEvent]
    total: int


def recent(
    saved: Collection[SavedNote],
    accessed: Mapping[str, datetime],
    since: datetime,
    limit: int,
    working_set: Sequence[str] = (),
) -> RecentActivity:
    """At most ``limit`` events since a moment.

    The session's working set comes first in its own order, whatever its age; then created and
    changed notes, most recently saved first; then notes that were only read.

    Args:
        accessed: by memory id, when the memory was last shown to a client.
    """
    start = int(since.timestamp() * 1e9)
    read = {key for key, at in accessed.items() if at >= since}
    own = set(working_set)
    first: dict[str, SavedNote] = {}
    written: list[SavedNote] = []
    only_read: list[SavedNote] = []
    for each in saved:
        memory = each.memory
        if memory.id in own:
            first[memory.id] = each
        elif each.mtime_ns >= start or memory.created_at >= since:
            written.append(each)
        elif memory.id in read:
            only_read.append(each)
    shown = [
        *(first[key] for key in working_set if key in first),
        *nlargest(limit, written, key=lambda each: (each.mtime_ns, each.memory.path)),
        *sorted(only_read, key=lambda each: accessed[each.memory.id], reverse=True),
    ]
    return RecentActivity(
        [
            _recent_event(each, accessed, since, in_working_set=each.memory.id in own)
            for each in shown
        ][:limit],
        len(first) + len(written) + len(only_read),
    )


def _recent_event(
    saved: SavedNote, accessed: Mapping[str, datetime], since: datetime, *, in_working_set: bool
) -> RecentEvent:
    memory, changed = saved.memory, datetime.fromtimestamp(saved.mtime_ns / 1e9, UTC)
    used = accessed.get(memory.id)
    if memory.created_at >= since:
        return RecentEvent(memory, "created", max(memory.created_at, changed), in_working_set)
    if changed >= since or used is None:
        return RecentEvent(memory, "changed", changed, in_working_set)
    return RecentEvent(memory, "accessed", used, in_working_set)
