"""The properties of one note, as a question for properties reads them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache

from memvault.model.memory import Memory
from memvault.search.lists.comparisons import NUMBER_WORDS, first_number
from memvault.search.property_text import (
    YEARLY_KEY,
    day_of_property,
    is_no,
    is_yes,
    shown_value,
    terms_of,
    words_of_key,
)
from memvault.search.times.question_time import QuestionTime
from memvault.text.note_graph import NOT_FIELDS
from memvault.text.words import some_words

_YEAR_KEY = re.compile(r"year|jahr|année|año|ano|anno|jaar|год|年|publi|released?", re.IGNORECASE)
_YEAR = re.compile(r"[12]\d{3}")
MAX_VALUES = 50_000  # cached values and keys: those of thousands of notes are mostly the same few


def property_words(memory: Memory) -> frozenset[str]:
    """The words of a note's names and of the values of its properties."""
    values = shown_properties(memory).values()
    return frozenset(some_words(" ".join((_names_of(memory), *values))))


def shown_properties(memory: Memory) -> dict[str, str]:
    """The shown value of each property that a person set, by its key."""
    return {
        key: shown
        for key, value in memory.properties.items()
        if key.casefold() not in NOT_FIELDS and (shown := shown_value(value))
    }


@dataclass(frozen=True, eq=False)
class NoteProperties:
    """A note's properties, its type and its names, by the words of a question.

    Attributes:
        words: the words of the question, each with its terms.
        group: the terms of the folders and tags that stand for a type in the question.
    """

    memory: Memory
    words: Mapping[str, frozenset[int]]
    group: frozenset[int] = frozenset()

    @cached_property
    def fields(self) -> dict[str, str]:
        """The shown value of each property that a person set, by its key."""
        return shown_properties(self.memory)

    @cached_property
    def numbers(self) -> dict[str, float]:
        """The number of each property that has one at its start and is no day."""
        return {
            key: number
            for key, value in self.fields.items()
            if (number := _number_of(key, value, self._year)) is not None
        }

    @cached_property
    def _year(self) -> int:
        return self.memory.day.year

    def has_day(self, key: str) -> bool:
        """Whether the value of a property is a day."""
        return day_of_property(key, self.fields[key], self._year) is not None

    def day_of_time(self, key: str, time: QuestionTime, *, is_named: bool) -> date | None:
        """The day of a property if it is of the time, or the first day of a year that is.

        Args:
            is_named: whether the question names the key, so that a number may be a year.
        """
        value = self.fields[key]
        if _YEAR.fullmatch(value) and (is_named or _YEAR_KEY.search(key)):
            year = int(value)
            is_of_it = time.day_within(date(year, 12, 31)) is not None
            return time.day_within(date(year, 1, 1)) if is_of_it else None
        day = day_of_property(key, value, self._year)
        if day is None:
            return None
        return time.day_within(day, every_year=bool(YEARLY_KEY.search(key)))

    @cached_property
    def words_of_type(self) -> frozenset[str]:
        """The words that the note's type has, or the folders and tags that stand for a type."""
        of_type = terms_of(self.memory.type) if self.memory.type != "note" else frozenset[int]()
        of_type |= self.group
        return frozenset(word for word, terms in self.words.items() if terms <= of_type)

    @cached_property
    def words_by_key(self) -> dict[str, set[str]]:
        """The words that the key of each property has, without keys that have none."""
        return {key: words for key in self.fields if (words := self.words_in_key(key))}

    def words_in_key(self, key: str) -> set[str]:
        """The words that the key of a property has, without those of the note's type."""
        key_terms = terms_of_key(key)
        return {
            word
            for word, terms in self.words.items()
            if terms & key_terms and word not in self.words_of_type
        }

    @property
    def says_yes(self) -> bool:
        """Whether a property with a word of the question in its key is true ("paid: yes")."""
        return any(is_yes(self.fields[key]) for key in self.words_by_key)

    @property
    def says_no(self) -> bool:
        """Whether a word of the question is only in keys of properties that are false ("paid: no",
        where the question says "paid")."""
        affirmed = set[str]().union(
            *(words for key, words in self.words_by_key.items() if not is_no(self.fields[key]))
        )
        return any(not words <= affirmed for words in self.words_by_key.values())

    def has_all(self, words: Collection[str]) -> bool:
        """Whether the note has each word in a value, or in its title, aliases, project or tags. If
        the question names properties, a number must be the value of one of these."""
        return all(self._has_word(word) for word in words)

    def is_named_by(self, words: Collection[str]) -> bool:
        """Whether each word is one of the note's title or aliases."""
        names = _words(" ".join((self.memory.title, *self.memory.aliases)))
        return bool(words) and names.issuperset(words)

    @property
    def links_elsewhere(self) -> bool:
        """Whether a property with a word of the question in its key leads to what is asked for:
        relations answer that."""
        return any("[[" in self.fields[key] for key in self.words_by_key)

    def best_number_keys(self) -> list[str]:
        """The keys with a number that have the most words of the question."""
        highest_count = max(
            (len(words) for key, words in self.words_by_key.items() if key in self.numbers),
            default=0,
        )
        return [
            key for key in self.numbers if len(self.words_by_key.get(key, ())) == highest_count > 0
        ]

    def keys_with_value(self, word: str) -> list[str]:
        """The keys of properties whose values have the word."""
        return [key for key, words in self.words_of_value.items() if word in words]

    def denies(self, word: str, keys: Collection[str]) -> bool:
        """Whether the properties deny a word ("not paid").

        They do if every property with the word in its key ("paid") is missing or false. Where no
        key has the word, they do if one of these properties has another value ("state: open").

        Args:
            keys: of the properties with the word in their keys in any note; if there are none, of
                those with the word in their values in any note.
        """
        named_keys = [key for key in keys if terms_of(word) & terms_of_key(key)]
        if named_keys:
            return all(is_no(self.fields.get(key, "")) for key in named_keys)
        return not self.has_value(word) and any(key in self.fields for key in keys)

    def _has_word(self, word: str) -> bool:
        return self.has_value(word) or (word in self._words_of_names and not self.links_elsewhere)

    def has_value(self, word: str) -> bool:
        """Whether a value has the word. If the question names properties, a number must be the
        value of one of these."""
        number = NUMBER_WORDS.get(word, word)
        keys = self.words_by_key if self.words_by_key and number.isdigit() else self.fields
        return any(not {word, number}.isdisjoint(self.words_of_value[key]) for key in keys)

    @cached_property
    def words_of_value(self) -> dict[str, frozenset[str]]:
        """The words of each property's value, by its key."""
        return {key: _words(value) for key, value in self.fields.items()}

    @cached_property
    def _words_of_names(self) -> frozenset[str]:
        return _words(_names_of(self.memory))


