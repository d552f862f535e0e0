"""The properties of a note that concern a question, and whether others than the person set them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from memvault.model.memory import Memory
from memvault.search.lists.comparisons import compares_numbers, first_number
from memvault.search.property_text import (
    MAX_ASKED_CHARS,
    MAX_VALUE_CHARS,
    KeysByNearness,
    day_of_property,
    shown_parts,
    shown_value,
    terms_of,
    words_of_key,
)
from memvault.search.question_forms import asks_for_amount, asks_for_day
from memvault.text.encoders.embedding import Embedder
from memvault.text.note_graph import NOT_FIELDS
from memvault.vault.frontmatter.properties import property_key

# Set in notes of clients and imports.
BOOKKEEPING = frozenset({"modality", "conversation", "imported", "session"})
# Of plugins and site generators, which keep them in every note: shown only where asked for.
UPKEEP = frozenset({
    "updated", "updated_at", "updatedat", "date_updated", "last_updated", "modified", "modified_at",
    "date_modified", "last_modified", "lastmod", "mtime", "draft", "dg_publish", "slug", "uid",
})  # fmt: skip
MAX_PROPERTIES = 6  # properties that are shown, of `MAX_VALUE_CHARS` on average
MIN_NEARNESS = 0.25  # cosine of a question and the key of a property that answers it
_PLAIN = re.compile(r"[^\W\d_][^\d/<>{}]*")  # no number, time, path or link


def relevant_properties(memory: Memory, question: str) -> tuple[str, ...]:
    """``key: value`` of the note's type, project, date, and of `named_properties`."""
    return _with_constant_properties(memory, named_properties(memory, question))


def named_properties(memory: Memory, question: str) -> list[str]:
    """``key: value`` of fields with a word of the question besides the note's names; of all in
    plain words if it has no other word ("Who is Ida Berg?")."""
    question_terms, names = terms_of(question), _terms_of_names(memory)
    fields = list(_fields(memory, MAX_ASKED_CHARS if question_terms else MAX_VALUE_CHARS))
    if question_terms <= names:
        return [
            f"{key}: {shown}"
            for key, value, shown in fields
            if not isinstance(value, bool) and _PLAIN.fullmatch(shown) and terms_of(shown) - names
        ]
    subject_terms = question_terms - names
    return [
        f"{key}: {shown}" for key, _, shown in fields if subject_terms & terms_of(f"{key} {shown}")
    ]


def _with_constant_properties(memory: Memory, properties: Sequence[str]) -> tuple[str, ...]:
    constant = {
        "type": memory.type if memory.type != "note" else None,
        "project": memory.project,
        "date": memory.date.date().isoformat() if memory.date is not None else None,
    }
    constant_lines = [f"{key}: {value}" for key, value in constant.items() if value]
    return tuple(_that_fit([*constant_lines, *properties]))


def _that_fit(lines: Sequence[str]) -> list[str]:
    """The first of these lines, each once, without those for which there is no room."""
    shown: list[str] = []
    room = MAX_PROPERTIES * MAX_VALUE_CHARS
    for line in dict.fromkeys(lines):
        if len(line) <= room and len(shown) < MAX_PROPERTIES:
            shown.append(line)
            room -= len(line)
    return shown


def _terms_of_names(memory: Memory) -> set[int]:
    return {term for name in (memory.title, *memory.aliases) for term in terms_of(name)}


