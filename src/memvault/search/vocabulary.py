"""The words of a vault, and which of them are similar in meaning to a question's words.

Keywords alone find no note on CSS for "stylesheet", and none on images for "picture". So a word
that few notes have also matches the nearest words of the vault, by their vectors. An English word
that neither the vault nor the model knows is probably mistyped if a word of the vault differs from
it by one mistake ("obsidan"): it matches that word. Names match only themselves, so only words in
lower case are treated like this.
"""

from __future__ import annotations

import math
import re
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache

from memvault.model.batched import batched
from memvault.model.errors import StoreUnavailable
from memvault.model.note import Chunk
from memvault.model.priority import AwaitedLock
from memvault.search.relations.question import ANYTHING
from memvault.stores.vectors import VectorStore, bm25
from memvault.text.encoders.embedding import Embedder
from memvault.text.phrase_vectors import PhraseVectors
from memvault.text.words import STOP_WORDS

RARE_SHARE = 0.01  # share of the passages; a word in more of them matches only itself
MIN_COSINE = 0.6  # of two similar words
MAX_SIMILAR = 2  # words of the vault that are similar to one of a question
SIMILAR_WEIGHT = 0.6  # of a similar word, times its cosine; a word of the question has 1
MIN_MISTYPED_LETTERS, MAX_MISTYPED_LETTERS = 6, 40  # letters of a word that may be mistyped
MIN_EXCHANGED_LETTERS = 4  # letters of one in which two may be exchanged
MAX_LETTERS = 40  # most common letters of a vault, tried in place of mistakes
MAX_WORDS = 15_000  # most common words of a vault: 23 MB of vectors
MAX_NOTES = 20_000  # notes whose words are read
MIN_GROWTH = 0.05  # share of its chunks by which a vault must grow or shrink to be read again
RELOAD_SECONDS = 300.0
FIRST_SECONDS = 1.0  # for which a question waits while the words are read for the first time
_NOTES_AT_ONCE = 200
_MAX_QUESTIONS = 256  # questions whose similar words are cached
_WORD = re.compile(r"[^\W\d_]{3,}")

