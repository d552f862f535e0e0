"""The names in a question: the notes that it names by title or alias, and names that no note has.

A question with a name that no note has is less often answered by the vault: of the questions in
English to four vaults of two trials, 3 that had an answer and 6 that had none named what no note
has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from memvault.model.memory import Memory
from memvault.search.question_languages import is_function_word_in, languages_of
from memvault.stores.vectors.bm25 import NGRAM_LETTERS
from memvault.text.words import STOP_WORDS, name_key, words

SHARE_ANSWERED = 0.4  # of the questions with such a name, about; see above
_MIN_CHARS = 3
# Languages in which names have endings, as "Praze" for "Praha". Of a long name other forms are
# found by their n-grams, of a short one they may not be.
_INFLECTING = frozenset(
    ("croatian", "czech", "estonian", "finnish", "hungarian", "latvian", "lithuanian", "polish",
     "russian", "slovak", "slovene", "turkish")
)  # fmt: skip
_MIN_CHARS_INFLECTED = NGRAM_LETTERS + 2
_WORD = re.compile(r"[^\W_][\w'’]*")
_BEFORE_A_START = re.compile(r"[.?!:;(\"“”«]")
_POSSESSIVE = re.compile(r"['’]s?\Z")
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


def unseen_names(
    question: str, language: str | None, is_in_vault: Callable[[str], bool]
) -> list[str]:
    """The names of a question that no note has, as the question writes them.

    None in German, which writes all nouns like names; no short ones in languages where names have
    endings.

    Args:
        language: of the question, as the vector store recognises it.
    """
    min_chars = _MIN_CHARS_INFLECTED if language in _INFLECTING else _MIN_CHARS
    names = (name for name in _names_in(question) if len(name) >= min_chars)
    unseen = [name for name in names if not is_in_vault(name)]
    return unseen if unseen and "german" not in languages_of(question).names else []


def _names_in(question: str) -> list[str]:
    """The words with a capital that do not begin a sentence; none where most words have one."""
    spans = [match.span() for match in _WORD.finditer(question)]
    words = [question[start:end] for start, end in spans]
    capitals = [word for word in words if word[0].isupper()]
    if 2 * len(capitals) > len(words):
        return []
    ends = [0, *(end for _, end in spans)]
    starts = set(words[:1]) | {
        word
        for word, end, (start, _) in zip(words, ends, spans, strict=False)
        if _BEFORE_A_START.search(question, end, start)
    }
    names = (_POSSESSIVE.sub("", word) for word in capitals if word not in starts)
    return [
        name
        for name in dict.fromkeys(names)
        if "'" not in name and name.casefold() not in STOP_WORDS
    ]
