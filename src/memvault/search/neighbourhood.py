"""Answering over the graph: what stands around the things a question names and the notes it finds.

A walk of at most ``max_hops`` relations, in either direction, starts at the notes that the question
names (at the best candidates of hybrid recall, if it names none); the candidates' own neighbours
are looked at too. A step hands on a share of a node's score that falls
with the number of its relations, so that hubs do not flood the answer. What is reached is ranked
by how strongly it was reached and by how near its own text is to the question.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Protocol

from memvault.model.errors import GraphQueryError, StoreUnavailable
from memvault.model.graph import GraphEdge
from memvault.model.memory import Memory
from memvault.model.note import ChunkSize, EmbeddedChunk, LineRange, Vector
from memvault.model.search import Hop, Recalled, Scope
from memvault.search.hybrid import Recall
from memvault.search.scope import in_scope
from memvault.stores.open import Stores
from memvault.text.embedding import Embedder

CANDIDATES = 10  # notes of hybrid recall that seed the walk
HANDED_ON = 0.7  # share of a node's score that one step hands on, before the hub's discount
FRONTIER = 40  # nodes whose relations are followed per hop, best first
RANKED = 20  # notes reached whose text is compared with the question, beside three per result
NOBODY = "00000000-0000-0000-0000-000000000000"  # no node's id
SHORTEST_NAME = 3  # characters; shorter names stand in too many words

Road = tuple[GraphEdge, ...]


class Memories(Protocol):
    """What is known of the notes that are indexed."""

    def by_id(self, memory_id: str) -> Memory | None: ...

    def all(self) -> Iterable[Memory]: ...


class Neighbourhood:
    """Walks the graph around a question; safe in any thread."""

    def __init__(self, stores: Stores, embedder: Embedder, memories: Memories) -> None:
        self._vectors = stores.vectors
        self._graph = stores.graph
        self._embedder = embedder
        self._memories = memories
        self._recall = Recall(stores.vectors, embedder)

    def answer(
        self, query: str, top_k: int, max_hops: int, scope: Scope | None = None
    ) -> list[Recalled]:
        """The ``top_k`` notes that answer best, best first, each with the road that led to it.

        Without the graph this is what `Recall.recall` finds.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        found = self._recall.recall(query, max(top_k, CANDIDATES), scope)
        candidates = {each.note_id: each.relevance for each in found[:CANDIDATES]}
        named = dict.fromkeys(self._named(query), 1.0)
        try:
            near, near_roads = self._walk(candidates, 1 if named else max_hops, scope)
            far, far_roads = self._walk(named, max_hops, scope)
            reached = {key: max(near.get(key, 0.0), far.get(key, 0.0)) for key in near | far}
            roads = near_roads | far_roads  # a road from what was named explains more
            ranked = self._ranked(query, reached, found, scope, 3 * top_k + RANKED)[:top_k]
            hops = self._hops({key: roads.get(key, ()) for key, _ in ranked})
        except (StoreUnavailable, GraphQueryError):
            return found[:top_k]
        passages = self._passages(query, [key for key, _ in ranked], found)
        return [
            replace(passages[key], relevance=score, hops=hops[key])
            for key, score in ranked
            if key in passages
        ]

    def around_names(
        self, query: str, top_k: int, max_hops: int, scope: Scope | None = None
    ) -> list[tuple[str, float, tuple[Hop, ...]]]:
        """Without the vectors: the notes that a question names and those around them, with how
        strongly each was reached and by which road, best first.

        Raises:
            StoreUnavailable, GraphQueryError: the graph does not answer.
        """
        reached, roads = self._walk(dict.fromkeys(self._named(query), 1.0), max_hops, scope)
        in_sight = [
            key
            for key in sorted(reached, key=lambda key: (-reached[key], key))
            if (memory := self._memories.by_id(key)) is not None and in_scope(memory, scope)
        ][:top_k]
        hops = self._hops({key: roads[key] for key in in_sight})
        return [(key, reached[key], hops[key]) for key in in_sight]

    def check_graph(self) -> None:
        """Ask the graph for next to nothing; under a millisecond where it is embedded.

        Raises:
            StoreUnavailable, GraphQueryError: it does not answer.
        """
        self._graph.nodes([NOBODY])

    def _named(self, query: str) -> set[str]:
        """Ids of the notes whose title or alias stands in the question as whole words."""
        asked = query.casefold()
        return {
            memory.id
            for memory in self._memories.all()
            if any(_stands_in(name.casefold(), asked) for name in (memory.title, *memory.aliases))
        }

    def _walk(
        self, seeds: Mapping[str, float], max_hops: int, scope: Scope | None
    ) -> tuple[dict[str, float], dict[str, Road]]:
        """Scores of the nodes reached and the road by which each was reached best; no road leads
        through a note of another project."""
        project = Scope(None, scope.project) if scope is not None else None
        reached = dict(seeds)
        roads: dict[str, Road] = dict.fromkeys(seeds, ())
        frontier: Collection[str] = set(seeds)
        for _ in range(max_hops):
            best = sorted(frontier, key=lambda key: (-reached[key], key))[:FRONTIER]
            if not best:
                break
            edges = [
                edge
                for edge in self._graph.neighbours(best)
                if self._is_in(edge.source, project) and self._is_in(edge.target, project)
            ]
            frontier = _step(set(best), edges, reached, roads)
        return reached, roads

    def _is_in(self, node_id: str, project: Scope | None) -> bool:
        memory = self._memories.by_id(node_id)
        return memory is None or in_scope(memory, project)

    def _ranked(
        self,
        query: str,
        reached: Mapping[str, float],
        found: Sequence[Recalled],
        scope: Scope | None,
        most: int,
    ) -> list[tuple[str, float]]:
        """Notes in scope by the mean of how they were reached and how near they are, best first;
        of those reached at most ``most``, the best reached."""
        in_sight = (
            key
            for key in sorted(reached, key=lambda key: (-reached[key], key))
            if (memory := self._memories.by_id(key)) is not None and in_scope(memory, scope)
        )
        notes = list(islice(in_sight, most))
        asked = self._embedder.embed_query(query)
        passages = self._vectors.vectors(notes, ChunkSize.PASSAGE)
        relevance = {each.note_id: each.relevance for each in found}
        scores = {
            key: (max(reached[key], relevance.get(key, 0.0)) + _nearest(asked, passages.get(key)))
            / 2.0
            for key in notes
        }
        return sorted(scores.items(), key=lambda item: (-item[1], item[0]))

    def _passages(
        self, query: str, ids: Iterable[str], found: Sequence[Recalled]
    ) -> dict[str, Recalled]:
        known = {each.note_id: each for each in found}
        asked = self._embedder.embed_query(query)
        passages = {key: known.get(key) or self._passage(key, asked) for key in ids}
        return {key: passage for key, passage in passages.items() if passage is not None}

    def _passage(self, note_id: str, asked: Vector) -> Recalled | None:
        """The passage of a note that is nearest to the question; its title if it has no text."""
        chunks = [c for c in self._vectors.chunks(note_id) if c.chunk.size == ChunkSize.PASSAGE]
        if not chunks:
            memory = self._memories.by_id(note_id)
            return Recalled(note_id, 0.0, "", LineRange(1, 1), memory.title) if memory else None
        best: EmbeddedChunk = max(chunks, key=lambda each: float(each.vector @ asked))
        return Recalled(note_id, 0.0, best.chunk.heading, best.chunk.lines, best.chunk.text)

    def _hops(self, roads: Mapping[str, Road]) -> dict[str, tuple[Hop, ...]]:
        edges = {edge for road in roads.values() for edge in road}
        nodes = self._graph.nodes({end for e in edges for end in (e.source, e.target)})

        def hop(edge: GraphEdge) -> Hop:
            source, target = nodes.get(edge.source), nodes.get(edge.target)
            return Hop(
                source=source.name if source else edge.source,
                relation=edge.relation,
                target=target.name if target else edge.target,
                path=(source.path if source else None) or "",
                sentence=edge.sentence,
            )

        return {key: tuple(hop(edge) for edge in road) for key, road in roads.items()}


def _stands_in(name: str, asked: str) -> bool:
    if len(name) < SHORTEST_NAME or name not in asked:
        return False
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", asked) is not None


def _step(
    frontier: set[str],
    edges: Sequence[GraphEdge],
    reached: dict[str, float],
    roads: dict[str, Road],
) -> set[str]:
    """Follow the edges of the frontier; gives the nodes that were reached better than before."""
    degree = Counter(end for edge in edges for end in {edge.source, edge.target} & frontier)
    before = {key: (reached[key], roads[key]) for key in frontier}
    better: set[str] = set()
    for edge in edges:
        for start, end in ((edge.source, edge.target), (edge.target, edge.source)):
            if start not in frontier:
                continue
            score, road = before[start]
            gain = score * HANDED_ON * min(1.0, edge.weight) / math.log2(1 + degree[start])
            if gain > reached.get(end, 0.0):
                reached[end], roads[end] = gain, (*road, edge)
                better.add(end)
    return better


def _nearest(asked: Vector, passages: Sequence[Vector] | None) -> float:
    return max((max(0.0, float(asked @ vector)) for vector in passages or ()), default=0.0)
