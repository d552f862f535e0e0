"""The types, folders, tags and keys of properties that a question names, and their notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memvault.model.memory import Memory
from memvault.model.search import Scope
from memvault.search.lists.note_properties import terms_of_key
from memvault.search.order import by_importance
from memvault.search.property_text import terms_of
from memvault.search.scope import MemoryLookup, in_scope
from memvault.text.words import name_key, some_words


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


def notes_in_group(group: str, memories: MemoryLookup, scope: Scope) -> list[Memory]:
    """The notes in a folder or with a tag, the most important first."""
    of_group = memories.by_paths(memories.paths_in_group(group))
    return by_importance(memory for memory in of_group if in_scope(memory, scope))


def notes_named(name: str, memories: MemoryLookup, scope: Scope) -> list[Memory]:
    """The notes with this title or alias."""
    key, longest_word = name_key(name), max(some_words(name), key=len, default="")
    return [
        memory
        for memory in memories.by_paths(memories.paths_with_word(longest_word))
        if key in map(name_key, (memory.title, *memory.aliases)) and in_scope(memory, scope)
    ]


def is_of_folders(memory: Memory, members: Sequence[Memory]) -> bool:
    """Whether a note is one of the members or next to their folder, with its name, as the note of
    a folder is ("Boats.md" next to "Boats")."""
    folder = memory.path.removesuffix(".md") + "/"
    return any(m.id == memory.id or m.path.startswith(folder) for m in members)


def names_in_note(memory: Memory) -> str:
    """A note's path, title, type, project and tags."""
    names = (memory.path.removesuffix(".md"), memory.title, memory.type, memory.project or "")
    return " ".join((*names, *memory.tags))
