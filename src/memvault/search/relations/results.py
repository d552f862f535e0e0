"""Turns the ends of chains of relations into memories, each with the steps that led to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from memvault.model.graph import GraphEdge
from memvault.model.note import Chunk
from memvault.model.search import FoundBy, Hit, Hop, Scope
from memvault.search.relations.edge_index import in_order
from memvault.search.relations.interpretations import readings
from memvault.search.relations.lexicon import Lexicon
from memvault.search.relations.paths import LONGEST, AskedWords, PathFinder, answers
from memvault.search.relations.question import (
    Question,
    phrase_of,
)
from memvault.search.relations.solving import End, Solution, Solver, texts_of
from memvault.search.relations.step_graph import Floats, StepGraph
from memvault.search.relations.traversal import Steps, Traversal
from memvault.search.relations.values import StatedValue, ValueFinder
from memvault.search.scope import MemoryLookup, in_scope
from memvault.stores.graph_view import GraphView
from memvault.stores.open import Stores
from memvault.stores.vectors import VectorStore
from memvault.text.phrase_vectors import PhraseVectors

MAX_IN_ANY_WORDS = 20
_TIER = 0.55  # share of the best score left; ends from it on form one tier
_MIN_SHARE = 0.04  # of the best score
_STATED_FIRST = frozenset(("where", "when", "what"))


@dataclass(frozen=True, slots=True)
class FoundNote:
    """A note that answers, its score in [0, 1], and its steps, nearest step first; ``best`` if it
    ends or states one of the best chains."""

    note_id: str
    score: float
    steps: Steps
    best: bool = False


def notes_of(solution: Solution, graph: StepGraph) -> list[FoundNote]:
    """The notes that answer, in tiers of score. Each tier has the ends of the chains, then the
    notes that state their last steps; these come first if a place or a day is asked for."""
    kept: dict[int, FoundNote] = {}
    rest = [end for end in solution.ends if end.score >= _MIN_SHARE * solution.ends[0].score]
    first = solution.question.asked.text in _STATED_FIRST
    best = True
    while rest:
        tier = [end for end in rest if end.score >= _TIER * rest[0].score]
        rest = rest[len(tier) :]
        ends = ((end.node, end.steps, end.score) for end in tier)
        stating = ((node, steps, end.score) for end in tier for node, steps in _stating(end, graph))
        for node, steps, score in chain(*((stating, ends) if first else (ends, stating))):
            if node not in kept and graph.has_note[node]:
                worth = min(1.0, score * solution.fit)
                kept[node] = FoundNote(graph.node_ids[node], worth, steps, best)
        best = False
    return list(kept.values())


def _stating(end: End, graph: StepGraph) -> Iterable[tuple[int, Steps]]:
    """The notes that state the last step of a chain, or of others about as good."""
    if end.steps and end.steps[0] >= 0:
        yield int(graph.source[end.steps[0]]), end.steps
    elif end.steps:
        yield end.node, end.steps
    for step in end.alternatives if end.steps else ():
        yield int(graph.source[step]), (step, *end.steps[1:])


class HitBuilder:
    """Builds hits from the notes found: reads their steps and passages."""

    def __init__(
        self,
        vectors: VectorStore,
        view: GraphView,
        memories: MemoryLookup,
        graph: StepGraph,
        values: Sequence[tuple[int, StatedValue]],
    ) -> None:
        self._store = vectors
        self._view = view
        self._memories = memories
        self._graph = graph
        self._values = values

    def hits(self, notes: Sequence[FoundNote], known: Mapping[str, Hit]) -> list[Hit]:
        """The notes as hits, in the same order, without those deleted meanwhile.

        Args:
            known: the hits that the question found by itself; their passage is shown if no passage
                states the relation.

        Raises:
            StoreUnavailable, GraphQueryError: a store does not answer.
        """
        steps = {step for each in notes for step in each.steps}
        edges = self._edges(step for step in steps if step >= 0)
        passages = self._store.passages([each.note_id for each in notes])
        found = []
        for each in notes:
            memory = self._memories.by_id(each.note_id)
            if memory is None:
                continue
            hit = Hit(memory, each.score, found_by=FoundBy.RELATION)
            hit.hops = tuple(h for step in reversed(each.steps) if (h := self._hop(step, edges)))
            own = passages.get(each.note_id, [])
            stating = _stating_passage(each, edges, own, self._values)
            if stating is not None:
                hit.heading, hit.lines, hit.text = stating.heading, stating.lines, stating.text
            elif each.note_id in known:
                hit.chunk_id = known[each.note_id].chunk_id
            elif own:
                hit.heading, hit.lines, hit.text = own[0].heading, own[0].lines, own[0].text
            found.append(hit)
        return found

    def _edges(self, numbers: Iterable[int]) -> dict[int, GraphEdge]:
        """The graph's edges by number; one changed meanwhile is left out."""
        graph, wanted = self._graph, list(numbers)
        sources = {graph.node_ids[graph.source[number]] for number in wanted}
        ordered = {source: list(in_order(self._view.stated_by(source))) for source in sources}
        found = {}
        for number in wanted:
            own = ordered[graph.node_ids[graph.source[number]]]
            ordinal = int(graph.ordinal[number])
            target = graph.node_ids[graph.target[number]]
            if ordinal < len(own) and own[ordinal].target == target:
                found[number] = own[ordinal]
        return found

    def _hop(self, step: int, edges: Mapping[int, GraphEdge]) -> Hop | None:
        graph = self._graph
        if step < 0:
            node, stated = self._values[-1 - step]
            path = self._path(graph.node_ids[node])
            name = graph.names[node]
            return Hop(name, "states", stated.value.text, path, stated.sentence)
        edge = edges.get(step)
        if edge is None:
            return None
        source, target = (graph.number_of[end] for end in (edge.source, edge.target))
        path, ends = self._path(edge.source), (edge.source, edge.target)
        names = graph.names
        return Hop(names[source], edge.relation, names[target], path, edge.sentence, ends)

    def _path(self, note_id: str) -> str:
        memory = self._memories.by_id(note_id)
        return memory.path if memory is not None else ""


