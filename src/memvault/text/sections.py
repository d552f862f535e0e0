"""Groups a note's units to sections by meaning, and splits sections into passages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from memvault.text.units import Unit

SECTION_TOKENS = (250, 500)  # minimum and maximum of a section (FR-11: 200 to 500)
HARD_THRESHOLD = 0.6  # similarity above which a unit always joins (Max-Min)
SLACK = 0.9  # c: tolerance below the minimum pairwise similarity (Max-Min)
FIRST_SLACK = 1.5  # the same for the second unit of a section


def sections_of(units: Sequence[Unit], vectors: npt.NDArray[np.float32]) -> list[range]:
    """Group consecutive units by Max-Min semantic chunking (Kiss et al., *Max-Min semantic
    chunking of documents for RAG application*, Discover Computing 28, 2025).

    A unit joins if its maximum similarity to the section's units exceeds the larger of the hard
    threshold and c * (minimum similarity among them) * sigmoid(their number); it joins a section
    of one unit if FIRST_SLACK * similarity exceeds the hard threshold. Any unit joins a section
    below the minimum size, none joins above the maximum; a section of sufficient size ends at a
    heading.
    """
    sections: list[range] = []
    start, tokens, least_similarity = 0, units[0].tokens, 1.0
    for index in range(1, len(units)):
        unit = units[index]
        similarities = vectors[start:index] @ vectors[index]
        if _belongs(units[index - 1], unit, tokens, similarities, least_similarity):
            tokens += unit.tokens
            least_similarity = min(least_similarity, float(similarities.min()))
        else:
            sections.append(range(start, index))
            start, tokens, least_similarity = index, unit.tokens, 1.0
    sections.append(range(start, len(units)))
    return sections


def _belongs(
    previous: Unit,
    unit: Unit,
    tokens: int,
    similarities: npt.NDArray[np.float32],
    least_similarity: float,
) -> bool:
    """Whether a unit joins the section of so many tokens before it.

    Args:
        previous: the last unit of the section.
        similarities: of the unit to the units of the section.
        least_similarity: of two units in the section.
    """
    min_tokens, max_tokens = SECTION_TOKENS
    if tokens + unit.tokens > max_tokens:
        return False
    if tokens < min_tokens:
        return True
    if previous.heading != unit.heading:
        return False
    nearest = float(similarities.max())
    if len(similarities) == 1:
        return FIRST_SLACK * nearest > HARD_THRESHOLD
    threshold = SLACK * least_similarity / (1.0 + math.exp(-len(similarities)))
    return nearest > max(threshold, HARD_THRESHOLD)


def split_section(units: Sequence[Unit], section: range, limit: int) -> Iterator[range]:
    """Split a section between units into the fewest parts of even size within the limit."""
    total = sum(units[index].tokens + 1 for index in section)
    even_size = total / math.ceil(total / limit)
    start, tokens = section.start, 0
    for index in section:
        size = units[index].tokens + 1
        if index > start and (tokens + size > limit + 1 or tokens + size / 2 > even_size):
            yield range(start, index)
            start, tokens = index, 0
        tokens += size
    yield range(start, section.stop)
