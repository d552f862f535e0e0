"""Subtracts the common part of a model's vectors.

Some models (E5 and BGE among them) find any two texts alike: the cosine of unrelated sentences is
0.8 rather than 0, so every text would pass a threshold. Without the mean of unrelated texts, the
cosines of these models have about the same meaning as those of the default model (Mu and Viswanath,
*All-but-the-top*, ICLR 2018).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memvault.model.note import Vector

_ROUNDING_ERROR = 1e-6  # length of a vector that is only rounding error
Vectors = npt.NDArray[np.float32]
MIN_MEAN_COSINE = 0.1  # mean cosine of unrelated texts below which vectors are left unchanged
MIN_SENTENCES = 6  # least number of sentences that show the common part

# Unrelated texts in several languages, from no vault.
SENTENCES = (
    "The ferry leaves the island at noon.",
    "Add two cups of flour and knead the dough.",
    "The court adjourned until the following Tuesday.",
    "Her violin needs new strings before the concert.",
    "Interest rates fell by a quarter of a percent.",
    "The glacier retreats a little every summer.",
    "Press the reset button for ten seconds.",
    "He was born in a village near the border.",
    "Our goalkeeper saved two penalties.",
    "Photosynthesis turns light into sugar.",
    "The plumber comes on Thursday to fix the tap.",
    "Medieval monks copied books by hand.",
    "Der Bäcker öffnet um sechs Uhr.",
    "Ihre Großmutter sammelte alte Landkarten.",
    "Die Batterie ist nach zwei Stunden leer.",
    "Le train de nuit arrive à l'aube.",
    "Il faut tailler les rosiers en mars.",
    "Le juge a rejeté la demande.",
    "La biblioteca cierra los domingos.",
    "Mi hermano repara bicicletas en el garaje.",
    "El río creció después de la tormenta.",
    "Врач приедет завтра утром.",
    "Кошка спит на подоконнике.",
    "Цены на зерно выросли вдвое.",
    "郵便局は駅の隣にあります。",
    "妹は毎朝ピアノを練習する。",
    "この橋は百年前に建てられた。",
    "会议改到下周三举行。",
    "他在院子里种了三棵苹果树。",
    "冰箱发出奇怪的声音。",
)
NOTES = (
    "# Garden\n\nTomatoes want a warm place and a stake. Compost is ready when it smells of earth.",
    "# Harbour\n\nIn fog the captain sounds the horn. The crew loads the cargo at night.",
    "# Hearing\n\nThe judge dismissed the claim. Witnesses are heard in the afternoon.",
    "# Server\n\nIt restarts after an update. Logs are deleted after ten days.",
    "# Kitchen\n\nLet the soup simmer for an hour. Salt the fish before it is grilled.",
    "# Choir\n\nIt meets every Tuesday in the old hall. Tickets cost twelve euros at the door.",
    "# Ridge\n\nTake enough water, as there is no hut on the way. From the top one sees far.",
    "# Medicine\n\nTake one tablet in the morning. The wound must stay dry for two days.",
    "# Town\n\nIt burned down twice in a century. A treaty ended the long war.",
    "# Rent\n\nIt is due on the first of the month. The invoice was paid in two parts.",
    "# School\n\nExams begin in the second week of June. The teacher returned the essays.",
)


@dataclass(frozen=True, slots=True)
class CommonPart:
    """The mean vectors of unrelated queries and documents, each (dim,) float32."""

    query: Vector
    document: Vector

    @classmethod
    def of(
        cls,
        embed_queries: Callable[[Sequence[str]], Vectors],
        embed_documents: Callable[[Sequence[str]], Vectors],
        knows: Callable[[str], bool],
    ) -> CommonPart | None:
        """The common part of a model's vectors; None if it finds unrelated texts dissimilar.

        Args:
            embed_queries, embed_documents: vectors of texts, (n, dim) float32, normalised.
            knows: whether the model knows a text's language (`Embedder.knows_language`); else it
                finds all texts alike.
        """
        understood = [text for text in SENTENCES if knows(text)]
        texts = understood if len(understood) >= MIN_SENTENCES else SENTENCES
        sentences = embed_documents(texts)
        if mean_cosine(sentences) < MIN_MEAN_COSINE:
            return None
        document = (sentences.mean(axis=0) + embed_documents(NOTES).mean(axis=0)) / 2.0
        return cls(embed_queries(texts).mean(axis=0), document)


def mean_cosine(vectors: Vectors) -> float:
    """The mean cosine of two of these normalised vectors; there must be two at least."""
    count, total = len(vectors), vectors.sum(axis=0)
    return float((total @ total - count) / (count * (count - 1)))


def without(vectors: Vectors, common: Vector) -> Vectors:
    """The vectors without their common part, (n, dim) float32, normalised; zeros if nothing is
    left."""
    differences = vectors - common
    lengths = np.linalg.norm(differences, axis=-1, keepdims=True)
    differences = np.where(lengths > _ROUNDING_ERROR, differences, 0.0)
    return np.asarray(differences / np.maximum(lengths, _ROUNDING_ERROR), np.float32)
