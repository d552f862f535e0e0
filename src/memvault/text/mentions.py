"""A name found in a text, and what must hold around it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from memvault.model.graph import NodeKind
from memvault.text.names import Name
from memvault.text.spelling import counts, counts_in_question, is_certain
from memvault.text.words import places

_URL = re.compile(r"\b(?:https?://|www\.)\S+|\S+@\S+\.\w+|\b[\w.+-]+://\S+")
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


class SentenceWords:
    """A text and the places of its words, against which a possible mention is judged."""

    def __init__(self, text: str, *, heading: bool, question: bool) -> None:
        self._text = text
        self._places = places(text)
        self._heading = heading
        self._counts = counts_in_question if question else counts
        self._urls = (
            [match.span() for match in _URL.finditer(text)]
            if "://" in text or "@" in text or "www." in text
            else []
        )

    def mention(self, first: int, last: int, meaning: tuple[Name, ...]) -> Mention | None:
        """The mention of the first of these names that the spelling allows."""
        start, end = self._places[first][0], self._places[last - 1][1]
        spelled = self._text[start:end]
        if not self._stands_alone(start, end):
            return None
        joined = last - first == 1 and self._is_part_of_other_name(first)
        for name in meaning:
            if self._counts(spelled, name):
                if joined and name.kind == NodeKind.PERSON:
                    return None
                at_head = self._heading or self._at_head(first)
                certain = not joined and is_certain(spelled, name, at_head)
                return Mention(start, end, spelled, name, certain)
        return None

    def _stands_alone(self, start: int, end: int) -> bool:
        """Whether the span is no part of a longer word, file name, address or tag."""
        text = self._text
        if any(first < end and start < last for first, last in self._urls):
            return False
        before, after = text[start - 1 : start], text[end : end + 1]
        if before == "#" or (after and unicodedata.category(after).startswith("M")):
            return False
        if before == "." and start > 1 and text[start - 2].isalnum():
            return False
        if after in (".", "_") and text[end + 1 : end + 2].isalnum():
            return False
        if before in _HYPHENS and start > 1 and text[start - 2].isalnum():
            head = re.search(r"\w+$", text[: start - 1])
            if not (text[start].isupper() and head and head.group()[0].islower()):
                return False
        if after in _HYPHENS and (beyond := text[end + 1 : end + 2]).isalnum():
            return text[start].isupper() and beyond.islower()
        return True

    def _at_head(self, first: int) -> bool:
        """Whether the word begins a sentence, quotes and bullets aside."""
        for start, end in reversed(self._places[:first]):
            word = self._text[start:end]
            if word not in _QUOTES:
                return word in _SENTENCE_ENDS
        return True

    def _is_part_of_other_name(self, first: int) -> bool:
        """Whether the words beside a single capitalised word make it part of a longer name."""
        if self._heading or not self._text[self._places[first][0]].isupper():
            return False
        after = self._neighbour(first, 1)
        if after and after[0].isupper() and len(after) > 1:
            return True
        if after in _PARTICLES:
            beyond = self._neighbour(first + 1, 1)
            if beyond and beyond[0].isupper():
                return True
        before = self._neighbour(first, -1)
        return bool(
            before and before[0].isupper() and len(before) > 1 and not self._at_head(first - 1)
        )

    def _neighbour(self, index: int, step: int) -> str | None:
        """The word beside another, with one space or hyphen and nothing else between."""
        other = index + step
        if not 0 <= other < len(self._places):
            return None
        left, right = self._places[min(index, other)], self._places[max(index, other)]
        start, end = self._places[other]
        word = self._text[start:end]
        return word if right[0] - left[1] == 1 and word[0].isalpha() else None


def longest(mentions: Iterable[Mention]) -> list[Mention]:
    """Of mentions that overlap, the longest; in order of place."""
    kept: list[Mention] = []
    for mention in sorted(mentions, key=lambda m: (m.start - m.end, m.start)):
        if all(mention.end <= other.start or other.end <= mention.start for other in kept):
            kept.append(mention)
    return sorted(kept, key=lambda m: m.start)
