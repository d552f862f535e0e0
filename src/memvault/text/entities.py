"""Finds names of the vault in text by rules, and other entities by a trained pipeline."""

from __future__ import annotations

import re
import threading
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from memvault.model.graph import NodeKind
from memvault.model.months import NAMED_MONTHS
from memvault.model.note import ParsedNote
from memvault.model.priority import make_way
from memvault.text.names import Name, NameBook, NameChanges, NameRank
from memvault.text.spacy_pipeline import (
    FoundEntity,
    load_trained_pipeline,
    passages_of,
    settled,
)
from memvault.text.words import (
    STOP_WORDS,
    WORD_NAMES,
    composed,
    is_uncased,
    some_words,
    word_spans,
    words,
)

_SHAPED = re.compile(r"[^\W\d_]\d|\d[^\W\d_]|[a-z][A-Z]")
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


def can_mean(found: str, name: Name) -> bool:
    """Whether this spelling can mean the name."""
    if _is_telling(name.text):
        return True
    parts = _parts(name.text)
    if len(parts) > 1 or len(found) < 3 or parts[0] in STOP_WORDS:
        return found == name.text and not found.islower()
    if found.islower():
        return found == name.text and name.rank not in (NameRank.TAG, NameRank.IDENTIFIER)
    return found == name.text or found.isupper() or found == found[:1].upper() + found[1:].lower()


def can_mean_in_query(found: str, name: Name) -> bool:
    """Like `can_mean`, for queries, which people type without capitals."""
    return can_mean(found, name) or (len(found) > 2 and found.lower() not in STOP_WORDS)


def is_certain(found: str, name: Name, at_head: bool) -> bool:
    """Whether a possible spelling is certainly the name; ``at_head``: grammar or title case
    requires a capital there."""
    if not at_head or is_uncased(found) or " " in found or _SHAPED.search(found):
        return True
    if found.islower() or (found.isupper() and len(found) > 1):
        return True
    lower = found.lower()
    return name.kind in _NAMED_KINDS and lower not in STOP_WORDS and lower not in WORD_NAMES


@lru_cache(maxsize=10_000)
def _is_telling(name: str) -> bool:
    """Whether a name is recognised in any spelling."""
    parts = _parts(name)
    if is_uncased(name):
        return True
    if len(parts) > 1:
        return any(len(part) > 2 and part not in STOP_WORDS for part in parts)
    return len(name) > 3 and _SHAPED.search(name) is not None


def _parts(name: str) -> list[str]:
    return [part for part in words(name) if part[0].isalnum()]


