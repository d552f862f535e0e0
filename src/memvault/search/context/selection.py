"""Selects the sentences, passages or code of a context: the most relevant that differ and fit.

Greedy maximal marginal relevance (Carbonell and Goldstein 1998): the next part is the one with the
greatest ``w * score - (1 - w) * (greatest similarity to those chosen)``, where w is
`RELEVANCE_WEIGHT` and scores are relative to the best. Parts of one memory count as half as
similar, because they are read together. The best part of the first memory is chosen before all
others, then one of each memory that a link led to: it has the second half of an answer, in words
that the question lacks. Claims and superseded memories are not chosen so. If the parts that score
at least `MIN_SHARE` of the best leave much of the budget unused, less relevant ones follow, then
the neighbours of those chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from memvault.search.context.parts import Leading, Part

RELEVANCE_WEIGHT = 0.75  # of relevance against variety
MIN_SHARE = 0.3  # share of the best score below which a sentence is not worth its tokens
USED_SHARE = 0.8  # share of the budget from which on it counts as used
REPEATED_COSINE = 0.95  # similarity above which a text adds nothing
SAME_MEMORY_FACTOR = 0.5  # of the similarity of parts of one memory, which are read together

Integers = npt.NDArray[np.int64]


@dataclass(slots=True)
class RemainingBudget:
    """The token budget, reduced as parts are chosen.

    Attributes:
        limit: tokens of the text and of naming its memories.
        frame_tokens: for each memory, tokens of its tag or header in the text.
        naming_tokens: for each memory, tokens that naming it costs outside of the text.
        first_memory_tokens: tokens of text that the first memory may always have.
        tokens_per_part: that every part costs in addition to its own.
        used_in_text: tokens.
        used_for_naming: tokens.
    """

    limit: int
    frame_tokens: Sequence[int]
    naming_tokens: Sequence[int]
    first_memory_tokens: int = 0
    tokens_per_part: int = 0
    used_in_text: int = 0
    used_for_naming: int = 0
    _frame_tokens: Integers = field(init=False)
    _naming_tokens: Integers = field(init=False)
    _is_shown: npt.NDArray[np.bool_] = field(init=False)  # (memories,)

    def __post_init__(self) -> None:
        self._frame_tokens = np.array(self.frame_tokens, np.int64)
        self._naming_tokens = np.array(self.naming_tokens, np.int64)
        self._is_shown = np.zeros(len(self.frame_tokens), np.bool_)

    def fitting(self, tokens: Integers, owners: Integers) -> npt.NDArray[np.bool_]:
        """(n,) whether each part fits, by the parts' tokens and memories."""
        is_new = ~self._is_shown[owners]
        text = self.used_in_text + tokens + self.tokens_per_part
        text = text + np.where(is_new, self._frame_tokens[owners], 0)
        room = self.limit - self.used_for_naming - np.where(is_new, self._naming_tokens[owners], 0)
        if self.first_memory_tokens:
            shown = np.flatnonzero(self._is_shown)
            is_only = (
                owners == shown[0] if shown.size == 1 else np.full(len(owners), not shown.size)
            )
            room = np.maximum(room, np.where(is_only, self.first_memory_tokens, 0))
        return np.asarray(text <= room, np.bool_)

    def shows(self, owners: Integers) -> npt.NDArray[np.bool_]:
        """(n,) whether each of these memories has a chosen part."""
        return np.asarray(self._is_shown[owners], np.bool_)

    @property
    def is_used(self) -> bool:
        """Whether most of the budget is used."""
        return self.used_in_text + self.used_for_naming >= USED_SHARE * self.limit

    def take(self, part: Part) -> None:
        """Count the tokens of a chosen part."""
        self.used_in_text += part.tokens + self.tokens_per_part
        if not self._is_shown[part.memory]:
            self.used_in_text += self.frame_tokens[part.memory]
            self.used_for_naming += self.naming_tokens[part.memory]
            self._is_shown[part.memory] = True


