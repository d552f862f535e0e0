"""Decides which words of a sentence are names of the vault, by spelling and neighbours."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from memvault.model.graph import NodeKind
from memvault.model.months import NAMED_MONTHS
from memvault.text.names import Name, NameRank
from memvault.text.words import STOP_WORDS, WORD_NAMES, is_uncased, word_spans, words

_UNUSUAL_SPELLING = re.compile(r"[^\W\d_]\d|\d[^\W\d_]|[a-z][A-Z]")
_NAMED_KINDS = frozenset(
    (
        NodeKind.PERSON,
        NodeKind.PROJECT,
        NodeKind.ORGANISATION,
        NodeKind.TOOL,
        NodeKind.EVENT,
        NodeKind.PLACE,
    )
)


def can_mean(spelling: str, name: Name) -> bool:
    """Whether a text with this spelling can mean the name."""
    if _is_distinctive(name.text):
        return True
    parts = _parts(name.text)
    if len(parts) > 1 or len(spelling) < 3 or parts[0] in STOP_WORDS:
        return spelling == name.text and not spelling.islower()
    if spelling.islower():
        return spelling == name.text and name.rank not in (NameRank.TAG, NameRank.IDENTIFIER)
    is_title_case = spelling == spelling[:1].upper() + spelling[1:].lower()
    return spelling == name.text or spelling.isupper() or is_title_case


def can_mean_in_query(spelling: str, name: Name) -> bool:
    """Like `can_mean`, for queries, which people type without capitals."""
    return can_mean(spelling, name) or (len(spelling) > 2 and spelling.lower() not in STOP_WORDS)


def is_certain(spelling: str, name: Name, *, needs_capital: bool) -> bool:
    """Whether a possible spelling is certainly the name.

    Args:
        needs_capital: whether any word is written with a capital there, by grammar or title case.
    """
    if (
        not needs_capital
        or is_uncased(spelling)
        or " " in spelling
        or _UNUSUAL_SPELLING.search(spelling)
    ):
        return True
    if spelling.islower() or (spelling.isupper() and len(spelling) > 1):
        return True
    lower = spelling.lower()
    return name.kind in _NAMED_KINDS and lower not in STOP_WORDS and lower not in WORD_NAMES


@lru_cache(maxsize=10_000)
def _is_distinctive(name: str) -> bool:
    """Whether a name is recognised in any spelling."""
    parts = _parts(name)
    if is_uncased(name):
        return True
    if len(parts) > 1:
        return any(len(part) > 2 and part not in STOP_WORDS for part in parts)
    return len(name) > 3 and _UNUSUAL_SPELLING.search(name) is not None


def _parts(name: str) -> list[str]:
    return [part for part in words(name) if part[0].isalnum()]


# A month is part of a day: "8 June 2026", "the 8th of June".
_DAY_BEFORE = re.compile(r"(?<!\w)\d{1,2}(?:st|nd|rd|th|er|\.)?(?: of| de)? \Z")
_DAY_CHARS = 12  # more characters than a day has before its month
_DAY_AFTER = re.compile(r" \d{1,2}(?:(?:st|nd|rd|th)\b|(?=[,.;:)]|\Z| \d{4}\b))")
_WITH_YEAR = re.compile(r"\.? \d{4}\Z")
# Addresses; each begins where a run of their characters does, so that long runs take linear time.
_URL = re.compile(
    r"\b(?:https?://|www\.)\S+|(?<![^\s@])[^\s@]+@[^\s@]+\.\w+|(?<![\w.+-])[\w.+-]+://\S+"
)
_SENTENCE_ENDS = frozenset(".!?:;…•|。！？：")
_QUOTES = frozenset("\"'`“”‘’«»()[]*_>-–—„")
_PARTICLES = frozenset(
    ("von", "van", "de", "da", "di", "del", "della", "der", "den", "la", "le", "el", "al", "bin")
)
_HYPHENS = ("-", "\u2010", "\u2011")


@dataclass(frozen=True, slots=True)
class Mention:
    """A name found in text. ``start`` and ``end`` are offsets into the text's NFC form."""

    start: int
    end: int
    text: str
    name: Name
    certain: bool


