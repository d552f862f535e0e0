"""Values that notes state in sentences: days, places and numbers without a note of their own.

"Held in Gdansk on 20 March 2026" makes no edge if nothing in the vault is called Gdansk. So values
are also looked for in a note's own text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from memvault.model.note import Chunk, LineRange
from memvault.search.relations.edge_index import StepGraph
from memvault.search.relations.edge_templates import Value, values_in
from memvault.search.relations.question import Phrase
from memvault.search.relations.traversal import SHARED
from memvault.stores.vectors import VectorStore
from memvault.text.phrase_vectors import PhraseVectors
from memvault.text.stems import stems
from memvault.vault.compose import bare_lines
from memvault.vault.markdown.labelled_sentences import sentences_in

MAX_PER_NOTE = 12
_LONGEST = 300  # characters of a sentence; longer ones state no single value
_TIME = re.compile(r"\d{4}|\b\d{1,2}[:.]\d{2}\b|\b\d{1,2}(?:st|nd|rd|th)?$")

FindSpans = Callable[[str], list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class StatedValue:
    """A value with the sentence and the place that state it."""

    value: Value
    sentence: str
    heading: str
    lines: LineRange


def fits_asking(text: str, asking: str) -> bool:
    """Whether a value can answer *when* or *where*; other questions take any."""
    is_time = _TIME.search(text) is not None
    if asking == "when":
        return is_time
    return asking != "where" or not any(char.isdigit() for char in text)


def values_of(passages: Iterable[Chunk], find_spans: FindSpans, asking: str) -> list[StatedValue]:
    """The values that a note states, in the order of its text, `MAX_PER_NOTE` at most.

    Args:
        passages: of the note, in order.
        find_spans: returns the spans of the vault's names in a sentence.
        asking: the question's word for the value.
    """
    found: list[StatedValue] = []
    for chunk in passages:
        for sentence in sentences(chunk.text):
            for value in values_in(sentence, find_spans(sentence)):
                if fits_asking(value.text, asking):
                    found.append(StatedValue(value, sentence, chunk.heading, chunk.lines))
            if len(found) >= MAX_PER_NOTE:
                return found[:MAX_PER_NOTE]
    return found


@lru_cache(maxsize=4_000)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a passage, without list markers; a line break ends a sentence."""
    return tuple(_sentences(text))


def _sentences(text: str) -> Iterator[str]:
    for line in bare_lines(text):
        for part in sentences_in(line):
            sentence = part.strip(" -*+>|\t")
            if sentence and len(sentence) <= _LONGEST:
                yield sentence


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
        self, nodes: Sequence[int], phrase: Phrase, asking: str
    ) -> dict[int, tuple[int, float]]:
        """For each node the number in ``found`` of the value that its note states best, and how
        well.

        Args:
            asking: the question's word for the value.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        stated = self._stated(nodes, asking)
        steps = {text for own in stated.values() for s in own for text in s.value.steps}
        fits = self._fits(sorted(steps), phrase)
        best: dict[int, tuple[int, float]] = {}
        for node, own in stated.items():
            for each in own:
                fit = 0.6 * fits[each.value.local] + 0.4 * fits[each.value.whole]
                if node not in best or fit > best[node][1]:
                    best[node] = (len(self.found), fit)
                    self.found.append((node, each))
        return best

    def _stated(self, nodes: Sequence[int], asking: str) -> dict[int, list[StatedValue]]:
        """The values of each note, cached because interpretations need the same ones."""
        ids = self._graph.node_ids
        unread = [node for node in nodes if (node, asking) not in self._read]
        passages = self._store.passages([ids[node] for node in unread]) if unread else {}
        for node in unread:
            own = passages.get(ids[node], ())
            self._read[node, asking] = values_of(own, self._name_spans, asking)
        return {node: self._read[node, asking] for node in nodes}

    def _fits(self, texts: list[str], phrase: Phrase) -> dict[str, float]:
        """Like `Traversal.text_fit`, for steps that are not in the index."""
        if not texts:
            return {}
        vectors = self._vectors.of([*texts, *phrase.ways])
        ways = np.stack([vectors[way] for way in phrase.ways])
        similar = np.stack([vectors[text] for text in texts]) @ ways.T
        fits = 0.5 * similar.max(axis=1) + 0.5 * similar.mean(axis=1)
        for k, text in enumerate(texts):
            fits[k] += SHARED * len(phrase.stems & stems(text)) / max(1, len(phrase.stems))
        return dict(zip(texts, fits.tolist(), strict=True))
