"""Values that notes state in sentences: days, places and numbers without a note of their own.

"Held in Gdansk on 20 March 2026" makes no edge if nothing in the vault is called Gdansk. So values
are also looked for in a note's own text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from memvault.model.note import Chunk, LineRange
from memvault.search.relations.edge_templates import Value, values_in
from memvault.search.relations.question import Phrase
from memvault.search.relations.step_graph import LOCAL_SHARE, SHARED, StepGraph
from memvault.stores.vectors import VectorStore
from memvault.text.phrase_vectors import PhraseVectors
from memvault.text.stems import stems
from memvault.vault.readable import sentences

MAX_PER_NOTE = 12
_TIME = re.compile(r"\d{4}|\b\d{1,2}[:.]\d{2}\b|\b\d{1,2}(?:st|nd|rd|th)?$")

FindSpans = Callable[[str], list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class StatedValue:
    """A value with the sentence and the place that state it."""

    value: Value
    sentence: str
    heading: str
    lines: LineRange


def can_answer(text: str, question_word: str) -> bool:
    """Whether a value can answer *when* or *where*; other questions take any."""
    is_time = _TIME.search(text) is not None
    if question_word == "when":
        return is_time
    return question_word != "where" or not any(char.isdigit() for char in text)


def values_of(
    passages: Iterable[Chunk], find_spans: FindSpans, question_word: str
) -> list[StatedValue]:
    """The values that a note states, in the order of its text, `MAX_PER_NOTE` at most.

    Args:
        passages: of the note, in order.
        find_spans: returns the spans of the vault's names in a sentence.
        question_word: the question's word for the value.
    """
    values: list[StatedValue] = []
    for chunk in passages:
        for sentence in sentences(chunk.text):
            for value in values_in(sentence, find_spans(sentence)):
                if can_answer(value.text, question_word):
                    values.append(StatedValue(value, sentence, chunk.heading, chunk.lines))
            if len(values) >= MAX_PER_NOTE:
                return values[:MAX_PER_NOTE]
    return values


class ValueFinder:
    """Finds values that notes state, for one question; ``found`` has each with its note's node.

    Args:
        name_spans: returns the spans of the vault's names in a sentence.
    """

    def __init__(
        self, store: VectorStore, name_spans: FindSpans, graph: StepGraph, vectors: PhraseVectors
    ) -> None:
        self.found: list[tuple[int, StatedValue]] = []
        self._read: dict[tuple[int, str], list[StatedValue]] = {}
        self._store = store
        self._name_spans = name_spans
        self._graph = graph
        self._vectors = vectors

    def __call__(
        self, nodes: Sequence[int], phrase: Phrase, question_word: str
    ) -> dict[int, tuple[int, float]]:
        """For each node the number in ``found`` of the value that its note states best, and how
        well.

        Args:
            question_word: the question's word for the value.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        values_of_node = self._values(nodes, question_word)
        steps = {
            text for values in values_of_node.values() for v in values for text in v.value.steps
        }
        fits = self._fits(sorted(steps), phrase)
        best_values: dict[int, tuple[int, float]] = {}
        for node, values in values_of_node.items():
            for stated_value in values:
                local, whole = fits[stated_value.value.local], fits[stated_value.value.whole]
                fit = LOCAL_SHARE * local + (1.0 - LOCAL_SHARE) * whole
                if node not in best_values or fit > best_values[node][1]:
                    best_values[node] = (len(self.found), fit)
                    self.found.append((node, stated_value))
        return best_values

    def _values(self, nodes: Sequence[int], question_word: str) -> dict[int, list[StatedValue]]:
        """The values of each note, cached because interpretations need the same ones."""
        ids = self._graph.node_ids
        unread = [node for node in nodes if (node, question_word) not in self._read]
        passages = self._store.passages([ids[node] for node in unread]) if unread else {}
        for node in unread:
            passages_of_note = passages.get(ids[node], ())
            self._read[node, question_word] = values_of(
                passages_of_note, self._name_spans, question_word
            )
        return {node: self._read[node, question_word] for node in nodes}

    def _fits(self, texts: list[str], phrase: Phrase) -> dict[str, float]:
        """Like `PhraseFit`, for steps that are not in the index."""
        if not texts:
            return {}
        vectors = self._vectors.of([*texts, *phrase.wordings])
        wordings = np.stack([vectors[wording] for wording in phrase.wordings])
        similar = np.stack([vectors[text] for text in texts]) @ wordings.T
        fits = 0.5 * similar.max(axis=1) + 0.5 * similar.mean(axis=1)
        for k, text in enumerate(texts):
            fits[k] += SHARED * len(phrase.stems & stems(text)) / max(1, len(phrase.stems))
        return dict(zip(texts, fits.tolist(), strict=True))
