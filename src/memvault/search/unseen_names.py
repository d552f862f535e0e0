"""Names in a question that no note has: "Helsinki", where no note is about it.

A question with such a name is less often answered by the vault: of the questions in English to
four vaults of two trials, 3 that had an answer and 6 that had none named what no note has.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from memvault.search.question_languages import languages_of
from memvault.stores.vectors.bm25 import PIECE_LETTERS
from memvault.text.words import STOP_WORDS

SHARE_ANSWERED = 0.4  # of the questions with such a name, about; see above
_MIN_CHARS = 3
# Languages in which names have endings, as "Praze" for "Praha". Of a long name other forms are
# found by their pieces, of a short one they may not be.
_INFLECTING = frozenset(
    ("croatian", "czech", "estonian", "finnish", "hungarian", "latvian", "lithuanian", "polish",
     "russian", "slovak", "slovene", "turkish")
)  # fmt: skip
_MIN_CHARS_INFLECTED = PIECE_LETTERS + 2
_WORD = re.compile(r"[^\W_][\w'’]*")
_BEFORE_A_START = re.compile(r"[.?!:;(\"“”«]")
_POSSESSIVE = re.compile(r"['’]s?\Z")


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
