"""Questions that properties answer: "Which clients renew in December?", "How many projects are on
hold?", "Which project has the largest budget?", "Which invoices are over 200?".

Each word of such a question is a type of note, the key of a property, a word of its value, or a
word of the note's title. Notes that have all of them are listed: no text has to fit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from memvault.model.memory import Memory
from memvault.search.comparisons import (
    LARGEST,
    SMALLEST,
    Comparison,
    comparison_in,
    with_highest,
)
from memvault.search.context.properties import terms_of
from memvault.search.note_properties import NoteProperties, day_of_time, terms_of_key
from memvault.search.order import latest_first
from memvault.search.overdue import DONE, asks_for_overdue, overdue_since, without_overdue
from memvault.search.question_languages import languages_of
from memvault.search.question_time import NEWEST, QuestionTime, words_beyond
from memvault.search.scope import MemoryLookup
from memvault.text.words import composed, some_words

MAX_WORDS = 6  # of a question that properties answer
MAX_READ = 3_000  # notes
MAX_DENYING = 300  # notes of which every property is read, for what they deny
MIN_NEARNESS = 0.2  # cosine of a limit and the key of the property whose numbers it limits
# Words of such questions besides those of properties.
_ASKING = "altogether currently kind kinds many much number total which whose property value status"
# What happens on the day of a property, and need not be its key: "Which contracts end in May?"
_HAPPENING = (
    "appear appeared appears bought built come comes due end ended ending ends expire expired "
    "expires expiring fall falls finish finished finishes happen happens made published "
    "released run runs start started starting starts written"
)
_NEGATED = re.compile(
    r"\b(?:not|never|without|nicht|kein\w*|ohne|pas|jamais|sans|non|senza|no|sin|não|sem|niet|geen|"
    r"zonder|не|без)\b|n['’]t\b",
    re.IGNORECASE,
)
_STILL = (
    "yet still already noch schon encore déjà ancora già aún todavía ya ainda já nog al ещё уже"
)
_COUNTS = re.compile(
    r"\b(?:how many|number of|count|wie ?viele|combien|cuánt[oa]s|quant[ie]|quant[oa]s|hoeveel|"
    r"сколько)\b|いくつ|多少|几",
    re.IGNORECASE,
)
_UN = re.compile(r"\bun(\w{3,})", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s\b")
_VERB = re.compile(r"(?:\b(?:we|you|they)|(?<=\w )I) (\w+)")  # "do we hire", not "I libri"

NearestKeys = Callable[[str, Sequence[str], float], Sequence[str]]
"""The keys that have at least this cosine with a text, the nearest first
(`context.properties.PropertyChooser.nearest_keys`)."""


@dataclass(frozen=True, slots=True)
class PropertyAnswer:
    """The notes that a question asks for, in the order that it asks for.

    Attributes:
        compared: the key of the numbers that were compared, if the question names none.
        is_list: whether the question asks for all such notes, rather than for one by its title.
    """

    notes: Sequence[Memory] = ()
    compared: str | None = None
    is_list: bool = True


class _Candidates(NamedTuple):
    """The notes that may answer, and what the words of the question are there.

    Attributes:
        keys: those of properties that the question names.
        named: the terms of the types, folders, tags and keys that it names.
        values: the other words.
        has_kind: whether it names a type, folder or tag.
    """

    notes: list[NoteProperties]
    keys: list[str]
    named: frozenset[int]
    values: set[str]
    has_kind: bool


@dataclass(frozen=True, slots=True)
class PropertyQuestion:
    """The words of a question that properties may answer.

    Attributes:
        text: the question without its times.
        words: each with its terms, in their order; without function words and words that ask.
        time: of which the day or year of a property must be.
        limits: within which the number of a property must be.
        order: 1 if the largest value is asked for, -1 if the smallest, else 0.
        negated: whether the words must not be those of the properties.
        overdue_on: the day on which a note must be overdue, if the question asks for that.
    """

    text: str
    words: dict[str, frozenset[int]]
    time: QuestionTime | None
    limits: Comparison | None
    order: int
    negated: bool
    overdue_on: date | None = None

    @classmethod
    def read(
        cls, question: str, time: QuestionTime | None, memories: MemoryLookup, today: date
    ) -> PropertyQuestion | None:
        """None for a question that names no type or key of a note, or that has too many words."""
        limits = comparison_in(question)
        if time is not None and (limits is None or not limits.may_be_year):
            limits = comparison_in(time.rest)
        elif limits is not None:
            time = None  # "over 2000" is no year
        text = with_highest(time.rest if time is not None else question)
        rest = with_highest(limits.rest) if limits is not None else text
        if is_overdue := asks_for_overdue(rest):
            rest = without_overdue(rest)
        elif _UN.search(rest):
            rest = _with_not(rest, memories)
        if not _names_any(rest, memories):  # as most do not
            return None
        others = {*_ASKING.split(), *(_HAPPENING.split() if time is not None else ())}
        negated = _NEGATED.search(rest) is not None
        if negated:
            others.update(_STILL.split())
        rest = _POSSESSIVE.sub("", NEWEST.sub(" ", composed(rest).casefold()))
        found = words_beyond(others, rest, question)
        in_order = list(dict.fromkeys(some_words(rest)))
        sizes = set(in_order)  # "most" is no word of `found`
        order = bool(sizes & LARGEST) - bool(sizes & SMALLEST)
        found -= LARGEST | SMALLEST
        if not 0 < len(found) <= MAX_WORDS:
            return None
        places = {word: place for place, word in enumerate(in_order)}
        words = {
            word: terms_of(word) for word in sorted(found, key=lambda word: places.get(word, 0))
        }
        return cls(text, words, time, limits, order, negated, today if is_overdue else None)

    def answer(self, memories: MemoryLookup, nearest: NearestKeys) -> PropertyAnswer:
        """The notes that have all words.

        None where more than `MAX_READ` notes are of the type or have the key: reading them would
        take longer than the rest of a search.
        """
        candidates = self._candidates(memories)
        if candidates is None:
            return PropertyAnswer()
        notes, values = candidates.notes, candidates.values
        if self.overdue_on is not None:
            return PropertyAnswer(self._overdue(notes, values, self.overdue_on))
        compared = None
        if self._compares and (self.negated or not candidates.keys):
            compared = self._nearest_number(notes, nearest)
            if compared is None:
                return PropertyAnswer()
        if self.negated:
            places = {note: self._place(note, compared) for note in self._without(notes, values)}
            return PropertyAnswer(self._in_order(places), compared)
        if candidates.has_kind and self._compares:
            # Words that no note has say what is compared: "Which lenses cost over 500?"
            values = {word for word in values if any(note.mentions(word) for note in notes)}
        found = self._with_all(notes, values, candidates.named, compared)
        if not found and not candidates.has_kind and (kind := self._kind()) in values:
            values = values - {kind}
            found = self._with_all(notes, values, candidates.named, compared)
        is_list = not any(note.is_named_by(values) for note in notes)
        return PropertyAnswer(found, compared, is_list)

    def _candidates(self, memories: MemoryLookup) -> _Candidates | None:
        """The notes of the type, folder or tag that the question names, else those with a property
        that it names; None if they are too many."""
        terms = frozenset[int]().union(*self.words.values())
        types = [kind for kind in _named_in(memories.types(), terms) if kind != "note"]
        keys = [key for key in memories.property_keys() if terms_of_key(key) & terms]
        of_keys = frozenset[int]().union(*map(terms_of_key, keys))
        verbs = frozenset[int]().union(*map(terms_of, self._verbs))
        groups = [] if types else _named_in(memories.groups(), terms - of_keys - verbs)
        if types:
            known = [memory for kind in types for memory in memories.of_type(kind)]
        elif groups:
            known = _in_all_groups(groups, memories)
        else:
            known = list({m.id: m for key in keys for m in memories.with_property(key)}.values())
        if len(known) > (MAX_DENYING if self.negated else MAX_READ):
            return None
        in_group = frozenset[int]().union(*map(terms_of, groups))
        notes = [NoteProperties(memory, self.words, in_group) for memory in known]
        keys = [key for key in keys if any(key in memory.properties for memory in known)]
        named = in_group.union(*map(terms_of, types), *map(terms_of_key, keys))
        values = {word for word, terms in self.words.items() if not terms <= named}
        newest = set(NEWEST.findall(self.text.casefold()))  # may be a value: "status: current"
        values |= {word for word in newest if any(note.keys_with_value(word) for note in notes)}
        return _Candidates(notes, keys, named, values, has_kind=bool(types or groups))

    def _nearest_number(self, notes: Sequence[NoteProperties], nearest: NearestKeys) -> str | None:
        """The key with numbers that is nearest in meaning to the question."""
        numbers = sorted({key for note in notes for key in note.numbers})
        largest = (LARGEST | SMALLEST).intersection(some_words(composed(self.text)))
        text = " ".join((self.text, *sorted(largest)))  # again: it says most of the key
        return next(iter(nearest(text, numbers, MIN_NEARNESS)), None)

    @property
    def _compares(self) -> bool:
        """Whether the question compares numbers."""
        return self.limits is not None or self.order != 0

    def _kind(self) -> str | None:
        """The first word, which says what kind of notes are asked for ("Which pieces …"), unless it
        is a name."""
        first = next(iter(self.words))
        if first in self._verbs:
            return None
        is_name = re.search(rf"\b{re.escape(first[:1].upper() + first[1:])}\b", self.text)
        return None if is_name and "german" not in languages_of(self.text).names else first

    @property
    def _verbs(self) -> frozenset[str]:
        """The words behind a pronoun, which name no kind of note: "When do we hire?"."""
        return frozenset(word.casefold() for word in _VERB.findall(self.text))

    def _overdue(
        self, notes: Sequence[NoteProperties], values: set[str], today: date
    ) -> list[Memory]:
        """The notes with these words that are overdue, the first due first."""
        due = {note: overdue_since(note.fields, today) for note in notes if note.has_all(values)}
        return self._in_order(
            {n: float(day.toordinal()) if day else None for n, day in due.items()}
        )

    def _with_all(
        self,
        notes: Sequence[NoteProperties],
        values: set[str],
        named: frozenset[int],
        compared: str | None,
    ) -> list[Memory]:
        """The notes that have all words of the question, in the order that it asks for.

        Args:
            values: the words that are neither a type nor a key.
            named: the terms of the types and keys.
            compared: the key of the numbers that are compared, if the question names none.
        """
        words = values | {word for word, terms in self.words.items() if terms <= named}
        notes = [note for note in notes if all(map(note.mentions, values))]
        notes = [note for note in notes if self._has_answer(note, words)]
        places = {note: self._place(note, compared) for note in notes}
        answering = [note for note in notes if places[note] is not None]
        return self._in_order(
            {note: places[note] for note in _with_whole_values(answering, self.text)}
        )

    def _in_order(self, places: Mapping[NoteProperties, float | None]) -> list[Memory]:
        """The notes that have a place, by it; of equal ones the latest first."""
        place_of = {note.memory.id: place for note, place in places.items()}
        found = latest_first(note.memory for note, place in places.items() if place is not None)
        return sorted(found, key=lambda memory: place_of[memory.id] or 0.0)

    def _without(self, notes: Sequence[NoteProperties], values: set[str]) -> list[NoteProperties]:
        """The notes whose properties say that each word is not so ("not paid").

        Args:
            values: the words that are neither a type nor a key.
        """
        named = {word for note in notes for words in note.named.values() for word in words}
        keys: dict[str, set[str]] = {word: set() for word in values | named}
        for note in notes:
            for key, words in note.named.items():
                for word in words:
                    keys[word].add(key)
        for word in values:
            keys[word] = {key for note in notes for key in note.keys_with_value(word)}
        found = [n for n in notes if all(n.denies(word, own) for word, own in keys.items())]
        return found if keys else []

    def _has_answer(self, note: NoteProperties, words: set[str]) -> bool:
        """Whether a note has these words, and with them more than the key that is asked for."""
        if not note.words_of_type and not note.named:
            return False
        values = words - note.words_of_type.union(*note.named.values())
        if not note.has_all(values):
            return False
        is_narrowed = self._compares or self.time is not None or _COUNTS.search(self.text)
        return bool(is_narrowed or values or any(map(note.has_value, words)))

    def _place(self, note: NoteProperties, compared: str | None) -> float | None:
        """The place of a note by its number or day; None if these are not within the limits."""
        keys = note.keys_named() if compared is None else [compared]
        keys = [key for key in keys if key in note.numbers and self._is_within(note, key)]
        if self.limits is not None and not keys:
            return None
        if self.time is not None:
            return self._days_until(note)
        if self.order:
            return -self.order * max(note.numbers[key] for key in keys) if keys else None
        return 0.0

    def _is_within(self, note: NoteProperties, key: str) -> bool:
        """Whether a number of the note is within the limits, if there are any."""
        return self.limits is None or self.limits.has(
            note.numbers[key], f"{key} {note.fields[key]}"
        )

    def _days_until(self, note: NoteProperties) -> float | None:
        """The first day of the properties that are named, or of all, that is of the time, as a
        number; None without one."""
        assert self.time is not None
        keys = note.named or note.fields
        days = (day_of_time(key, note.fields[key], self.time) for key in keys)
        return min((float(day.toordinal()) for day in days if day is not None), default=None)


def _with_not(question: str, memories: MemoryLookup) -> str:
    """The question with "not paid" for "unpaid", where "paid" is the key of a property or says that
    something is done."""
    of_keys = frozenset[int]().union(*map(terms_of_key, memories.property_keys()))

    def split(found: re.Match[str]) -> str:
        word = found[1].casefold()
        return f"not {word}" if word in DONE or terms_of(word) & of_keys else found[0]

    return _UN.sub(split, question)


def _names_any(question: str, memories: MemoryLookup) -> bool:
    """Whether a word of the question is a type of note, a folder, a tag or a property's key."""
    asked = terms_of(question)
    return (
        any(kind != "note" for kind in _named_in(memories.types(), asked))
        or any(terms_of_key(key) & asked for key in memories.property_keys())
        or bool(_named_in(memories.groups(), asked))
    )


