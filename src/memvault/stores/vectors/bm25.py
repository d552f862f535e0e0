"""BM25 as sparse vectors (Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25
and Beyond*, 2009): the document side is computed here, the idf side by the store."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

import qdrant_edge as qdrant

K = 1.2  # how soon more of the same word stops counting
B = 0.75  # how much a long text is held against it
AVERAGE_WORDS = 256.0  # against which a chunk's length is held
FUNCTION_WORD = 0.2  # weight in a query of an English word like "what"; other words have 1

# Scripts written without spaces: Thai, Lao, Myanmar, Khmer, kana, Han and its rarer planes.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_WORD = re.compile(r"[^\W_]+")
_ACCENTS = re.compile("[\u0300-\u036f]")


@lru_cache(maxsize=1)
def model() -> qdrant.Bm25:
    """No stop words: a person may be called Will, and idf makes little of common words anyway.
    English stemming joins ``meeting`` and ``meetings`` and does other languages little harm."""
    return qdrant.Bm25(
        qdrant.Bm25Config(
            k=K,
            b=B,
            avg_len=AVERAGE_WORDS,
            tokenizer=qdrant.TokenizerType.Word,
            stopwords=qdrant.StopwordsSet(),
            stemmer=qdrant.SnowballParams(qdrant.SnowballLanguage.English),
        )
    )


def document(text: str) -> qdrant.SparseVector:
    """Term frequencies, saturated and held against the text's length."""
    return model().embed_document(_searchable(text))


@lru_cache(maxsize=1)
def _without_function_words() -> qdrant.Bm25:
    return qdrant.Bm25(qdrant.Bm25Config(tokenizer=qdrant.TokenizerType.Word, language="english"))


def query(text: str) -> qdrant.SparseVector:
    """Each different term with weight 1, or `FUNCTION_WORD`."""
    searchable = _searchable(text)
    terms = model().embed_query(searchable)
    telling = set(_without_function_words().embed_query(searchable).indices)
    weights = [1.0 if term in telling else FUNCTION_WORD for term in terms.indices]
    return qdrant.SparseVector(terms.indices, weights)


def terms(phrase: str) -> list[int]:
    """The terms that every text with this phrase has, whatever its case, accents or width;
    empty for a phrase without letters and digits."""
    return list(model().embed_query(_spaced(_folded(phrase), pairs=False)).indices)


def words(text: str) -> str:
    """The letters and digits of a text, folded, one space wherever others stand: a phrase that
    stands in a text stands in its words too."""
    return " ".join(_WORD.findall(text.lower() if text.isascii() else _folded(text)))


def _searchable(text: str) -> str:
    return text if text.isascii() else _spaced(_folded(text), pairs=True)


def _folded(text: str) -> str:
    """Without case, accents and compatibility forms, as Unicode composes what is left."""
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFC", bare).casefold().replace("ı", "i")


def _spaced(text: str, *, pairs: bool) -> str:
    """Scripts without spaces are searched by character, and by pair of neighbours."""

    def apart(run: re.Match[str]) -> str:
        signs = run.group()
        words = [*signs]
        if pairs:
            words += [one + other for one, other in pairwise(signs)]
        return f" {' '.join(words)} "

    return _UNSPACED.sub(apart, text)
