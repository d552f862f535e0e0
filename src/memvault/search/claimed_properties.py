"""The properties that others set in the person's note, as an answer shows or withholds them."""

from __future__ import annotations

from collections.abc import Sequence

from memvault.model.memory import Memory
from memvault.search.context.properties import named_properties
from memvault.search.property_text import terms_of, words_of_key


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