# A month is part of a day: "8 June 2026", "the 8th of June".
_DAY_BEFORE = re.compile(r"(?<!\w)\d{1,2}(?:st|nd|rd|th|er|\.)?(?: of| de)? \Z")
_DAY_CHARS = 12  # more characters than a day has before its month
_DAY_BEHIND = re.compile(r" \d{1,2}(?:(?:st|nd|rd|th)\b|(?=[,.;:)]|\Z| \d{4}\b))")
_WITH_YEAR = re.compile(r"\.? \d{4}\Z")
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

    def mention(self, first: int, last: int, meaning: tuple[Name, ...]) -> Mention | None:
        """The mention of the first of these names that the spelling can mean, if any."""
        start, end = self._places[first][0], self._places[last - 1][1]
        spelled = self._text[start:end]
        if not self._stands_alone(start, end) or self._is_month_of_day(start, end):
            return None
        joined = last - first == 1 and self._is_part_of_other_name(first)
        for name in meaning:
            if self._can_mean(spelled, name):
                if joined and name.kind == NodeKind.PERSON:
                    return None
                at_head = self._heading or self._at_head(first)
                certain = not joined and is_certain(spelled, name, at_head)
                return Mention(start, end, spelled, name, certain)
        return None

    def _stands_alone(self, start: int, end: int) -> bool:
        """Whether the span is not part of a longer word, file name, address or tag."""
        text = self._text
        url = bisect_left(self._urls, (end, 0)) - 1  # the last that starts before the end
        if url >= 0 and start < self._urls[url][1]:
            return False
        before, after = text[start - 1 : start], text[end : end + 1]
        if before == "#" or (after and unicodedata.category(after).startswith("M")):
            return False
        if before == "." and start > 1 and text[start - 2].isalnum():
            return False
        if after in (".", "_") and text[end + 1 : end + 2].isalnum():
            return False
        joined = before in _HYPHENS and start > 1 and text[start - 2].isalnum()
        if joined and not (text[start].isupper() and _word_start(text, start - 1).islower()):
            return False
        if after in _HYPHENS and (beyond := text[end + 1 : end + 2]).isalnum():
            return text[start].isupper() and beyond.islower()
        return True

    def _is_month_of_day(self, start: int, end: int) -> bool:
        """Whether the span is the month of a day ("8 June"), rather than a month alone."""
        spelled = self._text[start:end].lower()
        bare = _WITH_YEAR.sub("", spelled)
        if bare not in NAMED_MONTHS:
            return False
        behind = bare == spelled and _DAY_BEHIND.match(self._text, end) is not None
        return behind or self._day_stands_before(start)

    def _day_stands_before(self, start: int) -> bool:
        return _DAY_BEFORE.search(self._text, max(0, start - _DAY_CHARS), start) is not None

    def _at_head(self, first: int) -> bool:
        """Whether the word starts a sentence, ignoring quotes and bullets."""
        for place in range(first - 1, -1, -1):
            start, end = self._places[place]
            word = self._text[start:end]
            if word not in _QUOTES:
                return word in _SENTENCE_ENDS
        return True

    def _is_part_of_other_name(self, first: int) -> bool:
        """Whether a single capitalised word is part of a longer name with its neighbours."""
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
        """The adjacent word, if only one space or hyphen separates them."""
        other = index + step
        if not 0 <= other < len(self._places):
            return None
        left, right = self._places[min(index, other)], self._places[max(index, other)]
        start, end = self._places[other]
        word = self._text[start:end]
        return word if right[0] - left[1] == 1 and word[0].isalpha() else None


def longest(mentions: Iterable[Mention]) -> list[Mention]:
    """The longest of overlapping mentions, ordered by position."""
    kept: list[Mention] = []  # by start, without overlaps: checking both neighbours is enough
    for mention in sorted(mentions, key=lambda m: (m.start - m.end, m.start)):
        place = bisect_right(kept, mention.start, key=lambda m: m.start)
        after_last = place == 0 or kept[place - 1].end <= mention.start
        if after_last and (place == len(kept) or mention.end <= kept[place].start):
            kept.insert(place, mention)
    return kept


def _word_start(text: str, end: int) -> str:
    """The first letter of the word that ends before this place; empty if none does."""
    start = end
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    return text[start:end][:1]


BATCH = 8  # passages per run of the pipeline (some 25 ms); questions go first between runs


