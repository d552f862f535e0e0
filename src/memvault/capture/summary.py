"""The lines of a session as a prompt for a summary, and what is kept of the summary.

Only sentences that the captured lines support are kept: a summary must not add a name or a number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memvault.text.stems import stems
from memvault.vault.lines import bare_lines
from memvault.vault.markdown.labelled_sentences import sentences_in

MIN_LINES = 6  # new since the last summary; fewer are read as quickly as a summary of them
MAX_LINES = 80
MAX_SENTENCES = 5
SUPPORTED_SHARE = 0.6  # share of a sentence's word stems that the lines must contain
_NAME_OR_NUMBER = re.compile(r"(?<=[\w,;:] )[^\W\d_a-z]\w+|\d[\d.,:/-]*\d|\d")


def prompt_of(lines: Sequence[str]) -> str:
    """The lines as quoted data, for the model of the client."""
    quoted = "\n".join(f"- {line}" for line in lines[-MAX_LINES:])
    return f"<session>\n{quoted.replace('<', '‹')}\n</session>"


def supported_sentences(summary: str, lines: Sequence[str]) -> list[str]:
    """The sentences of a summary whose names, numbers and most words are in the lines."""
    source = "\n".join(lines).casefold()
    source_stems = stems(source)
    supported: list[str] = []
    for line in bare_lines(summary):
        for part in sentences_in(" ".join(line.split())):
            sentence = part.strip("-*•# ")
            words = stems(sentence)
            names = _NAME_OR_NUMBER.findall(sentence)
            are_known = all(name.casefold() in source for name in names)
            if words and are_known and len(words & source_stems) >= SUPPORTED_SHARE * len(words):
                supported.append(sentence)
    return supported[:MAX_SENTENCES]
