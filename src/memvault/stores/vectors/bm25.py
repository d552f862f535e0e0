"""BM25 as sparse vectors (Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25
and Beyond*, 2009): the document side is computed here, the idf side by the store.

Every text is indexed by its words with Snowball's English stemmer, which does little harm to other
languages. Texts in scripts without spaces, and in Korean, are indexed by characters and pairs of
characters, as by Lucene's CJKAnalyzer. A text in another language also has the stems of its own
Snowball stemmer, if there is one, and the n-grams of its long words, by which "Überschrift" finds
"Kapitelüberschriften" and "notatkach" finds "notatki" (McNamee and Mayfield, *Character n-gram
tokenization for European language text retrieval*, 2004); in the scripts of India also words
without their last vowel signs. A text whose few words do not show its language has n-grams, too.

A query has the terms of its own language, or of all languages if its words do not show which one it
is. A query without accents also has the English terms, since people leave accents out. Function
words count little in a query, and hiragana, in which Japanese writes most of them, as little.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

import qdrant_edge as qdrant

from memvault.model.unicode_forms import normalized
from memvault.stores.vectors.languages import (
    LANGUAGES,
    WITHOUT_STEMMER,
    WORD,
    function_words,
    language_of_query,
    normal,
    without_ending,
    words_of,
)
from memvault.text.words import STOP_WORDS

K = 1.2  # saturation of term frequency
B = 0.75  # strength of length normalisation
AVERAGE_WORDS = 256.0  # average length for the normalisation
FUNCTION_WORD_WEIGHT = 0.2  # of a function word like "what" in a query; other words have 1
COMMON_WORD_WEIGHT = 0.5  # of an English word like "get", frequent in questions, not in notes
NGRAM_LETTERS = 5  # letters of an n-gram of a word
NGRAMS_WEIGHT = 1.0  # of all n-grams of a word in a query together

# Scripts written without spaces: Thai, Lao, Myanmar, Khmer, kana, Han and its rarer planes. Hangul
# has spaces, but Korean words end in particles, which pairs of syllables leave behind.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_LAST_VOWELS = re.compile(r"(?<=\w{3})[aeiouy\u0105\u0119\u00f3]+$")  # "projekty", "osoba"
_HIRAGANA = re.compile("[\u3041-\u309f]+")  # in Japanese mostly function words and endings
# Accents, and the signs of India's scripts that join or change letters: the engine would split
# words at them.
_INDIAN = map(chr, range(0x900, 0xE00))
_JOINING = "".join(char for char in _INDIAN if unicodedata.combining(char) in (7, 9))
_ACCENTS = re.compile(f"[\u0300-\u036f{_JOINING}]")


@lru_cache(maxsize=len(LANGUAGES) + 1)
def _model(language: str) -> qdrant.Bm25:
    """The encoder of a language, without stop words: a person may be called Will, and idf discounts
    common words anyway."""
    return qdrant.Bm25(
        qdrant.Bm25Config(
            k=K,
            b=B,
            avg_len=AVERAGE_WORDS,
            tokenizer=qdrant.TokenizerType.Word,
            stopwords=qdrant.StopwordsSet(),
            stemmer=qdrant.SnowballParams(
                getattr(qdrant.SnowballLanguage, language.capitalize()),
            ),
        )
    )


def document(text: str, language: str | None = "english") -> qdrant.SparseVector:
    """Term frequencies, saturated and normalised by the text's length.

    Args:
        language: the note's language (`language_of`). Stems and n-grams of words are added for one
            that is not English, and n-grams for a note that may be in any language (None).
    """
    english = _model("english").embed_document(_searchable(text))
    if language == "english" or (language is None and _UNSPACED.search(text)):
        return english
    values = dict(_document_ngrams(text))
    stemmer = language or "english"
    if stemmer not in WITHOUT_STEMMER:
        stemmed = _model(stemmer).embed_document(normal(text))
        values.update(zip(stemmed.indices, stemmed.values, strict=True))
    values.update(zip(english.indices, english.values, strict=True))
    return qdrant.SparseVector(list(values), list(values.values()))


def _document_ngrams(text: str) -> Iterator[tuple[int, float]]:
    words = words_of(text)
    norm = K * (1.0 - B + B * len(words) / AVERAGE_WORDS)
    for term, count in Counter(ngram for word in words for ngram in _ngrams(word)).items():
        yield term, count * (K + 1.0) / (count + norm)


@lru_cache(maxsize=10_000)
def _ngrams(word: str) -> tuple[int, ...]:
    """The terms of a word's n-grams, and in India's scripts of the word without its ending; empty
    for other short words."""
    ngrams = [word[start : start + NGRAM_LETTERS] for start in range(len(word) - NGRAM_LETTERS + 1)]
    if (without_vowels := without_ending(word)) is not None:
        ngrams.append(without_vowels)
    return tuple(zlib.crc32(ngram.encode()) for ngram in ngrams)


@lru_cache(maxsize=256)  # a question is searched at several sizes of text
def query(text: str, languages: tuple[str, ...] = ()) -> qdrant.SparseVector:
    """Each distinct term with weight 1, `COMMON_WORD_WEIGHT` or `FUNCTION_WORD_WEIGHT`.

    The terms are stems of the query's language, so that no word counts twice; of all languages if
    no function word shows the query's language.

    Args:
        languages: the languages of the searched notes, other than English.
    """
    query_language = language_of_query(text, languages)
    weak_words = _HIRAGANA.findall(text)
    if query_language is not None:
        weak_words += function_words(text, query_language)
    common = _common_terms() if query_language == "english" else frozenset[int]()
    weights: dict[int, float] = {}
    read_as = [query_language] if query_language else ["english", *languages]
    for stemmer in _stemmers(text, read_as):
        weak = set(_query_terms(" ".join(weak_words), stemmer))
        for term in _query_terms(text, stemmer):
            weight = COMMON_WORD_WEIGHT if term in common else 1.0
            weights.setdefault(term, FUNCTION_WORD_WEIGHT if term in weak else weight)
    if languages and query_language != "english":
        for ngrams in map(_ngrams, set(words_of(text)).difference(weak_words)):
            for ngram in ngrams:
                weights[ngram] = weights.get(ngram, 0.0) + NGRAMS_WEIGHT / len(ngrams)
    return qdrant.SparseVector(list(weights), list(weights.values()))


def _stemmers(text: str, languages: Sequence[str]) -> list[str]:
    """The stemmers for a query that is in one of these languages."""
    stemmers: list[str] = []
    for language in languages:
        of_language = {"english" if language in WITHOUT_STEMMER else language}
        if text.isascii():  # accents may be left out; all texts are also indexed without them
            of_language.add("english")
        stemmers += sorted(of_language)
    return stemmers


def _query_terms(text: str, stemmer: str) -> Sequence[int]:
    prepare = _searchable if stemmer == "english" else normal
    return list(_model(stemmer).embed_query(prepare(text)).indices)


@lru_cache(maxsize=1_000)  # the types of a vault are compared with each question
def terms_in_language(text: str, language: str) -> frozenset[int]:
    """The terms of a text's words in one language. Where it has no stemmer, words are compared
    without the vowels that they end in."""
    if language in WITHOUT_STEMMER:
        bare_words = (_LAST_VOWELS.sub("", word) for word in words_of(text))
        return frozenset(zlib.crc32(word.encode()) for word in bare_words)
    return frozenset(_model(language).embed_query(normal(text)).indices)


def with_words(query: qdrant.SparseVector, words: Mapping[str, float]) -> qdrant.SparseVector:
    """The query and further words, with their weights."""
    if not words:
        return query
    weights = dict(zip(query.indices, query.values, strict=True))
    for word, weight in words.items():
        for term in _model("english").embed_query(_searchable(word)).indices:
            weights.setdefault(term, weight)
    return qdrant.SparseVector(list(weights), list(weights.values()))


@lru_cache(maxsize=1)
def _common_terms() -> frozenset[int]:
    return frozenset(_model("english").embed_query(" ".join(STOP_WORDS)).indices)


def terms(phrase: str) -> list[int]:
    """The terms that every text with this phrase has, whatever its case, accents or width;
    empty for a phrase without letters and digits."""
    return list(_model("english").embed_query(_spaced(_folded(phrase), pairs=False)).indices)


def folded_words(text: str) -> str:
    """The letters and digits of a text, folded, separated by single spaces: if a text contains a
    phrase, its words contain the phrase's words."""
    return " ".join(WORD.findall(text.lower() if text.isascii() else _folded(text)))


def _searchable(text: str) -> str:
    return text if text.isascii() else _spaced(_folded(text), pairs=True)


def _folded(text: str) -> str:
    """The text without case, accents and compatibility forms, in NFC."""
    without_accents = _ACCENTS.sub("", normalized(text.casefold(), "NFKD"))
    return normalized(without_accents).casefold().replace("ı", "i")


def _spaced(text: str, *, pairs: bool) -> str:
    """Separate the characters of scripts without spaces, and add pairs of neighbours."""

    def apart(run: re.Match[str]) -> str:
        characters = run.group()
        words = [*characters]
        if pairs:
            words += [first + second for first, second in pairwise(characters)]
        return f" {' '.join(words)} "

    return _UNSPACED.sub(apart, text)
