"""The index of a vault's edges, which makes the arrays to compare with a question.

It is a knowledge graph to recall passages by, as in HippoRAG (arXiv 2405.14831) and HippoRAG 2
(arXiv 2502.14802), but weighted by each edge's own sentence instead of a language model's triples.
It is derived from the graph view note by note, so a change costs only the work on changed notes.
"""

from __future__ import annotations

import math
import threading
from array import array
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from memvault.model.graph import NAMED_ORIGINS, EdgeOrigin, GraphEdge, NodeKind
from memvault.model.memory import Memory
from memvault.model.note import Embed
from memvault.search.relations.array_graph import (
    NO_DAY,
    NO_KIND,
    ArrayGraph,
    Flags,
    Floats32,
    Ints,
)
from memvault.search.relations.edge_templates import MASK, TITLE_TEMPLATE, templates_of
from memvault.search.relations.note_words import kind_word, title_without_names
from memvault.search.scope import MemoryLookup
from memvault.stores.graph_view import GraphChange, GraphView
from memvault.text.stems import stems

_COLUMNS = 4  # target, whole template, local template, number within the note
SPARE_TEXTS = 1_000  # texts of removed edges that may stay


def least_repetitions(notes: int) -> int:
    """The number of notes that must state an edge in the same words to make it a relation.

    The more notes a vault has, the more words recur by chance.
    """
    return max(2, math.ceil(math.log10(max(notes, 1))))


@dataclass(slots=True)
class _Nodes:
    """Columns of the nodes; a node's number never changes."""

    ids: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    title_texts: list[int] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    days: list[int] = field(default_factory=list)
    has_note: list[bool] = field(default_factory=list)
    projects: list[int] = field(default_factory=list)
    number_of: dict[str, int] = field(default_factory=dict)

    def number(self, node_id: str) -> int:
        """The number of a node, which is added if it is new."""
        if node_id not in self.number_of:
            self.number_of[node_id] = len(self.ids)
            self.ids.append(node_id)
            self.names.append("")
            self.title_texts.append(-1)
            self.kinds.append(NO_KIND)
            self.days.append(NO_DAY)
            self.has_note.append(False)
            self.projects.append(-1)
        return self.number_of[node_id]


