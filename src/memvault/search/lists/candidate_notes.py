"""The notes that may answer a question for properties."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass, field

from memvault.model.memory import Memory
from memvault.search.lists.comparisons import NUMBER_WORDS
from memvault.search.lists.note_properties import NoteProperties
from memvault.search.scope import MemoryLookup

MAX_NOTES = 30_000  # read for a question, in a second at most


@dataclass(frozen=True, slots=True)
class CandidateNotes:
    """The notes that may answer, and what the words of the question are there.

    Attributes:
        paths: of the notes.
        keys: those of properties that the question names.
        named_terms: those of the types, folders, tags and keys that it names.
        value_words: the other words.
        has_kind: whether it names a type, folder or tag.
        group_terms: those of the folders and tags.
        words: of the question, each with its terms.
        read_notes: the notes that were read for the question, by id.
    """

    memories: MemoryLookup
    paths: Set[str]
    keys: list[str]
    named_terms: frozenset[int]
    value_words: set[str]
    has_kind: bool
    group_terms: frozenset[int]
    words: Mapping[str, frozenset[int]]
    read_notes: dict[str, NoteProperties] = field(default_factory=dict)

    def notes(self, words: Collection[str] = ()) -> list[NoteProperties]:
        """The notes that have each of these words in a value or a name."""
        paths = self.paths
        for word in words:
            paths = paths & self._paths_with_word(word)
        return self._read(paths)

    def notes_with_property(self, key: str) -> list[NoteProperties]:
        """The notes that have a property of this key."""
        return self._read(self.paths & self.memories.paths_with_property(key))

    def any_has(self, word: str) -> bool:
        """Whether a note has the word in a value or a name."""
        return not self.paths.isdisjoint(self._paths_with_word(word))

    def have_value(self, word: str) -> bool:
        """Whether a note has a property whose value has the word."""
        return any(note.keys_with_value(word) for note in self.notes([word]))

    def _paths_with_word(self, word: str) -> Set[str]:
        paths, number = self.memories.paths_with_word(word), NUMBER_WORDS.get(word)
        return paths if number is None else paths | self.memories.paths_with_word(number)

    def _read(self, paths: Set[str]) -> list[NoteProperties]:
        """The notes at these paths; none if they are more than `MAX_NOTES`."""
        if len(paths) > MAX_NOTES:
            return []
        return list(map(self._properties_of, self.memories.by_paths(paths)))

    def _properties_of(self, memory: Memory) -> NoteProperties:
        if memory.id not in self.read_notes:
            self.read_notes[memory.id] = NoteProperties(memory, self.words, self.group_terms)
        return self.read_notes[memory.id]
