"""Questions that properties answer: "Which clients renew in December?", "How many projects are on
hold?", "Which project has the largest budget?", "Which invoices are over 200?".

Each word of such a question is a type of note, the key of a property, a word of its value, or a
word of the note's title. Notes that have all of them are listed: no text has to fit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from memvault.model.memory import Memory
from memvault.search.lists.candidate_notes import CandidateNotes
from memvault.search.lists.comparisons import (
    LARGEST,
    SMALLEST,
    NumberLimits,
    comparison_in,
    with_highest,
)
from memvault.search.lists.named_groups import named_in, names_any, paths_in_all_groups
from memvault.search.lists.note_properties import (
    NoteProperties,
    terms_of_key,
    with_longest_values,
)
from memvault.search.lists.overdue import DONE, asks_for_overdue, overdue_since, without_overdue
from memvault.search.order import latest_first
from memvault.search.property_text import KeysByNearness, terms_of
from memvault.search.question_forms import asks_for_count
from memvault.search.question_languages import is_name_in
from memvault.search.scope import MemoryLookup
from memvault.search.times.question_time import (
    NEWEST,
    QuestionTime,
    says_its_day,
    without_newest,
)
from memvault.search.times.time_question_words import words_beyond
from memvault.text.words import STOP_WORDS, some_words

MAX_WORDS = 6  # of a question that properties answer
MIN_LIMITED = 0.2  # cosine of a limit and the key of the property whose numbers it limits
MIN_ORDERED = 0.25  # the same of what is ordered by size
MIN_LEAD = 0.08  # by which the key of what is ordered is nearer than the second
# Words of such questions besides those of properties.
_QUESTION_WORDS = (
    "altogether currently kind kinds many much number total which whose property value status"
)
# What happens on the day of a property, and need not be its key: "Which contracts end in May?"
_EVENT_WORDS = (
    "appear appeared appears bought built come comes due end ended ending ends expire expired "
    "expires expiring fall falls finish finished finishes happen happens made published "
    "released run runs start started starting starts written"
)
_NEGATED = re.compile(
    r"\b(?:not|never|without|nicht|kein\w*|ohne|pas|jamais|sans|non|senza|no|sin|não|sem|niet|geen|"
    r"zonder|nie|bez|не|без)\b|n['’]t\b",
    re.IGNORECASE,
)
_YET_WORDS = (
    "yet still already noch schon encore déjà ancora già aún todavía ya ainda já nog al ещё уже"
)
_UN_PREFIX = re.compile(r"\bun(\w{3,})", re.IGNORECASE)
_VERB = re.compile(r"(?:\b(?:we|you|they)|(?<=\w )I) (\w+)")  # "do we hire", not "I libri"


@dataclass(frozen=True, slots=True)
class PropertyAnswer:
    """The notes that a question asks for, in the order that it asks for.

    Attributes:
        compared_key: the key of the numbers that were compared, if the question names none.
        is_list: whether the question asks for all such notes, rather than for one by its title.
    """

    notes: Sequence[Memory] = ()
    compared_key: str | None = None
    is_list: bool = True


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
    limits: NumberLimits | None
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
        elif _UN_PREFIX.search(rest):
            rest = _with_not(rest, memories)
        if not names_any(rest, memories):  # as most do not
            return None
        ignored = {*_QUESTION_WORDS.split(), *(_EVENT_WORDS.split() if time is not None else ())}
        negated = _NEGATED.search(rest) is not None
        if negated:
            ignored.update(_YET_WORDS.split())
        rest = without_newest(rest)
        content = words_beyond(ignored, rest, question)
        in_order = list(dict.fromkeys(some_words(rest)))
        size_words = set(in_order)  # "most" is no content word
        order = bool(size_words & LARGEST) - bool(size_words & SMALLEST)
        content -= LARGEST | SMALLEST
        if not 0 < len(content) <= MAX_WORDS:
            return None
        places = {word: index for index, word in enumerate(in_order)}
        words = {
            word: terms_of(word) for word in sorted(content, key=lambda word: places.get(word, 0))
        }
        overdue_on = today if time is None else time.last_day
        return cls(text, words, time, limits, order, negated, overdue_on if is_overdue else None)

    def answer(self, memories: MemoryLookup, by_nearness: KeysByNearness) -> PropertyAnswer:
        """The notes that have all words; none where too many may have them (`MAX_NOTES`)."""
        candidates = self._candidates(memories)
        values = candidates.value_words
        if self.overdue_on is not None:
            return PropertyAnswer(self._overdue(candidates.notes(values), values, self.overdue_on))
        compared_key = None
        if self._compares and (self.negated or not candidates.keys):
            compared_key = self._number_meant(candidates, by_nearness)
            if compared_key is None:
                return PropertyAnswer()
        if self.negated:
            denying = self._denying(candidates)
            sort_keys = {note: self._sort_key(note, compared_key) for note in denying}
            return PropertyAnswer(self._ordered(sort_keys), compared_key)
        if candidates.has_kind and self._compares:
            # Words that no note has say what is compared: "Which lenses cost over 500?"
            values = set(filter(candidates.any_has, values))
        matching = self._notes_with_all(candidates, values, compared_key)
        if not matching and not candidates.has_kind and (kind := self._word_for_kind()) in values:
            values = values - {kind}
            matching = self._notes_with_all(candidates, values, compared_key)
        is_list = not matching or not any(
            note.is_named_by(values) for note in candidates.notes(values)
        )
        return PropertyAnswer(matching, compared_key, is_list)

    def _candidates(self, memories: MemoryLookup) -> CandidateNotes:
        """The notes of the type, folder or tag that the question names, else those with a property
        that it names."""
        terms = frozenset[int]().union(*self.words.values())
        types = [kind for kind in named_in(memories.types(), terms) if kind != "note"]
        keys = [key for key in memories.property_keys() if terms_of_key(key) & terms]
        key_terms = frozenset[int]().union(*map(terms_of_key, keys))
        verb_terms = frozenset[int]().union(*map(terms_of, self._verbs))
        groups = [] if types else named_in(memories.groups(), terms - key_terms - verb_terms)
        if types:
            paths = set[str]().union(*map(memories.paths_of_type, types))
        elif groups:
            paths = paths_in_all_groups(groups, memories)
        else:
            paths = set[str]().union(*map(memories.paths_with_property, keys))
        group_terms = frozenset[int]().union(*map(terms_of, groups))
        keys = [key for key in keys if not paths.isdisjoint(memories.paths_with_property(key))]
        named_terms = group_terms.union(*map(terms_of, types), *map(terms_of_key, keys))
        values = {word for word, terms in self.words.items() if not terms <= named_terms}
        has_kind = bool(types or groups)
        candidates = CandidateNotes(
            memories, paths, keys, named_terms, values, has_kind, group_terms, self.words
        )
        newest = set(NEWEST.findall(self.text.casefold()))  # may be a value: "status: current"
        return replace(candidates, value_words=values | set(filter(candidates.have_value, newest)))

    def _number_meant(self, candidates: CandidateNotes, by_nearness: KeysByNearness) -> str | None:
        """The key with numbers that the question means; None if none is near.

        Words for the kind do not say what is ordered: "venue" is near to "seats" whatever is asked.
        An order by the wrong key is false, so its key needs a clear lead.
        """
        keys = [
            key
            for key in sorted(candidates.memories.property_keys())
            if any(key in note.numbers for note in candidates.notes_with_property(key))
        ]
        text, least, lead = self.text, MIN_LIMITED, 0.0
        if self.order:
            of_kind = {w for w, terms in self.words.items() if terms <= candidates.named_terms}
            ignored = (STOP_WORDS | of_kind) - LARGEST - SMALLEST
            text = " ".join(w for w in some_words(self.text) if w not in ignored)
            least, lead = MIN_ORDERED, MIN_LEAD
        nearest, second = [*by_nearness(text, keys), *2 * [(-1.0, "")]][:2]
        return nearest[1] if nearest[0] >= max(least, second[0] + lead) else None

    @property
    def _compares(self) -> bool:
        """Whether the question compares numbers."""
        return self.limits is not None or self.order != 0

    def _word_for_kind(self) -> str | None:
        """The first word, which may say what kind of notes are meant ("Which pieces …"), unless it
        is a name."""
        first_word = next(iter(self.words))
        if first_word in self._verbs:
            return None
        return None if is_name_in(self.text, first_word) else first_word

    @property
    def _verbs(self) -> frozenset[str]:
        """The words behind a pronoun, which name no kind of note: "When do we hire?"."""
        return frozenset(word.casefold() for word in _VERB.findall(self.text))

    def _overdue(
        self, notes: Sequence[NoteProperties], values: set[str], day: date
    ) -> list[Memory]:
        """The notes with these words that are overdue on a day, the first due first."""
        days = {note: overdue_since(note.fields, day) for note in notes if note.has_all(values)}
        return self._ordered(
            {note: float(day.toordinal()) if day else None for note, day in days.items()}
        )

    def _notes_with_all(
        self, candidates: CandidateNotes, values: set[str], compared_key: str | None
    ) -> list[Memory]:
        """The notes that have all words of the question, in the order that it asks for.

        Args:
            values: the words that are neither a type nor a key.
            compared_key: the key of the numbers that are compared, if the question names none.
        """
        named = {word for word, terms in self.words.items() if terms <= candidates.named_terms}
        key_terms = frozenset[int]().union(*map(terms_of_key, candidates.keys))
        key_words = {word for word, terms in self.words.items() if terms & key_terms}
        notes = [
            note
            for note in candidates.notes(values)
            if self._has_answer(note, values | named, key_words)
        ]
        sort_keys = {note: self._sort_key(note, compared_key) for note in notes}
        answering = [note for note in notes if sort_keys[note] is not None]
        return self._ordered(
            {note: sort_keys[note] for note in with_longest_values(answering, self.text)}
        )

    def _ordered(self, sort_keys: Mapping[NoteProperties, float | None]) -> list[Memory]:
        """The notes that have a sort key, by this key; of equal ones the latest first."""
        key_of = {note.memory.id: key for note, key in sort_keys.items()}
        memories = latest_first(note.memory for note, key in sort_keys.items() if key is not None)
        return sorted(memories, key=lambda memory: key_of[memory.id] or 0.0)

    def _denying(self, candidates: CandidateNotes) -> list[NoteProperties]:
        """The notes whose properties say that each word is not so ("not paid")."""
        keys_by_word = {
            word: {key for note in candidates.notes([word]) for key in note.keys_with_value(word)}
            for word in candidates.value_words
        }
        if not all(keys_by_word.values()):  # what no note has, none denies
            return []
        for key in candidates.keys:
            having = (note for note in candidates.notes_with_property(key) if key in note.fields)
            for note in {note.memory.type: note for note in having}.values():  # one of each type
                for word in note.words_in_key(key) - candidates.value_words:
                    keys_by_word.setdefault(word, set()).add(key)
        if not keys_by_word:
            return []
        notes = candidates.notes()
        return [
            n for n in notes if all(n.denies(word, keys) for word, keys in keys_by_word.items())
        ]

    def _has_answer(self, note: NoteProperties, words: set[str], key_words: set[str]) -> bool:
        """Whether a note has these words, and with them more than the key that is asked for.

        Args:
            key_words: those that are a key of other notes, and so not meant as a word of the title:
                "the budget of Heron" is no note "Energy budget".
        """
        if not note.words_of_type and not note.words_by_key:
            return False
        values = words - note.words_of_type.union(*note.words_by_key.values())
        if not note.has_all(values) or not all(map(note.has_value, values & key_words)):
            return False
        if not self._compares and note.says_no and not note.is_named_by(values):
            return False
        is_narrowed = self._compares or self.time is not None or asks_for_count(self.text)
        # A project's note may be called as its folder is.
        has_value = bool(note.words_by_key) and not note.links_elsewhere
        is_meant = has_value and note.is_named_by(note.words_of_type)
        return (
            is_narrowed
            or bool(values)
            or is_meant
            or note.says_yes
            or any(map(note.has_value, words))
        )

    def _sort_key(self, note: NoteProperties, compared_key: str | None) -> float | None:
        """The number or day to sort a note by; None if it is not within the limits."""
        keys = note.best_number_keys() if compared_key is None else [compared_key]
        keys = [key for key in keys if key in note.numbers and self._is_within(note, key)]
        if self.limits is not None and not keys:
            return None
        day = self._day_of_time(note) if self.time is not None else date.min
        if day is None:
            return None
        if self.order:
            return -self.order * max(note.numbers[key] for key in keys) if keys else None
        return float(day.toordinal())

    def _is_within(self, note: NoteProperties, key: str) -> bool:
        """Whether a number of the note is within the limits, if there are any."""
        return self.limits is None or self.limits.has(
            note.numbers[key], f"{key} {note.fields[key]}"
        )

    def _day_of_time(self, note: NoteProperties) -> date | None:
        """The first day of the properties that are named, or of all, that is of the time; if none
        of them is a day, that of the note itself. None without one."""
        assert self.time is not None
        keys, named = note.words_by_key or note.fields, bool(note.words_by_key)
        days = [note.day_of_time(key, self.time, is_named=named) for key in keys]
        if not any(map(note.has_day, keys)) and says_its_day(note.memory):
            days += map(self.time.day_within, note.memory.days)
        return min((day for day in days if day is not None), default=None)


def _with_not(question: str, memories: MemoryLookup) -> str:
    """The question with "not paid" for "unpaid", where "paid" is the key of a property or says that
    something is done."""
    key_terms = frozenset[int]().union(*map(terms_of_key, memories.property_keys()))

    def negated(match: re.Match[str]) -> str:
        word = match[1].casefold()
        return f"not {word}" if word in DONE or terms_of(word) & key_terms else match[0]

    return _UN_PREFIX.sub(negated, question)
