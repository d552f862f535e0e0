"""The types, folders, tags and keys of properties that a question names, and those of a note."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memvault.model.memory import Memory
from memvault.search.lists.note_properties import terms_of_key
from memvault.search.property_text import terms_of
from memvault.search.scope import MemoryLookup


def names_any(question: str, memories: MemoryLookup) -> bool:
    """Whether a word of the question is a type of note, a folder, a tag or a property's key."""
    question_terms = terms_of(question)
    return (
        any(kind != "note" for kind in named_in(memories.types(), question_terms))
        or any(terms_of_key(key) & question_terms for key in memories.property_keys())
        or bool(named_in(memories.groups(), question_terms))
    )


def named_in(names: Iterable[str], question_terms: frozenset[int]) -> list[str]:
    """The names whose terms are all in a question."""
    return [name for name in names if (terms := terms_of(name)) and terms <= question_terms]


def paths_in_all_groups(groups: Sequence[str], memories: MemoryLookup) -> set[str]:
    """The paths of the notes in a folder or with a tag for each of these names; names of equal
    terms are one."""
    paths_by_terms: dict[frozenset[int], set[str]] = {}
    for group in groups:
        paths_by_terms.setdefault(terms_of(group), set()).update(memories.paths_in_group(group))
    return set.intersection(*paths_by_terms.values())


def names_in_note(memory: Memory) -> str:
    """A note's path, title, type, project and tags."""
    names = (memory.path.removesuffix(".md"), memory.title, memory.type, memory.project or "")
    return " ".join((*names, *memory.tags))
