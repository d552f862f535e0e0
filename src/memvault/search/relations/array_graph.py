"""The nodes and edges of a vault as arrays, with the templates of edges; and how well these state a
phrase of the question, in words and in meaning."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memvault.search.relations.question import Phrase

Floats32 = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]
NO_DAY = 0
NO_KIND = 0  # number of the kind of notes that have none
# The fit of a template is its cosine to the phrase plus SHARED.
SHARED = 0.25  # added if a template has all word stems of the phrase; less for a part of them
LOCAL_SHARE = 0.6  # of the words around the target in an edge's fit; the rest is the sentence's


@dataclass(frozen=True, slots=True)
class ArrayGraph:
    """The nodes and edges of a vault at one moment; shared by threads and never changed.

    Nodes, edges, kinds, projects and texts are numbered. Arrays of nodes are (n_nodes,), of
    edges (n_edges,). The half edges list every edge twice, once for each end, ordered by that end:
    those of node ``n`` are ``half_start[n]`` to ``half_start[n + 1]``.
    """

    node_ids: Sequence[str]
    number_of: dict[str, int]  # nodes by id
    names: Sequence[str]  # of the nodes
    title_text: Ints  # of a node: the text of its title without other names; -1 if there is none
    kind_of: Ints  # of a node
    kinds: Sequence[str]
    day: Ints  # of a node: its ordinal day; NO_DAY if unknown
    has_note: Flags  # of a node
    project: Ints  # of a node; -1 for none
    projects: Sequence[str]
    is_date: Flags  # days and years without a note: nodes of one date are not related by it

    texts: Sequence[str]  # templates of edges, and titles
    vectors: Floats32  # of the texts, (n_texts, dim), normalised
    postings: dict[str, array[int]]  # texts by the stems of their words

    source: Ints
    target: Ints
    whole: Ints  # text of an edge's whole sentence
    local: Ints  # text of the words around its target
    repeated: Flags  # whether an edge is a relation of the vault: notes state it again and again
    ordinal: Ints  # number of the edge among its note's
    relation_names: Collection[str]  # names that people gave to relations, lower case

    half_start: Places  # (n_nodes + 1,)
    half_edge: Ints  # the edge of each half edge
    half_target: Ints  # the node at its other end

    def are_relations(self, steps: Sequence[int]) -> bool:
        """Whether a path has edges, by their numbers, and all are relations of the vault."""
        return bool(steps) and bool(self.repeated[list(steps)].all())

    def half_edges(self, nodes: Ints, limit: int | None = None) -> tuple[Places, Places]:
        """The half edges of these nodes: for each the position of its node, and its number.

        Args:
            limit: most half edges; from the node on that exceeds it, nodes are left out.
        """
        start, end = self.half_start[nodes], self.half_start[nodes + 1]
        count = end - start
        if limit is not None:
            count = np.where(np.cumsum(count) > limit, 0, count)
        position = np.repeat(np.arange(len(nodes)), count)
        offset = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        return position, start[position] + offset

    def texts_with(self, stem: str) -> Ints:
        """Numbers of the texts that have a word of this stem, ascending."""
        postings = self.postings.get(stem)
        # A copy, because an array cannot grow while it is read.
        numbers = np.frombuffer(postings.tobytes() if postings else b"", np.int32)
        return numbers[numbers < len(self.vectors)]


class PhraseFit:
    """Compares the phrases of one question with the templates of all edges.

    Args:
        similar: by wording of a phrase, its similarity to every text, (n_texts,).
    """

    def __init__(self, graph: ArrayGraph, similar: dict[str, Floats32]) -> None:
        self._graph = graph
        self._similar = similar
        self._of_edges: dict[Phrase, Floats32] = {}

    def of_edges(self, phrase: Phrase) -> Floats32:
        """How well each edge states a phrase, (n_edges,)."""
        if phrase not in self._of_edges:
            graph, texts = self._graph, self._of_texts(phrase)
            self._of_edges[phrase] = (
                LOCAL_SHARE * texts[graph.local] + (1.0 - LOCAL_SHARE) * texts[graph.whole]
            )
        return self._of_edges[phrase]

    def _of_texts(self, phrase: Phrase) -> Floats32:
        """How well each text states a phrase, (n_texts,).

        Half counts the most similar wording of the phrase, half the mean of all; shared word stems
        add to both.
        """
        wordings = np.stack([self._similar[wording] for wording in phrase.wordings])
        fit: Floats32 = 0.5 * wordings.max(axis=0) + 0.5 * wordings.mean(axis=0)
        for stem in phrase.stems:
            fit[self._graph.texts_with(stem)] += SHARED / len(phrase.stems)
        return fit
