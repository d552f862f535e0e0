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
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from memvault.model.graph import EdgeOrigin, GraphEdge
from memvault.model.memory import Memory
from memvault.model.note import LineRange, Vector
from memvault.model.search import FIRST_LINE, FoundBy, Hit, Hop, Scope, Tuning
from memvault.search.scope import in_scope
from memvault.stores.graph_view import GraphView
from memvault.text.embedding import Embedder

POOL = 20  # results that links reorder and add to
KEPT = 3  # the first of these keep their places, so that a vault's hubs do not displace them
CARRIED = 0.75  # share of a hit's relevance that a link adds to a note, if it fits perfectly
CLAIMED = 0.7  # weight of a link in a client's words; one in the person's words has 1
OWN_SHARE = 1 / 3  # share of the places kept for the person's notes if claims would fill them all
OWN_RELEVANCE = 0.5  # share of the best relevance that such a note needs
SPREAD = 0.1  # weight that a link loses for each e-fold of notes that its hit is linked with
LEARNT_SHARE = 1.0  # greatest share of a link's weight that use adds
MAX_EDGES = 200  # strongest edges of a seed: all of a hub would take longer than the search
MAX_VECTORS = 5_000  # cached vectors of links' sentences: 8 MB at 384 dimensions


LinkWeight = Callable[[str, str], float]


class Association:
    """Adds linked notes to hits. Thread-safe.

    Links' sentences were embedded when their notes were indexed; one without a cached vector is
    skipped.

    Args:
        question_vector: what links' sentences are compared with (`HybridSearch.question_vector`).
        learnt: weight learnt from use for the link between two memories, in [-1, 1].
    """

    def __init__(
        self,
        view: GraphView,
        embedder: Embedder,
        memory_of: Callable[[str], Memory | None],
        question_vector: Callable[[str], Vector],
        learnt: LinkWeight = lambda one, other: 0.0,
    ) -> None:
        self._learnt = learnt
        self._question_vector = question_vector
        self._view = view
        self._embedder = embedder
        self._memory_of = memory_of
        self._vectors: dict[str, Vector] = {}  # of the sentences that were compared last

    def warm_up(self) -> None:
        """Read the graph now, if it is not loaded.

        Raises:
            StoreUnavailable, GraphQueryError: the graph does not answer.
        """
        self._view.load()

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
        plus `CARRIED` of the hit's, times the cosine between the question and the link's sentence,
        less if the hit is linked with many notes; its best link counts. The first `KEPT` hits gain
        no relevance, but show their best link, too.

        Args:
            hits: best first; those after `POOL` stay behind all others.
            seeds: links are followed from the first of these.

        Raises:
            StoreUnavailable, GraphQueryError: the graph does not answer.
        """
        pool = {hit.memory.id: hit for hit in hits[:POOL]}
        kept = [hit.memory.id for hit in hits[:KEPT]]
        relevances = {key: hit.relevance for key, hit in pool.items()}
        least = min(relevances.values(), default=0.0)
        best: dict[str, tuple[float, str, GraphEdge]] = {}  # by linked note: gain, seed and link
        for seed, linked, edge, fit in self._links(query, hits[:seeds]):
            gain = fit if linked in kept else CARRIED * relevances[seed] * fit
            if linked not in best or gain > best[linked][0]:
                best[linked] = gain, seed, edge
        for linked, (gain, seed, edge) in best.items():
            hit = pool.get(linked)
            if hit is None:
                memory = self._memory_of(linked)
                if memory is None or not in_scope(memory, scope):
                    continue
                hit = pool[linked] = Hit(memory, least)
            if linked in kept:
                hit.hops = (_hop(edge, hit.memory, pool[seed].memory),)
            elif (relevance := min(1.0, hit.relevance + gain)) > hit.relevance:
                hit.relevance, hit.found_by = relevance, FoundBy.LINK
                hit.hops = (_hop(edge, hit.memory, pool[seed].memory),)
                is_stated_here = edge.source == linked
                hit.lines = LineRange(edge.line, edge.line) if is_stated_here else FIRST_LINE
        reordered = sorted(
            (hit for key, hit in pool.items() if key not in kept), key=lambda hit: -hit.relevance
        )
        rest = (hit for hit in hits[POOL:] if hit.memory.id not in pool)
        return descending([*(pool[key] for key in kept), *reordered, *rest])

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
                weight = (1.0 + LEARNT_SHARE * self._learnt(seed, linked)) / (
                    1.0 + SPREAD * math.log(linked_count[seed])
                )
                if self._is_claim(edge):
                    yield seed, linked, edge, cosine * weight * CLAIMED
                else:
                    yield seed, linked, edge, cosine * weight

    def _strongest(self, node_id: str) -> Sequence[GraphEdge]:
        """At most `MAX_EDGES` edges of a node; if it has more, the person's before claims."""
        edges = self._view.of(node_id)
        if len(edges) <= MAX_EDGES:
            return edges
        return sorted(edges, key=self._is_claim)[:MAX_EDGES]

    def _is_claim(self, edge: GraphEdge) -> bool:
        """Whether an edge is stated by others than the person, in an unverified note.

        Then it weighs less, so that nobody gains weight by linking to everything.
        """
        memory = self._memory_of(edge.source)
        if memory is None or memory.verified:
            return False
        return not memory.provenance.of_lines(LineRange(edge.line, edge.line)).is_person

    def _cosines(self, query: str, sentences: set[str]) -> Mapping[str, float]:
        """The cosines of a question and the sentences whose vectors are cached."""
        known = self._vectors_of(sentences)
        if not known:
            return {}
        cosines = np.stack(list(known.values())) @ self._question_vector(query)
        return dict(zip(known, cosines.tolist(), strict=True))

    def _vectors_of(self, sentences: set[str]) -> Mapping[str, Vector]:
        cache = self._vectors
        vectors = {text: vector for text in sentences if (vector := cache.get(text)) is not None}
        if len(vectors) < len(sentences):
            new = self._embedder.cached([text for text in sentences if text not in vectors])
            if len(cache) + len(new) > MAX_VECTORS:
                cache = self._vectors = {}
            cache.update(new)
            vectors.update(new)
        return vectors


def descending(hits: Sequence[Hit]) -> list[Hit]:
    """The hits, with relevances lowered so that none exceeds the one before."""
    for before, hit in pairwise(hits):
        hit.relevance = min(hit.relevance, before.relevance)
    return list(hits)


def _hop(edge: GraphEdge, far: Memory, near: Memory) -> Hop:
    source, target = (far, near) if edge.source == far.id else (near, far)
    ends = edge.source, edge.target
    return Hop(source.title, edge.relation, target.title, source.path, edge.sentence, ends)


def with_persons_notes(hits: Sequence[Hit], limit: int) -> list[Hit]:
    """The first ``limit`` hits, with the person's notes among them.

    If claims would fill them, some of the last places go to the person's notes that are about as
    relevant.
    """
    first = list(hits[:limit])
    least = OWN_RELEVANCE * max((hit.relevance for hit in hits), default=0.0)
    persons = [hit for hit in hits if not hit.memory.is_claim and hit.relevance >= least]
    best = persons[: round(OWN_SHARE * limit)]
    first_ids = {id(hit) for hit in first}
    added = [hit for hit in best if id(hit) not in first_ids]
    claims = [hit for hit in first if hit.memory.is_claim]
    replaced = {id(hit) for hit in claims[len(claims) - len(added) :]} if added else set()
    return [*(hit for hit in first if id(hit) not in replaced), *added]
