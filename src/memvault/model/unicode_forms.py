"""Unicode normalisation in linear time."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import Literal

# Python sorts the accents of a letter in quadratic time: 200,000 of them take half a minute. No
# writing puts 64 signs on one letter, so such a run may be normalised in parts.
_SIGNS = re.compile(r"[^\w\s\x00-\x7f]{64}")
_SHORT = 1_000  # characters that take at most a millisecond, whatever they are


def normalized(text: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"] = "NFC") -> str:
    """The text in a Unicode normalisation form (UAX #15)."""
    if len(text) <= _SHORT or text.isascii():
        return unicodedata.normalize(form, text)
    ends = [0, *(run.end() for run in _SIGNS.finditer(text)), len(text)]
    parts = (text[start:end] for start, end in pairwise(ends))
    return "".join(unicodedata.normalize(form, part) for part in parts)
