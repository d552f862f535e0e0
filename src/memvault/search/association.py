"""Adds to the notes that a question finds those that they link to or are linked from.

A question often needs a second note without any of its words: the director's wife is named in the
director's note, not in the film's. One step along the links of the best results finds it. A link
weighs by how well its sentence fits the question, without what all notes of the vault have in
common, similar to passages in HippoRAG 2 (arXiv 2502.14802), but without a language model.
A second step gains nothing (docs/benchmarks.md).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from memvault.model.graph import EdgeOrigin, GraphEdge
from memvault.model.memory import Memory
from memvault.model.note import LineRange, Vector
from memvault.model.search import FIRST_LINE, FoundBy, Hit, Hop, Scope, Tuning
from memvault.search.scope import in_scope
from memvault.stores.graph_view import GraphView
from memvault.text.encoders.embedding import Embedder

POOL_SIZE = 20  # results that links reorder and add to
FIXED_PLACES = 3  # first results that links never move, so that a vault's hubs do not displace them
CARRIED_SHARE = 0.75  # share of a hit's relevance that a link adds to a note, if it fits perfectly
CLAIM_WEIGHT = 0.7  # weight of a link in a client's words; one in the person's words has 1
PERSONS_SHARE = 1 / 3  # of the places, kept for the person's notes if claims would fill them all
PERSONS_MIN_RELEVANCE = 0.5  # share of the best relevance that such a note needs
LINK_COUNT_PENALTY = 0.1  # weight that a link loses for each e-fold of notes linked with its hit
LEARNT_SHARE = 1.0  # greatest share of a link's weight that use adds
MAX_EDGES = 200  # strongest edges of a seed: all of a hub would take longer than the search
MAX_VECTORS = 5_000  # cached vectors of links' sentences: 8 MB at 384 dimensions


LinkWeight = Callable[[str, str], float]


@dataclass(eq=False)
class Association:
    """Adds linked notes to hits. Thread-safe.

    Links' sentences were embedded when their notes were indexed; one without a cached vector is
    skipped.

    Attributes:
        question_vector: what links' sentences are compared with (`NoteLanguages.question_vector`).
        learnt: weight learnt from use for the link between two memories, in [-1, 1].
    """

    view: GraphView
    embedder: Embedder
    memory_of: Callable[[str], Memory | None]
    question_vector: Callable[[str], Vector]
    learnt: LinkWeight = lambda one, other: 0.0

    def __post_init__(self) -> None:
        self._vectors: dict[str, Vector] = {}  # of the sentences that were compared last

    def warm_up(self) -> None:
        """Read the graph now, if it is not loaded.

        Raises:
            StoreUnavailable, GraphQueryError: the graph does not answer.
        """
        self.view.load()

    def extend(
        self,
        query: str,
        hits: Sequence[Hit],
        scope: Scope | None = None,
        *,
        seeds: int = Tuning().seeds,
    ) -> list[Hit]:
        """The hits and the notes linked with the best of them, best first.

        A linked note's relevance is that of its own text (of the last hit, if it was not found),
        plus `CARRIED_SHARE` of the hit's, times the cosine between the question and the link's
        sentence, less if the hit is linked with many notes; its best link counts. The first
        `FIXED_PLACES` hits gain no relevance, but show their best link, too.

        Args:
            hits: best first; those after `POOL_SIZE` stay behind all others.
            seeds: links are followed from the first of these.

        Raises:
            StoreUnavailable, GraphQueryError: the graph does not answer.
        """
        pool = {hit.memory.id: hit for hit in hits[:POOL_SIZE]}
        fixed = [hit.memory.id for hit in hits[:FIXED_PLACES]]
        least_relevance = min((hit.relevance for hit in pool.values()), default=0.0)
        for linked, (gain, seed, edge) in self._best_links(query, hits[:seeds], fixed).items():
            if linked not in pool:
                memory = self.memory_of(linked)
                if memory is None or not in_scope(memory, scope):
                    continue
                pool[linked] = Hit(memory, least_relevance)
            hit, hop = pool[linked], _hop(edge, pool[linked].memory, seed.memory)
            if linked in fixed:
                hit.hops = (hop,)
            elif (relevance := min(1.0, hit.relevance + gain)) > hit.relevance:
                hit.relevance, hit.found_by, hit.hops = relevance, FoundBy.LINK, (hop,)
                is_stated_here = edge.source == linked
                hit.lines = LineRange(edge.line, edge.line) if is_stated_here else FIRST_LINE
        reordered = sorted(
            (hit for memory_id, hit in pool.items() if memory_id not in fixed),
            key=lambda hit: -hit.relevance,
        )
        after_pool = (hit for hit in hits[POOL_SIZE:] if hit.memory.id not in pool)
        return descending([*(pool[memory_id] for memory_id in fixed), *reordered, *after_pool])

    def _best_links(
        self, query: str, seeds: Sequence[Hit], fixed: Collection[str]
    ) -> dict[str, tuple[float, Hit, GraphEdge]]:
        """By the id of each linked note: the greatest gain of relevance, its seed and its link."""
        seed_of = {seed.memory.id: seed for seed in seeds}
        relevances = {memory_id: seed.relevance for memory_id, seed in seed_of.items()}
        best: dict[str, tuple[float, Hit, GraphEdge]] = {}
        for seed, linked, edge, fit in self._links(query, seeds):
            gain = fit if linked in fixed else CARRIED_SHARE * relevances[seed] * fit
            if linked not in best or gain > best[linked][0]:
                best[linked] = gain, seed_of[seed], edge
        return best

    def _links(
        self, query: str, seeds: Sequence[Hit]
    ) -> Iterator[tuple[str, str, GraphEdge, float]]:
        """The links of the seeds with their other ends, and how well their sentences fit.

        Among many links some sentence is near to any question, so each weighs less: a map of
        content adds less to each of its notes than a note with two links.
        """
        links = [
            (seed.memory.id, edge.target if edge.source == seed.memory.id else edge.source, edge)
            for seed in seeds
            for edge in self._strongest(seed.memory.id)
            if edge.origin is not EdgeOrigin.TAG
        ]
        cosine_of = self._cosines(query, {edge.sentence for _, _, edge in links})
        linked_count = Counter(seed for seed, _ in {(seed, linked) for seed, linked, _ in links})
        for seed, linked, edge in links:
            cosine = cosine_of.get(edge.sentence, 0.0)
            if linked != seed and cosine > 0.0:
                weight = (1.0 + LEARNT_SHARE * self.learnt(seed, linked)) / (
                    1.0 + LINK_COUNT_PENALTY * math.log(linked_count[seed])
                )
                if self._is_claim(edge):
                    yield seed, linked, edge, cosine * weight * CLAIM_WEIGHT
                else:
                    yield seed, linked, edge, cosine * weight

    def _strongest(self, node_id: str) -> Sequence[GraphEdge]:
        """At most `MAX_EDGES` edges of a node; if it has more, the person's before claims."""
        edges = self.view.of(node_id)
        if len(edges) <= MAX_EDGES:
            return edges
        return sorted(edges, key=self._is_claim)[:MAX_EDGES]

    def _is_claim(self, edge: GraphEdge) -> bool:
        """Whether an edge is stated by others than the person, in an unverified note.

        Then it weighs less, so that nobody gains weight by linking to everything.
        """
        memory = self.memory_of(edge.source)
        if memory is None or memory.verified:
            return False
        return not memory.provenance.of_lines(LineRange(edge.line, edge.line)).is_person

    def _cosines(self, query: str, sentences: set[str]) -> Mapping[str, float]:
        """The cosines of a question and the sentences whose vectors are cached."""
        vector_of = self._vectors_of(sentences)
        if not vector_of:
            return {}
        cosines = np.stack(list(vector_of.values())) @ self.question_vector(query)
        return dict(zip(vector_of, cosines.tolist(), strict=True))

    def _vectors_of(self, sentences: set[str]) -> Mapping[str, Vector]:
        cache = self._vectors
        vectors = {text: vector for text in sentences if (vector := cache.get(text)) is not None}
        if len(vectors) < len(sentences):
            from_embedder = self.embedder.cached(
                [text for text in sentences if text not in vectors]
            )
            if len(cache) + len(from_embedder) > MAX_VECTORS:
                cache = self._vectors = {}
            cache.update(from_embedder)
            vectors.update(from_embedder)
        return vectors