class MentionText:
    """A text with its word positions; decides which matches are mentions."""

    def __init__(self, text: str, *, heading: bool, question: bool) -> None:
        self._text = text
        self._places = word_spans(text)
        self._heading = heading
        self._can_mean = can_mean_in_query if question else can_mean
        self._urls = (
            [match.span() for match in _URL.finditer(text)]
            if "://" in text or "@" in text or "www." in text
            else []
        )

    def mention(self, first: int, last: int, names: tuple[Name, ...]) -> Mention | None:
        """The mention of the first of these names that the spelling can mean, if any."""
        start, end = self._places[first][0], self._places[last - 1][1]
        spelling = self._text[start:end]
        if not self._is_separate(start, end) or self._is_month_of_day(start, end):
            return None
        is_part = last - first == 1 and self._is_part_of_other_name(first)
        for name in names:
            if self._can_mean(spelling, name):
                if is_part and name.kind == NodeKind.PERSON:
                    return None
                needs_capital = self._heading or self._starts_sentence(first)
                certain = not is_part and is_certain(spelling, name, needs_capital=needs_capital)
                return Mention(start, end, spelling, name, certain)
        return None

    def _is_separate(self, start: int, end: int) -> bool:
        """Whether the span is not part of a longer word, file name, address or tag."""
        text = self._text
        url = bisect_left(self._urls, (end, 0)) - 1  # the last that starts before the end
        if url >= 0 and start < self._urls[url][1]:
            return False
        char_before, char_after = text[start - 1 : start], text[end : end + 1]
        if char_before == "#" or (char_after and unicodedata.category(char_after).startswith("M")):
            return False
        if char_before == "." and start > 1 and text[start - 2].isalnum():
            return False
        if char_after in (".", "_") and text[end + 1 : end + 2].isalnum():
            return False
        is_hyphenated = char_before in _HYPHENS and start > 1 and text[start - 2].isalnum()
        if is_hyphenated and not (text[start].isupper() and _word_start(text, start - 1).islower()):
            return False
        if char_after in _HYPHENS and (char_beyond := text[end + 1 : end + 2]).isalnum():
            return text[start].isupper() and char_beyond.islower()
        return True

    def _is_month_of_day(self, start: int, end: int) -> bool:
        """Whether the span is the month of a day ("8 June"), rather than a month alone."""
        spelling = self._text[start:end].lower()
        month = _WITH_YEAR.sub("", spelling)
        if month not in NAMED_MONTHS:
            return False
        if month == spelling and _DAY_AFTER.match(self._text, end) is not None:
            return True
        return _DAY_BEFORE.search(self._text, max(0, start - _DAY_CHARS), start) is not None

    def _starts_sentence(self, first: int) -> bool:
        """Whether the word starts a sentence, ignoring quotes and bullets."""
        for index in range(first - 1, -1, -1):
            start, end = self._places[index]
            word = self._text[start:end]
            if word not in _QUOTES:
                return word in _SENTENCE_ENDS
        return True

    def _is_part_of_other_name(self, first: int) -> bool:
        """Whether a single capitalised word is part of a longer name with its neighbours."""
        if self._heading or not self._text[self._places[first][0]].isupper():
            return False
        word_after = self._neighbour(first, 1)
        if word_after and word_after[0].isupper() and len(word_after) > 1:
            return True
        if word_after in _PARTICLES:
            word_beyond = self._neighbour(first + 1, 1)
            if word_beyond and word_beyond[0].isupper():
                return True
        word_before = self._neighbour(first, -1)
        return bool(
            word_before
            and word_before[0].isupper()
            and len(word_before) > 1
            and not self._starts_sentence(first - 1)
        )

    def _neighbour(self, index: int, step: int) -> str | None:
        """The adjacent word, if only one space or hyphen separates them."""
        neighbour = index + step
        if not 0 <= neighbour < len(self._places):
            return None
        left, right = self._places[min(index, neighbour)], self._places[max(index, neighbour)]
        start, end = self._places[neighbour]
        word = self._text[start:end]
        return word if right[0] - left[1] == 1 and word[0].isalpha() else None


def longest_mentions(mentions: Iterable[Mention]) -> list[Mention]:
    """The longest of overlapping mentions, ordered by position."""
    kept: list[Mention] = []  # by start, without overlaps: checking both neighbours is enough
    for mention in sorted(mentions, key=lambda m: (m.start - m.end, m.start)):
        index = bisect_right(kept, mention.start, key=lambda m: m.start)
        is_after_last = index == 0 or kept[index - 1].end <= mention.start
        if is_after_last and (index == len(kept) or mention.end <= kept[index].start):
            kept.insert(index, mention)
    return kept


def _word_start(text: str, end: int) -> str:
    """The first letter of the word that ends before this place; empty if none does."""
    start = end
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    return text[start:end][:1]