def _named_in(names: Iterable[str], asked: frozenset[int]) -> list[str]:
    """The names of which each term is in a question."""
    return [name for name in names if (terms := terms_of(name)) and terms <= asked]


def _in_all_groups(groups: Sequence[str], memories: MemoryLookup) -> list[Memory]:
    """The notes in a folder or with a tag for each of these names; names of equal terms are one."""
    named: dict[frozenset[int], dict[str, Memory]] = {}
    for group in groups:
        same = named.setdefault(terms_of(group), {})
        same.update({memory.id: memory for memory in memories.in_group(group)})
    first, *others = named.values()
    return [memory for key, memory in first.items() if all(key in other for other in others)]


def _with_whole_values(notes: Sequence[NoteProperties], text: str) -> list[NoteProperties]:
    """The notes without those of which a value has the same terms as another that is in the text
    as it is, but fewer words: "read", where the question says "to read"."""
    asked = f" {' '.join(some_words(composed(text)))} "
    terms = terms_of(text)
    longest: dict[tuple[str, frozenset[int]], int] = {}
    lengths: list[dict[tuple[str, frozenset[int]], int]] = []
    for note in notes:
        own = {}
        for key, value in note.fields.items():
            if (of_value := terms_of(value)) and of_value <= terms:
                words = " ".join(some_words(composed(value)))
                own[key, of_value] = len(words) if f" {words} " in asked else 0
        for each, length in own.items():
            longest[each] = max(length, longest.get(each, 0))
        lengths.append(own)
    return [
        note
        for note, own in zip(notes, lengths, strict=True)
        if all(length == longest[each] for each, length in own.items())
    ]
