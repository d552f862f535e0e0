"""Compares a statement with the sentence of a note that is most like it, word by word.

The words of a sentence fall into kinds: numbers, months, weekdays, ordinals, names, and all others.
A statement contradicts a sentence if the sentence has most of its words, but another word of the
same kind where the statement has its own ("on Sunday" for "on Saturday"), or denies what it says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from memvault.verification.amounts import Amount, amounts_in, same
from memvault.verification.clause import HEDGED, FindNames, stems_of

COVERED = 0.6  # share of a statement's words that a sentence about the same matter has
_KINDRED = (0.4, 0.9)  # cosine of two words of one category that do not mean the same
_MOST_OTHER = 2  # words that may differ where none is a number, a day or a name
_CONFIDENCE = {"word": 0.6, "name": 0.8}  # of the kinds that are less sure than a value
_MONTHS = "january february march april may june july august september october november december"
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
_ORDINALS = "first second third fourth fifth last"
_NUMBERS = (
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty"
)
_LISTS = {"month": _MONTHS, "weekday": _WEEKDAYS, "ordinal": _ORDINALS, "number": _NUMBERS}
_KIND_OF = {word: kind for kind, words in _LISTS.items() for word in words.split()}
_VALUE_OF = {
    word: str(number)
    for word, number in zip(_NUMBERS.split(), (*range(1, 13), 20, 30, 40, 50), strict=True)
}
_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’-][^\W\d_]+)*")
_NEGATION = re.compile(
    r"\b(?:not|no longer|never|nor|neither|cannot|without)\b|\b\w+n['’]t\b", re.IGNORECASE
)
# Text behind a sentence's last value that says what the value is for: "200 MB for the Plus plan".
_QUALIFIER = re.compile(r"\s*(?:\(|\b(?:for|on|in|with|at|to|by|under|if|as)\b)", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[,;:.!?]|\b(?:but|and)\b", re.IGNORECASE)

Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]


class Relation(StrEnum):
    """What a sentence says of a statement."""

    SUPPORTS = "supports"
    VALUE = "other value"
    DENIES = "denies"


@dataclass(frozen=True, slots=True)
class Alignment:
    """``confidence`` in [0, 1]; ``ours`` and ``theirs`` are the words that differ, of one kind;
    ``dated`` tells that both sentences name a month or a weekday."""

    relation: Relation
    confidence: float
    covered: float
    kind: str = ""
    ours: tuple[str, ...] = ()
    theirs: tuple[str, ...] = ()
    dated: bool = False


class Statement:
    """A sentence as words by kind; those in the scope of a negation apart."""

    def __init__(self, text: str, find_names: FindNames, exclude: str | None = None) -> None:
        spans = find_names(text, exclude)
        self.text = text
        self.hedged = HEDGED.search(f" {text.lower()} ") is not None
        self.words: dict[str, dict[str, str]] = {"name": {key: text[a:b] for a, b, key in spans}}
        self.denied: frozenset[str] = frozenset()
        denied = [_scope(text, match.end()) for match in _NEGATION.finditer(text)]
        negated: set[str] = set()
        order: list[str] = []
        for match in _TOKEN.finditer(text):
            if any(a <= match.start() < b for a, b, _ in spans):
                continue
            for kind, stem in _read(match[0]):
                self.words.setdefault(kind, {}).setdefault(stem, match[0])
                if kind == "word":
                    order.append(stem)
                if any(a <= match.start() < b for a, b in denied):
                    negated.add(stem)
        self.denied = frozenset(negated)
        self.beside: dict[str, set[str]] = {each: set() for each in order}
        for one, next_one in pairwise(order):
            self.beside[one].add(next_one)
            self.beside[next_one].add(one)

    def of(self, kind: str) -> frozenset[str]:
        return frozenset(self.words.get(kind, ()))


def align(ours: Statement, theirs: Statement, around: Statement, embed: Embed) -> Alignment | None:
    """What a sentence of a note says of a statement; None if it is about something else.

    Args:
        around: the note's title and headings, which say what the sentence is about.
    """
    told = theirs.of("word") | around.of("word")
    words = ours.of("word")
    other = words - told
    names = frozenset(
        key
        for key in ours.of("name") - theirs.of("name") - around.of("name")
        if not _is_told(ours.words["name"][key], told)
    )
    share = (len(words) - len(other)) / len(words) if words else float(not names)
    if share < COVERED:
        return None
    its_names = theirs.of("name") - ours.of("name")
    if names:  # about another subject, unless it names another in the same place
        values_differ = any(ours.of(kind) - theirs.of(kind) for kind in _LISTS)
        if not its_names or len(other) > 1 or values_differ:
            return None
        return _differs("name", names, its_names, ours, theirs, share=share)
    for kind in ("number", "weekday", "month", "ordinal"):
        given = theirs.of(kind) if kind != "number" else _numbers_about(ours, theirs)
        mine, its = ours.of(kind) - given - around.of(kind), given - ours.of(kind)
        if mine and its and not (kind == "number" and _same_amount(ours.text, theirs.text)):
            return _differs(kind, mine, its, ours, theirs, share=share)
    if not other and not any(ours.of(kind) - theirs.of(kind) - around.of(kind) for kind in _LISTS):
        opposed = bool(words & theirs.denied) != bool(ours.denied & theirs.of("word"))
        return Alignment(Relation.DENIES if opposed else Relation.SUPPORTS, share, share)
    if len(other) > _MOST_OTHER:
        return None
    return _other_word(other, ours, theirs, share, embed)


def _is_told(name: str, told: frozenset[str]) -> bool:
    """Whether at least half of a name's words are among these."""
    stems = stems_of(name)
    return 2 * len(stems & told) >= len(stems) > 0


