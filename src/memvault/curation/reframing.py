"""Finds the sentences that a change moves, repeats or puts into another frame."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from difflib import SequenceMatcher
from typing import NamedTuple

from memvault.curation.sentence_digests import SNIFFED, Unit, increasing, units_and_marks
from memvault.text.words import STOP_WORDS, composed, some_words
from memvault.verification.amount_words import NUMBER_WORDS, NUMBER_WORDS_ELSEWHERE

_SAME_WORDS = 0.5  # share of the words that a corrected sentence keeps
_MAX_CHANGED = 20  # words
_MAX_TOUCHED = 50  # sentences; a change of more of them concerns the whole note
_LEAST_DIGITS = 2  # of a number that shows what a sentence speaks of
_LONGEST_WORD = 40  # letters of a word whose spelling is compared
_SAME_SPELLING = 0.8  # share of the letters that a word with its spelling corrected keeps
_WORD = re.compile(r"\w+")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(\1[ \t]*){2,}")


class Reframed(NamedTuple):
    """The sentences of the version before that a change moved, repeated or gave another meaning.

    Attributes:
        digests: of these sentences.
        own_places: `Unit.places` where they still are as they were before.
        new_places: `Unit.places` where the change put them or changed what is around them.
        causes: digests of the sentences that it deleted, reworded or put into another frame.
    """

    digests: tuple[str, ...] = ()
    own_places: tuple[str, ...] = ()
    new_places: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()


def reframed(before: bytes | None, after: bytes | None) -> Reframed:
    """The sentences that a change does not leave in their frame and in their order.

    Includes sentences whose meaning may depend on one that the change deleted or reworded: the rest
    of its paragraph, list or table, the rest of its section if it was prose, and what speaks of the
    same elsewhere in the note, since a denial names what it denies.
    """
    if not before or not after or b"\0" in after[:SNIFFED]:
        return Reframed()
    old, new = list(units_and_marks(before)), list(units_and_marks(after))
    known = {unit.written for unit in old if unit.says_something}
    found, causes = _changed(old, new)
    changed = [new[at] for at in found if new[at].written in known]
    if not changed:
        return Reframed()
    written = {unit.written for unit in changed}
    taken = {place for unit in changed for place in unit.places}
    left = [unit for unit in (*old, *new) if unit.written in written]
    own = {place for unit in left for place in unit.places} - taken
    return Reframed(
        tuple(dict.fromkeys(unit.digest for unit in changed)),
        tuple(sorted(own)),
        tuple(sorted(taken)),
        tuple(dict.fromkeys(unit.digest for unit in causes if unit.says_something)),
    )


def _changed(old: Sequence[Unit], new: Sequence[Unit]) -> tuple[list[int], list[Unit]]:
    """The places of the new sentences that are not kept or may mean something else now, and the
    sentences that the change itself touched."""
    kept, corrected = _alignment(old, new)
    staying = {unit for unit, _ in kept} | corrected.keys()
    lost = {unit.block for at, unit in enumerate(old) if at not in staying and not _is_rule(unit)}
    cut = _cut_sections(old, new, staying, corrected)
    places = {at: was for was, at in kept}
    opened = {
        unit.block
        for at, unit in enumerate(new)
        if at not in places and not _is_rule(unit) and (unit.opens_mark or not unit.says_something)
    }
    spoken_of = _spoken_of(old, new, kept, corrected)
    found = [
        at
        for at, unit in enumerate(new)
        if at not in places
        or old[places[at]].block in lost
        or (unit.is_body and old[places[at]].section in cut)
        or unit.block in opened
        or at in spoken_of
    ]
    kept_places = set(places.values())
    causes = [unit for at, unit in enumerate(old) if at not in kept_places]
    return found, [*causes, *(new[at] for at in places if new[at].block in opened)]


def _spoken_of(
    old: Sequence[Unit],
    new: Sequence[Unit],
    kept: Sequence[tuple[int, int]],
    corrected: Mapping[int, int],
) -> set[int]:
    """The places of kept sentences that speak of what the change took out of others."""
    staying = {was for was, _ in kept}
    touched = [at for at, unit in enumerate(old) if at not in staying and unit.is_statement]
    others = {at: _telling(new[at]) for _, at in kept if new[at].is_statement}
    if len(touched) > _MAX_TOUCHED:
        return set(others)
    found: set[int] = set()
    for was in touched:
        words = taken = _telling(old[was])
        if was in corrected and _keeps_words(old[was], new[corrected[was]]):
            taken = words ^ _telling(new[corrected[was]])
        found |= {at for at, other in others.items() if _speak_of_one(words, taken, other)}
    return found


def _speak_of_one(words: Set[str], taken: Set[str], other: Set[str]) -> bool:
    """Whether a sentence with ``other`` words has a number that was taken out of one with these
    ``words``, or else something that was and half of the words of the shorter."""
    shared = taken & other
    if any(len(word) >= _LEAST_DIGITS and word.isdigit() for word in shared):
        return True
    return bool(shared) and 2 * len(words & other) >= min(len(words), len(other))


def _telling(unit: Unit) -> frozenset[str]:
    return frozenset(some_words(composed(unit.text))) - STOP_WORDS


def _cut_sections(
    old: Sequence[Unit], new: Sequence[Unit], staying: Set[int], corrected: Mapping[int, int]
) -> set[int]:
    """The sections that lost prose, or in which the words of a sentence were changed."""
    remaining = {unit.written for unit in new}
    return {
        unit.section
        for at, unit in enumerate(old)
        if unit.is_prose and unit.says_something and unit.written not in remaining
        if at not in staying or (at in corrected and not _keeps_words(unit, new[corrected[at]]))
    }


def _alignment(
    old: Sequence[Unit], new: Sequence[Unit]
) -> tuple[list[tuple[int, int]], dict[int, int]]:
    """The pairs of places of the sentences that are kept, and of those that are corrected.

    A patience diff: sentences that both versions have once divide the text, and so on in each part.
    """
    kept: list[tuple[int, int]] = []
    corrected: dict[int, int] = {}
    parts = [(0, len(old), 0, len(new))]
    while parts:
        start, end, first, last = parts.pop()
        while start < end and first < last and old[start].framed == new[first].framed:
            kept.append((start, first))
            start, first = start + 1, first + 1
        while start < end and first < last and old[end - 1].framed == new[last - 1].framed:
            end, last = end - 1, last - 1
            kept.append((end, last))
        anchors = _anchors(old[start:end], new[first:last])
        if anchors:
            bounds = [(start + was, first + at) for was, at in anchors]
            ends = zip([(start, first), *bounds], [*bounds, (end, last)], strict=True)
            parts += [(a, a_end, b, b_end) for (a, b), (a_end, b_end) in ends]
        elif end - start == last - first:
            pairs = zip(range(start, end), range(first, last), strict=True)
            corrected |= {was: at for was, at in pairs if _is_correction(old[was], new[at])}
    return kept, corrected


def _anchors(old: Sequence[Unit], new: Sequence[Unit]) -> list[tuple[int, int]]:
    """The places of the sentences that both versions have once, without those that moved."""
    places, new_places = _single(old), _single(new)
    both = sorted((at, places[key]) for key, at in new_places.items() if key in places)
    staying = increasing([was for _, was in both])
    return [(was, at) for k, (at, was) in enumerate(both) if k in staying]


def _single(units: Sequence[Unit]) -> dict[tuple[str, str], int]:
    counts = Counter(unit.framed for unit in units)
    return {unit.framed: at for at, unit in enumerate(units) if counts[unit.framed] == 1}


def _is_correction(old: Unit, new: Unit) -> bool:
    """Whether a sentence was corrected in its place rather than replaced by another."""
    if old.frame != new.frame:
        return False
    before, after = (Counter(unit.words.split()) for unit in (old, new))
    return (before & after).total() > _SAME_WORDS * max(before.total(), after.total())


def _keeps_words(old: Unit, new: Unit) -> bool:
    """Whether a correction changes only numbers, names and spellings: no denial is one of them."""
    before, after = (Counter(_WORD.findall(unit.text)[1:]) for unit in (old, new))
    first, new_first = ((_WORD.findall(unit.text) or [""])[0] for unit in (old, new))
    gone, come = list((before - after).elements()), list((after - before).elements())
    if first.casefold() != new_first.casefold():
        gone, come = [*gone, first.casefold()], [*come, new_first.casefold()]
    if len(gone) + len(come) > _MAX_CHANGED:  # and else the time would be quadratic
        return False
    return all(
        _is_value(word) or any(_is_respelt(word, other) for other in others)
        for words, others in ((gone, come), (come, gone))
        for word in words
    )


def _is_value(word: str) -> bool:
    is_name = word[:1].isupper() and not (word.isupper() and len(word) > 1)  # "NOT" is none
    is_number = word in NUMBER_WORDS or word in NUMBER_WORDS_ELSEWHERE
    return is_name or is_number or any(map(str.isdigit, word))


def _is_respelt(word: str, other: str) -> bool:
    if word[0] != other[0] or abs(len(word) - len(other)) > 1 or len(word) > _LONGEST_WORD:
        return False
    return SequenceMatcher(None, word, other, autojunk=False).ratio() >= _SAME_SPELLING


def _is_rule(unit: Unit) -> bool:
    """Whether it is a line between sections, which means nothing for the text around it."""
    return unit.is_body and _RULE.fullmatch(unit.text) is not None
