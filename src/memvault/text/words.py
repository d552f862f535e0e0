"""Splits text of every script into words, and normalises names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from memvault.model.unicode_forms import normalized

# Scripts without spaces (Han, Hiragana, Thai, Lao, Myanmar, Khmer) or with attached particles
# (Hangul): every character is a word.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u309f\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"


def _mark_ranges() -> str:
    """A regular expression's character ranges of combining marks, which ``\\w`` does not match and
    most scripts of India need."""
    marks = [c for c in range(0x300, 0x10000) if unicodedata.category(chr(c)) in ("Mn", "Mc")]
    ranges: list[list[int]] = []
    for code in marks:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    unspaced = re.compile(f"[{_UNSPACED}]")
    return "".join(
        f"{chr(first)}-{chr(last)}" for first, last in ranges if not unspaced.match(chr(first))
    )


MARKS = _mark_ranges()
_LETTERS = rf"[^\W_{_UNSPACED}{_KATAKANA}]+"
_TOKEN = re.compile(rf"{_LETTERS}(?:[{MARKS}]+(?:{_LETTERS})?)*|[{_UNSPACED}]|[{_KATAKANA}]+|[^\s]")
_LETTER_RUN = re.compile(r"[^\W\d_]+")
_APART = str.maketrans({chr(n): " " for n in range(128) if not chr(n).isalpha()})
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_UNSPACED_SIGN = re.compile(rf"[{_UNSPACED}]")
_JOINER = re.compile(r"(?<=\w)[-\u2010\u2011](?=\w)")
_EDGES = " \t\r\n\"'`“”‘’«»()[]{}<>!?,;:…"

_FUNCTION_WORDS = """
a about above after again all also am an and any are as ask at be because been before being below
best between both but by can cannot could day did do does doing done down during each ever every
few find first for from further get give go good had has have having he her here hers him his how i
if in into is it its just keep last later let like made make many may me more most much must my
need never new next no nor not note notes now of off ok old on once one only or other our out over
own part please same see she should so some still such take than that the their them then there
these they thing things this those through to today todo tomorrow too try two under until up us use
used using very was way we well were what when where which while who whom why will with without
would yes yesterday yet you your
"""
_NAMES_THAT_ARE_WORDS = """
april art august autumn bill chase christian dawn dean drew faith frank grace grant guy hope iris
ivy jack joy june lance mark max miles olive pat patience penny pierce ray rich rob rose ruby sky
summer sunny victor will
"""
# Words that mean nothing as a name, although capitalised at the start of a sentence.
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
# Given names that are also common words, ambiguous when capitalised at the start of a sentence.
WORD_NAMES = frozenset(_NAMES_THAT_ARE_WORDS.split())


def composed(text: str) -> str:
    """The text in NFC. All offsets of this package refer to this form."""
    return text if text.isascii() else normalized(text)


def _level(text: str) -> str:
    """The text with joined words separated and apostrophes unified; offsets stay valid."""
    text = text.replace("_", " ").replace("\u2019", "'").replace("\u02bc", "'")
    if "-" in text or "\u2010" in text or "\u2011" in text:
        return _JOINER.sub(" ", text)
    return text


def letter_runs(text: str) -> list[str]:
    """Runs of letters, in lower case."""
    if text.isascii():
        return text.lower().translate(_APART).split()  # in a quarter of the time
    return [run.lower() for run in _LETTER_RUN.findall(text)]


def words(text: str) -> list[str]:
    """Lower-case words and punctuation of text in NFC."""
    tokens: list[str] = _TOKEN.findall(_level(text).lower())
    return tokens


def some_words(text: str) -> list[str]:
    """Lower-case words of a text without punctuation, three times as fast as `words`."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return words(composed(text))


def word_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each of the `words` of text in NFC."""
    return [match.span() for match in _TOKEN.finditer(_level(text))]


def without_accents(text: str) -> str:
    """The text without accents, as "Algebra" for "Álgebra"; case stays."""
    parts = normalized(text, "NFD")
    return "".join(char for char in parts if not "\u0300" <= char <= "\u036f")


def folded(text: str) -> str:
    """The text without case and accents, as many people type, in NFC."""
    return composed(without_accents(text.casefold()))


@lru_cache(maxsize=50_000)
def name_key(name: str) -> str:
    """A key that is equal for all spellings of a name: lower-case words joined by spaces.

    Case, hyphens, underscores, kinds of apostrophe and surrounding punctuation are ignored.
    """
    return " ".join(words(composed(name).strip(_EDGES).rstrip(".")))


def key_phrase(key: str) -> str:
    """The key as written in text: without spaces in scripts that have none."""
    parts = key.split(" ")
    phrase = parts[0]
    for previous, part in pairwise(parts):
        are_unspaced = _UNSPACED_SIGN.match(part) and _UNSPACED_SIGN.match(previous)
        phrase += part if are_unspaced else " " + part
    return phrase


def any_of(words: Iterable[str]) -> str:
    """An expression of these words, the longest first, grouped by their first letter.

    The groups make it match twice as fast, as most words are not tried.
    """
    by_first: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        by_first.setdefault(word[0], []).append(re.escape(word[1:]))
    return "|".join(f"{first}(?:{'|'.join(endings)})" for first, endings in by_first.items())


def is_uncased(text: str) -> bool:
    """Whether the script has no upper case."""
    return text.lower() == text.upper()


def cut_at_word(text: str, limit: int) -> str:
    """At most ``limit`` bytes of a text, cut after a word if one ends in their second half."""
    head = text.strip().encode()[:limit].decode(errors="ignore")
    word = max(head.rfind(" "), head.rfind("\n"))
    return (head[:word] if word >= len(head) // 2 else head).rstrip()
