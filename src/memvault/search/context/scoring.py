"""Scores of sentences: how relevant each sentence of the found memories is to the question.

    score = relevance of its memory * (w * cosine + (1 - w) * words), where w is COSINE_WEIGHT

``cosine`` is that of the question and the text that the sentence was embedded with, alone or with
its title and headings, whichever is nearer, at least 0, and reduced to a quarter if the sentence
has few content words ("What's new?"). ``words`` is the share
of the question's words that it contains, each weighted by its inverse document frequency among the
compared sentences, as in BM25 (Robertson and Zaragoza 2009),

    idf(t) = ln(1 + (N - n(t) + 0.5) / (n(t) + 0.5))

In a note in another language, parts of words count as in keyword search (`bm25`): "Sattel" is in
"Sattelbreite".

A word of its title or headings counts half, so that "Lead: Ada" answers who leads the note's
subject. A sentence gets a quarter of the words of short neighbours that were embedded with it. A
sentence that states a followed relation is what the question needs, whatever its words: its score
is the best of all, times the memory's relevance relative to the best memory's, unless others
wrote it in the person's note.

A question for what is to do or planned is answered by open tasks and by sentences that name a day
of the time that it names: these score at least half of the best; ticked tasks lose half.

A question for what is latest or current, but not for what is to do, is answered by the latest of a
note's dated sentences that are nearly as relevant as the best of them, as the rows of a log are.

A question that names no subject gets the first sentence of each note of the list, in its order,
then the second of each; one for what happened in a time gets all that the notes of that time say.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from memvault.model.memory import Memory
from memvault.model.note import Vector
from memvault.model.search import FoundBy, Hit
from memvault.search.context.outline import Code, Floats, Outline, Statement
from memvault.search.task_words import asks_for_tasks
from memvault.search.times.question_time import QuestionTime, asks_for_newest, says_its_day
from memvault.search.times.time_expressions import single_days
from memvault.stores.vectors import bm25
from memvault.vault.readable import is_open_task, is_ticked_task

LIST_STEP = 0.05  # share by which a listed note scores less than the note before it
SENTENCE_STEP = 0.1  # the same of each sentence of a note of the time that is asked for
CLAIM_WEIGHT = 0.5  # weight of a memory in others' words; one in the person's words has 1
SUPERSEDED_WEIGHT = 0.5  # weight of a memory that another supersedes

COSINE_WEIGHT = 0.6  # share of the cosine
HEADING_WORD_WEIGHT = 0.5  # weight of a word of title or headings
NEIGHBOUR_WEIGHT = 0.25  # share of the words around a sentence
OTHER_TIME_SHARE = 0.25  # share of its lift that an open task of another time gets
NEARLY_BEST = 0.75  # least share of the best score with which a later sentence comes first
LATEST_STEP = 0.02  # share by which a sentence scores less than the one of the day after it
TICKED_WEIGHT = 0.5  # weight of a ticked task where open ones are asked for
FULL_WEIGHT_WORDS = 4  # content words of a sentence whose cosine counts in full

# "My last migraine" is the latest within one note. Among notes, "last" may mean something else.
_LAST = re.compile(
    r"\b(?:the|my|our|his|her|its|their) last\b|['’]s last\b|\bletzte[nmrs]?\b|\blaatste\b", re.I
)
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of one memory's sentences, (n,), and of its code, (m,); all in [0, 1]."""

    statements: Floats
    code: Floats


_Note = tuple[Hit, Outline, Scores]


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
        _scores_of_listed(index, outline)
        if hit.found_by is FoundBy.LIST
        else _scores_of_dated(index, outline)
        if past is not None and says_its_day(hit.memory) and past.has(hit.memory)
        else _scores_of(hit, outline, vector, weights)
        for index, (hit, outline) in enumerate(zip(hits, outlines, strict=True))
    ]
    notes = list(zip(hits, outlines, scores_of_notes, strict=True))
    _lift_stated_relations(notes)
    if asks_for_tasks(query) or (time is not None and time.only_time and not time.past):
        _lift_plans(notes, time)
        return scores_of_notes
    if time is not None:
        _lift_of_time(notes, time)
    if asks_for_newest(query, time) or _LAST.search(query if time is None else time.rest):
        _order_latest_first(notes)
    return scores_of_notes


def may_come_first(hit: Hit) -> bool:
    """Whether a memory may come before more relevant sentences: no claim, and not superseded."""
    return not hit.memory.is_claim and hit.verification.superseded_by is None


def _bests(notes: Sequence[_Note]) -> tuple[float, float]:
    """The greatest relevance of a note, and the greatest score of a sentence."""
    relevance = max((hit.relevance for hit, *_ in notes), default=0.0)
    return relevance, greatest_score([scores_of_note for *_, scores_of_note in notes])


