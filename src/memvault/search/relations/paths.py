"""Finds paths of relations with the same meaning as a question.

From the nodes that a question names, every path is tried of up to `MAX_LENGTH` relations that the
vault states repeatedly. Its words are compared in meaning with those of the question: each step
should fit some words, each word some step or kind of note on the path. No grammar is needed, so it
works in every language that the embedding model knows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from memvault.search.relations.array_graph import ArrayGraph, Flags, Floats32, Ints
from memvault.search.relations.edge_templates import MASK
from memvault.text.phrase_vectors import PhraseVectors
from memvault.text.stems import stem

MAX_LENGTH = 3
_MAX_SPAN = 3  # words of a question that are compared together
_MAX_WEIGHED = (60, 100, 240)  # paths of one, two and three relations that are weighed
_MAX_EXTENDED = 100  # paths of each length that are made longer
_MAX_PATHS = 40  # paths that lead to answers
_MAX_NODES = 200  # nodes that a path which is made longer leads to
_MAX_WALKS = 100_000  # walks of one length
_BEST_SPANS = 5  # of the question for each step
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_ANSWER_KIND = dict.fromkeys(("who", "whom", "whose", "whoever"), "person")
_ANSWER_KIND |= {"where": "place", "when": "date"}
_QUESTION_WORDS = frozenset((*_ANSWER_KIND, "which", "what"))
_FUNCTION_WORDS = """
a an the of in on at by to for with from and or is was were are be been do does did has have had
that this it its how as any there we our us i me my they them their you your s x one someone
somebody person people thing
"""
_WITHOUT_CONTENT = _QUESTION_WORDS | frozenset(_FUNCTION_WORDS.split())

# The weight of each feature of a path, fitted on five fictional worlds (tests/benchmarks/worlds);
# docs/benchmarks.md evaluates each world with weights fitted on the others.
_WEIGHTS = {
    "meaning": 4.4,
    "support": -17.2,
    "apart": 24.1,
    "covered": 4.8,
    "least_covered": 0.4,
    "least_relative": 5.3,
    "shared": 2.6,
    "kind": 2.2,
    "backward": -2.5,
    "repeated": -1.9,
    "three": -1.3,
}
# Subtracted from how well a text fits a span: shares of the span's best fit; for overlapping spans.
_RELATIVE_LOSS, _SPAN_LOSS, _OVERLAP_LOSS = 0.7, 0.3, 0.3
_SHARPNESS = 1.2  # how much more the best paths count than the others
_END_SHARE = 0.3  # weight of the note that a path ends at; that stating its last relation has 1
_DIVISION = 0.3  # exponent by which the number of notes that a path leads to lowers their score


def masked(text: str, names: Iterable[tuple[int, int]], mask: str = MASK) -> str:
    """A text with its names, given by their places in order, each replaced by a mask."""
    parts, position = [], 0
    for start, end in names:
        parts += [text[position:start], mask]
        position = end
    return "".join([*parts, text[position:]])


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """The words of a question, its names masked, and the spans of adjacent words.

    Attributes:
        spans: first and last + 1 of words that are compared together.
        phrases: the text of each span.
        content: indexes of the content words.
        head: indexes of the spans that may name what the question asks for.
        answer_kind: the kind of answer that a question word asks for, or "".
        stems: of the content words.
    """

    text: str
    spans: tuple[tuple[int, int], ...]
    phrases: tuple[str, ...]
    content: tuple[int, ...]
    head: tuple[int, ...]
    answer_kind: str
    stems: frozenset[str]

    @classmethod
    def read(cls, text: str) -> QuestionWords:
        """The words of a question with its names masked (`masked`)."""
        words = _WORD.findall(text)
        lower_words = [word.lower() for word in words]
        content = tuple(k for k, word in enumerate(lower_words) if word not in _WITHOUT_CONTENT)
        spans = tuple(
            (first, last)
            for first in range(len(words))
            for last in range(first + 1, min(len(words), first + _MAX_SPAN) + 1)
            if any(k in content for k in range(first, last))
        )
        question_start = next(
            (k for k, word in enumerate(lower_words) if word in _QUESTION_WORDS), 0
        )
        head = tuple(
            k
            for k, (first, last) in enumerate(spans)
            if first >= question_start and last <= question_start + 4
        )
        answer_kind = next((_ANSWER_KIND[word] for word in lower_words if word in _ANSWER_KIND), "")
        phrases = tuple(" ".join(words[first:last]) for first, last in spans)
        stems = frozenset(stem(lower_words[k]) for k in content)
        return cls(text, spans, phrases, content, head, answer_kind, stems)


@dataclass(slots=True)
class _Level:
    """Paths of one length, and where they lead.

    Rows are single walks: ``node`` reached over ``edge`` from the row ``parent`` of the level
    before, on path number ``path``. Paths are sequences of templates, (n, length).
    """

    node: Ints
    edge: Ints
    parent: Ints
    path: Ints
    texts: Ints
    backward: Flags
    kinds: Ints


@dataclass(frozen=True, slots=True)
class Path:
    """A path with the places it leads to.

    Attributes:
        score: how well it says what the question says; below 2 is chance.
        ends: the node that each walk along the path ends at.
        edges: of each walk, (n_walks, length), nearest to that node first.
    """

    score: float
    ends: Ints
    edges: Ints


@dataclass(frozen=True, slots=True)
class ReachedNode:
    """A node that paths lead to: how probable it is, and the edges of the best of them."""

    node: int
    probability: float
    edges: tuple[int, ...]


def reached_nodes(graph: ArrayGraph, paths: Sequence[Path], limit: int) -> list[ReachedNode]:
    """The notes that state the last relation of a path or that a path ends at, best first."""
    probabilities = np.zeros(len(graph.has_note))
    is_reached = np.zeros(len(graph.has_note), np.bool_)
    reached_by: dict[int, tuple[Path, int]] = {}  # the first path and walk to each node
    best_score = paths[0].score if paths else 0.0
    total = sum(math.exp(_SHARPNESS * (path.score - best_score)) for path in paths)
    for path in paths:
        probability = math.exp(_SHARPNESS * (path.score - best_score)) / total
        for nodes, share in ((graph.source[path.edges[:, 0]], 1.0), (path.ends, _END_SHARE)):
            walks = np.flatnonzero(graph.has_note[nodes])
            reached, first = np.unique(nodes[walks], return_index=True)
            for walk in walks[np.sort(first[~is_reached[reached]])].tolist():
                reached_by[int(nodes[walk])] = path, walk
            is_reached[reached] = True
            probabilities[reached] += share * probability / max(1, len(reached)) ** _DIVISION
    best_nodes = sorted(reached_by, key=lambda node: -probabilities[node])[:limit]
    return [
        ReachedNode(node, float(probabilities[node]), tuple(path.edges[walk].tolist()))
        for node in best_nodes
        for path, walk in [reached_by[node]]
    ]


class PathFinder:
    """Finds and weighs the paths of one question."""

    def __init__(
        self,
        graph: ArrayGraph,
        usable: Flags,
        vectors: PhraseVectors,
        words: QuestionWords,
    ) -> None:
        self._graph = graph
        self._usable = usable
        self._words = words
        if not graph.repeated.any():  # a few notes, or none that state a relation
            return
        texts = [*words.phrases, words.text, *graph.kinds, *filter(None, [words.answer_kind])]
        vector_of = vectors.of(texts)
        self._question = vector_of[words.text]
        self._kinds = np.stack([vector_of[kind] for kind in graph.kinds])
        self._phrases = np.stack([vector_of[phrase] for phrase in words.phrases])
        self._compare(vector_of.get(words.answer_kind))

    def _compare(self, answer_kind: Floats32 | None) -> None:
        """Compare the question's words with the texts of relations and with kinds of notes."""
        graph, question = self._graph, self._words
        is_note_kind = np.zeros(len(graph.kinds), np.bool_)
        is_note_kind[graph.kind_of[graph.has_note]] = True
        self._texts = np.unique(graph.local[graph.repeated])  # numbers of the texts of relations
        self._place = np.full(len(graph.texts), -1, np.int32)
        self._place[self._texts] = np.arange(len(self._texts))
        self._template_vectors = graph.vectors[self._texts]
        fits = self._phrases @ self._template_vectors.T
        kind_fits = self._phrases @ self._kinds.T
        best = np.maximum(fits.max(axis=1), kind_fits[:, is_note_kind].max(axis=1, initial=-1.0))
        self._support = fits.max(axis=0)
        self._relative = (fits - _RELATIVE_LOSS * best[:, None]).max(axis=0)
        order = np.argsort(-fits, axis=0)[:_BEST_SPANS]
        self._best_spans = order
        self._best_span_fits = np.take_along_axis(fits - _SPAN_LOSS * best[:, None], order, axis=0)
        has_word = [[first <= k < last for first, last in question.spans] for k in question.content]
        self._word_fits = np.stack([fits[spans].max(axis=0) for spans in has_word])
        self._word_kinds = np.stack([kind_fits[spans].max(axis=0) for spans in has_word])
        self._word_best = np.maximum(
            self._word_fits.max(axis=1), self._word_kinds[:, is_note_kind].max(axis=1, initial=-1.0)
        )
        head = list(question.head) or [0]
        self._answer_kind_fits = kind_fits[head].max(axis=0)
        if answer_kind is not None:
            self._answer_kind_fits = np.maximum(self._answer_kind_fits, self._kinds @ answer_kind)
        shared = np.zeros((len(question.stems), len(graph.texts)), np.bool_)
        for k, word_stem in enumerate(sorted(question.stems)):
            shared[k, graph.texts_with(word_stem)] = True
        self._shared = shared[:, self._texts]
        spans = np.array(question.spans)
        self._overlap = (spans[:, None, 0] < spans[None, :, 1]) & (
            spans[None, :, 0] < spans[:, None, 1]
        )

    def paths(
        self, starts: Sequence[int], max_length: int = MAX_LENGTH, min_score: float = -math.inf
    ) -> list[Path]:
        """The best fitting paths from these nodes, best first; none if the best has a lower score
        than ``min_score``."""
        if not self._graph.repeated.any():
            return []
        levels: list[_Level] = []
        weighed_paths: list[tuple[float, int, int]] = []
        for length in range(1, min(max_length, MAX_LENGTH) + 1):
            level = self._next_level(levels, np.array(starts, np.int32))
            if level is None:
                break
            levels.append(level)
            weighed = self._best_paths(level, _MAX_WEIGHED[length - 1])
            scores = self._scores(level, weighed)
            weighed_paths += [
                (score, length - 1, number)
                for score, number in zip(scores, weighed.tolist(), strict=True)
            ]
        best_paths = sorted(weighed_paths, key=lambda path: -path[0])[:_MAX_PATHS]
        if not best_paths or best_paths[0][0] < min_score:
            return []
        numbers_by_depth: dict[int, list[int]] = {}
        for _, depth, number in best_paths:
            numbers_by_depth.setdefault(depth, []).append(number)
        walks = {
            depth: _walks(levels[: depth + 1], numbers)
            for depth, numbers in numbers_by_depth.items()
        }
        return [Path(score, *walks[depth][number]) for score, depth, number in best_paths]

    # -- walking --------------------------------------------------------------------------------

    def _next_level(self, levels: list[_Level], starts: Ints) -> _Level | None:
        """The best paths of the last level, longer by one relation; None if none goes on."""
        graph = self._graph
        if levels:
            previous = levels[-1]
            sizes = np.bincount(previous.path, minlength=len(previous.texts))
            rank = np.full(len(previous.texts), len(previous.texts))
            extended = self._best_paths(previous, _MAX_EXTENDED)
            rank[extended] = np.arange(len(extended))
            rank[sizes > _MAX_NODES] = len(previous.texts)
            goes_on = (rank[previous.path] < len(extended)) & ~graph.is_date[previous.node]
            rows = np.flatnonzero(goes_on).astype(np.int32)
            rows = rows[np.argsort(rank[previous.path[rows]], kind="stable")]
            nodes, path_before = previous.node[rows], previous.path[rows]
        else:
            rows = np.arange(len(starts), dtype=np.int32)
            nodes, path_before = starts, np.zeros(len(starts), np.int32)
        position, half = graph.half_edges(nodes, _MAX_WALKS)  # hubs have too many edges
        edge, target = graph.half_edge[half], graph.half_target[half]
        valid = graph.repeated[edge] & self._usable[target] & ~np.isin(target, starts)
        if len(levels) > 1:
            valid &= target != levels[-2].node[levels[-1].parent[rows[position]]]
        position, edge, target = position[valid], edge[valid], target[valid]
        if not len(edge):
            return None
        is_backward = graph.target[edge] == nodes[position]
        place = self._place[graph.local[edge]].astype(np.int64)
        path_key = (
            path_before[position].astype(np.int64) * len(self._texts) + place
        ) * 2 + is_backward
        _, first_row, path = np.unique(path_key, return_index=True, return_inverse=True)
        texts, backward = (
            place[first_row][:, None].astype(np.int32),
            is_backward[first_row][:, None],
        )
        kinds = graph.kind_of[target[first_row]][:, None]
        if levels:
            parents = path_before[position[first_row]]
            texts = np.hstack([levels[-1].texts[parents], texts])
            backward = np.hstack([levels[-1].backward[parents], backward])
            kinds = np.hstack([levels[-1].kinds[parents], kinds])
        return _Level(target, edge, rows[position], path.astype(np.int32), texts, backward, kinds)

    def _best_paths(self, level: _Level, limit: int) -> Ints:
        """The paths of a level that fit the question best, by a quick estimate."""
        gain = 0.5 * self._support + 0.5 * self._relative
        return np.argsort(-gain[level.texts].sum(axis=1), kind="stable")[:limit].astype(np.int32)

    # -- weighing -------------------------------------------------------------------------------

    def _features(self, level: _Level, paths: Ints) -> dict[str, Floats32]:
        """The features that distinguish intended paths from others, (n_paths,) each."""
        texts, kinds = level.texts[paths], level.kinds[paths]
        length = texts.shape[1]
        path_vectors = self._template_vectors[texts].sum(axis=1) + self._kinds[kinds].sum(axis=1)
        path_vectors /= np.linalg.norm(path_vectors, axis=1, keepdims=True)
        covered = np.maximum(
            self._word_fits[:, texts].max(axis=2), self._word_kinds[:, kinds].max(axis=2)
        )
        distinct_templates = np.array([len(set(row)) for row in texts.tolist()])
        return {
            "meaning": path_vectors @ self._question,
            "support": self._support[texts].mean(axis=1),
            "apart": self._apart(texts),
            "covered": covered.mean(axis=0),
            "least_covered": covered.min(axis=0),
            "least_relative": (covered - self._word_best[:, None]).min(axis=0),
            "shared": self._shared[:, texts].any(axis=2).mean(axis=0),
            "kind": self._answer_kind_fits[kinds[:, -1]],
            "backward": level.backward[paths].mean(axis=1),
            "repeated": (length - distinct_templates).astype(np.float32),
            "three": np.full(len(paths), length == 3, np.float32),
        }

    def _apart(self, texts: Ints) -> Floats32:
        """How well each step fits words of its own, which do not overlap another step's.

        Every choice of one of the best spans for each step is an entry of an array with an axis
        for each step.
        """
        count, length = texts.shape
        spans, fits = self._best_spans[:, texts], self._best_span_fits[:, texts]

        def along(values: npt.NDArray[Any], *steps: int) -> npt.NDArray[Any]:
            axes = [len(spans) if k in steps else 1 for k in range(length)]
            return values.reshape(*axes, count)

        total = sum(along(fits[:, :, k], k) for k in range(length)) / length
        for k in range(length):
            for earlier in range(k):
                overlaps = self._overlap[spans[None, :, :, k], spans[:, None, :, earlier]]
                total = total - _OVERLAP_LOSS / length * along(overlaps, earlier, k)
        best: Floats32 = np.asarray(total, np.float32).reshape(-1, count).max(axis=0)
        return best

    def _scores(self, level: _Level, paths: Ints) -> list[float]:
        features = self._features(level, paths)
        total = np.zeros(len(paths), np.float32)
        for name, weight in _WEIGHTS.items():
            total += weight * features[name]
        return [float(score) for score in total]


def _walks(levels: Sequence[_Level], numbers: Sequence[int]) -> dict[int, tuple[Ints, Ints]]:
    """The ends and the edges of the walks along some paths of the last level, as in `Path`."""
    last_level = levels[-1]
    rows: Ints = np.flatnonzero(np.isin(last_level.path, numbers)).astype(np.int32)
    rows = rows[np.argsort(last_level.path[rows], kind="stable")]
    path_numbers, first_rows = np.unique(last_level.path[rows], return_index=True)
    ends, edges = last_level.node[rows], []
    for level in reversed(levels):
        edges.append(level.edge[rows])
        rows = level.parent[rows]
    by_path = np.split(ends, first_rows[1:]), np.split(np.stack(edges, axis=1), first_rows[1:])
    return dict(zip(path_numbers.tolist(), zip(*by_path, strict=True), strict=True))
