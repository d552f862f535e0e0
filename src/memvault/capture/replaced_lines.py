"""Puts the newer lines of sessions before the older ones that they replace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from memvault.capture.extract import content_words
from memvault.capture.quotations import DECIDED, LASTING, Quotation, distinct
from memvault.model.note import Vector
from memvault.text.replacements import replaced_choices
from memvault.vault.session_lines import without_speaker

# The sections of a session note whose lines replace older ones about the same matter, and those
# whose lines are replaced.
_REPLACING = (*DECIDED, "Facts stated by the person")
_REPLACED = (*_REPLACING, "Open questions")
# The cosine from which a newer sentence is about the matter of an older one: if it names what it
# replaces there, if it decides, and for others, as people say much alike about one matter that
# all holds.
NAMED_MATTER = 0.4
DECIDED_MATTER = 0.55
SAME_MATTER = 0.7

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
    texts = [without_speaker(quotation.text) for quotation in every]
    vector_of = embed(texts)
    vectors = np.stack([vector_of[text] for text in texts])
    cosines = vectors @ vectors.T
    words = [content_words(text) for text in texts]
    replaced_words = [
        replaced_choices(quotation.text) if _replaces(quotation) else [] for quotation in every
    ]

    def replaces(new: int, old: int) -> bool:
        if not (_replaces(every[new]) and _is_newer(every[new], every[old])):
            return False
        names = any(former <= words[old] for former in replaced_words[new])
        if not names and words[old].difference(*replaced_words[old]) <= words[new]:
            return False  # they agree
        decided = DECIDED_MATTER if _decides(every[new]) else SAME_MATTER
        return bool(cosines[old, new] >= (NAMED_MATTER if names else decided))

    places = range(len(every))
    replacing = {
        old: [new for new in places if replaces(new, old)]
        for old in places
        if _is_replaceable(every[old])
    }

    def newest(place: int) -> Iterator[int]:
        """What replaces it and is not replaced itself."""
        for new in replacing.get(place, ()):
            yield from newest(new) if replacing.get(new) else (new,)

    ordered: list[Quotation] = []
    for place, quotation in enumerate(every[: len(quotations)]):
        ordered += [every[new] for new in newest(place)]
        is_replaced = bool(replacing.get(place))
        ordered.append(replace(quotation, is_replaced=True) if is_replaced else quotation)
    return distinct(ordered)


def _is_replaceable(quotation: Quotation) -> bool:
    return quotation.memory.type == "session" and quotation.heading in _REPLACED


def _replaces(quotation: Quotation) -> bool:
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
