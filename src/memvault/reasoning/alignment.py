"""Compares a statement with a sentence of a note, word by word.

The words of a sentence fall into kinds: numbers, months, weekdays, ordinals, periods, shares,
names, and all others. A statement contradicts a sentence that has most of its words

- if the sentence has another word of one kind in the same place ("on Sunday" for "on Saturday"),
- if it has the opposite of a word ("upper" for "lower"), or denies the statement,
- if it compares or orders two terms the other way round ("A before B" for "B before A"),
- if it gives the value to another subject ("9 euros for adults, 6 for children").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

import numpy as np
import numpy.typing as npt

from memvault.reasoning.placement import (
    accompanies_opposite,
    comparable_numbers,
    misplaced,
    nearest,
)
from memvault.reasoning.wording import (
    COMPARING,
    KINDS,
    LIGHT,
    OPPOSITE,
    Statement,
    compared,
    denies,
    said_by,
)
from memvault.verification.amounts import AmountKind, equal_amounts
from memvault.verification.claim_stems import canonical_stem, stems_of

COVERED = 0.6  # least share of a statement's words in a sentence on the same subject
_OWN = 0.5  # least share without title and headings, for a sentence that supports or denies it
_COVERED_BUT_NAME = 0.34  # least share if the sentence has another name
_DERIVED = (
    5  # least letters of a stem, if a longer stem that begins with it counts as the equal_amounts
)
_SAME_WORD = 0.62  # cosine from which two words count as synonyms
_KINDRED = (0.28, 0.9)  # range of the cosine of two words of one category and different meaning
_CONFIDENCE = {"word": 0.6, "name": 0.8}  # of differing words and names; values have 0.9
_EXCEPT = re.compile(r"\b(?:others?|else|rest|except|remaining)\b", re.IGNORECASE)
_VALUES = ("number", "weekday", "month", "ordinal", "period", "share", "shortcut", "ending")
_SWITCH = ("on", "off")
_SWITCHED = re.compile(r"\b(?:switch|turn|toggl|flip)\w*\s+(?:\w+\s+)?(?:on|off)\b", re.IGNORECASE)
_OF_WHAT = re.compile(
    r"\b(?:of|with|at|for|from|by|in)\s+(?:(?:the|an?|my|our|his|her|their)\s+)?(\w+)",
    re.IGNORECASE,
)
# Words too common to count as a replacement of their opposites.
_TOO_COMMON = ("before", "after", "new", "old", "day", "night", "more", "less")
# Words that say which of many it is, or only that it takes place.
_LITTLE = LIGHT | stems_of(
    "next last new first second previous following upcoming prochain prochaine dernier dernière "
    "nächste nächster nächstes letzte letzter próximo próxima último última prossimo prossima "
    "ultimo ultima volgende vorige laatste следующий следующая"
)
_THE = re.compile(
    r"\W*(?:(?:the|this|our|my|le|la|les|notre|der|die|das|unser|il|lo|gli|el|los|las|os?|de|het)\b"
    r"|l['’])",
    re.IGNORECASE,
)
_SHORT = 2  # letters of words that say nothing in most languages: "le", "am", "il"
Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]


class Relation(StrEnum):
    """The relation of a sentence to a statement."""

    SUPPORTS = "supports"
    VALUE = "other value"
    DENIES = "denies"


@dataclass(frozen=True, slots=True)
class Alignment:
    """The result of comparing a sentence with a statement.

    Attributes:
        confidence: in [0, 1].
        covered: share of the statement's words that the sentence has with its title and headings.
        own: the same without title and headings.
        ours, theirs: the differing words of the statement and the sentence, of one ``kind``.
        dated: whether both name a month, or both a weekday.
    """

    relation: Relation
    confidence: float
    covered: float
    own: float
    kind: str = ""
    ours: tuple[str, ...] = ()
    theirs: tuple[str, ...] = ()
    dated: bool = False


def align(ours: Statement, theirs: Statement, around: Statement, embed: Embed) -> Alignment | None:
    """Compare a sentence of a note with a statement; None if they are not comparable.

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
        others = [*theirs.words.get("name", {}).values(), *around.words.get("name", {}).values()]
        self._names = frozenset(
            key
            for key in ours.of("name") - theirs.of("name") - around.of("name")
            if not _mentions_name(
                ours.words["name"][key], theirs.of("word") | around.of("word"), others
            )
        )
        self._alike: dict[str, str] = {}  # word of the statement → its synonym in the sentence
        if self._other and len(self._other) <= max(2, len(words) // 2):
            self._alike = self._synonyms(self._other)
            self._other -= self._alike.keys()
        self._turned = self._other & {
            canonical_stem(word) for word in ours.low if OPPOSITE.get(word, set()) & theirs.low
        }
        self._other -= self._turned
        heavy = words - LIGHT or words
        missing = self._other - LIGHT if heavy is not words else self._other
        self._missing = missing
        named = ours.of("name")
        total = len(heavy) + len(named)
        covered = total - len(missing) - len(self._names)
        around_only = (heavy - missing | named - self._names) - said_by(theirs)
        self._share = covered / total if total else 1.0
        self._own = (covered - len(around_only)) / total if total else 1.0

    def outcome(self) -> Alignment | None:
        ours, theirs = self._ours, self._theirs
        if not self._is_on_one_matter():
            return None
        if self._names:  # another subject, unless it has another name in the same place
            return self._other_name()
        other = self._other_subject()
        if other is not None:
            if self._missing or not self._values_are_stated() or ours.denied or theirs.denied:
                return None
            return self._differs("name", ours.of("name") & theirs.of("name"), other)
        differing = self._other_values()
        if differing is None:
            return None
        if isinstance(differing, Alignment):
            return differing
        if (wrong := misplaced(ours, theirs)) is not None:
            return self._differs(*wrong)
        turned = None if self._missing else self._is_turned()
        if turned is not None:
            said = Relation.DENIES if turned else Relation.SUPPORTS
            return Alignment(said, self._share, self._share, self._own)
        opposite = self._opposite()
        if opposite is not None:
            return opposite
        if len(self._missing) <= (1 if len(ours.of("word")) > 2 else 0):
            found = self._same_or_denied()
            if found is not None:
                return found
        if 0 < len(self._missing) <= 2 and not (
            ours.denied or theirs.denied or COMPARING.search(ours.text)
        ):
            return self._other_word()
        return None

    def _is_on_one_matter(self) -> bool:
        """Whether the sentence, with its headings, has most words of the statement.

        The sentence itself must have one of them: common values, such as a month, are not enough.
        """
        said = said_by(self._ours)
        if not said - LIGHT or not (said & said_by(self._theirs) or self._alike):
            return False
        return self._share >= (COVERED if not self._names else _COVERED_BUT_NAME)

    def _same_or_denied(self) -> Alignment | None:
        """The alignment if the sentence supports or denies the statement, else None."""
        ours, theirs = self._ours, self._theirs
        shared = (said_by(ours) - self._missing) & (said_by(theirs) | self._alike.keys())
        scopes = self._scopes()
        shared |= ours.of("word").intersection(chain(*scopes))
        opposed = denies(scopes, shared) != denies(ours.denials, self._told)
        opposite_of = (other for word in theirs.low for other in OPPOSITE.get(word, ()))
        reversed_ = {canonical_stem(other) for other in opposite_of}
        alone = self._missing and any(len(scope) < 2 for scope in ours.denials)
        said = self._values_are_stated() and self._own >= _OWN
        if opposed and said and not alone and not reversed_ & ours.denied:
            return Alignment(Relation.DENIES, self._share, self._share, self._own)
        unsure = any(each & shared for each in scopes) and not ours.denied
        if not self._missing and said and not opposed and not unsure:
            return Alignment(Relation.SUPPORTS, self._share, self._share, self._own)
        return None

    def _scopes(self) -> list[frozenset[str]]:
        """The words that each negation of the sentence denies, as the statement's own if known."""
        mine = {its: word for word, its in self._alike.items()}
        mine |= {
            each: word
            for each in chain(*self._theirs.denials)
            for word in self._ours.of("word")
            if _is_derived(word, each)
        }
        return [frozenset(mine.get(each, each) for each in scope) for scope in self._theirs.denials]

    # -- differences ---------------------------------------------------------------------------

    def _other_subject(self) -> frozenset[str] | None:
        """The names in the sentence's clauses that have the statement's words but not its name."""
        ours, theirs = self._ours, self._theirs
        mine = ours.of("name") & theirs.of("name")
        if not mine or theirs.of("name") <= ours.of("name"):
            return None
        clauses = {
            each.clause
            for each in theirs.tokens
            if each.kind == "word" and each.key in ours.of("word")
        }
        named = {
            clause: {
                each.key for each in theirs.tokens if (each.kind, each.clause) == ("name", clause)
            }
            for clause in clauses
        }
        if not clauses or any(not names or names & mine for names in named.values()):
            return None
        return frozenset().union(*named.values())

    def _other_name(self) -> Alignment | None:
        ours, theirs = self._ours, self._theirs
        its = frozenset(
            key
            for key in theirs.of("name") - ours.of("name") - self._around.of("name")
            if not stems_of(theirs.words["name"][key]) <= said_by(ours)
        )
        shared = {each.clause for each in theirs.tokens if each.key in ours.of("name")}
        if shared:
            its &= {each.key for each in theirs.tokens if each.clause in shared}
        if len(self._missing) > 1 or not self._values_are_stated():
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
        """The difference in a value; False if there is none, None if too much differs."""
        ours, theirs = self._ours, self._theirs
        kinds = self._differing_kinds()
        if len(kinds) > 1 and (self._missing or len(kinds - {"date", "ordinal"}) > 1):
            return None
        if len(self._missing) > 1 or self._turned:
            return False
        for kind in _VALUES:
            given = theirs.of(kind) if kind != "number" else comparable_numbers(ours, theirs)
            mine, its = ours.of(kind) - theirs.of(kind) - self._around.of(kind), given
            its -= ours.of(kind)
            if not mine or not its:
                continue
            if self._is_of_other() or self._is_other_occasion(kind):
                return None
            if kind == "number" and self._are_same_amounts():
                continue
            if kind in ("share", "ordinal", "period") and self._missing:
                continue
            if kind == "number" and self._is_share_of_it():
                continue
            if bool(ours.denied) != bool(theirs.denied & theirs.of(kind)):
                return None
            return self._differs(kind, mine, nearest(ours, theirs, kind, its))
        return False

    def _is_of_other(self) -> bool:
        """Whether the sentence's values belong to another object.

        Then the statement's object is missing ("with the dentist"), or another word replaces it
        ("the new sofa", "the new kitchen").
        """
        of = {canonical_stem(match[1]) for match in _OF_WHAT.finditer(self._ours.text)}
        return bool(of & self._missing) or any(True for _ in self._replaced())

    def _is_other_occasion(self, kind: str) -> bool:
        """Whether both give days of what there are many of: two appointments are not one fact.

        So it is if the sentence says with whom or for what, and the statement says something else
        or nothing but the word for it ("Next appointment on 4 December"). "The regatta" is one.
        """
        if _THE.match(self._ours.text):
            return False
        if kind != "weekday" and not (_names_day(self._ours) and _names_day(self._theirs)):
            return False
        mine, its = _matters(self._ours), _matters(self._theirs)
        return bool(its - mine) and (bool(mine & self._missing) or len(mine & its) <= 1)

    def _is_share_of_it(self) -> bool:
        """Whether the sentence's value is stated as a part ("pays half of the 780 euros")."""
        said = said_by(self._ours)
        shares = {
            each.clause
            for each in self._theirs.tokens
            if each.kind == "share" and each.key not in self._ours.of("share")
        }
        return any(each.clause in shares and each.key in said for each in self._theirs.tokens)

    def _are_same_amounts(self) -> bool:
        """Whether each amount of the statement equals one of the sentence's of the same unit.

        Amounts without a counterpart in the sentence do not count.
        """
        pairs = [
            [
                equal_amounts(a, b) is not False
                for b in self._theirs.amounts
                if (a.kind, a.unit) == (b.kind, b.unit)
            ]
            for a in self._ours.amounts
        ]
        like = [each for each in pairs if each]
        return bool(like) and all(map(any, like))

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
        """The alignment if the sentence has the opposite of a word in its place, else None."""
        ours, theirs = self._ours, self._theirs
        if len(self._missing) > 2 or ours.denied or theirs.denied or self._is_of_other():
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
                if not accompanies_opposite(ours, theirs, its[0], word):
                    continue
            elif len(self._missing - {canonical_stem(word)}) > 1:
                continue
            elif word in _TOO_COMMON:
                continue  # too common to replace the other
            sure = self._share * _CONFIDENCE["word"] + 0.1
            return Alignment(
                Relation.VALUE, sure, self._share, self._own, "word", (word,), (its[0],)
            )
        return None

    def _other_word(self) -> Alignment | None:
        """The alignment if the sentence replaces a word by another of the same category, else None.

        The place of a word is given by its neighbours, its category by the cosine of the two words.
        """
        pairs = list(self._replaced())
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
        return Alignment(Relation.VALUE, sure, self._share, self._own, "word", (mine,), (its,))

    # -- helpers --------------------------------------------------------------------------------

    def _replaced(self) -> Iterator[tuple[str, str]]:
        """Each word that the sentence lacks, with a word that it has in the same place."""
        ours, theirs = self._ours, self._theirs
        for mine in sorted(self._missing):
            for kind in ("word", "name"):
                for its in sorted(theirs.of(kind) - said_by(ours)):
                    frames = ours.beside.get(mine, ("", "")), theirs.beside.get(its, ("", ""))
                    if _is_framed_alike(*frames):
                        yield ours.words["word"][mine], theirs.words[kind][its]

    def _synonyms(self, other: frozenset[str]) -> dict[str, str]:
        """The synonym in the sentence of each of these words that has one."""
        ours, theirs = self._ours, self._theirs
        mine = sorted(other)
        its = sorted(theirs.of("word") - ours.of("word"))
        if not its:
            return {}
        firsts = self._embed([ours.words["word"][each] for each in mine])
        seconds = self._embed([theirs.words["word"][each] for each in its])
        near = firsts @ seconds.T
        near += [[float(_is_derived(one, each)) for each in its] for one in mine]
        nearest = zip(mine, near.argmax(axis=1), near.max(axis=1), strict=True)
        return {one: its[place] for one, place, value in nearest if value >= _SAME_WORD}

    def _values_are_stated(self) -> bool:
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
            self._own,
            kind,
            tuple(ours.words[kind][each] for each in sorted(mine)),
            tuple(theirs.words[kind][each] for each in sorted(its)),
            dated=any(ours.of(each) and theirs.of(each) for each in ("month", "weekday")),
        )


