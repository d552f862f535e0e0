"""Finds the nodes that answer a question: the ends of the chains of its relations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memvault.model.note import Vector
from memvault.search.relations.lexicon import KindReading, Kinds
from memvault.search.relations.question import Phrase, Question, Relation, Term, phrase_of
from memvault.search.relations.step_graph import Floats, StepGraph
from memvault.search.relations.traversal import (
    LEAST_SCORE,
    Joint,
    OwnValues,
    State,
    Steps,
    Traversal,
)
from memvault.text.stems import stems

CONTRACTED = 0.55  # factor for each noun read as part of a relation
TOPIC_FLOOR = 0.45  # least factor for a result that does not fit the words before its noun
TOPIC_WORDS = 0.3  # added if a title has all stems of those words


def narrow(
    graph: StepGraph,
    state: State,
    term: Term,
    *,
    kinds: Floats,
    topic: Floats,
) -> None:
    """Lower the scores of results whose titles fit the modifiers less.

    Titles of a kind resemble each other, so their differences from the kind's mean are compared.

    Args:
        kinds: weights of the kinds that the term may be, (n_kinds,).
        topic: vectors of the modifiers with and without the noun, (n, dim).
    """
    has_title = graph.title_text >= 0
    found = np.flatnonzero((state.score > LEAST_SCORE) & has_title)
    if not len(found):
        return
    of_kind = np.flatnonzero((kinds[graph.kind_of] > 0.5) & graph.has_note & has_title)
    mean = graph.vectors[graph.title_text[of_kind]].mean(axis=0) if len(of_kind) else 0.0
    titles = _centred(graph.vectors[graph.title_text[found]], mean)
    fit = (titles @ _centred(topic, mean).T).mean(axis=1)
    word_stems = stems(" ".join(term.modifiers))
    for stem in word_stems:
        has_stem = np.isin(graph.title_text[found], graph.texts_with(stem))
        fit[has_stem] += TOPIC_WORDS / len(word_stems)
    fit = (fit - fit.min()) / max(1e-6, float(fit.max() - fit.min()))
    state.score[found] *= (TOPIC_FLOOR + (1.0 - TOPIC_FLOOR) * fit).astype(np.float32)


def _centred(vectors: Floats, mean: Floats | float) -> Floats:
    """The differences of the vectors from the mean, normalised."""
    differences = vectors - mean
    lengths = np.linalg.norm(differences, axis=1, keepdims=True)
    return np.asarray(differences / np.maximum(lengths, 1e-6), np.float32)


MAX_ENDS = 200  # nodes of an answer


@dataclass(frozen=True, slots=True)
class End:
    """A node at the end of a chain.

    ``alternatives`` are the nearest steps of chains about as good.
    """

    node: int
    score: float
    steps: Steps
    alternatives: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Solution:
    """The best interpretation of a question and the nodes that answer it, best first.

    ``fit`` is how well the steps state the relations, in [0, 1].
    """

    question: Question
    ends: tuple[End, ...]
    fit: float

    @property
    def confidence(self) -> float:
        return self.ends[0].score * self.fit if self.ends else 0.0


def texts_of(question: Question, has_kind: Sequence[bool]) -> Iterable[str]:
    """The texts whose vectors `Solver` needs."""
    for relation in question.relations:
        yield from phrase_of(question, relation, has_kind).wordings
        yield _text_of(question, relation)
    for term in question.terms:
        if term.modifiers:
            yield from _topic(term)


class Solver:
    """Solves the readings of one question.

    Args:
        kind_readings: of the question's terms.
        has_kind: for each term whether its noun alone names a kind of note.
        vectors: of all `texts_of` the readings.
    """

    def __init__(
        self,
        *,
        graph: StepGraph,
        traversal: Traversal,
        kinds: Kinds,
        kind_readings: Sequence[KindReading],
        has_kind: Sequence[bool],
        vectors: Mapping[str, Vector],
        own_values: OwnValues,
    ) -> None:
        self._graph = graph
        self._traversal = traversal
        self._kinds = kinds
        self._readings = kind_readings
        self._has_kind = has_kind
        self._vectors = vectors
        self._own_values = own_values

    def best(self, readings: Iterable[Question]) -> Solution | None:
        """The interpretation that the graph answers best; None if no chain has an end."""
        best: Solution | None = None
        for question in readings:
            state, fit = self._solve(question, question.root)
            ends = self._ends(state)
            fit **= 1.0 / max(1, len(question.relations))
            fit *= CONTRACTED**question.contracted
            solution = Solution(question, ends, min(1.0, fit))
            if ends and (best is None or solution.confidence > best.confidence):
                best = solution
        return best

    def _ends(self, state: State) -> tuple[End, ...]:
        nodes = np.flatnonzero(state.score > LEAST_SCORE)
        nodes = nodes[np.argsort(-state.score[nodes], kind="stable")][:MAX_ENDS]
        return tuple(
            End(
                n,
                float(state.score[n]),
                state.steps.get(n, ()),
                tuple(state.alternatives.get(n, ())),
            )
            for n in nodes.tolist()
        )

    def _solve(self, question: Question, k: int) -> tuple[State, float]:
        """The nodes that term ``k`` may mean, and how well the relations below it are stated."""
        term, below = question.terms[k], question.below(k)
        named = self._named(term) if term.named else None
        if not below:
            state = named or self._traversal.start(self._readings[k].weights)
            self._limit_to_times(state, term)
            return state, 1.0
        state, fit = self._related(question, below[0])
        for relation in below[1:]:
            next_state, next_fit = self._related(question, relation)
            state, fit = self._traversal.meet(state, next_state), fit * next_fit
        if named is not None:
            state = self._traversal.meet(named, state)
        self._limit_to_times(state, term)
        if term.modifiers:
            topic = np.stack([self._vectors[text] for text in _topic(term)])
            kinds = self._readings[k].weights
            narrow(self._graph, state, term, kinds=kinds, topic=topic)
        return state, fit

    def _limit_to_times(self, state: State, term: Term) -> None:
        for times in term.times:
            self._traversal.at_times(state, times)

    def _related(self, question: Question, relation: Relation) -> tuple[State, float]:
        """The nodes that this relation connects to the possible nodes at its other end."""
        child, fit = self._solve(question, relation.b)
        near = question.terms[relation.a]
        phrase = phrase_of(question, relation, self._has_kind)
        is_of = relation.words in ("of", "")
        single = not near.plural and not near.named and (near.person or is_of)
        if self._is_value(question, relation, phrase):
            state, best = self._traversal.value(
                child, phrase, self._own_values, near.text, single=single
            )
        else:
            joint = self._joint(question, relation, phrase, single=single)
            state, best = self._traversal.step(child, joint)
        reached = bool(state.score.max(initial=0.0) > 0)
        return state, fit * (min(1.0, max(0.05, best + 0.1)) if reached else 0.02)

    def _is_value(self, question: Question, relation: Relation, phrase: Phrase) -> bool:
        """Whether the answer may be a value rather than a note: a place, a day, an amount."""
        root, term = question.root, question.root_term
        is_only_relation = relation.a == root and len(question.below(root)) == 1
        may_be_value = not (self._readings[root].named or term.person or term.named)
        has_words = phrase.is_weak or relation.words not in ("of", "")
        return is_only_relation and may_be_value and has_words

    def _joint(
        self, question: Question, relation: Relation, phrase: Phrase, *, single: bool
    ) -> Joint:
        far = question.terms[relation.b]
        is_of = relation.words in ("of", "")
        return Joint(
            child_kinds=self._kinds_of(far) if far.named else self._readings[relation.b].weights,
            parent_kinds=self._readings[relation.a].weights,
            fit=self._traversal.phrase_fit.of_edges(phrase, single=single),
            middle_fit=self._kinds.nearness(self._vectors[_text_of(question, relation)]),
            loose=phrase.is_weak or (is_of and self._readings[relation.a].named),
            times=relation.times[0] if relation.times else None,
        )

    def _numbers(self, term: Term) -> list[int]:
        """The numbers of the nodes that a term names."""
        number_of = self._graph.number_of
        return [number_of[node] for node in term.nodes or () if node in number_of]

    def _named(self, term: Term) -> State:
        return self._traversal.named(self._numbers(term))

    def _kinds_of(self, term: Term) -> Floats:
        """Weight 1 for the kinds of the nodes that a term names, (n_kinds,)."""
        weights = np.zeros(len(self._graph.kinds), np.float32)
        weights[self._graph.kind_of[self._numbers(term)]] = 1.0
        return weights


def _text_of(question: Question, relation: Relation) -> str:
    """The words of a relation, or else the term that it belongs to."""
    return relation.words or question.terms[relation.a].text


def _topic(term: Term) -> tuple[str, str]:
    """The modifiers of a term, with and without its noun."""
    modifiers = " ".join(term.modifiers)
    return (f"{modifiers} {term.text}", modifiers)
