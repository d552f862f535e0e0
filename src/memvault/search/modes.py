"""The mode of a question: number, least confidence and variety of its results (triple 2.8).

Varied results are chosen by maximal marginal relevance.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memvault.model.search import Mode, Tuning

Floats32 = npt.NDArray[np.float32]


def diverse(
    relevance: Sequence[float], vectors: Floats32, count: int, diversity: float
) -> list[int]:
    """Indexes of ``count`` items by maximal marginal relevance, best first.

    Each next item has the greatest ``(1 - diversity) * relevance - diversity * nearest``, where
    ``nearest`` is its cosine to the most similar item already chosen (Carbonell and Goldstein,
    SIGIR 1998, with lambda = 1 - diversity). Ties go to the first.

    Args:
        relevance: (n,) in [0, 1].
        vectors: (n, dim), normalised; a row of zeros is similar to nothing.
        count: number to choose; fewer items are all ordered.
        diversity: in [0, 1]; 0 orders by relevance alone.
    """
    relevances = np.asarray(relevance, np.float64)
    total = len(relevances)
    nearest = np.zeros(total)
    is_open = np.ones(total, np.bool_)
    chosen: list[int] = []
    for _ in range(min(count, total)):
        gain = (1.0 - diversity) * relevances - diversity * nearest
        best = int(np.argmax(np.where(is_open, gain, -np.inf)))
        chosen.append(best)
        is_open[best] = False
        nearest = np.maximum(nearest, vectors @ vectors[best])
    return chosen


def centrality(vectors: Floats32) -> Floats32:
    """The cosine of each vector to the centroid of all, in [0, 1].

    Centroid summarisation: Radev and others, Information Processing & Management 40, 2004.

    Args:
        vectors: (n, dim), normalised.
    """
    centroid = vectors.mean(axis=0)
    central: Floats32 = vectors @ (centroid / (float(np.linalg.norm(centroid)) or 1.0))
    return central.clip(0.0, 1.0)


@dataclass(frozen=True, slots=True)
class ModePlan:
    """The parameters of a mode.

    Attributes:
        top_k: number of memories shown, unless the caller gives one.
        threshold: least confidence of a shown memory, in [0, 1].
        diversity: weight of novelty in `diverse`, in [0, 1].
    """

    top_k: int
    threshold: float
    diversity: float

    def tuned(self, tuning: Tuning) -> ModePlan:
        """The plan adjusted by modulation; a parameter of 0 stays 0."""
        threshold = self.threshold + tuning.threshold if self.threshold else 0.0
        diversity = self.diversity + tuning.diversity if self.diversity else 0.0
        return ModePlan(self.top_k, threshold, diversity)


PLANS = {
    Mode.PLANNING: ModePlan(top_k=20, threshold=0.65, diversity=0.7),  # FR-50
    Mode.EXECUTION: ModePlan(top_k=5, threshold=0.85, diversity=0.2),  # FR-51
    Mode.DEFAULT: ModePlan(top_k=10, threshold=0.0, diversity=0.0),
}

_NOUNS = r"(?:alternatives|ideas|inspiration|(?:options|possibilities) (?:for|to))"
_PLANNING_VERBS = r"brainstorm(?:ing)?|explor(?:e|ing)|research(?:ing)?"
_EXECUTION_VERBS = r"implement(?:ing)?|deploy(?:ing)?|execut(?:e|ing)|build(?:ing)?|creat(?:e|ing)"
_OPENING = r"^(?:and |so |but |please |also )*"
_OWN_PLAN = r"\b(?:(?:should|shall|could|might|must) (?:i|we)|(?:can|could|would|will) you)\b"
# An order, a request or a plan: "Build …", "Can you build …", "We should …", "I want to …".
_TASK = (
    rf"(?:{_OPENING}|(?:{_OWN_PLAN}|\b(?:let's|let us|please|and|then|i'm|we're|am|are|should|must|"
    r"(?:want|need|have|like|going|plan|trying) to)) (?:\w+ )?)"
)
_PLANNING = re.compile(rf"{_TASK}(?:{_PLANNING_VERBS})\b|\b{_NOUNS}\b")
_EXECUTION = re.compile(rf"{_TASK}(?:{_EXECUTION_VERBS})\b")
_NEGATED = re.compile(r"\b(?:do not|don't|never|without|instead of|rather than|not)\s+(?:\w+ )?$")
_HAS_OWN_PLAN = re.compile(_OWN_PLAN)
_HOW = re.compile(r"\bhow\b")  # asks for knowledge, even in "How should we build …?"
_ASKS = re.compile(
    rf"{_OPENING}(?:who|whom|whose|when|where|why|what|which|how|did|does|do|is|are|was|were|has|"
    r"have|had|will|would|can|could|should)\b|\?\s*$"
)
_FOR_SEVERAL = re.compile(
    rf"{_OPENING}(?:what|which|are there|is there|any|do (?:i|we|you) have|have (?:i|we|you))\b"
    rf"(?:\W+\w+){{0,4}}?\W+(?:{_NOUNS})\b"
)


def detect_mode(query: str) -> Mode:
    """The mode of a question, by keyword (triple 11.4); microseconds.

    Planning words outrank execution words. Neither count in questions for a fact or for how to do
    something, in the middle of a sentence, or after *not*. Ambiguous questions get the default
    mode.
    """
    text = " ".join(query.lower().replace("’", "'").split())
    is_question = _ASKS.search(text) is not None
    is_own_plan = _HAS_OWN_PLAN.search(text) is not None and _HOW.search(text) is None
    if is_question and not is_own_plan:
        return Mode.PLANNING if _FOR_SEVERAL.search(text) else Mode.DEFAULT
    for mode, words in ((Mode.PLANNING, _PLANNING), (Mode.EXECUTION, _EXECUTION)):
        for match in words.finditer(text):
            if not _NEGATED.search(text[: match.start()]):
                return mode
    return Mode.DEFAULT
