"""Finds the nodes that answer a question: the ends of the paths of its relations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memvault.model.note import Vector
from memvault.search.relations.array_graph import ArrayGraph, Floats32
from memvault.search.relations.lexicon import Kinds, TermKinds
from memvault.search.relations.question import Phrase, Question, Relation, Term, relation_phrase
from memvault.search.relations.traversal import (
    IS_RIGHT_KIND,
    LEAST_SCORE,
    RelationFit,
    Steps,
    TermScores,
    Traversal,
)
from memvault.text.stems import stems

CONTRACTED_FACTOR = 0.55  # factor for each noun read as part of a relation
MIN_TOPIC_FACTOR = 0.45  # least factor for a result that does not fit the words before its noun
TOPIC_WORDS_BONUS = 0.3  # added if a title has all stems of those words
SAMPLED_TITLES = 1_000  # of a kind, at most, whose mean is taken for that of all


def narrow(
    graph: ArrayGraph,
    state: TermScores,
    term: Term,
    *,
    kinds: Floats32,
    topic: Floats32,
) -> None:
    """Lower the scores of results whose titles fit the modifiers less.

    Titles of a kind resemble each other, so their differences from the kind's mean are compared.

    Args:
        kinds: weights of the kinds that the term may be, (n_kinds,).
        topic: vectors of the modifiers with and without the noun, (n, dim).
    """
    has_title = graph.title_text >= 0
    nodes = np.flatnonzero((state.score > LEAST_SCORE) & has_title)
    if not len(nodes):
        return
    nodes_of_kind = np.flatnonzero(
        (kinds[graph.kind_of] > IS_RIGHT_KIND) & graph.has_note & has_title
    )
    sample = nodes_of_kind[:: -(-len(nodes_of_kind) // SAMPLED_TITLES) or 1]
    mean = graph.vectors[graph.title_text[sample]].mean(axis=0) if len(sample) else 0.0
    titles = _centred(graph.vectors[graph.title_text[nodes]], mean)
    fit = (titles @ _centred(topic, mean).T).mean(axis=1)
    word_stems = stems(" ".join(term.modifiers))
    for stem in word_stems:
        has_stem = np.isin(graph.title_text[nodes], graph.texts_with(stem))
        fit[has_stem] += TOPIC_WORDS_BONUS / len(word_stems)
    fit = (fit - fit.min()) / max(1e-6, float(fit.max() - fit.min()))
    state.score[nodes] *= (MIN_TOPIC_FACTOR + (1.0 - MIN_TOPIC_FACTOR) * fit).astype(np.float32)


def _centred(vectors: Floats32, mean: Floats32 | float) -> Floats32:
    """The differences of the vectors from the mean, normalised."""
    differences = vectors - mean
    lengths = np.linalg.norm(differences, axis=1, keepdims=True)
    return np.asarray(differences / np.maximum(lengths, 1e-6), np.float32)


MAX_ENDS = 200  # nodes of an answer
# A relation multiplies a solution's fit by that of its best step plus an addition, at least by the
# minimum; by the last if no step leads anywhere.
MIN_FIT, FIT_ADDED, UNREACHED_FIT = 0.05, 0.1, 0.02


@dataclass(frozen=True, slots=True)
class End:
    """A node at the end of a path; ``states_value`` is whether its note may state the value that
    is asked for."""

    node: int
    score: float
    steps: Steps
    states_value: bool


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
        yield from relation_phrase(question, relation, has_kind).wordings
        yield _text_of_relation(question, relation)
    for term in question.terms:
        if term.modifiers:
            yield from _topic(term)


@dataclass(frozen=True, slots=True)
class Solver:
    """Solves the interpretations of one question.

    Attributes:
        term_kinds: the kinds that each of the question's terms may mean.
        has_kind: for each term whether its noun alone names a kind of note.
        vectors: of all `texts_of` the interpretations.
    """

    graph: ArrayGraph
    traversal: Traversal
    kinds: Kinds
    term_kinds: Sequence[TermKinds]
    has_kind: Sequence[bool]
    vectors: Mapping[str, Vector]

    def best(self, interpretations: Iterable[Question]) -> Solution | None:
        """The interpretation that the graph answers best; None if no path has an end."""
        best: Solution | None = None
        for question in interpretations:
            state, fit = self._solve(question, question.root)
            ends = self._chain_ends(state)
            fit **= 1.0 / max(1, len(question.relations))
            fit *= CONTRACTED_FACTOR**question.contracted
            solution = Solution(question, ends, min(1.0, fit))
            if ends and (best is None or solution.confidence > best.confidence):
                best = solution
        return best

    def _chain_ends(self, state: TermScores) -> tuple[End, ...]:
        nodes = np.flatnonzero(state.score > LEAST_SCORE)
        nodes = nodes[np.argsort(-state.score[nodes], kind="stable")][:MAX_ENDS]
        return tuple(
            End(
                node,
                float(state.score[node]),
                state.steps.get(node, ()),
                node in state.stating,
            )
            for node in nodes.tolist()
        )

    def _solve(self, question: Question, term_index: int) -> tuple[TermScores, float]:
        """The nodes that a term may mean, and how well the relations below it are stated."""
        term, relations_below = question.terms[term_index], question.below(term_index)
        named_state = self.traversal.named(self._named_nodes(term)) if term.named else None
        if not relations_below:
            state = named_state or self.traversal.start(self.term_kinds[term_index].weights)
            self._limit_to_times(state, term)
            return state, 1.0
        state, fit = self._related(question, relations_below[0])
        for relation in relations_below[1:]:
            next_state, next_fit = self._related(question, relation)
            state, fit = self.traversal.intersection(state, next_state), fit * next_fit
        if named_state is not None:
            state = self.traversal.intersection(named_state, state)
        self._limit_to_times(state, term)
        if term.modifiers:
            topic = np.stack([self.vectors[text] for text in _topic(term)])
            kinds = self.term_kinds[term_index].weights
            narrow(self.graph, state, term, kinds=kinds, topic=topic)
        return state, fit

    def _limit_to_times(self, state: TermScores, term: Term) -> None:
        for times in term.times:
            self.traversal.at_times(state, times)

    def _related(self, question: Question, relation: Relation) -> tuple[TermScores, float]:
        """The nodes that this relation connects to the possible nodes at its other end."""
        child, fit = self._solve(question, relation.far)
        phrase = relation_phrase(question, relation, self.has_kind)
        if self._is_value(question, relation, phrase):
            state, best = self.traversal.value(child, phrase)
        else:
            relation_fit = self._relation_fit(question, relation, phrase)
            state, best = self.traversal.step(child, relation_fit)
        reached = bool(state.score.max(initial=0.0) > 0)
        factor = min(1.0, max(MIN_FIT, best + FIT_ADDED)) if reached else UNREACHED_FIT
        return state, fit * factor

    def _is_value(self, question: Question, relation: Relation, phrase: Phrase) -> bool:
        """Whether the answer may be a value rather than a note: a place, a day, an amount."""
        root, term = question.root, question.root_term
        is_only_relation = relation.near == root and len(question.below(root)) == 1
        may_be_value = not (self.term_kinds[root].named or term.person or term.named)
        has_words = phrase.is_weak or relation.words not in ("of", "")
        return is_only_relation and may_be_value and has_words

    def _relation_fit(self, question: Question, relation: Relation, phrase: Phrase) -> RelationFit:
        far_term = question.terms[relation.far]
        is_of = relation.words in ("of", "")
        return RelationFit(
            child_kinds=self._kinds_of(far_term)
            if far_term.named
            else self.term_kinds[relation.far].weights,
            parent_kinds=self.term_kinds[relation.near].weights,
            fit=self.traversal.phrase_fit.of_edges(phrase),
            middle_fit=self.kinds.nearness(self.vectors[_text_of_relation(question, relation)]),
            loose=phrase.is_weak or (is_of and self.term_kinds[relation.near].named),
            times=relation.times[0] if relation.times else None,
        )

    def _named_nodes(self, term: Term) -> list[int]:
        """The numbers of the nodes that a term names."""
        number_of = self.graph.number_of
        return [number_of[node] for node in term.nodes or () if node in number_of]

    def _kinds_of(self, term: Term) -> Floats32:
        """Weight 1 for the kinds of the nodes that a term names, (n_kinds,)."""
        weights = np.zeros(len(self.graph.kinds), np.float32)
        weights[self.graph.kind_of[self._named_nodes(term)]] = 1.0
        return weights


def _text_of_relation(question: Question, relation: Relation) -> str:
    """The words of a relation, or else the term that it belongs to."""
    return relation.words or question.terms[relation.near].text


def _topic(term: Term) -> tuple[str, str]:
    """The modifiers of a term, with and without its noun."""
    modifiers = " ".join(term.modifiers)
    return (f"{modifiers} {term.text}", modifiers)
