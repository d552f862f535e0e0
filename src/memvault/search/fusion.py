"""Fuses the results of two searches, by meaning and by words, to one relevance for each note."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from memvault.model.note import ChunkSize
from memvault.model.search import Ranking

Floats = npt.NDArray[np.float64]
Key = TypeVar("Key", str, int)
_SIZES = len(ChunkSize)


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionSettings:
    """Settings of the fusion of dense and keyword scores, chosen by measurement.

    Attributes:
        dense_weight: share of the cosine in the relevance, in [0, 1]; the rest is the keywords'.
        foreign_weight: the same if a question or most notes are in another language than English
            that the model knows: then question and notes have fewer words in common.
        half_keywords: BM25 score that counts as half of the greatest possible, per unit of the
            greatest inverse document frequency, ln(1 + chunks), so that scores mean the same in
            vaults of ten notes and of ten thousand.
        candidates: least number of chunks that each search returns.
        distinguishing_cosine: mean cosine of two notes up to which the model can
            distinguish a vault's notes.
        spread: standard deviation of a question's cosines with all notes; the default model has
            0.08 to 0.11 in English.
    """

    dense_weight: float = 0.4
    foreign_weight: float = 0.6
    half_keywords: float = 4.0
    candidates: int = 200
    distinguishing_cosine: float = 0.4
    spread: float = 0.11

    def half_of(self, chunk_count: int) -> float:
        """The BM25 score that counts as half, in a store of so many chunks."""
        return self.half_keywords * math.log(2.0 + chunk_count)

    def cosine_reliability(self, mean_cosine: float) -> float:
        """The weight of cosines, in [0, 1], by the mean cosine of two notes.

        In a language that it hardly knows, a model finds all notes alike, and its cosines say
        little.
        """
        return min(1.0, (1.0 - mean_cosine) / (1.0 - self.distinguishing_cosine))

    def relevances(
        self,
        cosines: Floats,
        keywords: Floats,
        best_keywords: float,
        half_score: float,
        *,
        mean_cosine: float = 0.0,
        usual_cosine: float = 0.0,
    ) -> Floats:
        """The relevances, in [0, 1] and comparable between queries.

        BM25 has no upper bound. The best score of a query is saturated as BM25 saturates a term's
        frequency, s / (s + half_score), and the others keep their ratio to it: saturating each
        score by itself would make the results of a long question, which all score high, nearly
        equal.

        Where cosines are unreliable (`cosine_reliability`) their share is less. The rest counts
        as the question's usual cosine, so that relevances stay comparable.

        Args:
            mean_cosine: of two notes in the question's language.
            usual_cosine: mean cosine of the question and a note.
        """
        saturated = keywords / (best_keywords + half_score)
        share = self.dense_weight * self.cosine_reliability(mean_cosine)
        unreliable = (self.dense_weight - share) * usual_cosine
        relevance = share * np.minimum(cosines, 1.0) + (1.0 - share) * saturated + unreliable
        return np.minimum(relevance, 1.0)


@dataclass(frozen=True, slots=True)
class ScoreList:
    """The results of one search with their scores, at least 0.

    ``floor`` is the greatest score that a chunk which was not found can have.
    """

    ranking: Ranking
    scores: Floats
    floor: float

    @classmethod
    def from_ranking(cls, ranking: Ranking, limit: int, lift: float = 0.0) -> ScoreList:
        """The scores of a search.

        The floor is the last score if the search filled its limit, else 0, since nothing is left
        to find.

        Args:
            lift: added to all scores.
        """
        scores = np.maximum(ranking.scores + lift, 0.0)
        return cls(ranking, scores, float(scores[-1]) if 0 < limit <= len(scores) else 0.0)

    def stretched(self, usual_score: float, factor: float) -> ScoreList:
        """The scores with their difference to the usual score times ``factor``."""

        def stretch(scores: Floats) -> Floats:
            return np.maximum(usual_score + factor * (scores - usual_score), 0.0)

        return ScoreList(self.ranking, stretch(self.scores), float(stretch(np.array(self.floor))))

    def of_chunks(self, chunk_ids: Collection[int]) -> Floats:
        """The score of each of these chunks, (len(chunk_ids),)."""
        score_of = dict(zip(self.ranking.chunk_ids, self.scores.tolist(), strict=True))
        return np.array([score_of.get(chunk_id, self.floor) for chunk_id in chunk_ids])

    def of_notes(self, index_of: Mapping[str, int]) -> Floats:
        """For each note the mean of its best chunks' scores at each size, (len(place),)."""
        best_scores = np.full((_SIZES, len(index_of)), self.floor)
        note_ids = self.ranking.note_ids
        indexes = np.fromiter(map(index_of.__getitem__, note_ids), np.intp, len(note_ids))
        for row, size in zip(best_scores, ChunkSize, strict=True):
            of_size = np.flatnonzero(self.ranking.sizes & size.bit)[::-1]
            row[indexes[of_size]] = self.scores[of_size]  # a note's best is written last
        mean: Floats = best_scores.sum(axis=0) / _SIZES
        return mean


def best_first(keys: Sequence[Key], relevances: Floats, count: int) -> list[int]:
    """Indexes of the ``count`` most relevant keys, best first, ties by key."""
    candidates = np.arange(len(keys))
    if count < len(keys):
        candidates = np.flatnonzero(relevances >= np.partition(relevances, -count)[-count])
    return sorted(candidates.tolist(), key=lambda index: (-relevances[index], keys[index]))[:count]


@dataclass(frozen=True, slots=True)
class Fused:
    """The results of both searches, with the arguments of `FusionSettings.relevances`."""

    dense: ScoreList
    keywords: ScoreList
    half_score: float
    settings: FusionSettings
    mean_cosine: float = 0.0
    usual_cosine: float = 0.0

    def of_notes(self) -> tuple[list[str], Floats]:
        """Every note that either search found, and their relevances, (n,)."""
        note_ids = dict.fromkeys(chain(self.dense.ranking.note_ids, self.keywords.ranking.note_ids))
        index_of = dict(zip(note_ids, range(len(note_ids)), strict=True))
        keywords = self.keywords.of_notes(index_of)
        best_keywords = float(keywords.max(initial=0.0))
        return list(index_of), self._relevances(
            self.dense.of_notes(index_of), keywords, best_keywords
        )

    def of_chunks(self, chunk_ids: Collection[int]) -> Floats:
        """The relevances of some of the chunks that either search found, (len(chunk_ids),)."""
        best_keywords = float(self.keywords.scores.max(initial=0.0))
        keywords = self.keywords.of_chunks(chunk_ids)
        return self._relevances(self.dense.of_chunks(chunk_ids), keywords, best_keywords)

    def passages(self, note_ids: Collection[str] | None = None) -> dict[int, str]:
        """The passages that either search found, each with its note.

        Args:
            note_ids: the notes to choose from; None for all.
        """
        passage_bit = ChunkSize.PASSAGE.bit
        return {
            chunk_id: note_id
            for ranking in (self.dense.ranking, self.keywords.ranking)
            for chunk_id, note_id, sizes in zip(
                ranking.chunk_ids, ranking.note_ids, ranking.sizes.tolist(), strict=True
            )
            if (note_ids is None or note_id in note_ids) and sizes & passage_bit
        }

    def _relevances(self, cosines: Floats, keywords: Floats, best_keywords: float) -> Floats:
        return self.settings.relevances(
            cosines,
            keywords,
            best_keywords,
            self.half_score,
            mean_cosine=self.mean_cosine,
            usual_cosine=self.usual_cosine,
        )
