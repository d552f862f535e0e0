"""How well the steps of the graph state a phrase of the question, in words and in meaning."""

from __future__ import annotations

import numpy as np

from memvault.search.relations.question import Phrase
from memvault.search.relations.step_graph import Floats32, StepGraph

# The fit of a step is its cosine to the phrase plus SHARED.
SHARED = 0.25  # added if a step has all word stems of the phrase; less for a part of them
LISTED = 0.08  # subtracted for a target in a list if one node is meant
LOCAL_SHARE = 0.6  # of the words around the target in an edge's fit; the rest is the sentence's


class PhraseFit:
    """Compares the phrases of one question with all steps.

    Args:
        similar: by wording of a phrase, its similarity to every step text, (n_texts,).
    """

    def __init__(self, graph: StepGraph, similar: dict[str, Floats32]) -> None:
        self._graph = graph
        self._similar = similar
        self._of_edges: dict[tuple[Phrase, bool], Floats32] = {}

    def of_edges(self, phrase: Phrase, *, single: bool) -> Floats32:
        """How well each edge states a phrase, (n_edges,).

        Args:
            single: one node is meant (*the lead of*), which a list of members seldom states.
        """
        key = (phrase, single)
        if key not in self._of_edges:
            graph, texts = self._graph, self._of_texts(phrase)
            fit = LOCAL_SHARE * texts[graph.local] + (1.0 - LOCAL_SHARE) * texts[graph.whole]
            self._of_edges[key] = fit - LISTED * graph.listed if single else fit
        return self._of_edges[key]

    def _of_texts(self, phrase: Phrase) -> Floats32:
        """How well each step text states a phrase, (n_texts,).

        Half counts the most similar wording of the phrase, half the mean of all; shared word stems
        add to both.
        """
        wordings = np.stack([self._similar[wording] for wording in phrase.wordings])
        fit: Floats32 = 0.5 * wordings.max(axis=0) + 0.5 * wordings.mean(axis=0)
        for stem in phrase.stems:
            fit[self._graph.texts_with(stem)] += SHARED / len(phrase.stems)
        return fit
