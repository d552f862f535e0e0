"""How the results of two searches, by meaning and by words, become one relevance for each note."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from memvault.model.note import ChunkSize, Vector
from memvault.model.search import Ranking
from memvault.text.chunking import normalised

Floats = npt.NDArray[np.float64]
Key = TypeVar("Key", str, int)
_SIZES = len(ChunkSize)
SHARED = 0.8  # of what all notes in a language have in common, the share taken off a question
MAX_STRETCH = 4.0  # of cosines


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionSettings:
    """How dense and keyword scores become one relevance; chosen by measurement.

    Attributes:
        dense_weight: share of the cosine in the relevance, in [0, 1]; the rest is the keywords'.
        foreign_weight: the same where a question or most notes are in another language than
            English that the model knows: its words are less often the words of the notes.
        half_keywords: BM25 score that counts as half of the greatest possible, for each unit of the
            greatest inverse document frequency, ln(1 + chunks): so that scores mean the same in
            vaults of ten notes and of ten thousand.
        candidates: chunks asked of each search, at least.
        distinguishing_cosine: mean cosine of two notes up to which the model can
            distinguish a vault's notes.
        spread: standard deviation of a question's cosines with all notes that the default model
            has in English (0.08 to 0.11).
    """

    dense_weight: float = 0.4
    foreign_weight: float = 0.6
    half_keywords: float = 4.0
    candidates: int = 200
    distinguishing_cosine: float = 0.4
    spread: float = 0.11

    def half_of(self, chunks: int) -> float:
        """The BM25 score that counts as half, in a store of so many chunks."""
        return self.half_keywords * math.log(2.0 + chunks)

    def cosine_reliability(self, alike: float) -> float:
        """How much of what cosines say counts where two notes have this mean cosine, in [0, 1]: in
        a language that it hardly knows a model finds all notes alike, and says little by that."""
        return min(1.0, (1.0 - alike) / (1.0 - self.distinguishing_cosine))

    def relevances(
        self,
        cosines: Floats,
        keywords: Floats,
        best_keywords: float,
        half: float,
        *,
        alike: float = 0.0,
        usual: float = 0.0,
    ) -> Floats:
        """In [0, 1], and comparable between queries.

        BM25 has no upper bound. The best score of a query is saturated as BM25 saturates a term's
        frequency, s / (s + half), and the others keep their ratio to it: saturating each score by
        itself would make the results of a long question, which all score high, nearly equal.

        Where cosines are unreliable (`cosine_reliability`) their share is less. The rest counts
        as the question's usual cosine, so that relevances stay comparable.

        Args:
            alike: mean cosine of two notes in the question's language; ``usual`` of the question
                and a note.
        """
        named = keywords / (best_keywords + half)
        share = self.dense_weight * self.cosine_reliability(alike)
        lost = (self.dense_weight - share) * usual
        relevance = share * np.minimum(cosines, 1.0) + (1.0 - share) * named + lost
        return np.minimum(relevance, 1.0)


@dataclass(frozen=True, slots=True)
class ScoreList:
    """What one search found: scores, of which negative ones count as nothing, and ``floor``, the
    most that anything else can have."""

    found: Ranking
    scores: Floats
    floor: float

    @classmethod
    def of(cls, found: Ranking, limit: int, lift: float = 0.0) -> ScoreList:
        """A search that filled its limit may have left others just below its last hit; one that did
        not has left nothing.

        Args:
            lift: added to all scores.
        """
        scores = np.maximum(found.scores + lift, 0.0)
        return cls(found, scores, float(scores[-1]) if 0 < limit <= len(scores) else 0.0)

    def stretched(self, usual: float, factor: float) -> ScoreList:
        """With so many times the difference to the usual score."""

        def far(score: Floats) -> Floats:
            return np.maximum(usual + factor * (score - usual), 0.0)

        return ScoreList(self.found, far(self.scores), float(far(np.array(self.floor))))

    def of_chunks(self, chunk_ids: Collection[int]) -> Floats:
        """The score of each of these chunks, (len(chunk_ids),)."""
        known = dict(zip(self.found.chunk_ids, self.scores.tolist(), strict=True))
        return np.array([known.get(key, self.floor) for key in chunk_ids])

    def of_notes(self, place: Mapping[str, int]) -> Floats:
        """Of each note the mean over the sizes of its best chunk of each, (len(place),)."""
        best = np.full((_SIZES, len(place)), self.floor)
        note_ids = self.found.note_ids
        at = np.fromiter(map(place.__getitem__, note_ids), np.intp, len(note_ids))
        for row, size in zip(best, ChunkSize, strict=True):
            has = np.flatnonzero(self.found.sizes & size.bit)[::-1]
            row[at[has]] = self.scores[has]  # a note's best comes last, and stays
        mean: Floats = best.sum(axis=0) / _SIZES
        return mean


def best_first(keys: Sequence[Key], relevances: Floats, most: int) -> list[int]:
    """Places of the ``most`` most relevant, best first, ties by key."""
    near = np.arange(len(keys))
    if most < len(keys):
        near = np.flatnonzero(relevances >= np.partition(relevances, -most)[-most])
    return sorted(near.tolist(), key=lambda k: (-relevances[k], keys[k]))[:most]


@dataclass(frozen=True, slots=True)
class SharedPart:
    """What the vectors of a vault's notes, or of those in one language, have in common.

    A model finds all texts alike that are in a language which it hardly knows. That says nothing
    about any one of them, and hides what does (Mu and Viswanath, *All-but-the-top*, ICLR 2018).
    """

    vectors: npt.NDArray[np.float32]  # (n, dim)
    mean: Vector
    alike: float  # mean cosine of two of them
    share: float  # of the mean to take off a question

    @classmethod
    def of(cls, vectors: Sequence[Vector]) -> SharedPart | None:
        """None for too few vectors to have a mean that is not mostly their own."""
        count = len(vectors)
        if count < 2:
            return None
        rows = np.asarray(vectors, np.float32)
        mean: Vector = rows.mean(axis=0)
        square = float(mean @ mean)
        alike = (count * square - 1.0) / (count - 1.0)
        return cls(rows, mean, alike, SHARED * alike / square) if alike > 0.0 else None

    def taken_off(self, question: Vector) -> tuple[Vector, float]:
        """The question's vector without it, and what to add to its cosines so that those of an
        average note stay as they were."""
        rest = normalised(question - self.share * self.mean)
        return rest, float((question - rest) @ self.mean)

    def stretch(self, question: Vector, spread: float) -> float:
        """The factor by which a question's cosines with these notes have this standard deviation,
        from 1 to `MAX_STRETCH`."""
        own = float((self.vectors @ question).std())
        return min(MAX_STRETCH, max(1.0, spread / max(own, 1e-6)))


@dataclass(frozen=True, slots=True)
class Fused:
    """The results of both searches and the BM25 score that counts as half; ``alike`` and ``usual``
    as `FusionSettings.relevances` takes them."""

    dense: ScoreList
    keywords: ScoreList
    half: float
    settings: FusionSettings
    alike: float = 0.0
    usual: float = 0.0

    def of_notes(self) -> tuple[list[str], Floats]:
        """Every note that either search found, and their relevances, (n,)."""
        notes = dict.fromkeys(chain(self.dense.found.note_ids, self.keywords.found.note_ids))
        place = dict(zip(notes, range(len(notes)), strict=True))
        named = self.keywords.of_notes(place)
        best = float(named.max(initial=0.0))
        return list(place), self._relevances(self.dense.of_notes(place), named, best)

    def of_chunks(self, chunk_ids: Collection[int]) -> Floats:
        """The relevances of some of the chunks that either search found, (len(chunk_ids),)."""
        best = float(self.keywords.scores.max(initial=0.0))
        named = self.keywords.of_chunks(chunk_ids)
        return self._relevances(self.dense.of_chunks(chunk_ids), named, best)

    def passages(self, note_ids: Collection[str] | None = None) -> dict[int, str]:
        """The passages that either search found, each with its note.

        Args:
            note_ids: of these notes only.
        """
        passage = ChunkSize.PASSAGE.bit
        return {
            chunk_id: note_id
            for found in (self.dense.found, self.keywords.found)
            for chunk_id, note_id, sizes in zip(
                found.chunk_ids, found.note_ids, found.sizes.tolist(), strict=True
            )
            if (note_ids is None or note_id in note_ids) and sizes & passage
        }

    def _relevances(self, cosines: Floats, keywords: Floats, best_keywords: float) -> Floats:
        return self.settings.relevances(
            cosines, keywords, best_keywords, self.half, alike=self.alike, usual=self.usual
        )
