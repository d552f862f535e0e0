"""Where sentences start: punctuation and spacing only, for any language."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

_LATIN_STOPS = ".!?…"
_END = re.compile(r"(?P<stop>[.!?…。！？｡।॥؟۔።։]+)(?P<quote>[\"'”’»)\]」』）】]*)(?P<gap>\s*)")
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘«]*\Z")
_LETTERS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")  # J, U.S, p.m
_WORD_WINDOW = 40

# Short forms that a name or an example follows, so that a capital letter after them says nothing.
_ABBREVIATIONS = frozenset({
    "mr", "mrs", "ms", "mx", "dr", "prof", "st", "mt", "hr", "fr", "sr", "sra", "dra", "mme",
    "mlle", "rev", "gen", "col", "sgt", "capt", "lt", "gov", "hon", "messrs", "e.g", "i.e", "eg",
    "ie", "cf", "vs", "viz", "resp", "incl", "excl", "approx", "ca", "z.b", "d.h", "u.a", "bzw",
    "bspw", "p.ex", "al", "aka", "dept", "univ", "ed", "eds",
})  # fmt: skip
# Short forms only before a number: "no. 5", but "She said no. Then".
_NUMBERED = frozenset({
    "no", "nr", "nos", "fig", "figs", "eq", "eqs", "sec", "art", "ch", "vol", "p", "pp", "para",
    "tab", "ex", "abs", "bd", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept",
    "oct", "okt", "nov", "dec", "dez", "ver", "v", "est",
})  # fmt: skip


def sentence_starts(text: str, whole: Sequence[tuple[int, int]] = ()) -> list[int]:
    """Offsets at which sentences start, the first always 0.

    Args:
        text: one paragraph; line ends count as spaces.
        whole: spans that no sentence ends in, such as a link's text; in order, none overlapping.
    """
    starts = [0]
    span_starts = [start for start, _ in whole]
    for match in _END.finditer(text):
        end = match.end()
        if end >= len(text):
            break
        latin = match["stop"][-1] in _LATIN_STOPS
        if latin and not match["gap"]:
            continue
        at = bisect_right(span_starts, match.start()) - 1
        if at >= 0 and match.end("stop") < whole[at][1]:
            continue
        if not latin or _ends_sentence(text, match, starts[-1]):
            starts.append(end)
    return starts


def _ends_sentence(text: str, match: re.Match[str], sentence: int) -> bool:
    stop, quoted, after = match["stop"], bool(match["quote"]), text[match.end()]
    if stop[-1] in "!?" or (len(stop) > 1 and stop != "..."):
        return not (quoted and after.islower())
    if stop != ".":
        return not after.islower()
    start = max(sentence, match.start() - _WORD_WINDOW)
    found = _LAST_WORD.search(text, start, match.start())
    word = found[0] if found else ""
    if word.isdigit() and not text[sentence : match.start() - len(word)].strip("-*+ \t\n"):
        return False  # "1. First" is a number in front of a sentence
    folded = word.casefold()
    if folded in _ABBREVIATIONS or (folded in _NUMBERED and after.isdigit()):
        return False
    if _LETTERS.fullmatch(word) and not quoted and (word.isupper() or "." in word):
        return False
    return not after.islower() or (len(word) >= 4 and word.islower())
