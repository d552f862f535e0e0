"""Puts the newer lines of sessions before the older ones that they replace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from memvault.capture.extract import content_words
from memvault.capture.quotations import DECIDED, LASTING, Quotation, distinct
from memvault.model.note import Vector
from memvault.text.replacements import replaced_choices
from memvault.vault.session_lines import ItemKind, without_speaker

# The sections of a session note whose lines replace older ones about the same matter, and those
# whose lines are replaced.
_REPLACING = (*DECIDED, ItemKind.FACT)
_REPLACED = (*_REPLACING, ItemKind.OPEN_QUESTION)
# The least cosine at which a newer line is about the same matter as an older one, and replaces it.
NAMED_MATTER = 0.4  # if it names what it replaces there
DECIDED_MATTER = 0.55  # if it is a decision or preference
SAME_MATTER = 0.7  # else; similar lines about one matter are often all true

Embed = Callable[[Iterable[str]], Mapping[str, Vector]]


def newer_first(
    quotations: Sequence[Quotation], embed: Embed, newer: Sequence[Quotation] = ()
) -> list[Quotation]:
    """The quotations in their order, except that a line of a session which a newer quotation
    replaces comes right after that one and is marked as earlier.

    Args:
        embed: returns the normalised vector of each text.
        newer: further quotations, which are added where they replace one of the others.
    """
    if not any(map(_is_replaceable, quotations)):
        return list(quotations)
    every = distinct([*quotations, *newer])
    replacements = _Replacements(every, embed)
    ordered: list[Quotation] = []
    for index, quotation in enumerate(every[: len(quotations)]):
        ordered += [every[new] for new in replacements.newest(index)]
        is_replaced = replacements.is_replaced(index)
        ordered.append(replace(quotation, is_replaced=True) if is_replaced else quotation)
    return distinct(ordered)


class _Replacements:
    """Which of some quotations replace which others; each is named by its index."""

    def __init__(self, quotations: Sequence[Quotation], embed: Embed) -> None:
        self._quotations = quotations
        texts = [without_speaker(quotation.text) for quotation in quotations]
        vector_of = embed(texts)
        vectors = np.stack([vector_of[text] for text in texts])
        self._cosines = vectors @ vectors.T
        self._words = [content_words(text) for text in texts]
        self._replaced_words = [
            replaced_choices(quotation.text) if _settles_matter(quotation) else []
            for quotation in quotations
        ]
        places = range(len(quotations))
        self._newer_than = {
            old: [new for new in places if self._replaces(new, old)]
            for old in places
            if _is_replaceable(quotations[old])
        }

    def is_replaced(self, index: int) -> bool:
        return bool(self._newer_than.get(index))

    def newest(self, index: int) -> Iterator[int]:
        """What replaces a quotation and is not replaced itself."""
        for new in self._newer_than.get(index, ()):
            if self.is_replaced(new):
                yield from self.newest(new)
            else:
                yield new

    def _replaces(self, new: int, old: int) -> bool:
        newer, older, words = self._quotations[new], self._quotations[old], self._words
        if not (_settles_matter(newer) and _is_newer(newer, older)):
            return False
        cosine = float(self._cosines[old, new])
        if any(former <= words[old] for former in self._replaced_words[new]):
            return cosine >= NAMED_MATTER
        if words[old].difference(*self._replaced_words[old]) <= words[new]:
            return False  # they agree
        return cosine >= (DECIDED_MATTER if _decides(newer) else SAME_MATTER)


def _is_replaceable(quotation: Quotation) -> bool:
    return quotation.memory.type == "session" and quotation.heading in _REPLACED


def _settles_matter(quotation: Quotation) -> bool:
    """Whether a quotation settles its matter: the person's own note, or a line of a session that is
    no question or report."""
    if quotation.memory.type == "session":
        return quotation.heading in _REPLACING
    return quotation.memory.type in LASTING


def _decides(quotation: Quotation) -> bool:
    return quotation.memory.type in LASTING or quotation.heading in DECIDED


def _is_newer(first: Quotation, second: Quotation) -> bool:
    if first.memory.id == second.memory.id:
        return (first.lines or (0, 0)) > (second.lines or (0, 0))
    return first.memory.created_at > second.memory.created_at
