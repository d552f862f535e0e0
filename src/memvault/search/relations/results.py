"""Follows the relations of one question, and turns the ends of paths into memories."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from memvault.model.graph import GraphEdge
from memvault.model.note import Chunk
from memvault.model.search import FoundBy, Hit, Hop, Scope
from memvault.search.relations.array_graph import ArrayGraph, Floats32
from memvault.search.relations.edge_index import in_order
from memvault.search.relations.interpretations import interpretations
from memvault.search.relations.lexicon import Lexicon
from memvault.search.relations.paths import MAX_LENGTH, PathFinder, QuestionWords, reached_nodes
from memvault.search.relations.question import Question, relation_phrase
from memvault.search.relations.solving import End, Solution, Solver, texts_of
from memvault.search.relations.traversal import Steps, Traversal
from memvault.search.scope import MemoryLookup, in_scope
from memvault.stores.graph_view import GraphView
from memvault.stores.open import Stores
from memvault.text.phrase_vectors import PhraseVectors

MAX_BY_PATHS = 20  # notes that paths lead to
_TIER = 0.55  # share of the best score left; ends from it on form one tier
_MIN_SHARE = 0.04  # of the best score
_STATED_FIRST = frozenset(("where", "when", "what"))


@dataclass(frozen=True, slots=True)
class FoundNote:
    """A note that answers.

    Attributes:
        score: in [0, 1].
        steps: that lead to it, nearest step first.
        is_best: whether it is the end of one of the best paths, or states its last step.
    """

    note_id: str
    score: float
    steps: Steps
    is_best: bool = False


def answering_notes(solution: Solution, graph: ArrayGraph) -> list[FoundNote]:
    """The notes that answer, in tiers of score.

    Each tier has the ends of the paths, then the notes that state their last steps; these come
    first if a place or a day is asked for.
    """
    notes: dict[int, FoundNote] = {}
    remaining = [end for end in solution.ends if end.score >= _MIN_SHARE * solution.ends[0].score]
    stating_first = solution.question.root_term.text in _STATED_FIRST
    is_best = True
    while remaining:
        tier = [end for end in remaining if end.score >= _TIER * remaining[0].score]
        remaining = remaining[len(tier) :]
        ends = ((end.node, end.steps, end.score) for end in tier)
        stating = (
            (node, steps, end.score) for end in tier for node, steps in _stating_notes(end, graph)
        )
        for node, steps, score in chain(*((stating, ends) if stating_first else (ends, stating))):
            if node not in notes and graph.has_note[node]:
                note_score = min(1.0, score * solution.fit)
                notes[node] = FoundNote(graph.node_ids[node], note_score, steps, is_best)
        is_best = False
    return list(notes.values())


def _stating_notes(end: End, graph: ArrayGraph) -> Iterable[tuple[int, Steps]]:
    """The note that states the last step of a path, or its end if that may state the value."""
    if end.states_value:
        yield end.node, end.steps
    elif end.steps:
        yield int(graph.source[end.steps[0]]), end.steps


def _stating_passage(
    note: FoundNote, edges: Mapping[int, GraphEdge], passages: Sequence[Chunk]
) -> Chunk | None:
    """The passage of a note that states a step of its path; None if no passage does."""
    for step in note.steps:
        edge = edges.get(step)
        if edge is not None and edge.source == note.note_id:
            containing = (c for c in passages if c.lines.first <= edge.line <= c.lines.last)
            return next(containing, None)
    return None


@dataclass(kw_only=True)
class Inquiry:
    """Follows the relations of one question; used by one thread."""

    stores: Stores
    view: GraphView
    memories: MemoryLookup
    lexicon: Lexicon
    vectors: PhraseVectors
    question: Question
    scope: Scope
    max_hops: int

    def __post_init__(self) -> None:
        self._graph = self.lexicon.graph
        self._term_kinds, self._has_kind = self.lexicon.kinds_in(self.question)
        names_kind = [kinds.named for kinds in self._term_kinds]
        relations = self.question.relations
        self._interpretations = interpretations(self.question, names_kind) if relations else []

    def _may_need_relations(self) -> bool:
        """Whether the question has two relations, or names the kind of note that it asks for."""
        if not self._interpretations:
            return False
        has_several = any(len(each.relations) > 1 for each in self._interpretations)
        return has_several or self._has_kind[self.question.root]

    def is_grounded(self, solution: Solution) -> bool:
        """Whether the best path follows relations that the person states repeatedly, rather than
        sentences that merely sound like the question."""
        return self._graph.are_relations(solution.ends[0].steps)

    def begin_solving(self) -> Callable[[], Solution | None]:
        """Start to embed the texts to compare; returns a function that waits for them.

        That function returns the interpretation which the graph answers best; None if no path
        leads anywhere.
        """
        if not self._may_need_relations() or not self.question.names_something:
            return lambda: None
        texts = list(
            chain.from_iterable(texts_of(each, self._has_kind) for each in self._interpretations)
        )
        self.vectors.begin(texts)
        return lambda: self._solution(self.vectors.of(texts))

    def _solution(self, vectors: Mapping[str, Floats32]) -> Solution | None:
        wordings = {
            wording
            for each in self._interpretations
            for relation in each.relations
            for wording in relation_phrase(each, relation, self._has_kind).wordings
        }
        traversal = Traversal(
            self._graph,
            self.lexicon.usable(self.scope.project),
            self._similar({wording: vectors[wording] for wording in sorted(wordings)}),
            self.max_hops,
        )
        solver = Solver(
            graph=self._graph,
            traversal=traversal,
            kinds=self.lexicon.kinds,
            term_kinds=self._term_kinds,
            has_kind=self._has_kind,
            vectors=vectors,
        )
        return solver.best(self._interpretations)

    def _similar(self, wordings: dict[str, Floats32]) -> dict[str, Floats32]:
        """How near every step text is to each phrase, (n_texts,), in one product."""
        if not wordings:
            return {}
        # The few phrases as columns: with them as rows, the product takes half as long again.
        similar = self._graph.vectors @ np.stack(list(wordings.values()), axis=1)
        return dict(zip(wordings, similar.T, strict=True))

    def notes_by_paths(
        self, words: QuestionWords, starts: Sequence[int], min_score: float
    ) -> tuple[list[FoundNote], float]:
        """The notes that paths with the question's meaning lead to, best first, and the score of
        the best path; none if that score is below ``min_score``."""
        graph, hops = self._graph, min(self.max_hops, MAX_LENGTH)
        if not starts or not words.content:
            return [], -math.inf
        finder = PathFinder(graph, self.lexicon.usable(self.scope.project), self.vectors, words)
        paths = finder.paths(starts, hops, min_score)
        notes = [
            FoundNote(graph.node_ids[answer.node], min(1.0, answer.probability), answer.edges)
            for answer in reached_nodes(graph, paths, MAX_BY_PATHS)
        ]
        return notes, paths[0].score if paths else -math.inf

    def in_scope(self, notes: Iterable[FoundNote], top_k: int) -> list[FoundNote]:
        """The first of these notes that exist and are in scope, ``top_k`` at most."""
        usable = (
            note
            for note in notes
            if (memory := self.memories.by_id(note.note_id)) and in_scope(memory, self.scope)
        )
        return list(islice(usable, top_k))

    def hits(self, notes: Sequence[FoundNote], text_hits: Sequence[Hit]) -> list[Hit]:
        """The notes that relations lead to as hits, in the same order, without those deleted
        meanwhile.

        Args:
            text_hits: those of hybrid search; their passage is shown if no passage states the
                relation.

        Raises:
            StoreUnavailable, GraphQueryError: a store does not answer.
        """
        found_by_text = {hit.memory.id: hit for hit in text_hits}
        edges = self._edges({step for note in notes for step in note.steps})
        passages = self.stores.vectors.passages([note.note_id for note in notes])
        hits = []
        for note in notes:
            memory = self.memories.by_id(note.note_id)
            if memory is None:
                continue
            hit = Hit(memory, note.score, found_by=FoundBy.RELATION)
            hit.hops = tuple(
                self._hop(edges[step]) for step in reversed(note.steps) if step in edges
            )
            note_passages = passages.get(note.note_id, [])
            passage = _stating_passage(note, edges, note_passages)
            if passage is None and note.note_id in found_by_text:
                hit.chunk_id = found_by_text[note.note_id].chunk_id
            elif passage is None and note_passages:
                passage = note_passages[0]
            if passage is not None:
                hit.heading, hit.lines, hit.text = passage.heading, passage.lines, passage.text
            hits.append(hit)
        return hits

    def _edges(self, numbers: Collection[int]) -> dict[int, GraphEdge]:
        """The graph's edges by number, without those changed meanwhile."""
        graph = self._graph
        sources = {graph.node_ids[graph.source[number]] for number in numbers}
        stated_by = {source: list(in_order(self.view.stated_by(source))) for source in sources}
        edges = {}
        for number in numbers:
            note_edges = stated_by[graph.node_ids[graph.source[number]]]
            ordinal = int(graph.ordinal[number])
            target = graph.node_ids[graph.target[number]]
            if ordinal < len(note_edges) and note_edges[ordinal].target == target:
                edges[number] = note_edges[ordinal]
        return edges

    def _hop(self, edge: GraphEdge) -> Hop:
        ends, memory = (edge.source, edge.target), self.memories.by_id(edge.source)
        source, target = (self._graph.names[self._graph.number_of[end]] for end in ends)
        path = memory.path if memory is not None else ""
        return Hop(source, edge.relation, target, path, edge.sentence, ends)