def _lift_plans(notes: Sequence[_Note], time: QuestionTime | None) -> None:
    """Raise the scores of what is to do, most for the time that the question names."""
    best_relevance, best_score = _bests(notes)
    for hit, outline, scores_of_note in notes:
        lift = best_score * hit.relevance / best_relevance if best_relevance > 0.0 else best_score
        for index, statement in enumerate(outline.statements):
            if is_ticked_task(statement.shown):
                scores_of_note.statements[index] *= TICKED_WEIGHT
            else:
                scores_of_note.statements[index] += lift * _plan_share(hit, statement, time)
        scores_of_note.statements[:] *= 0.5  # so that none exceeds 1


def _plan_share(hit: Hit, statement: Statement, time: QuestionTime | None) -> float:
    """The share of the lift that a sentence gets: all if it names the time, or is an open task and
    no time is asked for."""
    is_open = is_open_task(statement.shown)
    if time is None:
        return float(is_open)
    if _DIGIT.search(statement.text) and time.is_named_in(hit.memory, statement.text):
        return 1.0
    return OTHER_TIME_SHARE if is_open else 0.0


def _lift_of_time(notes: Sequence[_Note], time: QuestionTime) -> None:
    """Raise the scores of sentences that name a day or year of the time, or whose headings do,
    without those that others wrote in the person's note."""
    for hit, outline, scores_of_note in notes:
        lift, of_others = greatest_score([scores_of_note]), outline.written_by_others(hit.memory)
        for index, is_of_time in enumerate(are_of_time(time, hit.memory, outline)):
            if is_of_time and index not in of_others:
                scores_of_note.statements[index] += lift
        scores_of_note.statements[:] *= 0.5  # so that none exceeds 1


def _order_latest_first(notes: Sequence[_Note]) -> None:
    """Give the latest of each note's dated sentences the score of the best of them, the one before
    it a little less, and so on, without much less relevant ones and those that others wrote in the
    person's note."""
    today = date.today()
    for hit, outline, scores_of_note in notes:
        if hit.found_by is FoundBy.LIST:
            continue
        of_note, of_others = scores_of_note.statements, outline.written_by_others(hit.memory)
        day_of: dict[int, date] = {}
        best = 0.0
        for index in np.argsort(-of_note, kind="stable").tolist():
            if of_note[index] < NEARLY_BEST * best:
                break
            day = _latest_day(hit.memory, outline.statements[index], today)
            if day is not None and index not in of_others:
                best = best or float(of_note[index])
                day_of[index] = day
        for rank, index in enumerate(sorted(day_of, key=day_of.__getitem__, reverse=True)):
            of_note[index] = best * (1.0 - LATEST_STEP) ** rank


def _latest_day(memory: Memory, statement: Statement, today: date) -> date | None:
    """The latest day until today that a sentence names, or the heading above it."""
    for text in (statement.text, *statement.heading[-1:]):
        days = [day for day in single_days(text, memory.day) if day <= today]
        if days:
            return max(days)
    return None


def are_of_time(time: QuestionTime, memory: Memory, outline: Outline) -> list[bool]:
    """Whether each sentence names a day or year of the time, or a heading above it does, or the
    title, as a daily note's does."""
    if time.is_named_in(memory, memory.title):
        return [True] * len(outline.statements)
    of_time = {
        each for each in outline.layout.headings if time.is_named_in(memory, ". ".join(each))
    }
    return [
        statement.heading in of_time or time.is_named_in(memory, statement.text)
        for statement in outline.statements
    ]


def greatest_score(scores_of_notes: Sequence[Scores]) -> float:
    """The greatest score of a sentence."""
    sentences = (of_note.statements for of_note in scores_of_notes if of_note.statements.size)
    return max((float(scores.max()) for scores in sentences), default=0.0)


def _scores_of_listed(index: int, outline: Outline) -> Scores:
    """The scores of a note at this index of a list: all notes' first sentences come before their
    second ones."""
    statements = (1.0 - LIST_STEP) ** index / np.maximum(_counts_shown(outline), 1)
    return Scores(statements, np.zeros(len(outline.code)))


def _scores_of_dated(index: int, outline: Outline) -> Scores:
    """The scores of a note of the time that is asked for. The first sentences are best; all score
    high, since each may state what happened."""
    places = np.maximum(_counts_shown(outline) - 1, 0)
    statements = (1.0 - LIST_STEP) ** index / (1.0 + SENTENCE_STEP * places)
    return Scores(statements, np.zeros(len(outline.code)))


def _counts_shown(outline: Outline) -> npt.NDArray[np.int64]:
    """How many sentences are shown up to each one, itself included."""
    return np.cumsum(outline.layout.byte_counts > 0)


def _word_weights(query: str, outlines: Sequence[Outline]) -> dict[int, float]:
    """The question's words and their weights, which sum to 1."""
    languages = {outline.words.language for outline in outlines} - {"english"}
    query_vector = bm25.query(query, tuple(sorted(languages)))
    counts = Counter(term for outline in outlines for code in outline.code for term in code.terms)
    for outline in outlines:
        places = outline.words.places
        counts.update({t: len(places[t]) for t in query_vector.indices if t in places})
    total = sum(len(outline.statements) + len(outline.code) for outline in outlines)
    weights = {
        term: weight * math.log(1.0 + (total - counts[term] + 0.5) / (counts[term] + 0.5))
        for term, weight in zip(query_vector.indices, query_vector.values, strict=True)
    }
    sum_of_weights = sum(weights.values())
    return {term: w / sum_of_weights for term, w in weights.items()} if sum_of_weights > 0.0 else {}


