"""Compares a statement with a sentence of a note, word by word.

The words of a sentence fall into kinds: numbers, months, weekdays, ordinals, periods, shares,
names, and all others. A statement contradicts a sentence that has most of its words

- if the sentence has another word of one kind in the same place ("on Sunday" for "on Saturday"),
- if it has the opposite of a word ("upper" for "lower"), or denies what the statement says,
- if it compares or orders two things the other way round ("A before B" for "B before A"),
- if it gives the value to something else ("9 euros for adults, 6 for children").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from memvault.reasoning.wording import (
    COMPARING,
    KINDS,
    LIGHT,
    OPPOSITE,
    TOKEN,
    Statement,
    compared,
    denies,
    said_by,
)
from memvault.verification.amounts import Amount, AmountKind, same
from memvault.verification.clause import canonical, stems_of

COVERED = 0.6  # share of a statement's words that a sentence about the same matter has
_COVERED_BUT_NAME = 0.34  # the same if the sentence names another
_DERIVED = 5  # letters that a stem has at least if a longer one is taken for the same
_SAME_WORD = 0.62  # cosine from which two words count as one
_KINDRED = (0.25, 0.9)  # cosine of two words in one place that do not mean the same
_NEXT_NAME = 3  # words from one name of a list to the next
_APART = 6  # how much farther a word is beyond a comma or "and"
_CONFIDENCE = {"word": 0.6, "name": 0.8}  # of the kinds that are less sure than a value
_EXCEPT = re.compile(r"\b(?:others?|else|rest|except|remaining)\b", re.IGNORECASE)
_SWITCH = ("on", "off")
_SWITCHED = re.compile(r"\b(?:switch|turn|toggl|flip)\w*\s+(?:\w+\s+)?(?:on|off)\b", re.IGNORECASE)
# By itself too common to stand in the place of its opposite.
_TOO_COMMON = ("before", "after", "new", "old", "day", "night", "more", "less")
Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]


class Relation(StrEnum):
    """How a sentence relates to a statement."""

    SUPPORTS = "supports"
    VALUE = "other value"
    DENIES = "denies"


@dataclass(frozen=True, slots=True)
class Alignment:
    """``confidence`` in [0, 1]; ``ours`` and ``theirs`` are the words that differ, of one kind;
    ``dated``: whether both sentences name a month or a weekday."""

    relation: Relation
    confidence: float
    covered: float
    kind: str = ""
    ours: tuple[str, ...] = ()
    theirs: tuple[str, ...] = ()
    dated: bool = False


def align(ours: Statement, theirs: Statement, around: Statement, embed: Embed) -> Alignment | None:
    """Compare a sentence of a note with a statement; None if it is about something else.

    Args:
        around: the note's title and headings, which name the sentence's subject.
    """
    return _Comparison(ours, theirs, around, embed).outcome()


class _Comparison:
    def __init__(self, ours: Statement, theirs: Statement, around: Statement, embed: Embed) -> None:
        self._ours, self._theirs, self._around, self._embed = ours, theirs, around, embed
        told = said_by(theirs) | said_by(around)
        self._told = told
        words = ours.of("word")
        self._other = words - told
        self._names = frozenset(
            key
            for key in ours.of("name") - theirs.of("name") - around.of("name")
            if not _is_told(ours.words["name"][key], told)
        )
        if self._other and len(self._other) <= max(2, len(words) // 2):
            self._other = self._without_synonyms(self._other)
        self._other -= {
            canonical(word) for word in ours.low if OPPOSITE.get(word, set()) & theirs.low
        }
        heavy = words - LIGHT or words
        missing = self._other - LIGHT if heavy is not words else self._other
        self._missing = missing
        self._share = self._covered(len(heavy))

    def _covered(self, words: int) -> float:
        """The share of the statement's words and names that the sentence has."""
        named = len(self._ours.of("name"))
        missing = len(self._missing) + len(self._names)
        return (words + named - missing) / (words + named) if words + named else 1.0

    def outcome(self) -> Alignment | None:
        ours, theirs = self._ours, self._theirs
        if self._share < (COVERED if not self._names else _COVERED_BUT_NAME):
            return None
        if self._names:  # about another subject, unless it names another in the same place
            return self._other_name()
        differing = self._other_values()
        if differing is None:
            return None
        if isinstance(differing, Alignment):
            return differing
        if (misplaced := self._misplaced()) is not None:
            return misplaced
        turned = None if self._missing else self._is_turned()
        if turned is not None:
            said = Relation.DENIES if turned else Relation.SUPPORTS
            return Alignment(said, self._share, self._share)
        opposite = self._opposite()
        if opposite is not None:
            return opposite
        if len(self._missing) <= (1 if len(ours.of("word")) > 2 else 0):
            shared = (said_by(ours) - self._missing) & said_by(theirs)
            opposed = denies(theirs, shared) != denies(ours, self._told)
            opposite_of = (other for word in theirs.low for other in OPPOSITE.get(word, ()))
            reversed_ = {canonical(other) for other in opposite_of}
            alone = self._missing and any(len(scope) < 2 for scope in ours.denials)
            if opposed and self._values_are_told() and not alone and not reversed_ & ours.denied:
                return Alignment(Relation.DENIES, self._share, self._share)
            if not self._missing and self._values_are_told():
                return Alignment(Relation.SUPPORTS, self._share, self._share)
        if 0 < len(self._missing) <= 2 and not (
            ours.denied or theirs.denied or COMPARING.search(ours.text)
        ):
            return self._other_word()
        return None

    # -- differences ---------------------------------------------------------------------------

    def _other_name(self) -> Alignment | None:
        ours, theirs = self._ours, self._theirs
        its = theirs.of("name") - ours.of("name") - self._around.of("name")
        if len(self._missing) > 1 or self._differing_kinds():
            return None
        if _EXCEPT.search(theirs.text):
            return None
        if theirs.only and not ours.denied and not self._missing:
            its = its or theirs.of("name")
            return self._differs("name", self._names, its) if its else None
        if ours.denied or not its:
            return None
        near = [
            (mine, other)
            for mine in self._names
            for other in its
            if set(ours.beside.get(mine, ())) & set(theirs.beside.get(other, ())) - {""}
        ]
        if near:
            return self._differs("name", {mine for mine, _ in near}, {each for _, each in near})
        if not self._missing and len(its) == len(self._names) == 1:
            return self._differs("name", self._names, its)
        return None

    def _differing_kinds(self) -> set[str]:
        ours, theirs = self._ours, self._theirs
        return {
            "date" if kind in ("month", "weekday") else kind
            for kind in KINDS
            if ours.of(kind) - theirs.of(kind) - self._around.of(kind) and theirs.of(kind)
        }

    def _other_values(self) -> Alignment | bool | None:
        """The difference; False if there is none, None if too much differs."""
        ours, theirs = self._ours, self._theirs
        kinds = self._differing_kinds()
        if len(kinds - {"date"}) > 1 or (len(kinds) > 1 and "ordinal" in kinds):
            return None
        if len(self._missing) > 1:
            return False
        for kind in ("number", "weekday", "month", "ordinal", "period", "share"):
            given = theirs.of(kind) if kind != "number" else self._comparable_numbers()
            mine, its = ours.of(kind) - theirs.of(kind) - self._around.of(kind), given
            its -= ours.of(kind)
            if not mine or not its:
                continue
            if kind == "number" and self._is_same_amount():
                continue
            if kind in ("share", "ordinal", "period") and self._missing:
                continue
            if kind == "number" and self._is_share_of_it():
                continue
            if bool(ours.denied) != bool(theirs.denied & theirs.of(kind)):
                return None
            return self._differs(kind, mine, self._nearest(kind, its))
        return False

    def _comparable_numbers(self) -> frozenset[str]:
        """Numbers of the sentence that count the same as the statement's."""
        ours, theirs = self._ours, self._theirs
        nothing = frozenset("0") & theirs.of("number")
        if not ours.amounts:
            return theirs.of("number")
        said = said_by(theirs)
        alike = [
            other
            for other in theirs.amounts
            if any((each.kind, each.unit) == (other.kind, other.unit) for each in ours.amounts)
        ] or [
            other
            for other in theirs.amounts
            if any(_is_comparable(each, other, said) for each in ours.amounts)
        ]
        return nothing | {
            each.key
            for each in theirs.tokens
            if each.kind == "number" and any(a.start <= each.start < a.end for a in alike)
        }

    def _is_share_of_it(self) -> bool:
        """Whether the sentence says that it is a part ("pays half of the 780 euros")."""
        said = said_by(self._ours)
        shares = {
            each.clause
            for each in self._theirs.tokens
            if each.kind == "share" and each.key not in self._ours.of("share")
        }
        return any(each.clause in shares and each.key in said for each in self._theirs.tokens)

    def _is_same_amount(self) -> bool:
        return any(
            same(a, b) is not False
            for a in self._ours.amounts
            for b in self._theirs.amounts
            if (a.kind, a.unit) == (b.kind, b.unit)
        )

    def _nearest(self, kind: str, keys: frozenset[str]) -> frozenset[str]:
        if len(keys) < 2:
            return keys
        best = self._weights(kind, keys)
        if not best:
            return keys
        return frozenset({max(best, key=lambda key: best[key])})

    def _weights(self, kind: str, keys: frozenset[str]) -> dict[str, float]:
        """For each value of a sentence, the share of the statement's words near it."""
        values = [each for each in self._theirs.tokens if each.kind == kind and each.key in keys]
        weights = dict.fromkeys((each.key for each in values), 0.0)
        mine = said_by(self._ours)
        for word in self._theirs.tokens:
            if word.kind not in ("word", "name") or word.key not in mine or word in values:
                continue
            away = [
                abs(word.place - each.place) + _APART * abs(word.clause - each.clause)
                for each in values
            ]
            near = min(away, default=0)
            if away.count(near) == 1:
                weights[values[away.index(near)].key] += 1.0 / near if near else 1.0
        return weights

    def _misplaced(self) -> Alignment | None:
        """A value that the sentence gives to something else than the statement's subject."""
        ours, theirs = self._ours, self._theirs
        subject = next((each.key for each in ours.tokens if each.kind in ("word", "name")), "")
        places = [each for each in theirs.tokens if each.key == subject]
        if ours.denied or theirs.denied or len(places) != 1:
            return None
        for kind in ("number", "weekday", "month", "name"):
            told = theirs.of(kind) if kind != "number" else self._comparable_numbers()
            mine = ours.of(kind) & told
            if len(mine) != 1 or len(told) < 2 or subject in told:
                continue
            away = {
                each.key: abs(each.place - places[0].place)
                + _APART * abs(each.clause - places[0].clause)
                for each in theirs.tokens
                if each.kind == kind and each.key in told
            }
            best = min(away, key=lambda key: away[key])
            own = next(iter(mine))
            if kind == "name" and self._are_joined(own, best):
                continue
            if away[own] - away[best] >= _APART and self._has_other_subject(kind, own):
                return self._differs(kind, mine, frozenset({best}))
        return None

    def _are_joined(self, one: str, other: str) -> bool:
        """Whether two names are a list ("A and B")."""
        at = {each.key: each.place for each in self._theirs.tokens}
        return abs(at[one] - at[other]) <= _NEXT_NAME

    def _has_other_subject(self, kind: str, key: str) -> bool:
        """Whether the clause with this value names something that the statement does not."""
        tokens, said = self._theirs.tokens, said_by(self._ours)
        clauses = {each.clause for each in tokens if (each.kind, each.key) == (kind, key)}
        return any(
            each.clause in clauses and each.kind in ("word", "name") and each.key not in said
            for each in tokens
        )

    def _is_turned(self) -> bool | None:
        """Whether two terms are compared or ordered in reverse; None if they are not compared."""
        one, other = compared(self._ours), compared(self._theirs)
        if one is None or other is None:
            return None
        (how, first, second), (their_how, their_first, their_second) = one, other
        turned = how in OPPOSITE.get(their_how, ())
        if not turned and how != their_how:
            return None
        alone, rest = first - second, second - first
        its_alone, its_rest = their_first - their_second, their_second - their_first
        straight = bool(alone & its_alone) and bool(rest & its_rest)
        crossed = bool(alone & its_rest) and bool(rest & its_alone)
        if straight == crossed:
            return None
        return straight if turned else crossed

    def _opposite(self) -> Alignment | None:
        """A word whose opposite the sentence has in its place."""
        ours, theirs = self._ours, self._theirs
        if len(self._missing) > 2 or ours.denied or theirs.denied:
            return None
        for word in sorted(ours.low):
            if word in _SWITCH and not (
                _SWITCHED.search(ours.text) and _SWITCHED.search(theirs.text)
            ):
                continue
            its = sorted(OPPOSITE.get(word, set()) & theirs.low)
            if not its:
                continue
            own = [m.start() for m in re.finditer(rf"\b{word}\b", theirs.text, re.IGNORECASE)]
            if own:
                if not self._stands_by(its[0], word):
                    continue
            elif len(self._missing - {canonical(word)}) > 1:
                continue
            elif word in _TOO_COMMON:
                continue  # too common to replace the other
            sure = self._share * _CONFIDENCE["word"] + 0.1
            return Alignment(Relation.VALUE, sure, self._share, "word", (word,), (its[0],))
        return None

    def _stands_by(self, opposite: str, word: str) -> bool:
        """Whether the words that accompany the statement's word accompany its opposite."""
        low = [match[0].lower() for match in TOKEN.finditer(self._theirs.text)]
        at, its = low.index(word), low.index(opposite)
        mine = {key for key in said_by(self._ours) if key not in (canonical(word),)}
        score = 0.0
        for place, each in enumerate(low):
            if canonical(each) not in mine or each in (word, opposite):
                continue
            between = low[min(place, at) : max(place, at)]
            beyond = low[min(place, its) : max(place, its)]
            own = abs(place - at) + _APART * sum(x in ("and", ",", ";", "but") for x in between)
            far = abs(place - its) + _APART * sum(x in ("and", ",", ";", "but") for x in beyond)
            score += 1.0 / max(1, far) - 1.0 / max(1, own)
        return score > 0.15

    def _other_word(self) -> Alignment | None:
        """A word of the sentence in the place of the statement's own, and of one category with it.

        Its place is next to the same words, its category is told by the cosine of the two words.
        """
        ours, theirs = self._ours, self._theirs
        pairs = [
            (ours.words["word"][mine], theirs.words[kind][its])
            for mine in sorted(self._missing)
            for kind in ("word", "name")
            for its in sorted(theirs.of(kind) - said_by(ours))
            if _is_framed_alike(ours.beside.get(mine, ("", "")), theirs.beside.get(its, ("", "")))
        ]
        if not pairs:
            return None
        firsts, seconds = (self._embed([pair[side] for pair in pairs]) for side in (0, 1))
        near = np.einsum("ij,ij->i", firsts, seconds)
        best = int(near.argmax())
        low, high = _KINDRED
        if not low <= float(near[best]) < high:
            return None
        mine, its = pairs[best]
        sure = self._share * _CONFIDENCE["word"]
        return Alignment(Relation.VALUE, sure, self._share, "word", (mine,), (its,))

    # -- helpers --------------------------------------------------------------------------------

    def _without_synonyms(self, other: frozenset[str]) -> frozenset[str]:
        """Less those for which the sentence has a word of the same meaning."""
        ours, theirs = self._ours, self._theirs
        mine = sorted(other)
        its = sorted(theirs.of("word") - ours.of("word"))
        if not its:
            return other
        firsts = self._embed([ours.words["word"][each] for each in mine])
        seconds = self._embed([theirs.words["word"][each] for each in its])
        near = (firsts @ seconds.T).max(axis=1)
        return frozenset(
            each
            for each, value in zip(mine, near, strict=True)
            if float(value) < _SAME_WORD and not any(_is_derived(each, other) for other in its)
        )

    def _values_are_told(self) -> bool:
        return not any(
            self._ours.of(kind) - self._theirs.of(kind) - self._around.of(kind) for kind in KINDS
        )

    def _differs(
        self, kind: str, mine: frozenset[str] | set[str], its: frozenset[str] | set[str]
    ) -> Alignment:
        ours, theirs = self._ours, self._theirs
        return Alignment(
            Relation.VALUE,
            self._share * _CONFIDENCE.get(kind, 0.9),
            self._share,
            kind,
            tuple(ours.words[kind][each] for each in sorted(mine)),
            tuple(theirs.words[kind][each] for each in sorted(its)),
            dated=any(ours.of(each) and theirs.of(each) for each in ("month", "weekday")),
        )


def _is_derived(one: str, other: str) -> bool:
    """Whether one stem continues the other ("refund", "refundable")."""
    short, long = sorted((one, other), key=len)
    return len(short) >= _DERIVED and long.startswith(short)


def _is_framed_alike(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether the same word precedes or follows two words."""
    return any(mine and mine == its for mine, its in zip(one, other, strict=True))


def _is_comparable(one: Amount, other: Amount, said: frozenset[str]) -> bool:
    """Whether two amounts are of one unit; a bare number is of any that its sentence names."""
    kinds = {one.kind, other.kind}
    if AmountKind.NUMBER in kinds:
        if AmountKind.VERSION in kinds:
            return False
        if AmountKind.DATE in kinds or AmountKind.COUNT not in kinds:
            return AmountKind.TIME not in kinds
        return canonical(one.unit or other.unit) in said
    return one.unit != "" and one.unit == other.unit


def _is_told(name: str, told: frozenset[str]) -> bool:
    """Whether at least half of a name's words are among these."""
    stems = stems_of(name)
    return 2 * len(stems & told) >= len(stems) > 0