@dataclass(slots=True)
class _Texts:
    """Templates of edges, and titles, with their vectors and stems."""

    embed: Embed
    numbers: dict[str, int] = field(default_factory=dict)
    postings: dict[str, array[int]] = field(default_factory=dict)
    vectors: Floats32 | None = None
    filled: int = 0

    def number(self, text: str) -> int:
        """The number of a text, which is added if it is new."""
        return self.numbers.setdefault(text, len(self.numbers))

    def fill(self) -> Floats32:
        """Add vectors and stems of the texts that have none; returns all vectors."""
        new_texts = list(self.numbers)[self.filled :]
        vectors = self.embed(new_texts)
        if self.vectors is None:
            self.vectors = vectors
        elif new_texts:
            needed_size = self.filled + len(new_texts)
            if needed_size > len(self.vectors):
                grown = np.zeros((needed_size + needed_size // 4, vectors.shape[1]), np.float32)
                grown[: self.filled] = self.vectors[: self.filled]
                self.vectors = grown
            self.vectors[self.filled : needed_size] = vectors
        for number, text in enumerate(new_texts, self.filled):
            for stem in stems(text):
                self.postings.setdefault(stem, array("i")).append(number)
        self.filled += len(new_texts)
        return self.vectors[: self.filled]


class EdgeIndex:
    """A projection of the graph view that keeps a vault's edges as arrays. Safe in any thread.

    Args:
        embed: texts to normalised vectors, cached.
    """

    def __init__(self, view: GraphView, memories: MemoryLookup, embed: Embed) -> None:
        self._view = view
        self._memories = memories
        self._embed = embed
        self._lock = threading.Lock()
        self._changed_lock = threading.Lock()
        self._changed: set[str] = set()  # ids of notes
        self._in_progress = 0  # notes whose templates are being made
        self._graph: ArrayGraph | None = None
        self._max_texts = SPARE_TEXTS  # more texts than these are checked for unused ones
        self._clear()
        view.on_change.append(self._note_change)

    def _clear(self) -> None:
        self._nodes = _Nodes()
        self._texts = _Texts(self._embed)
        self._kinds: dict[str, int] = {str(NodeKind.NOTE): NO_KIND}
        self._projects: dict[str, int] = {}
        self._edges: dict[int, Ints] = {}  # by source
        self._relations: dict[int, tuple[str, ...]] = {}

    def _note_change(self, change: GraphChange) -> None:
        with self._changed_lock:
            self._changed.update(change.restated)

    @property
    def waiting(self) -> int:
        """Number of notes whose templates the next `refresh` will make, or one is making now."""
        return len(self._changed) + self._in_progress

    def refresh(self, patience: float = -1.0) -> ArrayGraph | None:
        """Make the templates of changed notes again; returns the graph as it is now.

        Args:
            patience: seconds to wait for another thread that does this (-1: until it is done);
                after them the last graph is returned, None before the first.

        Raises:
            StoreUnavailable: the graph is not loaded, and its store does not answer.
        """
        if not self._lock.acquire(timeout=patience):
            return self._graph
        try:
            self._view.load()
            with self._changed_lock:
                changed, self._changed = self._changed, set()
                self._in_progress = len(changed)
            try:
                if self._graph is None:
                    self._clear()
                    self._add_all()
                elif changed:
                    self._update(changed)
                else:
                    return self._graph
                self._graph = self._without_unused_texts(self._assembled())
            except BaseException:  # also when the engine stops: the next refresh reads them
                with self._changed_lock:
                    self._changed |= changed
                raise
            return self._graph
        finally:
            self._in_progress = 0
            self._lock.release()

    # -- updating -------------------------------------------------------------------------------

    def _add_all(self) -> None:
        memories = {memory.id: memory for memory in self._memories.all()}
        for memory in memories.values():
            self._set_memory(memory)
        for node in self._view.nodes():
            if node.id not in memories:
                self._set_entity(node.id, node.name, node.kind)
        for memory in memories.values():
            self._set_edges(memory, list(in_order(self._view.stated_by(memory.id))))

    def _update(self, note_ids: Collection[str]) -> None:
        memories = {note_id: self._memories.by_id(note_id) for note_id in note_ids}
        for note_id, memory in memories.items():
            if memory is None:
                self._remove_note(note_id)
            else:
                self._set_memory(memory)
        for memory in memories.values():
            if memory is not None:
                edges = list(in_order(self._view.stated_by(memory.id)))
                for target in {edge.target for edge in edges}:
                    node = self._view.node(target)
                    if node is not None and self._memories.by_id(target) is None:
                        self._set_entity(node.id, node.name, node.kind)
                self._set_edges(memory, edges)

    def _remove_note(self, note_id: str) -> None:
        number = self._nodes.number(note_id)
        self._edges.pop(number, None)
        self._relations.pop(number, None)
        self._nodes.has_note[number] = False
        self._nodes.days[number] = NO_DAY

    def _set_memory(self, memory: Memory) -> None:
        nodes, number = self._nodes, self._nodes.number(memory.id)
        nodes.names[number] = memory.title
        nodes.kinds[number] = self._kinds.setdefault(kind_word(memory), len(self._kinds))
        nodes.days[number] = memory.date.date().toordinal() if memory.date else NO_DAY
        nodes.has_note[number] = True
        nodes.projects[number] = self._project(memory.project)

    def _project(self, name: str | None) -> int:
        return self._projects.setdefault(name.casefold(), len(self._projects)) if name else -1

    def _set_entity(self, node_id: str, name: str, kind: str) -> None:
        number = self._nodes.number(node_id)
        self._nodes.names[number] = name
        self._nodes.kinds[number] = self._kinds.setdefault(kind, len(self._kinds))
        self._nodes.has_note[number] = False

    def _set_edges(self, memory: Memory, edges: list[GraphEdge]) -> None:
        number = self._nodes.number(memory.id)
        file_name = memory.path.rsplit("/", 1)[-1].removesuffix(".md")
        names = {memory.title, file_name, *memory.aliases}
        templates = templates_of(edges, memory.title, names)
        rows = np.zeros((len(edges), _COLUMNS), np.int32)
        for ordinal, (edge, template) in enumerate(zip(edges, templates, strict=True)):
            rows[ordinal] = (
                self._nodes.number(edge.target),
                self._texts.number(template.whole),
                self._texts.number(template.local),
                ordinal,
            )
        self._edges[number] = rows
        self._nodes.title_texts[number] = self._texts.number(
            title_without_names(memory.title, edges)
        )
        named_edges = (edge for edge in edges if edge.origin in NAMED_ORIGINS)
        self._relations[number] = tuple({edge.relation.lower() for edge in named_edges})

    def _without_unused_texts(self, graph: ArrayGraph) -> ArrayGraph:
        """The graph, rebuilt from scratch if most of its texts are those of removed edges."""
        if len(graph.texts) <= self._max_texts:
            return graph
        used = np.unique(np.concatenate([graph.whole, graph.local, graph.title_text]))
        self._max_texts = 2 * len(used) + SPARE_TEXTS
        if len(graph.texts) <= self._max_texts:
            return graph
        self._graph = None  # if this fails, the next refresh rebuilds everything too
        self._clear()
        self._add_all()
        return self._assembled()

    # -- assembling -----------------------------------------------------------------------------

    def _assembled(self) -> ArrayGraph:
        nodes, count = self._nodes, len(self._nodes.ids)
        sources = sorted(self._edges)
        rows = np.concatenate(
            [np.zeros((0, _COLUMNS), np.int32), *(self._edges[s] for s in sources)]
        )
        lengths = [len(self._edges[s]) for s in sources]
        source = np.repeat(np.array(sources, np.int32), lengths)
        target = np.ascontiguousarray(rows[:, 0])
        half_source = np.concatenate([source, target])
        order = np.argsort(half_source, kind="stable")
        half_edge = np.tile(np.arange(len(source), dtype=np.int32), 2)[order]
        half_target = np.concatenate([target, source])[order]
        return ArrayGraph(
            node_ids=list(nodes.ids),
            names=list(nodes.names),
            texts=list(self._texts.numbers),
            title_text=np.array(nodes.title_texts, np.int32),
            kind_of=np.array(nodes.kinds, np.int32),
            kinds=list(self._kinds),
            day=np.array(nodes.days, np.int32),
            has_note=np.array(nodes.has_note, np.bool_),
            project=np.array(nodes.projects, np.int32),
            projects=list(self._projects),
            vectors=self._texts.fill(),
            postings=self._texts.postings,
            repeated=self._repeated(rows[:, 2], source),
            source=source,
            target=target,
            whole=np.ascontiguousarray(rows[:, 1]),
            local=np.ascontiguousarray(rows[:, 2]),
            ordinal=np.ascontiguousarray(rows[:, 3]),
            half_start=np.searchsorted(half_source[order], np.arange(count + 1)),
            half_edge=half_edge,
            half_target=half_target,
            number_of=dict(nodes.number_of),
            is_date=self._are_dates(),
            relation_names={name for names in self._relations.values() for name in names},
        )

    def _are_dates(self) -> Flags:
        has_note = np.array(self._nodes.has_note, np.bool_)
        kind = self._kinds.get(NodeKind.DATE, -1)
        dates: Flags = ~has_note & (np.array(self._nodes.kinds, np.int32) == kind)
        return dates

    def _repeated(self, local: Ints, source: Ints) -> Flags:
        """Which edges enough notes state in the same words."""
        texts = list(self._texts.numbers)
        # "The decisions about X" is a relation; that a note without a kind is about X is none.
        kinds = np.array(self._nodes.kinds, np.int32)[source]
        can_relate = (local != self._texts.numbers.get(TITLE_TEMPLATE, -1)) | (kinds != NO_KIND)
        pairs = np.unique(np.stack([local[can_relate], source[can_relate]]), axis=1)
        note_counts = np.bincount(pairs[0], minlength=len(texts))
        repeated: Flags = note_counts >= least_repetitions(sum(self._nodes.has_note))
        for number in np.flatnonzero(repeated).tolist():
            if not stems(texts[number]) and ":" not in texts[number].removeprefix(f"{MASK}:"):
                # "is from X" and "X: …" say little; "from: X" is a relation's name.
                repeated[number] = False
        is_repeated: Flags = repeated[local] & can_relate
        return is_repeated


def _sort_key(edge: GraphEdge) -> tuple[int, str, int, str, str, str]:
    """Orders a note's edges sentence by sentence, and always in the same order."""
    return (edge.line, edge.sentence, edge.ordinal, edge.target, edge.relation, edge.origin)


def in_order(edges: Iterable[GraphEdge]) -> Iterator[GraphEdge]:
    """One note's edges as `ArrayGraph.ordinal` counts them: without those of tags, which have no
    sentence that says how they are related."""
    return iter(sorted((e for e in edges if e.origin is not EdgeOrigin.TAG), key=_sort_key))
