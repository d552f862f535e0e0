"""Finds the vault's names in texts."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterable

from memvault.text.mentions import Mention, MentionText, longest_mentions
from memvault.text.name_book import NameBook, NameChanges
from memvault.text.names import Name
from memvault.text.words import composed, some_words, words


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
        self._places: defaultdict[str, Counter[tuple[int, int]]] = defaultdict(Counter)
        self._state = 0
        self._changed: dict[str, int] = {}  # state of the last change, by the name's longest word
        self._lock = threading.RLock()

    def state(self) -> int:
        """A number that grows with every change of the names."""
        return self._state

    def has_changed(self, text: str, since: int) -> bool:
        """Whether a name that the text may contain was changed since this state."""
        return any(self._changed.get(word, 0) > since for word in words(composed(text)))

    def replace(self, note_id: str, names: Iterable[Name]) -> NameChanges:
        """Replace the names that a note adds; returns the effects on other notes."""
        with self._lock:
            update = self._book.replace(note_id, names)
            for key in update.removed:
                self._count_name(key, -1)
            for key in update.added:
                self._count_name(key, 1)
            keys = update.added | update.removed | update.changes.keys
            self._state += bool(keys or update.changes != NameChanges())
            self._changed.update(dict.fromkeys(map(_longest_word, keys), self._state))
            return update.changes

    def remove(self, note_id: str) -> NameChanges:
        """Remove all names that a note adds; returns the effects on other notes."""
        return self.replace(note_id, ())

    def _count_name(self, key: str, count: int) -> None:
        """Add to the number of names with this longest word at this place."""
        parts, longest_word = key.split(" "), _longest_word(key)
        counts, place = self._places[longest_word], (parts.index(longest_word), len(parts))
        counts[place] += count
        if not counts[place]:
            del counts[place]
        if not counts:
            del self._places[longest_word]

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
        if self._places.keys().isdisjoint(some_words(text)):
            return []
        text_words = words(text)
        count = len(text_words)
        with self._lock:
            spans = [
                (first, end, self._book.meaning(" ".join(text_words[first:end])))
                for index, word in enumerate(text_words)
                for place, length in self._places.get(word, ())
                if (first := index - place) >= 0 and (end := first + length) <= count
            ]
        if not spans:
            return []
        sentence = MentionText(text, heading=heading, question=question)
        mentions = (
            sentence.mention(first, end, meaning)
            for first, end, meaning in spans
            if meaning and meaning[0].target != exclude
        )
        return longest_mentions(mention for mention in mentions if mention is not None)

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


def _longest_word(key: str) -> str:
    return max(key.split(" "), key=len)
