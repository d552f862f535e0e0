"""One question under way: its readings, its roads and the memories they lead to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from memvault.model.query import Recalled, Scope
from memvault.retrieval.roads.lexicon import Lexicon
from memvault.retrieval.roads.phrase_vectors import PhraseVectors
from memvault.retrieval.roads.phrases import phrase_of
from memvault.retrieval.roads.question import Question
from memvault.retrieval.roads.readings import readings
from memvault.retrieval.roads.solving import Solution, Solver, texts_of
from memvault.retrieval.roads.steps import Floats, Memories
from memvault.retrieval.roads.telling import Teller, Told, notes_of
from memvault.retrieval.roads.values import ValueFinder
from memvault.retrieval.roads.walking import Roads
from memvault.retrieval.roads.weights import RoadSettings
from memvault.retrieval.scope import in_scope
from memvault.stores.open import Stores


class Inquiry:
    """Made for one question; used by one thread."""

    def __init__(
        self,
        *,
        stores: Stores,
        memories: Memories,
        lexicon: Lexicon,
        vectors: PhraseVectors,
        settings: RoadSettings,
        question: Question,
        scope: Scope,
        max_hops: int,
    ) -> None:
        self._stores = stores
        self._memories = memories
        self._lexicon = lexicon
        self._graph = lexicon.graph
        self._vectors = vectors
        self._settings = settings
        self._scope = scope
        self._max_hops = max_hops
        self._values = ValueFinder(stores.vectors, lexicon.name_spans, self._graph, vectors)
        self._question = question
        self._kinds, self._has_kind = lexicon.kinds_in(question, settings)
        named = [reading.named for reading in self._kinds]
        self._readings = readings(question, named) if question.relations else []

    def may_need_roads(self) -> bool:
        """Whether the question goes from one thing to another by more than its own words: it has
        two relations, or says what kind of note it asks for. Cheap."""
        if not self._readings:
            return False
        related = any(len(reading.relations) > 1 for reading in self._readings)
        return related or self._has_kind[self._question.root]

    def is_grounded(self, solution: Solution) -> bool:
        """Whether the best road goes by relations that the person states again and again, and not
        by sentences that happen to sound like the question."""
        steps = [step for step in solution.ends[0].road if step >= 0]
        return bool(steps) and bool(self._graph.repeated[self._graph.local[steps]].all())

    def solution(self) -> Solution | None:
        """The reading that the graph answers best; None if no road leads anywhere."""
        if not self._readings or not self._question.names_something:
            return None
        texts = chain.from_iterable(texts_of(r, self._has_kind) for r in self._readings)
        vectors = self._vectors.of(texts)
        ways = {
            way
            for reading in self._readings
            for relation in reading.relations
            for way in phrase_of(reading, relation, self._has_kind).ways
        }
        roads = Roads(
            self._graph,
            self._lexicon.usable(self._scope.project),
            self._similar({way: vectors[way] for way in sorted(ways)}),
            self._settings,
            self._max_hops,
        )
        solver = Solver(
            graph=self._graph,
            roads=roads,
            kinds=self._lexicon.kinds,
            kind_readings=self._kinds,
            has_kind=self._has_kind,
            vectors=vectors,
            own_values=self._values,
            settings=self._settings,
        )
        return solver.best(self._readings)

    def _similar(self, ways: dict[str, Floats]) -> dict[str, Floats]:
        """How near every step text is to each phrase, (n_texts,), in one product."""
        if not ways:
            return {}
        similar = np.stack(list(ways.values())) @ self._graph.vectors.T
        return dict(zip(ways, similar, strict=True))

    def memories(
        self, solution: Solution, top_k: int, plain: Sequence[Recalled]
    ) -> tuple[list[Recalled], int]:
        """The notes that the roads lead to, in scope, ``top_k`` at most, and how many of them the
        best roads lead to.

        Raises:
            StoreUnavailable, GraphQueryError: a store does not answer.
        """
        told: list[Told] = []
        for each in notes_of(solution, self._graph):
            memory = self._memories.by_id(each.note_id)
            if memory is not None and in_scope(memory, self._scope):
                told.append(each)
        known = {each.note_id: each for each in plain}
        teller = Teller(self._stores, self._memories, self._graph, self._values.found)
        found = teller.recalled(told[:top_k], known)
        return found, sum(each.best for each in told[:top_k])