def parts(sentence: str, values: Sequence[Amount]) -> list[str]:
    """The text that belongs to each value of a sentence: behind the value if the last one has a
    qualifier ("2 kg for the Otter and 6 kg for the Badger"), else before it."""
    starts = [each.start for each in values]
    ends = [each.end for each in values]
    if _QUALIFIER.match(sentence, ends[-1]):
        return [sentence[a:b] for a, b in zip(ends, [*starts[1:], len(sentence)], strict=True)]
    return [sentence[a:b] for a, b in zip([0, *ends[:-1]], starts, strict=True)]


def _numbers_about(ours: Statement, theirs: Statement) -> frozenset[str]:
    """The numbers of the part of a sentence that is most about the statement, else all of them."""
    values = amounts_in(theirs.text)
    units = {(each.kind, each.unit) for each in values}
    if len(units) != 1 or len(values) == 1 or "|" in theirs.text:
        return theirs.of("number")
    shared = [len(stems_of(part) & ours.of("word")) for part in parts(theirs.text, values)]
    best = max(shared)
    if shared.count(best) > 1:
        return theirs.of("number")
    value = values[shared.index(best)]
    return frozenset(
        each
        for token in _TOKEN.findall(theirs.text[value.start : value.end])
        for kind, each in _read(token)
        if kind == "number"
    )


def _same_amount(one: str, other: str) -> bool:
    """Whether both state one amount, perhaps written differently ("400k", "400 thousand")."""
    return any(
        same(a, b) is not False
        for a in amounts_in(one)
        for b in amounts_in(other)
        if (a.kind, a.unit) == (b.kind, b.unit)
    )


def _differs(
    kind: str,
    mine: frozenset[str],
    its: frozenset[str],
    ours: Statement,
    theirs: Statement,
    *,
    share: float,
) -> Alignment:
    return Alignment(
        Relation.VALUE,
        share * _CONFIDENCE.get(kind, 0.9),
        share,
        kind,
        tuple(ours.words[kind][each] for each in sorted(mine)),
        tuple(theirs.words[kind][each] for each in sorted(its)),
        dated=any(ours.of(each) and theirs.of(each) for each in ("month", "weekday")),
    )


def _other_word(
    other: frozenset[str], ours: Statement, theirs: Statement, share: float, embed: Embed
) -> Alignment | None:
    """A word of the sentence in the place of the statement's own, and of one category with it.

    Its place is next to the same word, its category is told by the cosine of the two words.
    """
    pairs = [
        (ours.words["word"][mine], theirs.words["word"][its])
        for mine in sorted(other)
        for its in sorted(theirs.of("word") - ours.of("word"))
        if ours.beside[mine] & theirs.beside[its]
    ]
    if not pairs:
        return None
    firsts, seconds = (embed([pair[side] for pair in pairs]) for side in (0, 1))
    near = np.einsum("ij,ij->i", firsts, seconds)
    best = int(near.argmax())
    low, high = _KINDRED
    if not low <= float(near[best]) < high:
        return None
    mine, its = pairs[best]
    return Alignment(Relation.VALUE, share * _CONFIDENCE["word"], share, "word", (mine,), (its,))


def _read(token: str) -> list[tuple[str, str]]:
    low = token.lower()
    if low[0].isdigit():
        return [("number", low)]
    kind = _KIND_OF.get(low)
    if kind is not None and not (low == "may" and token != "May"):
        return [(kind, _VALUE_OF.get(low, low))]
    return [("word", stem) for stem in stems_of(token)]


def _scope(text: str, start: int) -> tuple[int, int]:
    """The rest of the clause behind a negation."""
    end = _CLAUSE_END.search(text, start)
    return start, end.start() if end is not None else len(text)
