"""Scores of sentences: how relevant each sentence of the found memories is to the question.

    score = relevance of its memory * (w * cosine + (1 - w) * words), where w is COSINE_WEIGHT

``cosine`` is that of the question and the text that the sentence was embedded with, alone or with
its title and headings, whichever is nearer, at least 0, and reduced to a quarter if the sentence
has few content words ("What's new?"). ``words`` is the share
of the question's words that it contains, each weighted by its inverse document frequency among the
compared sentences, as in BM25 (Robertson and Zaragoza 2009),

    idf(t) = ln(1 + (N - n(t) + 0.5) / (n(t) + 0.5))

A word of its title or headings counts half, so that "Lead: Ada" answers who leads the note's
subject. A sentence gets a quarter of the words of short neighbours that were embedded with it. A
sentence that states a followed relation is what the question needs, whatever its words: its score
is the best of all, times the memory's relevance relative to the best memory's, unless others
wrote it in the person's note.

A question for what is to do or planned is answered by open tasks and by sentences that name a day
of the time that it names: these score at least half of the best; ticked tasks lose half.

A question that names no subject gets the first sentence of each note of the list, in its order,
then the second of each; one for what happened in a time gets all that the notes of that time say.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from memvault.model.memory import Memory
from memvault.model.note import Vector
from memvault.model.search import FoundBy, Hit
from memvault.search.context.outline import Code, Outline, Statement
from memvault.search.task_words import asks_for_tasks
from memvault.search.times.question_time import QuestionTime, says_its_day
from memvault.stores.vectors import bm25

LIST_STEP = 0.05  # share by which a listed note scores less than the note before it
SENTENCE_STEP = 0.1  # the same of each sentence of a note of the time that is asked for
CLAIM_WEIGHT = 0.5  # weight of a memory in others' words; one in the person's words has 1
SUPERSEDED_WEIGHT = 0.5  # weight of a memory that another supersedes

COSINE_WEIGHT = 0.6  # share of the cosine
HEADING_WORD_WEIGHT = 0.5  # weight of a word of title or headings
NEIGHBOUR_WEIGHT = 0.25  # share of the words around a sentence
OTHER_TIME_SHARE = 0.25  # share of its lift that an open task of another time gets
TICKED_WEIGHT = 0.5  # weight of a ticked task where open ones are asked for
FULL_WEIGHT_WORDS = 4  # content words from which on a sentence's cosine counts in full

_OPEN = re.compile(r"\A *(?:[-*+]|\d+[.)]) \[ \]")
_TICKED = re.compile(r"\A *(?:[-*+]|\d+[.)]) \[[xX]\]")
_DIGIT = re.compile(r"\d")

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of one memory's sentences, (n,), and of its code, (m,); all in [0, 1]."""

    statements: Floats
    code: Floats


def scores(
    query: str,
    vector: Vector,
    hits: Sequence[Hit],
    outlines: Sequence[Outline],
    time: QuestionTime | None = None,
) -> list[Scores]:
    """The scores of each memory's outline, in their order.

    Args:
        time: the time that the question names, if any.
    """
    weights = _word_weights(query, outlines)
    past = time if time is not None and time.asks_for_notes and time.past else None
    scores_of_notes = [
        _scores_of_listed(place, outline)
        if hit.found_by is FoundBy.LIST
        else _scores_of_dated(place, outline)
        if past is not None and says_its_day(hit.memory) and past.has(hit.memory)
        else _Scorer(vector, weights, hit, outline).scores()
        for place, (hit, outline) in enumerate(zip(hits, outlines, strict=True))
    ]
    _lift_stated_relations(hits, outlines, scores_of_notes)
    if asks_for_tasks(query) or (time is not None and time.only_time and not time.past):
        _lift_plans(hits, outlines, scores_of_notes, time)
    elif time is not None:
        _lift_of_time(hits, outlines, scores_of_notes, time)
    return scores_of_notes


def may_come_first(hit: Hit) -> bool:
    """Whether a memory may come before more relevant sentences: no claim, and not superseded."""
    return not hit.memory.is_claim and hit.verification.superseded_by is None