def _names_of(memory: Memory) -> str:
    return " ".join((memory.title, *memory.aliases, memory.project or "", *memory.tags))


@lru_cache(maxsize=MAX_VALUES)
def terms_of_key(key: str) -> frozenset[int]:
    """The terms of a property's key."""
    return terms_of(words_of_key(key))


@lru_cache(maxsize=MAX_VALUES)
def _number_of(key: str, value: str, year: int) -> float | None:
    """The number at the start of a property's value; None if there is none, or for a day.

    Args:
        year: of the note.
    """
    return first_number(value) if day_of_property(key, value, year) is None else None


@lru_cache(maxsize=MAX_VALUES)
def _words(text: str) -> frozenset[str]:
    return frozenset(some_words(text))


def with_longest_values(notes: Sequence[NoteProperties], question: str) -> list[NoteProperties]:
    """The notes without those of which the question has a longer value of another note word for
    word, with the same key and terms: "read", where it says "to read"."""
    text = f" {' '.join(some_words(question))} "
    question_terms = terms_of(question)
    longest: dict[tuple[str, frozenset[int]], int] = {}
    lengths: list[dict[tuple[str, frozenset[int]], int]] = []
    for note in notes:
        of_note = {}
        for key, value in note.fields.items():
            if (value_terms := terms_of(value)) and value_terms <= question_terms:
                words = " ".join(some_words(value))
                of_note[key, value_terms] = len(words) if f" {words} " in text else 0
        for value_key, length in of_note.items():
            longest[value_key] = max(length, longest.get(value_key, 0))
        lengths.append(of_note)
    return [
        note
        for note, of_note in zip(notes, lengths, strict=True)
        if all(length == longest[value_key] for value_key, length in of_note.items())
    ]
