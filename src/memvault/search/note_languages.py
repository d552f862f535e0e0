"""The languages of a vault's notes: whether the model knows them, and what their vectors share."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memvault.model.errors import StoreUnavailable
from memvault.model.note import Vector, normalised
from memvault.search.fusion import FusionSettings
from memvault.stores.vectors import VectorStore
from memvault.stores.vectors.languages import (
    LANGUAGES,
    function_words_by_language,
    is_foreign,
    language_of,
    language_of_query,
)
from memvault.text.encoders.embedding import Embedder

SUBTRACTED_SHARE = 0.8  # of the common part of a language's notes, subtracted from a question
MAX_STRETCH = 4.0  # greatest factor of cosines' differences
SAMPLED_NOTES = 300  # in a language, whose common part is taken for that of all
SAMPLED_PASSAGES = 60  # in a language, which show whether the model knows it
SURE_WORDS = 2  # English function words of a question that is surely in English
MIN_NOTES = 30  # of a vault in English: the common part of fewer may be their subject


@dataclass(frozen=True, slots=True)
class CommonPartOfNotes:
    """The common part of the vectors of a vault's notes, or of those in one language.

    A model finds all texts alike in a language that it hardly knows. Their common part says nothing
    about a single text and hides what does (Mu and Viswanath, *All-but-the-top*, ICLR 2018), as
    that of all languages does for some models (`text.common_part`).
    """

    vectors: npt.NDArray[np.float32]  # (n, dim)
    mean: Vector
    mean_cosine: float  # of two of them
    share: float  # of the mean that is subtracted from a question

    @classmethod
    def from_vectors(cls, vectors: Sequence[Vector]) -> CommonPartOfNotes | None:
        """The common part of vectors; None for fewer than two, or if they have none."""
        count = len(vectors)
        if count < 2:
            return None
        rows = np.asarray(vectors, np.float32)
        mean: Vector = rows.mean(axis=0)
        square = float(mean @ mean)
        mean_cosine = (count * square - 1.0) / (count - 1.0)
        if mean_cosine <= 0.0:
            return None
        return cls(rows, mean, mean_cosine, SUBTRACTED_SHARE * mean_cosine / square)

    def subtracted_from(self, question: Vector) -> tuple[Vector, float]:
        """The question's vector without the common part, and what to add to its cosines so that
        those of an average note stay the same."""
        reduced = normalised(question - self.share * self.mean)
        return reduced, float((question - reduced) @ self.mean)

    def stretch(self, question: Vector, spread: float) -> float:
        """The factor, from 1 to `MAX_STRETCH`, that gives a question's cosines with these notes the
        standard deviation ``spread``."""
        deviation = float((self.vectors @ question).std())
        return min(MAX_STRETCH, max(1.0, spread / max(deviation, 1e-6)))


class NoteLanguages:
    """Which languages of the notes the model knows, and what their vectors have in common; safe in
    any thread."""

    def __init__(self, vectors: VectorStore, embedder: Embedder, settings: FusionSettings) -> None:
        self._vectors = vectors
        self._embedder = embedder
        self._settings = settings
        self._common_parts: dict[str | None, CommonPartOfNotes | None] = {}  # by language
        self._known: dict[str, bool] = {}

    def forget(self) -> None:
        """Examine the notes again at the next question, after they changed."""
        self._common_parts.clear()
        self._known.clear()

    def is_foreign_and_known(self, query: str, language: str | None) -> bool:
        """Whether a question or most notes are not in English, and the model knows the question's
        language.

        Then cosines say as much as in English, but notes are nearer to each other, and words say
        less if question and notes are in different languages.

        Args:
            language: as returned by `VectorStore.language_of`.
        """
        if language is not None:
            return self._knows(language)
        if is_foreign(query):
            return self._embedder.knows_language(query)
        main = self._vectors.main_language()
        return main is not None and self._knows(main) and self._embedder.knows_english

    def is_in_unknown_language(self, query: str) -> bool:
        """Whether the model does not know the language of a question, or else of most notes."""
        if language_of_query(query, LANGUAGES) not in ("english", None):
            return not self._embedder.knows_language(query)
        main = self._vectors.main_language()
        return main is not None and not self._knows(main)

    def is_in_other_language(self, query: str, found: Sequence[str]) -> bool:
        """Whether hardly any note is in the language of a question, and the model does not know
        both languages, so that the question would find more in that of the notes.

        Args:
            found: texts that the question found.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        if is_foreign(query):
            if self._embedder.knows_language(query):
                return False
            language = self._vectors.language_of(query)
            if language is not None:
                return language not in self._vectors.frequent_languages()
            is_counted = language_of_query(query, LANGUAGES) is not None
            return is_counted or not any(map(is_foreign, found))
        if function_words_by_language(query, ["english"])["english"] < SURE_WORDS:
            return False
        main = self._vectors.main_language()
        finds_english = any(language_of(text) == "english" for text in found)
        return main is not None and not self._knows(main) and not finds_english

    def unknown(self) -> list[str]:
        """The languages that many notes are in and the model does not know, the commonest first.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        return [
            language for language in self._vectors.frequent_languages() if not self._knows(language)
        ]

    def question_vector(self, query: str) -> Vector:
        """The question's vector without the common part of the vault's notes in its language.

        So a sentence is hardly near only because all sentences of the vault are. If the model does
        not know the language, the vector's length is the square of `cosine_reliability`: of many
        sentences one is near by chance more often than a note is.
        """
        vector = self._embedder.embed_query(query)
        try:
            language = self._vectors.language_of(query)
            common_part = self.common_part(language)
            is_known = language is None or self._knows(language)
        except StoreUnavailable:
            return vector
        if common_part is None:
            return vector
        length = (
            1.0 if is_known else self._settings.cosine_reliability(common_part.mean_cosine) ** 2
        )
        return length * common_part.subtracted_from(vector)[0]

    def common_part(self, language: str | None) -> CommonPartOfNotes | None:
        """The common part of the notes in a language, or of all notes; None for too few."""
        with suppress(KeyError):  # others may clear it at any moment
            return self._common_parts[language]
        vectors = self._vectors.in_language(language, SAMPLED_NOTES)
        are_enough = language is not None or len(vectors) >= MIN_NOTES
        common_part = self._common_parts[language] = (
            CommonPartOfNotes.from_vectors(vectors) if are_enough else None
        )
        return common_part

    def _knows(self, language: str) -> bool:
        """Whether the model knows a language of the notes."""
        known = self._known.get(language)  # others may clear it at any moment
        if known is None:
            passages = self._vectors.passages_in_language(language, SAMPLED_PASSAGES)
            known = self._known[language] = self._embedder.knows_language_of_all(passages)
        return known