def _lift_plans(
    hits: Sequence[Hit],
    outlines: Sequence[Outline],
    scores_of_notes: Sequence[Scores],
    time: QuestionTime | None,
) -> None:
    """Raise the scores of what is to do, most for the time that the question names."""
    best_relevance = max((hit.relevance for hit in hits), default=0.0)
    best_score = greatest_score(scores_of_notes)
    for hit, outline, scores_of_note in zip(hits, outlines, scores_of_notes, strict=True):
        lift = best_score * hit.relevance / best_relevance if best_relevance > 0.0 else best_score
        for place, statement in enumerate(outline.statements):
            is_open = _OPEN.match(statement.shown) is not None
            if _TICKED.match(statement.shown):
                scores_of_note.statements[place] *= TICKED_WEIGHT
            elif time is None or not _DIGIT.search(statement.text):
                share = 1.0 if time is None else OTHER_TIME_SHARE
                scores_of_note.statements[place] += lift * share if is_open else 0.0
            elif time.is_named_in(hit.memory, statement.text):
                scores_of_note.statements[place] += lift
            elif is_open:
                scores_of_note.statements[place] += lift * OTHER_TIME_SHARE
        scores_of_note.statements[:] *= 0.5  # so that none exceeds 1


def _lift_of_time(
    hits: Sequence[Hit],
    outlines: Sequence[Outline],
    scores_of_notes: Sequence[Scores],
    time: QuestionTime,
) -> None:
    """Raise the scores of sentences that name a day or year of the time, or whose headings do,
    without those that others wrote in the person's note."""
    for hit, outline, scores_of_note in zip(hits, outlines, scores_of_notes, strict=True):
        lift, of_others = greatest_score([scores_of_note]), outline.written_by_others(hit.memory)
        for place, is_of_time in enumerate(are_of_time(time, hit.memory, outline)):
            if is_of_time and place not in of_others:
                scores_of_note.statements[place] += lift
        scores_of_note.statements[:] *= 0.5  # so that none exceeds 1


def are_of_time(time: QuestionTime, memory: Memory, outline: Outline) -> list[bool]:
    """Whether each sentence, or a heading above it, names a day or year of the time."""
    headings = {statement.heading for statement in outline.statements}
    of_time = {each for each in headings if time.is_named_in(memory, ". ".join(each))}
    return [
        statement.heading in of_time or time.is_named_in(memory, statement.text)
        for statement in outline.statements
    ]


def greatest_score(scores_of_notes: Sequence[Scores]) -> float:
    """The greatest score of a sentence."""
    sentences = (of_note.statements for of_note in scores_of_notes if of_note.statements.size)
    return max((float(scores.max()) for scores in sentences), default=0.0)


def _scores_of_listed(place: int, outline: Outline) -> Scores:
    """The scores of a note at this place of a list: all notes' first sentences come before their
    second ones."""
    statements = (1.0 - LIST_STEP) ** place / np.maximum(_counts_shown(outline), 1)
    return Scores(statements, np.zeros(len(outline.code)))


def _scores_of_dated(place: int, outline: Outline) -> Scores:
    """The scores of a note of the time that is asked for: its first sentences are best, but each
    may be what happened."""
    places = np.maximum(_counts_shown(outline) - 1, 0)
    statements = (1.0 - LIST_STEP) ** place / (1.0 + SENTENCE_STEP * places)
    return Scores(statements, np.zeros(len(outline.code)))


def _counts_shown(outline: Outline) -> npt.NDArray[np.int64]:
    """How many sentences are shown up to each one, itself included."""
    return np.cumsum([bool(statement.shown) for statement in outline.statements])


def _word_weights(query: str, outlines: Sequence[Outline]) -> dict[int, float]:
    """The question's words and their weights, which sum to 1."""
    query_vector = bm25.query(query)
    query_terms = frozenset(query_vector.indices)
    texts = [sentence.terms for outline in outlines for sentence in outline.statements]
    texts += [code.terms for outline in outlines for code in outline.code]
    counts = Counter(term for terms in texts for term in query_terms.intersection(terms))
    weights = {
        term: weight * math.log(1.0 + (len(texts) - counts[term] + 0.5) / (counts[term] + 0.5))
        for term, weight in zip(query_vector.indices, query_vector.values, strict=True)
    }
    total = sum(weights.values())
    return {term: weight / total for term, weight in weights.items()} if total > 0.0 else {}


def _lift_stated_relations(
    hits: Sequence[Hit], outlines: Sequence[Outline], scores_of_notes: Sequence[Scores]
) -> None:
    """Raise the scores of sentences that state a followed relation."""
    relevance_of_step: dict[tuple[str, str], float] = {}
    for hit in hits:
        for hop in hit.hops:
            key = hop.path, hop.sentence
            relevance_of_step[key] = max(relevance_of_step.get(key, 0.0), hit.relevance)
    best_relevance = max((hit.relevance for hit in hits), default=0.0)
    if not relevance_of_step or best_relevance <= 0.0:
        return
    best_score = greatest_score(scores_of_notes)
    for hit, outline, scores_of_note in zip(hits, outlines, scores_of_notes, strict=True):
        lifts = {
            place: best_score * relevance_of_step[hit.memory.path, statement.text] / best_relevance
            for place, statement in enumerate(outline.statements)
            if (hit.memory.path, statement.text) in relevance_of_step
        }
        if lifts:
            for place in lifts.keys() - outline.written_by_others(hit.memory):
                scores_of_note.statements[place] = max(
                    scores_of_note.statements[place], lifts[place]
                )