def descending(hits: Sequence[Hit]) -> list[Hit]:
    """The hits, with relevances lowered so that none exceeds the one before."""
    for previous, hit in pairwise(hits):
        hit.relevance = min(hit.relevance, previous.relevance)
    return list(hits)


def _hop(edge: GraphEdge, linked: Memory, seed: Memory) -> Hop:
    source, target = (linked, seed) if edge.source == linked.id else (seed, linked)
    ends = edge.source, edge.target
    return Hop(source.title, edge.relation, target.title, source.path, edge.sentence, ends)


def with_persons_notes(hits: Sequence[Hit], limit: int) -> list[Hit]:
    """The first ``limit`` hits, with the person's notes among them.

    If claims would fill them, some of the last places go to the person's notes that are about as
    relevant.
    """
    shown = list(hits[:limit])
    least_relevance = PERSONS_MIN_RELEVANCE * max((hit.relevance for hit in hits), default=0.0)
    relevant_notes = [
        hit for hit in hits if not hit.memory.is_claim and hit.relevance >= least_relevance
    ]
    wanted = relevant_notes[: round(PERSONS_SHARE * limit)]
    shown_ids = {id(hit) for hit in shown}
    added = [hit for hit in wanted if id(hit) not in shown_ids]
    shown_claims = [hit for hit in shown if hit.memory.is_claim]
    replaced = (
        {id(hit) for hit in shown_claims[len(shown_claims) - len(added) :]} if added else set()
    )
    return [*(hit for hit in shown if id(hit) not in replaced), *added]
