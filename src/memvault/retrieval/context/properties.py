"""Frontmatter fields that say something to a question."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from memvault.model.memory import Memory
from memvault.text.words import STOP_WORDS, composed, some_words

MOST = 6
LONGEST = 80  # characters of a value


def telling_properties(memory: Memory, query: str) -> tuple[str, ...]:
    """``key: value``: what kind of note it is, its project and date, and any other field of which
    the question has a word."""
    asked = {word for word in some_words(composed(query)) if word not in STOP_WORDS}
    always = {
        "type": memory.type if memory.type != "note" else None,
        "project": memory.project,
        "date": memory.date.date().isoformat() if memory.date is not None else None,
    }
    found = [f"{key}: {value}" for key, value in always.items() if value]
    for key, value in memory.metadata.items():
        said = _said(value)
        if said and asked & set(some_words(composed(f"{key} {said}"))):
            found.append(f"{key}: {said}")
    return tuple(found[:MOST])


def _said(value: object) -> str | None:
    """A short value as text; None for one that is nested, long or empty."""
    if isinstance(value, list | tuple):
        parts = [_said(each) for each in value]
        said = ", ".join(part for part in parts if part) if all(parts) else ""
    elif isinstance(value, Mapping) or value is None:
        return None
    elif isinstance(value, date):
        said = value.isoformat()
    else:
        said = " ".join(str(value).split())
    return said if 0 < len(said) <= LONGEST else None
