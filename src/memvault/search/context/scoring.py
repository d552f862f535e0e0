"""Scores of sentences: how relevant each sentence of the found memories is to the question.

    score = relevance of its memory * (DENSE * cosine + (1 - DENSE) * words)

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
then the second of each.
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

from memvault.model.note import Vector
from memvault.model.search import FoundBy, Hit
from memvault.search.context.outline import Code, Outline, Statement
from memvault.search.question_time import QuestionTime
from memvault.search.task_words import asks_for_tasks
from memvault.stores.vectors import bm25

BEHIND = 0.05  # share by which a listed note scores less than the note before it
CLAIM = 0.5  # weight of a memory in others' words; one in the person's words has 1
SUPERSEDED = 0.5  # weight of a memory that another supersedes

DENSE = 0.6  # share of the cosine
ABOVE = 0.5  # weight of a word of title or headings
NEIGHBOURS = 0.25  # share of the words around a sentence
OTHER_TIME = 0.25  # share of its lift that an open task of another time gets
TICKED = 0.5  # weight of a ticked task where open ones are asked for
TELLING = 4  # content words from which on a sentence's cosine counts in full

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
    found: Sequence[Hit],
    outlines: Sequence[Outline],
    time: QuestionTime | None = None,
) -> list[Scores]:
    """The scores of each memory's outline, in their order.

    Args:
        time: the time that the question names, if any.
    """
    weights = _weights(query, outlines)
    scored = [
        _listed(place, outline)
        if hit.found_by is FoundBy.LIST
        else _Scorer(vector, weights, hit, outline).scores()
        for place, (hit, outline) in enumerate(zip(found, outlines, strict=True))
    ]
    _lift_steps(found, outlines, scored)
    if asks_for_tasks(query) or (time is not None and time.only_time and not time.past):
        _lift_plans(found, outlines, scored, time)
    return scored


def may_lead(hit: Hit) -> bool:
    """Whether a memory may come before more relevant sentences: no claim, and not superseded."""
    return not hit.memory.is_claim and hit.verification.superseded_by is None


def _lift_plans(
    found: Sequence[Hit],
    outlines: Sequence[Outline],
    scored: Sequence[Scores],
    time: QuestionTime | None,
) -> None:
    """Lift what is to do, that of the named time most."""
    most = max((hit.relevance for hit in found), default=0.0)
    best = _greatest(scored)
    for hit, outline, own in zip(found, outlines, scored, strict=True):
        lift = best * hit.relevance / most if most > 0.0 else best
        for place, each in enumerate(outline.statements):
            is_open = _OPEN.match(each.shown) is not None
            if _TICKED.match(each.shown):
                own.statements[place] *= TICKED
            elif time is None or not _DIGIT.search(each.text):
                share = 1.0 if time is None else OTHER_TIME
                own.statements[place] += lift * share if is_open else 0.0
            elif time.has_day_named_in(hit.memory, each.text):
                own.statements[place] += lift
            elif is_open:
                own.statements[place] += lift * OTHER_TIME
        own.statements[:] *= 0.5  # so that none exceeds 1


def _greatest(scored: Sequence[Scores]) -> float:
    """The greatest score of a sentence."""
    return max((float(own.statements.max()) for own in scored if own.statements.size), default=0.0)


def _listed(place: int, outline: Outline) -> Scores:
    """The scores of a note at this place of a list: all notes' first sentences come before their
    second ones."""
    shown = np.cumsum([bool(each.shown) for each in outline.statements])
    statements = (1.0 - BEHIND) ** place / np.maximum(shown, 1)
    return Scores(statements, np.zeros(len(outline.code)))


def _weights(query: str, outlines: Sequence[Outline]) -> dict[int, float]:
    """The question's words and their weights, which sum to 1."""
    asked = bm25.query(query)
    among = frozenset(asked.indices)
    texts = [each.terms for outline in outlines for each in outline.statements]
    texts += [each.terms for outline in outlines for each in outline.code]
    having = Counter(term for each in texts for term in among.intersection(each))
    weights = {
        term: weight * math.log(1.0 + (len(texts) - having[term] + 0.5) / (having[term] + 0.5))
        for term, weight in zip(asked.indices, asked.values, strict=True)
    }
    total = sum(weights.values())
    return {term: weight / total for term, weight in weights.items()} if total > 0.0 else {}