Similar = Mapping[str, Mapping[str, float]]  # for words of a question, words of the vault
_WITHOUT_CONTENT = STOP_WORDS | ANYTHING


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a vault; ``rarity`` is the share of passages with each term, ``unseen`` the
    share assumed for a word that no passage has."""

    places: Mapping[str, int]
    terms: tuple[int | None, ...]
    vectors: npt.NDArray[np.float32]
    rarity: Mapping[int, float]
    unseen: float
    letters: str  # the most common ones


class Vocabulary:
    """The words of a vault; empty until `load`. Thread-safe."""

    def __init__(self, vectors: VectorStore, embedder: Embedder) -> None:
        self._vectors = vectors
        self._embedder = embedder
        self._vault_words: _Words | None = None
        self._size = 0  # of the store when its words were read
        self._lock = threading.Lock()
        self._reading = AwaitedLock()  # for the first time
        self._waited_in_vain = False
        self._begun: LRUCache[str, Callable[[], Similar]] = LRUCache(_MAX_QUESTIONS)
        self._new_vectors = PhraseVectors(embedder)  # of words that the vault does not have

    def load(self) -> float:
        """Read the words of the vault, unless its size is about the same; takes seconds if many are
        new. Returns the seconds after which to call this again.

        Raises:
            StoreUnavailable: the vector store does not answer, or the engine is stopping.
        """
        size = self._vectors.count()
        if abs(size - self._size) <= MIN_GROWTH * self._size:
            return RELOAD_SECONDS
        with self._reading if self._vault_words is None else nullcontext():
            self._vault_words = self._read()
        self._begun, self._size = LRUCache(_MAX_QUESTIONS), size
        return RELOAD_SECONDS

    def _read(self) -> _Words:
        passages = 0
        counts: Counter[str] = Counter()
        for passage in self._passages():
            passages += 1
            counts.update(set(_WORD.findall(f"{passage.context} {passage.text}")))
        repeated = (word for word, count in counts.most_common() if count > 1)
        plain = (word for word in repeated if word.islower() and word not in STOP_WORDS)
        commonest = list(islice(plain, MAX_WORDS))
        passages_with: Counter[int] = Counter()
        for word, count in counts.items():
            if (term := _term(word)) is not None:
                passages_with[term] += count
        return _Words(
            {word: index for index, word in enumerate(commonest)},
            tuple(_term(word) for word in commonest),
            self._embedder.embed(commonest),
            {term: count / passages for term, count in passages_with.items()},
            0.5 / max(passages, 1),
            "".join(
                letter for letter, _ in Counter("".join(counts).lower()).most_common(MAX_LETTERS)
            ),
        )

    def begin(self, question: str) -> None:
        """Start `similar`, which then only waits for the vectors of new words."""
        with suppress(StoreUnavailable):  # `similar` raises it
            self._begin(question)

    def similar(self, question: str) -> Similar:
        """For each rare word of a question the similar words of the vault, with weights; waits a
        little while these are read for the first time, once.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        if self._vault_words is None and not self._waited_in_vain:
            self._waited_in_vain = not self._reading.acquire(timeout=FIRST_SECONDS)
            if not self._waited_in_vain:
                self._reading.release()
        return self._begin(question)()

    def shares(self, question: str, texts: Sequence[str]) -> list[float]:
        """For each text the share of the question's words that it has, itself or a similar one,
        weighted by rarity in the vault; empty for a question without content words."""
        vault_words = self._vault_words
        similar = {bm25.folded_words(word): words for word, words in self.similar(question).items()}
        weights: dict[int, float] = {}
        matching_terms: dict[int, set[int]] = {}
        for word in bm25.folded_words(question).split():
            similar_terms = [
                term for similar_word in similar.get(word, ()) for term in bm25.terms(similar_word)
            ]
            for term in bm25.terms(word) if word not in _WITHOUT_CONTENT else ():
                rarity = (
                    vault_words.rarity.get(term, vault_words.unseen)
                    if vault_words is not None
                    else 1.0
                )
                weights[term] = math.log(1.0 + 1.0 / rarity)
                matching_terms[term] = {term, *similar_terms}
        if not weights:
            return []
        terms_of_texts = [set(bm25.terms(text)) for text in texts]
        total = sum(weights.values())
        return [
            1.0
            - sum(weight for term, weight in weights.items() if not matching_terms[term] & terms)
            / total
            for terms in terms_of_texts
        ]

    def _passages(self) -> Iterator[Chunk]:
        """The passages of `MAX_NOTES` notes."""
        notes = islice(self._vectors.note_ids(), MAX_NOTES)
        for ids in batched(notes, _NOTES_AT_ONCE):
            for passages in self._vectors.passages(ids).values():
                yield from passages

    def _begin(self, question: str) -> Callable[[], Similar]:
        """Start to look for similar words; the function returned waits for them."""
        vault_words, begun = self._vault_words, self._begun
        if vault_words is None:
            return dict
        with self._lock:
            wait = begun.get(question)
        if wait is None:
            wait = cache(self._begin_with(vault_words, question))
            with self._lock:
                begun[question] = wait
        return wait

    def _begin_with(self, vault_words: _Words, question: str) -> Callable[[], Similar]:
        rare = {
            word: term
            for word in dict.fromkeys(_WORD.findall(question))
            if word.islower()
            and word not in STOP_WORDS
            and (term := _term(word)) is not None
            and vault_words.rarity.get(term, 0.0) <= RARE_SHARE
        }
        if not rare or not vault_words.places:
            return dict
        # In a language that it does not know, the model finds alike what is spelt alike.
        in_english = self._vectors.language_of(question) is None
        if not in_english and not self._embedder.knows_language(question):
            return dict
        mistyped = self._mistyped(vault_words, rare) if in_english else {}
        corrected: dict[str, Mapping[str, float]]
        corrected = {word: {word_meant: 1.0} for word, word_meant in mistyped.items()}
        correct = [word for word in rare if word not in mistyped]
        if not correct:
            return lambda: corrected
        new_words = [word for word in correct if word not in vault_words.places]
        self._new_vectors.begin(new_words)

        def wait() -> Similar:
            vector_of = self._new_vectors.of(new_words)
            vectors = [
                vector_of[word]
                if word in vector_of
                else vault_words.vectors[vault_words.places[word]]
                for word in correct
            ]
            return corrected | _nearest(
                vault_words, correct, np.stack(vectors), bm25.terms(question)
            )

        return wait

    def _mistyped(self, vault_words: _Words, rare: Mapping[str, int]) -> dict[str, str]:
        """The words that neither the vault nor the model knows, each with the vault's most common
        word at one mistake from it; ``rare`` has the words with their terms.

        In a short word only two exchanged letters are such a mistake: others have several words
        near them.
        """
        corrections = {}
        for word, term in rare.items():
            if not MIN_EXCHANGED_LETTERS <= len(word) <= MAX_MISTYPED_LETTERS:
                continue
            if term in vault_words.rarity:
                continue
            if self._embedder.tokens.count(word) == 1:
                continue
            shares = {
                candidate: share
                for candidate in _perhaps_meant(word, vault_words.letters)
                if (candidate_term := _term(candidate)) is not None
                and (share := vault_words.rarity.get(candidate_term))
            }
            if shares:
                corrections[word] = max(shares, key=lambda candidate: shares[candidate])
        return corrections


