"""Names in a question that no note has: "Helsinki", where no note is about it.

A question with such a name is less often answered by the vault: of the questions in English to
four vaults of two trials, 3 that had an answer and 6 that had none named what no note has.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from memvault.search.question_languages import languages_of
from memvault.text.words import STOP_WORDS

SHARE_ANSWERED = 0.4  # of the questions with such a name, about; see above
_MIN_CHARS = 3
_WORD = re.compile(r"[^\W_][\w'’]*")
_START = re.compile(r"(?:\A|[.?!:;(\"“”«]\s*)\W*([^\W_][\w'’]*)")
_POSSESSIVE = re.compile(r"['’]s?\Z")


def unseen_names(question: str, is_in_vault: Callable[[str], bool]) -> list[str]:
    """The names of a question that no note has, as the question writes them.

    None in German, which writes all nouns like names.
    """
    unseen = [name for name in _names_in(question) if not is_in_vault(name)]
    return unseen if unseen and "german" not in languages_of(question).names else []


def _names_in(question: str) -> list[str]:
    """The words with a capital that do not begin a sentence; none where most words have one."""
    words = _WORD.findall(question)
    capitals = [word for word in words if word[0].isupper()]
    if 2 * len(capitals) > len(words):
        return []
    starts = set(_START.findall(question))
    names = (_POSSESSIVE.sub("", word) for word in capitals if word not in starts)
    return [
        name
        for name in dict.fromkeys(names)
        if len(name) >= _MIN_CHARS and "'" not in name and name.casefold() not in STOP_WORDS
    ]