def select(
    parts: Sequence[Part],
    budget: RemainingBudget,
    *,
    relevance_weight: float = RELEVANCE_WEIGHT,
    min_share: float = MIN_SHARE,
    min_share_unused: float = MIN_SHARE,
    leading: Leading | None = None,
    linked: Sequence[int] = (),
) -> list[Part]:
    """The chosen parts, in the order of choice. If none is relevant to the question, the first
    ones are chosen.

    Args:
        min_share: share of the best score below which a part is not chosen.
        min_share_unused: the same while the budget is not used.
        leading: its best part, or all of them, are chosen before all others, unless it has one
            already.
        linked: memories of which the best part is chosen next, likewise.
    """
    if not parts:
        return []
    pool = _Pool(parts, budget, relevance_weight)
    if leading is not None:
        limit = None if leading.is_whole else 1
        pool.choose((pool.owners == leading.memory) & ~budget.shows(pool.owners), limit)
    for memory in linked:
        pool.choose((pool.owners == memory) & ~budget.shows(pool.owners), 1)
    pool.choose(pool.relevance >= min_share)
    while not budget.is_used and pool.choose(pool.relevance >= min_share_unused, limit=1):
        pass
    return pool.chosen


class _Pool:
    """The parts to choose from; (n,) arrays have an entry for each part."""

    def __init__(
        self, parts: Sequence[Part], budget: RemainingBudget, relevance_weight: float
    ) -> None:
        best = max(part.score for part in parts)
        self.relevance = np.array([part.score / best if best > 0.0 else 1.0 for part in parts])
        self.owners = np.array([part.memory for part in parts])
        self.chosen: list[Part] = []
        self._parts, self._budget, self._relevance_weight = parts, budget, relevance_weight
        self._vectors = np.stack([part.vector for part in parts])
        self._tokens = np.array([part.tokens for part in parts])
        self._texts = np.array([hash(part.compared_text) for part in parts])
        self._details = np.array([hash(part.details) for part in parts])
        self._properties = np.array([hash(part.properties) for part in parts])
        self._has_properties = np.array([bool(part.properties) for part in parts])
        self._nearest = np.zeros(len(parts))
        self._repeats = np.zeros(len(parts), np.bool_)
        self._is_open = np.ones(len(parts), np.bool_)

    def choose(self, eligible: npt.NDArray[np.bool_], limit: int | None = None) -> bool:
        """Choose at most ``limit`` of the eligible parts, while some fit; whether any was chosen.

        Args:
            eligible: (n,).
        """
        count_before, weight = len(self.chosen), self._relevance_weight
        while limit is None or len(self.chosen) < count_before + limit:
            candidates = eligible & self._is_open & self._budget.fitting(self._tokens, self.owners)
            candidates &= ~(self._repeats & self._budget.shows(self.owners))
            if not candidates.any():
                break
            worth = weight * self.relevance - (1.0 - weight) * self._nearest
            self._take(int(np.where(candidates, worth, -np.inf).argmax()))
        return len(self.chosen) > count_before

    def _adds_properties(self, index: int) -> npt.NDArray[np.bool_]:
        """(n,) whether each part is shown with properties that this one is not shown with."""
        differ = np.asarray(self._properties != self._properties[index], np.bool_)
        return self._has_properties & differ

    def _take(self, index: int) -> None:
        """Choose this part, and close those that only repeat it."""
        part = self._parts[index]
        self._budget.take(part)
        self.chosen.append(part)
        similarity = (self._vectors @ part.vector).astype(np.float64)
        similarity[self.owners == part.memory] *= SAME_MEMORY_FACTOR
        np.maximum(self._nearest, similarity, out=self._nearest)
        repeats = (self._details == self._details[index]) & (
            (similarity >= REPEATED_COSINE) | (self._texts == self._texts[index])
        )
        self._repeats |= repeats
        self._is_open &= ~repeats | self._adds_properties(index)
        self._is_open[index] = False
