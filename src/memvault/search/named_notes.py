"""The notes that a question names by their title or alias."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memvault.model.memory import Memory
from memvault.search.question_languages import is_function_word_in
from memvault.text.words import STOP_WORDS, name_key, words

_QUALIFIER = re.compile(r"\s*\([^()]*\)\s*$")  # of a title: "Mercury (planet)"
_PARTS = re.compile(r"\s+[-–—]\s+|:\s+")  # of a title: "Book - A Winter Harbour"
_REQUEST = re.compile(
    r"^\W*(?:please )?(?:tell|show|give|find|describe|explain)\b|\bdo (?:i|you|we) know\b", re.I
)
_MAX_NAME_WORDS = 3  # of a person: "Ingrid Berg Larsen"


class QuestionNames:
    """What a question names, to be compared with the titles and aliases of notes, in any spelling.

    A qualifier at the end of a title may be missing.
    """

    def __init__(self, question: str) -> None:
        self._key = f" {name_key(question)} "
        self._subject = _only_subject(question)
        self._is_name = self._subject is not None and re.search(
            rf"\b{re.escape(self._subject.capitalize())}", question
        )

    def has(self, memory: Memory) -> bool:
        """Whether the question has a title, a part of it or an alias of two words at least; one
        word is too often meant as a word."""
        names = (part for name in _names(memory) for part in (name, *_PARTS.split(name)))
        return any(" " in key and f" {key} " in self._key for key in map(name_key, names))

    def is_only(self, memory: Memory) -> bool:
        """Whether the question asks for nothing but this note: "What is compost?".

        A first name is enough for a person: "Who is Ingrid?" for "Ingrid Larsen".
        """
        return self._subject is not None and any(map(self._is_subject, _names(memory)))

    def _is_subject(self, name: str) -> bool:
        key = name_key(name)
        if key == self._subject:
            return True
        parts = name.split()
        return bool(
            self._is_name
            and key.startswith(f"{self._subject} ")
            and len(parts) <= _MAX_NAME_WORDS
            and all(part[0].isupper() and part.isalpha() for part in parts)
        )


def _names(memory: Memory) -> Iterator[str]:
    return (_QUALIFIER.sub("", name) for name in (memory.title, *memory.aliases))


def _only_subject(question: str) -> str | None:
    """The only word of a question that says something, in lower case; None if there are more."""
    subjects = {
        word
        for word in words(name_key(_REQUEST.sub("", question)))
        if word.partition("'")[0] not in STOP_WORDS and not is_function_word_in(question, word)
    }
    return subjects.pop() if len(subjects) == 1 else None
