"""The properties of a note that concern a question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from functools import lru_cache
from itertools import islice

from memvault.model.memory import Memory
from memvault.search.context.outline import terms_in
from memvault.text.relations import NOT_FIELDS
from memvault.text.words import STOP_WORDS, composed, some_words

BOOKKEEPING = frozenset({"modality", "conversation", "session"})  # set in notes of clients
MAX_PROPERTIES = 6  # properties that are shown
LONGEST = 80  # characters of a value
_PLAIN = re.compile(r"[^\W\d_][^\d/<>{}]*")  # no number, time, path or link


def relevant_properties(memory: Memory, query: str) -> tuple[str, ...]:
    """``key: value`` of the note's type, project, date, and of `asked_properties`."""
    always = {
        "type": memory.type if memory.type != "note" else None,
        "project": memory.project,
        "date": memory.date.date().isoformat() if memory.date is not None else None,
    }
    found = [f"{key}: {value}" for key, value in always.items() if value]
    return (*found, *asked_properties(memory, query))[:MAX_PROPERTIES]


def asked_properties(memory: Memory, query: str) -> list[str]:
    """``key: value`` of fields with a word of the question besides the note's names; of all in
    plain words if it has no other word ("Who is Ida Berg?")."""
    names = {term for name in (memory.title, *memory.aliases) for term in terms_of(name)}
    asked = terms_of(query) - names
    fields = list(_fields(memory))
    if asked:
        chosen = [f"{key}: {said}" for key, _, said in fields if asked & terms_of(f"{key} {said}")]
    else:
        chosen = [
            f"{key}: {said}"
            for key, value, said in fields
            if not isinstance(value, bool) and _PLAIN.fullmatch(said) and terms_of(said) - names
        ]
    return chosen[:MAX_PROPERTIES]


def first_properties(memory: Memory, room: int) -> list[str]:
    """``key: value`` of a note's first fields that take up to ``room`` UTF-8 bytes together."""
    chosen = []
    for key, _, said in islice(_fields(memory), MAX_PROPERTIES):
        line = f"{key}: {said}"
        room -= len(line.encode()) + 1
        if room < 0:
            break
        chosen.append(line)
    return chosen


def _fields(memory: Memory) -> Iterator[tuple[str, object, str]]:
    """The keys, values and shown values of the fields that a person set."""
    for key, value in memory.metadata.items():
        if key.casefold() in NOT_FIELDS:
            continue
        said = shown_value(value)
        if said and not _is_bookkeeping(memory, key.casefold(), said):
            yield key, value, said


def _is_bookkeeping(memory: Memory, key: str, said: str) -> bool:
    """Whether memvault itself set this property, for the kind or source of a client's note."""
    if key == "source":
        return any(span.origin.name == said for span in memory.provenance.spans)
    return key in BOOKKEEPING and not memory.provenance.is_person


@lru_cache(maxsize=5_000)
def terms_of(text: str) -> frozenset[int]:
    """The terms that keyword search has for the content words, so that "authors" is "author"."""
    words = set(some_words(composed(text))) - STOP_WORDS
    return frozenset(terms_in(list(words)))


def shown_value(value: object) -> str | None:
    """A short value as text; None for one that is nested, long or empty."""
    if isinstance(value, list | tuple):
        parts = [shown_value(each) for each in value]
        said = ", ".join(part for part in parts if part) if all(parts) else ""
    elif isinstance(value, Mapping) or value is None:
        return None
    elif isinstance(value, date):
        said = value.isoformat()
    else:
        said = " ".join(str(value).split())
    return said if 0 < len(said) <= LONGEST else None
