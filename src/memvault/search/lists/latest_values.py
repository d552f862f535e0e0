"""Questions for the latest value of a property that notes of several days have, such as those of a
diary: "What is the latest weight?"."""

from __future__ import annotations

from datetime import date

from memvault.model.memory import Memory
from memvault.search.lists.named_groups import names_of
from memvault.search.lists.note_properties import terms_of_key
from memvault.search.order import latest_first
from memvault.search.property_text import shown_value, terms_of
from memvault.search.scope import MemoryLookup
from memvault.search.times.question_time import asks_for_newest, says_its_day, without_newest

MAX_OTHER_WORDS = 1  # of a question besides the key: whose value it is
MIN_DAYS = 2  # notes with a day of their own that have the property


def notes_with_latest_value(question: str, memories: MemoryLookup, today: date) -> list[Memory]:
    """The notes with the property whose latest value a question asks for, the latest first; none
    for another question."""
    if not asks_for_newest(question):
        return []
    terms = terms_of(without_newest(question))
    keys = [key for key in memories.property_keys() if _is_named(key, terms)]
    other_terms = terms.difference(*map(terms_of_key, keys))
    if len(other_terms) > MAX_OTHER_WORDS:
        return []
    having = {
        memory.id: memory
        for key in keys
        for memory in memories.at(memories.paths_with_property(key))
        if says_its_day(memory) and memory.day <= today and shown_value(memory.properties[key])
    }
    named = [memory for memory in having.values() if other_terms <= terms_of(names_of(memory))]
    return latest_first(named or having.values()) if len(having) >= MIN_DAYS else []


def _is_named(key: str, terms: frozenset[int]) -> bool:
    key_terms = terms_of_key(key)
    return bool(key_terms) and key_terms <= terms