@lru_cache(maxsize=5_000)
def _terms_above(name: str) -> frozenset[int]:
    """The terms of a title or of headings."""
    return frozenset(bm25.terms(name))


# The weight of a sentence's cosine, by its number of content words.
_COSINE_WEIGHTS = [
    0.25 + 0.75 * min(1.0, words / FULL_WEIGHT_WORDS) for words in range(FULL_WEIGHT_WORDS + 1)
]


class _Scorer:
    """Scores one memory."""

    def __init__(
        self,
        vector: Vector,
        weights: Mapping[int, float],
        hit: Hit,
        outline: Outline,
    ) -> None:
        self._word_weights = weights
        self._question_terms = frozenset(weights)
        self._relevance = (
            hit.relevance
            * (CLAIM_WEIGHT if hit.memory.is_claim else 1.0)
            * (SUPERSEDED_WEIGHT if hit.verification.superseded_by is not None else 1.0)
        )
        self._outline = outline
        self._title_terms = _terms_above(hit.memory.title) & self._question_terms
        self._heading_terms: dict[tuple[str, ...], frozenset[int]] = {}
        self._word_shares: dict[tuple[frozenset[int], tuple[str, ...]], float] = {}
        alone, with_headings = (
            rows.astype(np.float32) @ vector for rows in (outline.bare, outline.vectors)
        )
        self._cosines: list[float] = np.clip(np.maximum(alone, with_headings), 0.0, 1.0).tolist()
        self._statement_terms = [
            self._question_terms.intersection(statement.terms) for statement in outline.statements
        ]
        self._unit_terms: dict[int, frozenset[int]] = {}
        for statement, terms in zip(outline.statements, self._statement_terms, strict=True):
            unit_terms = self._unit_terms.get(statement.unit)
            self._unit_terms[statement.unit] = terms if unit_terms is None else unit_terms | terms

    def scores(self) -> Scores:
        statements = np.array(
            [
                self._statement_score(statement, terms)
                for statement, terms in zip(
                    self._outline.statements, self._statement_terms, strict=True
                )
            ],
            np.float64,
        )
        code = np.array([self._code_score(piece, statements) for piece in self._outline.code])
        return Scores(statements, code)

    def _code_score(self, code: Code, statements: Floats) -> float:
        """The score of code by its own words, or that of the sentence before it if higher."""
        words = self._word_share(self._question_terms.intersection(code.terms), code.block.heading)
        lead = float(statements[code.lead]) if code.lead is not None else 0.0
        return max(self._relevance * (1.0 - COSINE_WEIGHT) * words, lead)

    def _statement_score(self, statement: Statement, terms: frozenset[int]) -> float:
        """The score of a sentence that has these words of the question."""
        own_share = self._word_share(terms, statement.heading)
        unit_terms = self._unit_terms[statement.unit]
        unit_share = (
            own_share if unit_terms is terms else self._word_share(unit_terms, statement.heading)
        )
        words = (1.0 - NEIGHBOUR_WEIGHT) * own_share + NEIGHBOUR_WEIGHT * unit_share
        cosine = (
            _COSINE_WEIGHTS[min(statement.content_words, FULL_WEIGHT_WORDS)]
            * self._cosines[statement.unit]
        )
        return self._relevance * (COSINE_WEIGHT * cosine + (1.0 - COSINE_WEIGHT) * words)

    def _word_share(self, terms: frozenset[int], heading: tuple[str, ...]) -> float:
        """The weight of the question's words in a text, and of others in its title and headings."""
        share = self._word_shares.get((terms, heading))
        if share is None:
            if heading not in self._heading_terms:
                heading_terms = _terms_above(" ".join(heading))
                self._heading_terms[heading] = (
                    heading_terms & self._question_terms
                ) | self._title_terms
            terms_above = self._heading_terms[heading] - terms
            share = sum(self._word_weights[term] for term in terms)
            share += HEADING_WORD_WEIGHT * sum(self._word_weights[term] for term in terms_above)
            self._word_shares[terms, heading] = share
        return share
