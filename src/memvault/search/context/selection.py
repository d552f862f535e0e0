"""Which sentences a context holds: the most relevant that do not repeat each other and fit.

Greedy maximal marginal relevance (Carbonell and Goldstein 1998): the next is the one with the
greatest ``LEAN * score - (1 - LEAN) * (greatest similarity to those chosen)``, the scores held
against the best of them. Parts of one memory count as half as similar: what stands together is
meant to be read together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

LEAN = 0.75  # to relevance, against variety
LEAST = 0.3  # share of the best score; what scores less is not worth its tokens
SAME = 0.95  # similarity above which a text says nothing new

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Part:
    """What is taken whole or not at all: places of sentences and of code in one memory's outline.

    ``vector`` is (dim,) float32, normalised, or zeros; ``said`` tells equal texts.
    """

    memory: int
    statements: range
    code: tuple[int, ...]
    tokens: int
    score: float
    vector: npt.NDArray[np.float32]
    said: str


@dataclass(slots=True)
class Budget:
    """Tokens of the text, counted as parts are taken.

    Attributes:
        limit: tokens of the text, and of what ``beside`` counts.
        frame: for each memory, tokens of its tag or header in the text.
        beside: for each memory, tokens that it costs outside of the text.
        least: tokens of text that are free in any case for the first memory.
        item: tokens that every part costs beside its own.
    """

    limit: int
    frame: Sequence[int]
    beside: Sequence[int]
    least: int = 0
    item: int = 0
    text: int = 0
    aside: int = 0
    _frame: Integers = field(init=False)
    _beside: Integers = field(init=False)
    _seen: npt.NDArray[np.bool_] = field(init=False)  # (memories,)

    def __post_init__(self) -> None:
        self._frame = np.array(self.frame, np.int64)
        self._beside = np.array(self.beside, np.int64)
        self._seen = np.zeros(len(self.frame), np.bool_)

    def fitting(self, tokens: Integers, owners: Integers) -> npt.NDArray[np.bool_]:
        """(n,) which of some parts there is room for, by their tokens and memories."""
        new = ~self._seen[owners]
        text = self.text + tokens + self.item + np.where(new, self._frame[owners], 0)
        aside = self.aside + np.where(new, self._beside[owners], 0)
        room = self.limit - aside
        if self.least:
            first = np.flatnonzero(self._seen)
            only = owners == first[0] if first.size == 1 else np.full(len(owners), not first.size)
            room = np.maximum(room, np.where(only, self.least, 0))
        return np.asarray(text <= room, np.bool_)

    def take(self, part: Part) -> None:
        self.text += part.tokens + self.item
        if not self._seen[part.memory]:
            self.text += self.frame[part.memory]
            self.aside += self.beside[part.memory]
            self._seen[part.memory] = True


def select(
    parts: Sequence[Part], budget: Budget, *, lean: float = LEAN, least: float = LEAST
) -> list[Part]:
    """The chosen parts, in the order they were chosen. Where none says anything to the question,
    what comes first is chosen."""
    if not parts:
        return []
    best = max(part.score for part in parts)
    relevance = np.array([part.score / best if best > 0.0 else 1.0 for part in parts])
    vectors = np.stack([part.vector for part in parts])
    owners = np.array([part.memory for part in parts])
    tokens = np.array([part.tokens for part in parts])
    said = np.array([hash(part.said) for part in parts])
    nearest = np.zeros(len(parts))
    open_ = (relevance >= least) & budget.fitting(tokens, owners)
    chosen: list[Part] = []
    while open_.any():
        worth = np.where(open_, lean * relevance - (1.0 - lean) * nearest, -np.inf)
        at = int(worth.argmax())
        part = parts[at]
        budget.take(part)
        chosen.append(part)
        alike = (vectors @ part.vector).astype(np.float64)
        alike[owners == part.memory] *= 0.5
        np.maximum(nearest, alike, out=nearest)
        open_ &= (alike < SAME) & (said != said[at]) & budget.fitting(tokens, owners)
    return chosen