def _names_day(said: Statement) -> bool:
    return any(each.kind is AmountKind.DATE and each.parts[2] for each in said.amounts)


def _matters(said: Statement) -> frozenset[str]:
    """Its words and names, but for those of its days and sums and those that say which of many."""
    outside = (
        each
        for each in said.tokens
        if not any(amount.start <= each.start < amount.end for amount in said.amounts)
    )
    return frozenset(
        each.key
        for each in outside
        if each.kind in ("word", "name") and len(each.text) > _SHORT and each.key not in _LITTLE
    )


def _is_derived(one: str, other: str) -> bool:
    """Whether one stem begins with the other ("refund", "refundable")."""
    short, long = sorted((one, other), key=len)
    return len(short) >= _DERIVED and long.startswith(short)


def _is_framed_alike(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether the same word precedes or follows two words."""
    return any(mine and mine == its for mine, its in zip(one, other, strict=True))


def _mentions_name(name: str, words: frozenset[str], others: Sequence[str]) -> bool:
    """Whether a sentence has at least half of a name's words.

    Names that share only a part of it do not count ("Sync Standard" is not "Sync Plus").
    """
    stems = stems_of(name)
    told, siblings = set(words), set[str]()
    for part in map(stems_of, others):
        is_same = part <= stems or stems <= part
        (told if is_same else siblings).update(part & stems)
    return 2 * len(stems & (told - siblings)) >= len(stems) > 0