def _stating_passage(
    found: FoundNote,
    edges: Mapping[int, GraphEdge],
    passages: Sequence[Chunk],
    values: Sequence[tuple[int, StatedValue]],
) -> Chunk | None:
    for step in found.steps:
        if step < 0:
            lines = values[-1 - step][1].lines
            return next((chunk for chunk in passages if chunk.lines == lines), None)
        edge = edges.get(step)
        if edge is not None and edge.source == found.note_id:
            inside = (c for c in passages if c.lines.first <= edge.line <= c.lines.last)
            return next(inside, None)
    return None


class Inquiry:
    """Follows the relations of one question; used by one thread."""

    def __init__(
        self,
        *,
        stores: Stores,
        view: GraphView,
        memories: MemoryLookup,
        lexicon: Lexicon,
        vectors: PhraseVectors,
        question: Question,
        scope: Scope,
        max_hops: int,
    ) -> None:
        self._stores = stores
        self._view = view
        self._memories = memories
        self._lexicon = lexicon
        self._graph = lexicon.graph
        self._vectors = vectors
        self._scope = scope
        self._max_hops = max_hops
        self._values = ValueFinder(stores.vectors, lexicon.name_spans, self._graph, vectors)
        self._question = question
        self._kinds, self._has_kind = lexicon.kinds_in(question)
        named = [reading.named for reading in self._kinds]
        self._readings = readings(question, named) if question.relations else []

    def _may_need_relations(self) -> bool:
        """Whether the question may need relations to be followed: it has two of them, or says what
        kind of note it asks for. Cheap."""
        if not self._readings:
            return False
        related = any(len(reading.relations) > 1 for reading in self._readings)
        return related or self._has_kind[self._question.root]

    def is_grounded(self, solution: Solution) -> bool:
        """Whether the best chain follows relations that the person states repeatedly, rather than
        sentences that merely sound like the question."""
        return self._graph.are_relations(solution.ends[0].steps)

    def solving(self, *, all_values: bool) -> Callable[[], Solution | None]:
        """Start to embed the texts to compare; the function returned waits for them and gives the
        interpretation that the graph answers best, None if no chain leads anywhere.

        Args:
            all_values: as in `Traversal`.
        """
        if not self._may_need_relations() or not self._question.names_something:
            return lambda: None
        texts = list(chain.from_iterable(texts_of(r, self._has_kind) for r in self._readings))
        self._vectors.begin(texts)
        return lambda: self._solution(self._vectors.of(texts), all_values)

    def _solution(self, vectors: Mapping[str, Floats], all_values: bool) -> Solution | None:
        wordings = {
            wording
            for reading in self._readings
            for relation in reading.relations
            for wording in phrase_of(reading, relation, self._has_kind).wordings
        }
        traversal = Traversal(
            self._graph,
            self._lexicon.usable(self._scope.project),
            self._similar({wording: vectors[wording] for wording in sorted(wordings)}),
            self._max_hops,
            all_values=all_values,
        )
        solver = Solver(
            graph=self._graph,
            traversal=traversal,
            kinds=self._lexicon.kinds,
            kind_readings=self._kinds,
            has_kind=self._has_kind,
            vectors=vectors,
            own_values=self._values,
        )
        return solver.best(self._readings)

    def _similar(self, wordings: dict[str, Floats]) -> dict[str, Floats]:
        """How near every step text is to each phrase, (n_texts,), in one product."""
        if not wordings:
            return {}
        similar = np.stack(list(wordings.values())) @ self._graph.vectors.T
        return dict(zip(wordings, similar, strict=True))

    def in_any_words(
        self, asked: AskedWords, starts: Sequence[int], least: float
    ) -> tuple[list[FoundNote], float]:
        """The notes that paths with the question's meaning lead to, best first, and the score of
        the best path; none if that score is below ``least``."""
        graph, hops = self._graph, min(self._max_hops, LONGEST)
        if not starts or not asked.content:
            return [], -math.inf
        finder = PathFinder(graph, self._lexicon.usable(self._scope.project), self._vectors, asked)
        paths = finder.paths(starts, hops, least)
        found = [
            FoundNote(graph.node_ids[each.node], min(1.0, each.worth), each.edges)
            for each in answers(graph, paths, MAX_IN_ANY_WORDS)
        ]
        return found, paths[0].score if paths else -math.inf

    def found(self, solution: Solution) -> list[FoundNote]:
        """The notes that the question's own relations lead to, best first."""
        return notes_of(solution, self._graph)

    def in_scope(self, found_notes: Iterable[FoundNote], top_k: int) -> list[FoundNote]:
        """The first of these notes that exist and are in scope, ``top_k`` at most."""
        seen = (
            each
            for each in found_notes
            if (memory := self._memories.by_id(each.note_id)) and in_scope(memory, self._scope)
        )
        return list(islice(seen, top_k))

    def hits(self, notes: Sequence[FoundNote], known: Sequence[Hit]) -> list[Hit]:
        """The notes that relations lead to, as hits in the same order.

        Raises:
            StoreUnavailable, GraphQueryError: a store does not answer.
        """
        builder = HitBuilder(
            self._stores.vectors, self._view, self._memories, self._graph, self._values.found
        )
        return builder.hits(notes, {hit.memory.id: hit for hit in known})
