"""Questions that properties answer: "Which clients renew in December?", "How many projects are on
hold?", "Which project has the largest budget?".

Each word of such a question is a type of note, the key of a property, or a word of its value. Notes
whose properties have all of them are listed: no text has to fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date

from memvault.model.memory import Memory
from memvault.search.context.properties import shown_value, terms_of
from memvault.search.order import latest_first
from memvault.search.question_time import NEWEST, QuestionTime, words_beyond
from memvault.search.scope import MemoryLookup
from memvault.text.relations import NOT_FIELDS
from memvault.text.words import composed, some_words
from memvault.vault.frontmatter.properties import read_date

MAX_WORDS = 6  # of a question that properties answer
MAX_READ = 3_000  # notes
_LARGEST = frozenset(["biggest", "greatest", "highest", "largest", "longest", "most", "top"])
_SMALLEST = frozenset(["least", "lowest", "shortest", "smallest", "fewest"])
# Words of such questions besides those of properties.
_ASKING = "altogether currently kind kinds many much number total which whose property value status"
# What happens on the day of a property, and need not be its key: "Which contracts end in May?"
_HAPPENING = (
    "come comes due end ended ending ends expire expired expires expiring fall falls finish "
    "finished finishes happen happens run runs start started starting starts"
)
_EVERY_YEAR = re.compile(
    r"birth|born|anni?vers|geburtstag|jubil|naissance|nascita|compleanno|cumple|nacimiento|"
    r"nasciment|verjaardag|рожден|誕生|生日",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\D{0,3}(\d[\d.,' ]*)")
_THOUSANDS = re.compile(r"[.,' ](?=\d{3}(?!\d))")


@dataclass(frozen=True, slots=True)
class PropertyQuestion:
    """The words of a question that properties may answer.

    Attributes:
        words: each with its terms; without function words and words that ask.
        time: of which the day of a property must be.
        order: 1 if the largest value is asked for, -1 if the smallest, else 0.
    """

    words: dict[str, frozenset[int]]
    time: QuestionTime | None
    order: int

    @classmethod
    def of(
        cls, question: str, time: QuestionTime | None, memories: MemoryLookup
    ) -> PropertyQuestion | None:
        """None for a question that names no type or key of a note, or that has too many words."""
        rest = time.rest if time is not None else question
        if not _names_any(rest, memories):  # as most do not
            return None
        others = {*_ASKING.split(), *(_HAPPENING.split() if time is not None else ())}
        found = words_beyond(others, NEWEST.sub(" ", composed(rest).casefold()), question)
        order = bool(found & _LARGEST) - bool(found & _SMALLEST)
        words = {word: terms_of(word) for word in found - _LARGEST - _SMALLEST}
        return cls(words, time, order) if 0 < len(words) <= MAX_WORDS else None

    def notes(self, memories: MemoryLookup) -> list[Memory]:
        """The notes whose properties have all words, in the order that the question asks for.

        None where more than `MAX_READ` notes are of the type or have the key: reading them would
        take longer than the rest of a search.
        """
        asked = frozenset().union(*self.words.values())
        kinds = [kind for kind in memories.types() if kind != "note" and terms_of(kind) <= asked]
        keys = [key for key in memories.property_keys() if _terms_of_key(key) & asked]
        if kinds:
            known = [memory for kind in kinds for memory in memories.of_type(kind)]
        else:
            known = list({m.id: m for key in keys for m in memories.with_property(key)}.values())
        if len(known) > MAX_READ:
            return []
        named = frozenset().union(*map(terms_of, kinds), *map(_terms_of_key, keys))
        values = [word for word, own in self.words.items() if not own <= named]
        ranks = {
            memory.id: rank
            for memory in known
            if _mentions(memory, values) and (rank := self._rank(memory)) is not None
        }
        found = latest_first(memory for memory in known if memory.id in ranks)
        if self.time is not None or self.order:
            found.sort(key=lambda memory: ranks[memory.id])
        return found

    def _rank(self, memory: Memory) -> float | None:
        """The place of a note among those that answer; None if it does not answer."""
        fields = {
            key: said
            for key, value in memory.metadata.items()
            if key.casefold() not in NOT_FIELDS and (said := shown_value(value))
        }
        of_type = terms_of(memory.type) if memory.type != "note" else frozenset[int]()
        left = {word: own for word, own in self.words.items() if not own <= of_type}
        is_typed = len(left) < len(self.words)
        named = {
            key: {word for word, own in left.items() if own & _terms_of_key(key)} for key in fields
        }
        by_key = [key for key, words in named.items() if words]
        if not is_typed and not by_key:
            return None
        values = left.keys() - set[str]().union(*named.values())
        if not self._has_values(values, fields, by_key):
            return None
        if self.time is not None:
            return self._days_until([*by_key] or list(fields), fields, memory)
        if self.order:
            sizes = [float(n) for key in by_key if (n := _number(fields[key])) is not None]
            return -self.order * max(sizes) if sizes else None
        return 0.0 if values else None

    def _has_values(self, words: Iterable[str], fields: dict[str, str], by_key: list[str]) -> bool:
        """Whether each word is one of a value; a number must be that of a key that is named."""
        return all(
            any(
                word in some_words(composed(fields[key]))
                for key in (by_key if by_key and word.isdigit() else fields)
            )
            for word in words
        )

    def _days_until(self, keys: list[str], fields: dict[str, str], memory: Memory) -> float | None:
        """The first day of these properties that is of the time, as a number; None without one."""
        assert self.time is not None
        days = (
            self.time.day_within(day, every_year=bool(_EVERY_YEAR.search(key)))
            for key in keys
            if (day := _day(fields[key])) is not None
        )
        return min((float(day.toordinal()) for day in days if day is not None), default=None)


def _names_any(question: str, memories: MemoryLookup) -> bool:
    """Whether a word of the question is a type of note or the key of a property."""
    asked = terms_of(question)
    return any(kind != "note" and terms_of(kind) <= asked for kind in memories.types()) or any(
        _terms_of_key(key) & asked for key in memories.property_keys()
    )


def _mentions(memory: Memory, words: list[str]) -> bool:
    """Whether the values may have these words; a quick look that excludes most notes."""
    if not words:
        return True
    values = composed(str(memory.metadata)).casefold()
    return all(word in values for word in words)


def _terms_of_key(key: str) -> frozenset[int]:
    return terms_of(key.replace("_", " ").replace("-", " "))


def _day(value: str) -> date | None:
    moment = read_date(value)
    return moment.date() if moment is not None else None


def _number(value: str) -> float | None:
    """The number at the start of a value: "1,200 EUR", "€ 1.200,50", "3.5"."""
    found = _NUMBER.match(value)
    if found is None:
        return None
    digits = _THOUSANDS.sub("", found[1]).replace(",", ".").rstrip(". '").split(" ")[0]
    with suppress(ValueError):  # "1.2.3" is no number
        return float(digits)
    return None