class NameMatcher:
    """Finds the vault's names in texts, updated note by note.

    Names match as whole words, in plural and possessive forms; the longest of overlapping names
    wins. A person's single name (``Anna``, an alias or a unique given name) does not match next to
    another capitalised word (``Anna Petrova``), which is another person.

    Names are looked up by their longest word, which few sentences contain. Thread-safe.
    """

    def __init__(self) -> None:
        self._book = NameBook()
        # By longest word: its place in a name with the name's length, and the number of such names.
        self._shapes: defaultdict[str, Counter[tuple[int, int]]] = defaultdict(Counter)
        self._state = 0
        self._lock = threading.RLock()

    def state(self) -> int:
        """A number that changes with every change of the names."""
        return self._state

    def replace(self, note_id: str, names: Iterable[Name]) -> NameChanges:
        """Replace the names that a note adds; returns the effects on other notes."""
        with self._lock:
            update = self._book.replace(note_id, names)
            for key in update.gone:
                self._count_shape(key, -1)
            for key in update.come:
                self._count_shape(key, 1)
            self._state += bool(update.come or update.gone or update.changes != NameChanges())
            return update.changes

    def remove(self, note_id: str) -> NameChanges:
        """Remove all names that a note adds; returns the effects on other notes."""
        return self.replace(note_id, ())

    def _count_shape(self, key: str, step: int) -> None:
        parts = key.split(" ")
        longest_word = max(parts, key=len)
        shapes, shape = self._shapes[longest_word], (parts.index(longest_word), len(parts))
        shapes[shape] += step
        if not shapes[shape]:
            del shapes[shape]
        if not shapes:
            del self._shapes[longest_word]

    def find(
        self,
        text: str,
        *,
        exclude: str | None = None,
        heading: bool = False,
        question: bool = False,
    ) -> list[Mention]:
        """Find the names in a text, ordered and without overlaps.

        Args:
            text: a sentence of readable text.
            exclude: a node to ignore, so that a longer name of the note itself does not hide
                another name within it.
            heading: the text is in title case, so capitals prove little.
            question: the text is a query, so missing capitals prove little.
        """
        text = composed(text)
        if self._shapes.keys().isdisjoint(some_words(text)):
            return []
        found = words(text)
        with self._lock:
            spans = [
                (first, first + length, self._book.meaning(" ".join(found[first : first + length])))
                for at, word in enumerate(found)
                for place, length in self._shapes.get(word, ())
                if 0 <= (first := at - place) <= len(found) - length
            ]
        if not spans:
            return []
        sentence = SentenceWords(text, heading=heading, question=question)
        mentions = (
            sentence.mention(first, last, meaning)
            for first, last, meaning in spans
            if meaning and meaning[0].target != exclude
        )
        return longest(mention for mention in mentions if mention is not None)

    def lookup(self, text: str, kind: str | None = None) -> Name | None:
        """The meaning of a name, ignoring case; None if it is unknown or ambiguous."""
        with self._lock:
            return self._book.lookup(text, kind)

    def knows(self, text: str) -> bool:
        """Whether the vault has this name, possibly ambiguous."""
        with self._lock:
            return self._book.knows(text)

    def spelling(self, target: str) -> str | None:
        """The most frequent spelling of an entity without a note."""
        with self._lock:
            return self._book.spelling(target)


class EntityPipeline:
    """spaCy's trained pipeline, for entities that are not names of the vault.

    It finds people, organisations, places, dates, products, events and works. Thread-safe; calls
    run one at a time.
    """

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline
        self._lock = threading.Lock()

    def find(self, notes: Sequence[ParsedNote]) -> list[tuple[FoundEntity, ...]]:
        """The entities of each note, ordered by position; they depend on the note's text only, so
        they can be cached."""
        found: list[list[tuple[FoundEntity, bool]]] = [[] for _ in notes]
        passages = [
            (passage.text, (number, passage))
            for number, note in enumerate(notes)
            for passage in passages_of(note)
        ]
        # The memory zone frees new words, which the vocabulary would otherwise keep forever.
        with self._lock, self._pipeline.memory_zone():
            docs = self._pipeline.pipe(passages, as_tuples=True, batch_size=BATCH)
            for doc, (number, passage) in docs:
                make_way()
                for span in doc.ents:
                    entity = passage.entity(span.start_char, span.end_char, span.label_)
                    if entity is not None:
                        found[number].append(entity)
        return [settled(note, each) for note, each in zip(notes, found, strict=True)]


def open_entity_pipeline() -> EntityPipeline | None:
    """Load the trained pipeline (about 3 s); None if the extra ``memvault[ner]`` is missing."""
    pipeline = load_trained_pipeline()
    return None if pipeline is None else EntityPipeline(pipeline)