class PropertyChooser:
    """Chooses the properties of a note that answer a question, by words and by meaning.
    Thread-safe."""

    def __init__(self, embedder: Embedder) -> None:
        self._by_nearness = KeysByNearness(embedder)

    def relevant(self, memory: Memory, question: str) -> tuple[str, ...]:
        """``key: value`` of the note's type, project, date, and of the `answering` properties."""
        return _with_constant_properties(memory, self.answering(memory, question))

    def answering(self, memory: Memory, question: str, *, with_day: bool = False) -> list[str]:
        """`named_properties`, after those whose keys are nearest to the question in meaning ("How
        much was it?": ``price``).

        Args:
            with_day: begin with the note's date, unless its title says it.
        """
        day = memory.date.date().isoformat() if with_day and memory.date is not None else ""
        days = [f"date: {day}"] if day and day not in memory.title else []
        nearest = self._nearest_fields(memory, question)
        named = named_properties(memory, question)
        return _that_fit([*days, *nearest, *named])

    def _nearest_fields(self, memory: Memory, question: str) -> list[str]:
        """``key: value`` of the field nearest to a question; where it asks for a day or an amount,
        of the two nearest that have one."""
        value_of = {key: value for key, _, value in _fields(memory, MAX_ASKED_CHARS)}
        keys_of_kind: list[str] = []
        if asks_for_day(question):
            keys_of_kind = [
                key
                for key, value in value_of.items()
                if day_of_property(key, value, memory.day.year)
            ]
        elif asks_for_amount(question) or compares_numbers(question):
            keys_of_kind = [
                key
                for key, value in value_of.items()
                if first_number(value) is not None
                and not day_of_property(key, value, memory.day.year)
            ]
        elif terms_of(question) <= _terms_of_names(memory):
            return []
        if keys_of_kind:
            nearest = self._by_nearness(question, keys_of_kind)[:2]
        else:
            nearest = self._by_nearness(question, list(value_of))[:1]
            nearest = [pair for pair in nearest if pair[0] >= MIN_NEARNESS]
        return [f"{key}: {value_of[key]}" for _, key in nearest]


def quotable(memory: Memory, properties: Sequence[str]) -> tuple[str, ...]:
    """The ``key: value`` lines without those that another set in the person's note, where they
    would pass for the person's."""
    is_whole = memory.verified or not memory.provenance.is_mixed
    writer_of = memory.provenance.of_property
    return tuple(line for line in properties if is_whole or writer_of(line).is_person)


def first_properties(memory: Memory, remaining_bytes: int, excluded: Sequence[str]) -> list[str]:
    """``key: value`` of a note's first fields, without `UPKEEP`.

    As many as fit into so many UTF-8 bytes.
    """
    lines_that_fit: list[str] = []
    lines = (
        f"{key}: {shown}"
        for key, _, shown in _fields(memory)
        if property_key(key).replace("-", "_") not in UPKEEP
    )
    for line in islice((line for line in lines if line not in excluded), MAX_PROPERTIES):
        remaining_bytes -= len(line.encode()) + 1
        if remaining_bytes < 0:
            break
        lines_that_fit.append(line)
    return lines_that_fit


def _fields(memory: Memory, max_chars: int = MAX_VALUE_CHARS) -> Iterator[tuple[str, object, str]]:
    """The keys, values and shown values of the fields that a person set, if these are short."""
    for key, value in memory.metadata.items():
        if key.casefold() in NOT_FIELDS:
            continue
        shown = shown_value(value, max_chars) or shown_parts(value, max_chars)
        if shown and not _is_bookkeeping(memory, key.casefold(), shown):
            yield key, value, shown


def _is_bookkeeping(memory: Memory, key: str, shown_value: str) -> bool:
    """Whether memvault itself set this property, for the kind or source of a client's note."""
    if key == "source":
        return any(span.origin.name == shown_value for span in memory.provenance.spans)
    return key in BOOKKEEPING and not memory.provenance.is_person


def lines_with_writers(
    memory: Memory, lines: Sequence[str], query: str, *, withhold: bool
) -> list[str]:
    """The ``key: value`` lines of a note; those that another set in it name their writer.

    Args:
        withhold: leave out the values of others; a key that the question has stays.
    """
    shown_lines = []
    for line in lines:
        origin = memory.provenance.of_property(line)
        if memory.verified or origin.is_person:
            shown_lines.append(line)
        elif not withhold:
            is_mixed = memory.provenance.is_mixed
            mark = f" (written by {origin.writer}, unverified)" if is_mixed else ""
            shown_lines.append(line + mark)
        elif memory.provenance.is_mixed and _is_in(_key(line), query):
            shown_lines.append(f"{_key(line)}: (withheld: written by {origin.writer}, unverified)")
    return list(dict.fromkeys(shown_lines))


def withheld_keys(memory: Memory, query: str) -> list[str]:
    """The keys of the properties that a question names and others set, "a property" for a key that
    is not in the question: such a key may state something itself."""
    if memory.verified:
        return []
    keys_of_others = [
        _key(line)
        for line in named_properties(memory, query)
        if not memory.provenance.of_property(line).is_person
    ]
    return list(
        dict.fromkeys(key if _is_in(key, query) else "a property" for key in keys_of_others)
    )


def _key(line: str) -> str:
    return line.partition(":")[0]


def _is_in(key: str, query: str) -> bool:
    return terms_of(words_of_key(key)) <= terms_of(query)