def _nearest(
    vault_words: _Words,
    words: Sequence[str],
    vectors: npt.NDArray[np.float32],
    question_terms: Collection[int],
) -> dict[str, Mapping[str, float]]:
    """For each word the similar words of the vault, with weights.

    Args:
        vectors: of the words, (n, dim).
        question_terms: terms of the question, whose words are left out.
    """
    similar: dict[str, Mapping[str, float]] = {}
    words_of_vault = tuple(vault_words.places)
    for word, cosines in zip(words, (vault_words.vectors @ vectors.T).T, strict=True):
        word_of_term: dict[int | None, str] = {}
        near_places = np.flatnonzero(cosines >= MIN_COSINE)
        for index in near_places[np.argsort(-cosines[near_places])][: 4 * MAX_SIMILAR]:
            if len(word_of_term) >= MAX_SIMILAR:
                break
            if vault_words.terms[index] not in question_terms:
                word_of_term.setdefault(vault_words.terms[index], words_of_vault[index])
        if word_of_term:
            similar[word] = {
                similar_word: SIMILAR_WEIGHT * float(cosines[vault_words.places[similar_word]])
                for similar_word in word_of_term.values()
            }
    return similar


def one_mistake_from(word: str, letters: str) -> Iterator[str]:
    """Every word from which this one differs by one mistake after its first letter.

    A mistake is one letter too many, missing or wrong, or two neighbours exchanged.
    """
    for position in range(1, len(word) + 1):
        before, after = word[:position], word[position:]
        yield from (f"{before}{letter}{after}" for letter in letters)
        if after:
            yield before + after[1:]
            yield from (f"{before}{letter}{after[1:]}" for letter in letters)
    yield from exchanged(word)


def exchanged(word: str) -> Iterator[str]:
    """Every word from which this one differs by two neighbours exchanged after its first letter."""
    for index in range(1, len(word) - 1):
        yield f"{word[:index]}{word[index + 1]}{word[index]}{word[index + 2 :]}"


def _perhaps_meant(word: str, letters: str) -> Iterator[str]:
    return one_mistake_from(word, letters) if len(word) >= MIN_MISTYPED_LETTERS else exchanged(word)


def _term(word: str) -> int | None:
    """The term of a word; None if it has several, as in scripts without spaces."""
    terms = bm25.terms(word)
    return terms[0] if len(terms) == 1 else None
