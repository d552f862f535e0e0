"""Finds the sentences that a change moves, repeats or puts into another frame."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from difflib import SequenceMatcher
from typing import NamedTuple

from memvault.curation.origins.sentence_digests import (
    SNIFFED,
    SentenceUnit,
    increasing,
    units_and_marks,
)
from memvault.text.words import STOP_WORDS, some_words
from memvault.verification.claims.amount_words import NUMBER_WORDS, NUMBER_WORDS_ELSEWHERE

_SAME_WORDS = 0.5  # share of the words that a corrected sentence keeps
_MAX_CHANGED = 20  # words
_MAX_TOUCHED = 50  # sentences; a change of more of them concerns the whole note
_MIN_DIGITS = 2  # of a number that shows what a sentence is about
_LONGEST_WORD = 40  # letters of a word whose spelling is compared
_SAME_SPELLING = 0.8  # share of the letters that a word with its spelling corrected keeps
_WORD = re.compile(r"\w+")
_CHECKBOX = re.compile(r"(?<=[-*+.)] )\[.\] ")
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
    old_forms = {unit.written for unit in old if unit.says_something}
    changed_indexes, causes = _changed(old, new)
    changed = [new[index] for index in changed_indexes if new[index].written in old_forms]
    if not changed:
        return Reframed()
    changed_forms = {unit.written for unit in changed}
    changed_places = {place for unit in changed for place in unit.places}
    remaining = [unit for unit in (*old, *new) if unit.written in changed_forms]
    own_places = {place for unit in remaining for place in unit.places} - changed_places
    return Reframed(
        tuple(dict.fromkeys(unit.digest for unit in changed)),
        tuple(sorted(own_places)),
        tuple(sorted(changed_places)),
        tuple(dict.fromkeys(unit.digest for unit in causes if unit.says_something)),
    )


def _changed(
    old: Sequence[SentenceUnit], new: Sequence[SentenceUnit]
) -> tuple[list[int], list[SentenceUnit]]:
    """The places of the new sentences that are not kept or may mean something else now, and the
    sentences that the change itself touched."""
    kept_pairs, corrected = _alignment(old, new)
    staying = {unit for unit, _ in kept_pairs} | corrected.keys()
    shortened_blocks = {
        unit.block for index, unit in enumerate(old) if index not in staying and not _is_rule(unit)
    }
    cut = _cut_sections(old, new, staying, corrected)
    old_index_of = {index: old_index for old_index, index in kept_pairs}
    opened_blocks = {
        unit.block
        for index, unit in enumerate(new)
        if index not in old_index_of
        and not _is_rule(unit)
        and (unit.opens_mark or not unit.says_something)
    }
    related = _related(old, new, kept_pairs, corrected)
    changed = [
        index
        for index, unit in enumerate(new)
        if index not in old_index_of
        or old[old_index_of[index]].block in shortened_blocks
        or (unit.is_body and old[old_index_of[index]].section in cut)
        or unit.block in opened_blocks
        or index in related
    ]
    kept_indexes = set(old_index_of.values())
    causes = [unit for index, unit in enumerate(old) if index not in kept_indexes]
    return changed, [*causes, *(new[k] for k in old_index_of if new[k].block in opened_blocks)]


def _related(
    old: Sequence[SentenceUnit],
    new: Sequence[SentenceUnit],
    kept_pairs: Sequence[tuple[int, int]],
    corrected: Mapping[int, int],
) -> set[int]:
    """The places of kept sentences that are about what the change took out of others."""
    kept_indexes = {old_index for old_index, _ in kept_pairs}
    touched = [k for k, unit in enumerate(old) if k not in kept_indexes and unit.is_statement]
    kept_words = {
        index: _content_words(new[index]) for _, index in kept_pairs if new[index].is_statement
    }
    if len(touched) > _MAX_TOUCHED:
        return set(kept_words)
    related: set[int] = set()
    for index in touched:
        words = removed = _content_words(old[index])
        if index in corrected and _keeps_words(old[index], new[corrected[index]]):
            removed = words ^ _content_words(new[corrected[index]])
        related |= {k for k, kept in kept_words.items() if _are_related(words, removed, kept)}
    return related


def _are_related(words: Set[str], removed: Set[str], kept: Set[str]) -> bool:
    """Whether a sentence with the words ``kept`` has a number that was removed from one with
    ``words``, or else some removed word and half of the words of the shorter sentence."""
    shared = removed & kept
    if any(len(word) >= _MIN_DIGITS and word.isdigit() for word in shared):
        return True
    return bool(shared) and 2 * len(words & kept) >= min(len(words), len(kept))


def _content_words(unit: SentenceUnit) -> frozenset[str]:
    return frozenset(some_words(_unticked(unit))) - STOP_WORDS


def _cut_sections(
    old: Sequence[SentenceUnit],
    new: Sequence[SentenceUnit],
    staying: Set[int],
    corrected: Mapping[int, int],
) -> set[int]:
    """The sections that lost prose, or in which the words of a sentence were changed."""
    remaining = {unit.written for unit in new}
    return {
        unit.section
        for index, unit in enumerate(old)
        if unit.is_prose and unit.says_something and unit.written not in remaining
        if index not in staying
        or (index in corrected and not _keeps_words(unit, new[corrected[index]]))
    }


def _alignment(
    old: Sequence[SentenceUnit], new: Sequence[SentenceUnit]
) -> tuple[list[tuple[int, int]], dict[int, int]]:
    """The pairs of places of the sentences that are kept, and of those that are corrected.

    A patience diff: sentences that both versions have once divide the text, and so on in each part.
    """
    kept_pairs: list[tuple[int, int]] = []
    corrected: dict[int, int] = {}
    parts = [(0, len(old), 0, len(new))]
    while parts:
        start, end, first, last = parts.pop()
        while start < end and first < last and old[start].framed == new[first].framed:
            kept_pairs.append((start, first))
            start, first = start + 1, first + 1
        while start < end and first < last and old[end - 1].framed == new[last - 1].framed:
            end, last = end - 1, last - 1
            kept_pairs.append((end, last))
        anchors = _anchors(old[start:end], new[first:last])
        if anchors:
            bounds = [(start + old_index, first + new_index) for old_index, new_index in anchors]
            ends = zip([(start, first), *bounds], [*bounds, (end, last)], strict=True)
            parts += [(a, a_end, b, b_end) for (a, b), (a_end, b_end) in ends]
        elif end - start == last - first:
            pairs = zip(range(start, end), range(first, last), strict=True)
            corrected |= {
                old_index: new_index
                for old_index, new_index in pairs
                if _is_correction(old[old_index], new[new_index])
            }
    return kept_pairs, corrected


def _anchors(old: Sequence[SentenceUnit], new: Sequence[SentenceUnit]) -> list[tuple[int, int]]:
    """The places of the sentences that both versions have once, without those that moved."""
    places, new_places = _single(old), _single(new)
    shared = sorted(
        (new_place, places[key]) for key, new_place in new_places.items() if key in places
    )
    staying = increasing([old_place for _, old_place in shared])
    return [
        (old_place, new_place) for k, (new_place, old_place) in enumerate(shared) if k in staying
    ]


def _single(units: Sequence[SentenceUnit]) -> dict[tuple[str, str, str], int]:
    counts = Counter(unit.framed for unit in units)
    return {unit.framed: index for index, unit in enumerate(units) if counts[unit.framed] == 1}


def _is_correction(old: SentenceUnit, new: SentenceUnit) -> bool:
    """Whether a sentence was corrected in its place rather than replaced by another."""
    if old.frame != new.frame:
        return False
    before, after = (Counter(unit.words.split()) for unit in (old, new))
    return (before & after).total() > _SAME_WORDS * max(before.total(), after.total())


def _keeps_words(old: SentenceUnit, new: SentenceUnit) -> bool:
    """Whether a correction changes only numbers, names and spellings, or ticks a task: no denial is
    one of them."""
    words, new_words = (_WORD.findall(_unticked(unit)) for unit in (old, new))
    before, after = Counter(words[1:]), Counter(new_words[1:])
    first, new_first = ((found or [""])[0] for found in (words, new_words))
    removed, added = list((before - after).elements()), list((after - before).elements())
    if first.casefold() != new_first.casefold():
        removed, added = [*removed, first.casefold()], [*added, new_first.casefold()]
    if len(removed) + len(added) > _MAX_CHANGED:  # and else the time would be quadratic
        return False
    return all(
        _is_value(word) or any(_is_respelt(word, other) for other in other_words)
        for words, other_words in ((removed, added), (added, removed))
        for word in words
    )


def _unticked(unit: SentenceUnit) -> str:
    """The text without the box of a task, which says only of that task whether it is done."""
    return _CHECKBOX.sub("", unit.text, count=1)


def _is_value(word: str) -> bool:
    is_name = word[:1].isupper() and not (word.isupper() and len(word) > 1)  # "NOT" is none
    is_number = word in NUMBER_WORDS or word in NUMBER_WORDS_ELSEWHERE
    return is_name or is_number or any(map(str.isdigit, word))


def _is_respelt(word: str, other: str) -> bool:
    if word[0] != other[0] or abs(len(word) - len(other)) > 1 or len(word) > _LONGEST_WORD:
        return False
    return SequenceMatcher(None, word, other, autojunk=False).ratio() >= _SAME_SPELLING


def _is_rule(unit: SentenceUnit) -> bool:
    """Whether it is a line between sections, which means nothing for the text around it."""
    return unit.is_body and _RULE.fullmatch(unit.text) is not None
