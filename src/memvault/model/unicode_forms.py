"""Unicode normalisation in linear time, and text without line breaks or invisible characters."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import Literal

# Python sorts the accents of a letter in quadratic time: 200,000 of them take half a minute. No
# writing puts 64 accents on one letter, so such a run may be normalised in parts.
_MANY_ACCENTS = re.compile(r"[^\w\s\x00-\x7f]{64}")
_LINE_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# Characters that nobody sees and models read: zero-width ones except those that join letters,
# those that set the direction of text, fillers and formats that no writing needs any more, and the
# tags, which spell letters.
_UNSEEN = (
    "\u200b\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"
)
# Invisible characters that some writing needs, but never two of a kind in a row: these spell text.
_JOINING = "\u00ad\u034f\u061c\u180e\u200c-\u200f"
_HAN_VARIANTS = "\U000e0100-\U000e01ef"  # only after a Han character
_VARIANTS = "\u180b-\u180d\u180f\ufe00-\ufe0f"
_HAN = "\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# The flags of England, Scotland and Wales: a black flag and the tags of their letters.
_FLAGS = "|".join(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in f"{region}\x7f")
    for region in ("gbeng", "gbsct", "gbwls")
)
_ANY = f"[{_UNSEEN}{_JOINING}{_VARIANTS}{_HAN_VARIANTS}]"
_MAY_BE_INVISIBLE = re.compile(_ANY)  # quick to look for
_INVISIBLE = re.compile(
    f"({_FLAGS})|((?<=[{_HAN}])[{_HAN_VARIANTS}]){_ANY}*|{_ANY}{{2,}}|[{_UNSEEN}{_HAN_VARIANTS}]"
)
_NEEDED = tuple(re.compile(f"[{kind}]") for kind in (_JOINING, _VARIANTS))
_SHORT = 1_000  # characters that take at most a millisecond, whatever they are


def normalized(text: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"] = "NFC") -> str:
    """The text in a Unicode normalisation form (UAX #15)."""
    if len(text) <= _SHORT or text.isascii():
        return unicodedata.normalize(form, text)
    ends = [0, *(run.end() for run in _MANY_ACCENTS.finditer(text)), len(text)]
    parts = (text[start:end] for start, end in pairwise(ends))
    return "".join(unicodedata.normalize(form, part) for part in parts)


def without_line_breaks(text: str) -> str:
    """The text with a space for line breaks and other control characters.

    The name of a file may have them, and would begin a line of its own where a text names it.
    """
    return _LINE_BREAKS.sub(" ", text)


def without_invisible(text: str) -> str:
    """The text without invisible characters, except those that scripts and emoji need."""
    if text.isascii() or _MAY_BE_INVISIBLE.search(text) is None:
        return text
    return _INVISIBLE.sub(lambda run: "".join(text[index] for index in _kept(run)), text)


def as_written(text: str, visible: str) -> str | None:
    """The first part of the text that people see as ``visible``, with its invisible characters;
    None if there is none."""
    wanted = without_invisible(visible)
    index = without_invisible(text).find(wanted)
    if index < 0 or not wanted:
        return None
    kept: list[int] = []  # the indexes in the text of the visible characters
    end = 0
    for run in _INVISIBLE.finditer(text):
        kept += (*range(end, run.start()), *_kept(run))
        end = run.end()
    kept += range(end, len(text))
    return text[kept[index] : kept[index + len(wanted) - 1] + 1]


def _kept(run: re.Match[str]) -> list[int]:
    """The indexes in the text of what stays of a run: a flag, else at most one of each kind."""
    if run[1]:
        return [*range(*run.span())]
    if run[2]:
        return [run.start()]
    first = (kind.search(run.string, *run.span()) for kind in _NEEDED)
    return sorted(match.start() for match in first if match is not None)
