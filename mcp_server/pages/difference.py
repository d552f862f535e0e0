"""Two texts side by side, with what only one of them says marked, word by word."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from markupsafe import Markup, escape

MOST_WORDS = 3_000  # of each that are compared; comparing takes time that grows with the square
_WORD = re.compile(r"\s+|[^\s]+")


def marked(one: str, other: str) -> tuple[Markup, Markup]:
    """Both texts escaped, their differences in ``<mark>``. What is longer than `MOST_WORDS` words
    ends with an ellipsis."""
    left, right = _WORD.findall(one), _WORD.findall(other)
    first, second = left[:MOST_WORDS], right[:MOST_WORDS]
    shown: tuple[list[Markup], list[Markup]] = ([], [])
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        for words, into in ((first[i1:i2], shown[0]), (second[j1:j2], shown[1])):
            text = "".join(words)
            is_other = tag != "equal" and text.strip()
            into.append(Markup("<mark>{}</mark>").format(text) if is_other else escape(text))
    return (
        Markup("").join(shown[0]) + ("…" if len(left) > MOST_WORDS else ""),
        Markup("").join(shown[1]) + ("…" if len(right) > MOST_WORDS else ""),
    )