def _lift_steps(
    found: Sequence[Hit], outlines: Sequence[Outline], scored: Sequence[Scores]
) -> None:
    steps: dict[tuple[str, str], float] = {}
    for hit in found:
        for hop in hit.hops:
            key = hop.path, hop.sentence
            steps[key] = max(steps.get(key, 0.0), hit.relevance)
    most = max((hit.relevance for hit in found), default=0.0)
    if not steps or most <= 0.0:
        return
    best = _greatest(scored)
    for hit, outline, own in zip(found, outlines, scored, strict=True):
        lifts = {
            place: best * steps[hit.memory.path, each.text] / most
            for place, each in enumerate(outline.statements)
            if (hit.memory.path, each.text) in steps
        }
        if lifts:
            for place in lifts.keys() - outline.foreign(hit.memory):
                own.statements[place] = max(own.statements[place], lifts[place])


@lru_cache(maxsize=5_000)
def _terms_above(name: str) -> frozenset[int]:
    """The terms of a title or of headings."""
    return frozenset(bm25.terms(name))


# The weight of a sentence's cosine, by its number of content words.
_WEIGHTS = [0.25 + 0.75 * min(1.0, telling / TELLING) for telling in range(TELLING + 1)]


class _Scorer:
    """Scores one memory."""

    def __init__(
        self,
        vector: Vector,
        weights: Mapping[int, float],
        hit: Hit,
        outline: Outline,
    ) -> None:
        self._weights = weights
        self._asked = frozenset(weights)
        self._relevance = (
            hit.relevance
            * (CLAIM if hit.memory.is_claim else 1.0)
            * (SUPERSEDED if hit.verification.superseded_by is not None else 1.0)
        )
        self._outline = outline
        self._title = _terms_above(hit.memory.title) & self._asked
        self._above: dict[tuple[str, ...], frozenset[int]] = {}
        self._shares: dict[tuple[frozenset[int], tuple[str, ...]], float] = {}
        alone, below = (
            rows.astype(np.float32) @ vector for rows in (outline.bare, outline.vectors)
        )
        self._cosines: list[float] = np.clip(np.maximum(alone, below), 0.0, 1.0).tolist()
        self._own = [self._asked.intersection(each.terms) for each in outline.statements]
        self._around: dict[int, frozenset[int]] = {}
        for each, own in zip(outline.statements, self._own, strict=True):
            known = self._around.get(each.unit)
            self._around[each.unit] = own if known is None else known | own

    def scores(self) -> Scores:
        statements = np.array(
            [
                self._of(each, own)
                for each, own in zip(self._outline.statements, self._own, strict=True)
            ],
            np.float64,
        )
        code = np.array([self._of_code(each, statements) for each in self._outline.code])
        return Scores(statements, code)

    def _of_code(self, each: Code, statements: Floats) -> float:
        """The score of code by its own words, or that of the sentence before it if higher."""
        words = self._share(self._asked.intersection(each.terms), each.block.heading)
        lead = float(statements[each.lead]) if each.lead is not None else 0.0
        return max(self._relevance * (1.0 - DENSE) * words, lead)

    def _of(self, each: Statement, terms: frozenset[int]) -> float:
        own = self._share(terms, each.heading)
        around = self._around[each.unit]
        beside = own if around is terms else self._share(around, each.heading)
        words = (1.0 - NEIGHBOURS) * own + NEIGHBOURS * beside
        cosine = _WEIGHTS[min(each.telling, TELLING)] * self._cosines[each.unit]
        return self._relevance * (DENSE * cosine + (1.0 - DENSE) * words)

    def _share(self, terms: frozenset[int], heading: tuple[str, ...]) -> float:
        known = self._shares.get((terms, heading))
        if known is None:
            if heading not in self._above:
                named = _terms_above(" ".join(heading))
                self._above[heading] = (named & self._asked) | self._title
            above = self._above[heading] - terms
            known = sum(self._weights[term] for term in terms)
            known += ABOVE * sum(self._weights[term] for term in above)
            self._shares[terms, heading] = known
        return known
