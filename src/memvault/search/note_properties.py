"""The properties of one note, as a question for properties reads them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import date
from functools import cached_property

from memvault.model.memory import Memory
from memvault.search.comparisons import NUMBER_WORDS, first_number
from memvault.search.context.properties import shown_value, terms_of, words_of_key
from memvault.search.overdue import NOT_SO
from memvault.search.question_time import QuestionTime
from memvault.text.relations import NOT_FIELDS
from memvault.text.words import composed, some_words
from memvault.vault.frontmatter.properties import read_date

_EVERY_YEAR = re.compile(
    r"birth|born|anni?vers|geburtstag|jubil|naissance|nascita|compleanno|cumple|nacimiento|"
    r"nasciment|verjaardag|рожден|誕生|生日",
    re.IGNORECASE,
)
_OF_A_YEAR = re.compile(r"year|jahr|année|año|ano|anno|jaar|год|年|publi|released?", re.IGNORECASE)
_YEAR = re.compile(r"[12]\d{3}")


class NoteProperties:
    """A note's properties, its type and its names, by the words of a question.

    Args:
        words: the words of the question, each with its terms.
        group: the terms of the folders and tags that stand for a type in the question.
    """

    def __init__(
        self,
        memory: Memory,
        words: Mapping[str, frozenset[int]],
        group: frozenset[int] = frozenset(),
    ) -> None:
        self.memory = memory
        self._words = words
        self._group = group

    @cached_property
    def fields(self) -> dict[str, str]:
        """The shown value of each property that a person set, by its key."""
        return {
            key: shown
            for key, value in self.memory.properties.items()
            if key.casefold() not in NOT_FIELDS and (shown := shown_value(value))
        }

    @cached_property
    def numbers(self) -> dict[str, float]:
        """The number of each property that has one at its start and is no day."""
        return {
            key: number
            for key, value in self.fields.items()
            if day_of(value) is None and (number := first_number(value)) is not None
        }

    @cached_property
    def words_of_type(self) -> frozenset[str]:
        """The words that the note's type has, or the folders and tags that stand for a type."""
        of_type = terms_of(self.memory.type) if self.memory.type != "note" else frozenset[int]()
        of_type |= self._group
        return frozenset(word for word, terms in self._words.items() if terms <= of_type)

    @cached_property
    def named(self) -> dict[str, set[str]]:
        """The words that the key of each property has, without keys that have none."""
        left = {w: terms for w, terms in self._words.items() if w not in self.words_of_type}
        found = {
            key: {word for word, terms in left.items() if terms & terms_of_key(key)}
            for key in self.fields
        }
        return {key: words for key, words in found.items() if words}

    def mentions(self, word: str) -> bool:
        """Whether a value or name may have the word; a quick look that excludes most notes."""
        return word in self._text or NUMBER_WORDS.get(word, word) in self._text

    def has_all(self, words: Collection[str]) -> bool:
        """Whether each word is one of a value, or of the note's title, aliases, project or tags; a
        number must be that of a property that is named, if any is."""
        return all(self._has(word) for word in words)

    def is_named_by(self, words: Collection[str]) -> bool:
        """Whether each word is one of the note's title or aliases."""
        names = _words(" ".join((self.memory.title, *self.memory.aliases)))
        return bool(words) and names.issuperset(words)

    def keys_named(self) -> list[str]:
        """The keys with a number that have the most words of the question."""
        most = max(
            (len(words) for key, words in self.named.items() if key in self.numbers), default=0
        )
        return [key for key in self.numbers if len(self.named.get(key, ())) == most > 0]

    def keys_with_value(self, word: str) -> list[str]:
        """The keys of properties whose values have the word."""
        if not self.mentions(word):
            return []
        return [key for key, words in self.words_of_value.items() if word in words]

    def denies(self, word: str, keys: Collection[str]) -> bool:
        """Whether the properties say that the word is not so: one that it names is missing or
        false, or one whose values may have the word has another.

        Args:
            keys: those of properties that the word names in any note; without such, of those whose
                values have it in any note.
        """
        named = [key for key in keys if terms_of(word) & terms_of_key(key)]
        if named:
            return all(self.fields.get(key, "").casefold() in NOT_SO for key in named)
        return not self.has_value(word) and any(key in self.fields for key in keys)

    def _has(self, word: str) -> bool:
        if self.has_value(word):
            return True
        # A link leads to what is asked for: relations answer that.
        return word in self._words_of_names and not any("[[" in self.fields[k] for k in self.named)

    def has_value(self, word: str) -> bool:
        """Whether a value has the word; a number must be that of a property that is named."""
        number = NUMBER_WORDS.get(word, word)
        keys = self.named if self.named and number.isdigit() else self.fields
        return any(not {word, number}.isdisjoint(self.words_of_value[key]) for key in keys)

    @cached_property
    def words_of_value(self) -> dict[str, frozenset[str]]:
        """The words of each property's value, by its key."""
        return {key: _words(value) for key, value in self.fields.items()}

    @cached_property
    def _words_of_names(self) -> frozenset[str]:
        memory = self.memory
        return _words(" ".join((memory.title, *memory.aliases, memory.project or "", *memory.tags)))

    @cached_property
    def _text(self) -> str:
        memory = self.memory
        names = " ".join((memory.title, *memory.aliases, memory.project or "", *memory.tags))
        return composed(f"{names} {memory.properties}").casefold()


def terms_of_key(key: str) -> frozenset[int]:
    """The terms of a property's key."""
    return terms_of(words_of_key(key))


def day_of(value: str) -> date | None:
    """The day that a value states; None if it states none."""
    moment = read_date(value)
    return moment.date() if moment is not None else None


def day_of_time(key: str, value: str, time: QuestionTime) -> date | None:
    """The day of a property if it is of the time, or the first day of a year that is."""
    if _YEAR.fullmatch(value) and _OF_A_YEAR.search(key):
        year = int(value)
        is_of_it = time.day_within(date(year, 12, 31)) is not None
        return time.day_within(date(year, 1, 1)) if is_of_it else None
    day = day_of(value)
    if day is None:
        return None
    return time.day_within(day, every_year=bool(_EVERY_YEAR.search(key)))


def _words(text: str) -> frozenset[str]:
    return frozenset(some_words(composed(text)))
