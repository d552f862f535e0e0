"""The keys and values of properties as text, to be shown and to be compared with questions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache

from memvault.model.moments import is_near_year
from memvault.stores.vectors import bm25
from memvault.text.encoders.embedding import Embedder
from memvault.text.phrase_vectors import PhraseVectors
from memvault.text.words import STOP_WORDS, some_words
from memvault.vault.frontmatter.dates import read_date
from memvault.vault.frontmatter.properties import as_text

MAX_VALUE_CHARS = 80  # characters of a value that nobody asked for
MAX_ASKED_CHARS = 300  # of one that a question asks for: some ten names
_VERSION_KEY = re.compile(r"\b(?:versi|versão|верси)|バージョン|版本", re.IGNORECASE)
YEARLY_KEY = re.compile(
    r"birth|born|anni?vers|geburtstag|jubil|naissance|nascita|compleanno|cumple|nacimiento|"
    r"nasciment|verjaardag|рожден|誕生|生日",
    re.IGNORECASE,
)
_DAY_KEY = re.compile(
    r"\b(?:date|day|since|until|datum|tag|seit|bis|depuis|jour|fecha|d[ií]a|desde|hasta|data|"
    r"giorno|dag|дата|день)\b|日",
    re.IGNORECASE,
)
_YES = frozenset(["true", "yes", "ja", "oui", "sí", "sì", "sim", "да", "tak"])
_NO = frozenset(["", "false", "no", "0", "nein", "non", "nee", "não", "нет", "nie"])
# A day or a version; no version writes 03.10.12.
_SHORT_YEAR = re.compile(r"(?<![\w.])[1-9]\d?\.[1-9]\d?\.(\d{2})(?![\d.])")


class KeysByNearness:
    """Compares keys with a text by meaning. Thread-safe."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors = PhraseVectors(embedder)

    def __call__(self, text: str, keys: Sequence[str]) -> list[tuple[float, str]]:
        """The cosine of each key with the text, the nearest first."""
        if not keys:
            return []
        text_vector = self._embedder.embed_query(text)
        vectors = self._vectors.of(map(words_of_key, keys))
        cosines = [(float(vectors[words_of_key(key)] @ text_vector), key) for key in keys]
        return sorted(cosines, key=lambda pair: -pair[0])


def words_of_key(key: str) -> str:
    """The key of a property as words: "minimum order" for ``minimum_order``."""
    return key.replace("_", " ").replace("-", " ")


def is_version(key: str) -> bool:
    """Whether a property is a version by its key, so that 1.3.26 is no day there."""
    return _VERSION_KEY.search(words_of_key(key)) is not None


def day_of_property(key: str, value: str, year: int) -> date | None:
    """The day that a property states; None if it states none.

    As in a text, 3.10.12 is a day only near the year of its note, unless its key is one of a day.

    Args:
        year: of the note.
    """
    if is_version(key):
        return None
    match = _SHORT_YEAR.search(value)
    if match is not None and not is_near_year(int(match[1]), year):
        words = words_of_key(key)
        if not (_DAY_KEY.search(words) or YEARLY_KEY.search(words)):
            return None
    return day_of_value(value)


@lru_cache(maxsize=20_000)
def day_of_value(value: str) -> date | None:
    """The day that a value states under a key of a day; None if it states none."""
    moment = read_date(value)
    return moment.date() if moment is not None else None


def is_yes(value: str) -> bool:
    """Whether a value is "yes", or says so in another language."""
    return value.casefold() in _YES


def is_no(value: str) -> bool:
    """Whether a value is "no", or says so in another language, or is empty."""
    return value.casefold() in _NO


@lru_cache(maxsize=20_000)
def terms_of(text: str) -> frozenset[int]:
    """The terms that keyword search has for the content words, so that "authors" is "author"."""
    words = set(some_words(text)) - STOP_WORDS
    return frozenset(bm25.terms(" ".join(words)))


def shown_value(value: object, max_chars: int = MAX_VALUE_CHARS) -> str | None:
    """A short value as its note writes it, a list without its empty items; None for a value that
    is nested, long or empty."""
    if isinstance(value, list | tuple):
        items = [shown_value(item, max_chars) for item in value if item not in (None, "")]
        text = ", ".join(item_text for item_text in items if item_text) if all(items) else ""
    elif isinstance(value, Mapping):
        return None
    else:
        text = " ".join(as_text(value).split())
    return text if 0 < len(text) <= max_chars else None


def shown_parts(value: object, max_chars: int = MAX_VALUE_CHARS) -> str | None:
    """A short mapping or list of mappings, as "name: Ada, phone: 555; name: Bo, phone: 556"; None
    for another value, or one that is long or empty."""
    items = value if isinstance(value, list | tuple) else [value]
    mappings = [item for item in items if isinstance(item, Mapping)]
    if len(mappings) < len(items):
        return None
    text = "; ".join(filter(None, (", ".join(_shown_pairs(item, max_chars)) for item in mappings)))
    return text if 0 < len(text) <= max_chars else None


def _shown_pairs(mapping: Mapping[str, object], max_chars: int) -> Iterator[str]:
    for key, value in mapping.items():
        if shown := shown_value(value, max_chars):
            yield f"{key}: {shown}"
        elif parts := shown_parts(value, max_chars):
            yield f"{key}: ({parts})"