def _lift_stated_relations(notes: Sequence[_Note]) -> None:
    """Raise the scores of sentences that state a followed relation."""
    relevance_of_step: dict[tuple[str, str], float] = {}
    for hit, *_ in notes:
        for hop in hit.hops:
            key = hop.path, hop.sentence
            relevance_of_step[key] = max(relevance_of_step.get(key, 0.0), hit.relevance)
    best_relevance, best_score = _bests(notes)
    if not relevance_of_step or best_relevance <= 0.0:
        return
    for hit, outline, scores_of_note in notes:
        lifts = {
            index: best_score * relevance_of_step[hit.memory.path, statement.text] / best_relevance
            for index, statement in enumerate(outline.statements)
            if (hit.memory.path, statement.text) in relevance_of_step
        }
        of_others = outline.written_by_others(hit.memory) if lifts else ()
        for index in lifts.keys() - of_others:
            scores_of_note.statements[index] = max(scores_of_note.statements[index], lifts[index])


@lru_cache(maxsize=5_000)
def _terms_above(title: str, heading: tuple[str, ...], language: str) -> frozenset[int]:
    """The terms of a title and of headings in a language."""
    text = " ".join((title, *heading))
    if language == "english":
        return frozenset(bm25.terms(text))
    return frozenset(bm25.document(text, language).indices)


# The weight of a sentence's cosine, by its number of content words.
_COSINE_WEIGHTS = np.array(
    [0.25 + 0.75 * min(1.0, words / FULL_WEIGHT_WORDS) for words in range(FULL_WEIGHT_WORDS + 1)]
)


def _scores_of(hit: Hit, outline: Outline, vector: Vector, weights: Mapping[int, float]) -> Scores:
    """The scores of one memory."""
    relevance = (
        hit.relevance
        * (CLAIM_WEIGHT if hit.memory.is_claim else 1.0)
        * (SUPERSEDED_WEIGHT if hit.verification.superseded_by is not None else 1.0)
    )
    alone, with_headings = (
        rows.astype(np.float32) @ vector for rows in (outline.bare, outline.vectors)
    )
    content_counts = np.minimum(outline.words.content_counts, FULL_WEIGHT_WORDS)
    cosines = np.clip(np.maximum(alone, with_headings), 0.0, 1.0)[outline.layout.units]
    words = _word_shares(hit.memory.title, outline, weights)
    statements = relevance * (
        COSINE_WEIGHT * cosines * _COSINE_WEIGHTS[content_counts] + (1.0 - COSINE_WEIGHT) * words
    )
    code = [
        max(
            relevance * (1.0 - COSINE_WEIGHT) * _word_share(hit.memory.title, piece, weights),
            float(statements[piece.lead]) if piece.lead is not None else 0.0,
        )
        for piece in outline.code
    ]
    return Scores(statements, np.array(code))


def _word_shares(title: str, outline: Outline, weights: Mapping[int, float]) -> Floats:
    """(n,) the weight of the question's words in each sentence and above it, and in the short
    neighbours that were embedded with it."""
    layout = outline.layout
    language = outline.words.language
    terms_above = [_terms_above(title, heading, language) for heading in layout.headings]
    shares_above = [
        HEADING_WORD_WEIGHT * sum(weight for term, weight in weights.items() if term in terms)
        for terms in terms_above
    ]
    units, headings = layout.units.tolist(), layout.heading_numbers.tolist()
    own, of_unit = [shares_above[heading] for heading in headings], [0.0] * len(outline.vectors)
    for term, weight in weights.items():
        units_with_term = set()
        for index in outline.words.places.get(term, ()):
            is_above, unit = term in terms_above[headings[index]], units[index]
            gain = weight * (1.0 - HEADING_WORD_WEIGHT) if is_above else weight
            own[index] += gain
            if unit not in units_with_term:  # all of a unit is below the same headings
                units_with_term.add(unit)
                of_unit[unit] += gain
    around = [
        shares_above[heading] + of_unit[unit] for unit, heading in zip(units, headings, strict=True)
    ]
    return (1.0 - NEIGHBOUR_WEIGHT) * np.array(own) + NEIGHBOUR_WEIGHT * np.array(around)


def _word_share(title: str, code: Code, weights: Mapping[int, float]) -> float:
    """The weight of the question's words in code and above it."""
    terms, terms_above = set(code.terms), _terms_above(title, code.block.heading, "english")
    return sum(
        weight * (1.0 if term in terms else HEADING_WORD_WEIGHT if term in terms_above else 0.0)
        for term, weight in weights.items()
    )
