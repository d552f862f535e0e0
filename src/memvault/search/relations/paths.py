"""Finds paths of relations with the same meaning as a question.

From the nodes that a question names, every path is tried of up to `LONGEST` relations that the
vault states repeatedly. Its words are compared in meaning with those of the question: each step
should fit some words, each word some step or kind of note on the path. No grammar is needed, so it
works in every language that the embedding model knows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from memvault.search.relations.edge_templates import MASK
from memvault.search.relations.step_graph import Flags, Floats, Ints, StepGraph
from memvault.text.phrase_vectors import PhraseVectors
from memvault.text.stems import stem

LONGEST = 3
_SPAN = 3  # words of a question that are compared together, at most
_TRIED = (60, 100, 240)  # paths of one, two and three relations that are weighed
_FOLLOWED = 100  # paths of each length that are made longer
_MAX_PATHS = 40  # paths that lead to answers
_MAX_NODES = 200  # nodes that a path which is made longer leads to
_MAX_WALKS = 100_000  # walks of one length
_BEST_SPANS = 5
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_ASKING = dict.fromkeys(("who", "whom", "whose", "whoever"), "person")
_ASKING |= {"where": "place", "when": "date"}
_HEADS = frozenset((*_ASKING, "which", "what"))
_FUNCTION_WORDS = """
a an the of in on at by to for with from and or is was were are be been do does did has have had
that this it its how as any there we our us i me my they them their you your s x one someone
somebody person people thing
"""
_IDLE = _HEADS | frozenset(_FUNCTION_WORDS.split())

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
_SHARPNESS = 1.2  # how much more the best paths count than the others
_END = 0.3  # worth of the note that a path ends at; one that states its last relation has 1
_SHARED_OUT = 0.3  # exponent by which the number of notes that a path leads to lowers their worth


def masked(text: str, names: Sequence[tuple[int, int]]) -> str:
    """A text with its names, given by their places in order, replaced by one letter."""
    parts, position = [], 0
    for start, end in names:
        parts += [text[position:start], MASK]
        position = end
    return "".join([*parts, text[position:]])


@dataclass(frozen=True, slots=True)
class AskedWords:
    """The words of a question, its names masked, and the spans of adjacent words.

    Attributes:
        spans: first and last + 1 of words that are compared together.
        content: indexes of the content words.
        head: indexes of the spans that may say what is asked for.
        asking: a word for the kind of answer that a question word asks for, or "".
        stems: of the content words.
    """

    text: str
    spans: tuple[tuple[int, int], ...]
    phrases: tuple[str, ...]
    content: tuple[int, ...]
    head: tuple[int, ...]
    asking: str
    stems: frozenset[str]

    @classmethod
    def of(cls, text: str) -> AskedWords:
        words = _WORD.findall(text)
        low = [word.lower() for word in words]
        content = tuple(k for k, word in enumerate(low) if word not in _IDLE)
        spans = tuple(
            (first, last)
            for first in range(len(words))
            for last in range(first + 1, min(len(words), first + _SPAN) + 1)
            if any(k in content for k in range(first, last))
        )
        start = next((k for k, word in enumerate(low) if word in _HEADS), 0)
        head = tuple(
            k for k, (first, last) in enumerate(spans) if first >= start and last <= start + 4
        )
        asking = next((_ASKING[word] for word in low if word in _ASKING), "")
        phrases = tuple(" ".join(words[first:last]) for first, last in spans)
        stems = frozenset(stem(low[k]) for k in content)
        return cls(text, spans, phrases, content, head, asking, stems)


@dataclass(slots=True)
class _Level:
    """Paths of one length, and where they lead.

    Rows are single walks: ``node`` reached over ``edge`` from the row ``parent`` of the level
    before, on path number ``path``. Paths are sequences of step texts, (n, length).
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
class Answer:
    """A node that paths lead to: how probable it is, and the edges of the best of them."""

    node: int
    worth: float
    edges: tuple[int, ...]


def answers(graph: StepGraph, paths: Sequence[Path], most: int) -> list[Answer]:
    """The notes that state the last relation of a path or that a path ends at, best first."""
    worth_of: dict[int, float] = {}
    reached: dict[int, tuple[Path, int]] = {}  # with the first path and walk to each node
    best = paths[0].score if paths else 0.0
    total = sum(math.exp(_SHARPNESS * (path.score - best)) for path in paths)
    for path in paths:
        worth = math.exp(_SHARPNESS * (path.score - best)) / total
        for nodes, share in ((graph.source[path.edges[:, 0]], 1.0), (path.ends, _END)):
            noted = np.flatnonzero(graph.has_note[nodes])
            walks = dict(zip(nodes[noted].tolist(), noted.tolist(), strict=True))
            own = share * worth / max(1, len(walks)) ** _SHARED_OUT
            for node, walk in walks.items():
                worth_of[node] = worth_of.get(node, 0.0) + own
                reached.setdefault(node, (path, walk))
    first = sorted(worth_of, key=lambda node: -worth_of[node])[:most]
    found = ((node, *reached[node]) for node in first)
    return [
        Answer(node, worth_of[node], tuple(path.edges[walk].tolist())) for node, path, walk in found
    ]


class PathFinder:
    """Finds and weighs the paths of one question."""

    def __init__(
        self,
        graph: StepGraph,
        usable: Flags,
        vectors: PhraseVectors,
        asked: AskedWords,
    ) -> None:
        self._graph = graph
        self._usable = usable
        self._asked = asked
        if not graph.repeated.any():  # a few notes, or none that state a relation
            return
        wanted = [*asked.phrases, asked.text, *graph.kinds, *filter(None, [asked.asking])]
        found = vectors.of(wanted)
        self._question = found[asked.text]
        self._kinds = np.stack([found[kind] for kind in graph.kinds])
        self._phrases = np.stack([found[phrase] for phrase in asked.phrases])
        self._compare(found.get(asked.asking))

    def _compare(self, asking: Floats | None) -> None:
        graph, asked = self._graph, self._asked
        noted = np.zeros(len(graph.kinds), np.bool_)
        noted[graph.kind_of[graph.has_note]] = True
        self._texts = np.unique(graph.local[graph.repeated])  # numbers of the texts of relations
        self._place = np.full(len(graph.texts), -1, np.int32)
        self._place[self._texts] = np.arange(len(self._texts))
        self._steps = graph.vectors[self._texts]
        fits = self._phrases @ self._steps.T
        kind_fits = self._phrases @ self._kinds.T
        best = np.maximum(fits.max(axis=1), kind_fits[:, noted].max(axis=1, initial=-1.0))
        self._support = fits.max(axis=0)
        self._relative = (fits - 0.7 * best[:, None]).max(axis=0)
        order = np.argsort(-fits, axis=0)[:_BEST_SPANS]
        self._best_spans = order
        self._best_worth = np.take_along_axis(fits - 0.3 * best[:, None], order, axis=0)
        words = [[first <= k < last for first, last in asked.spans] for k in asked.content]
        self._word_fits = np.stack([fits[inside].max(axis=0) for inside in words])
        self._word_kinds = np.stack([kind_fits[inside].max(axis=0) for inside in words])
        self._word_best = np.maximum(
            self._word_fits.max(axis=1), self._word_kinds[:, noted].max(axis=1, initial=-1.0)
        )
        head = list(asked.head) or [0]
        self._asked_kind = kind_fits[head].max(axis=0)
        if asking is not None:
            self._asked_kind = np.maximum(self._asked_kind, self._kinds @ asking)
        shared = np.zeros((len(asked.stems), len(graph.texts)), np.bool_)
        for k, each in enumerate(sorted(asked.stems)):
            shared[k, graph.texts_with(each)] = True
        self._shared = shared[:, self._texts]
        spans = np.array(asked.spans)
        self._overlap = (spans[:, None, 0] < spans[None, :, 1]) & (
            spans[None, :, 0] < spans[:, None, 1]
        )

    def paths(
        self, starts: Sequence[int], longest: int = LONGEST, least: float = -math.inf
    ) -> list[Path]:
        """The best fitting paths from these nodes, best first; none if the best has a lower score
        than ``least``."""
        if not self._graph.repeated.any():
            return []
        levels: list[_Level] = []
        found: list[tuple[float, int, int]] = []
        for length in range(1, min(longest, LONGEST) + 1):
            level = self._longer(levels, np.array(starts, np.int32))
            if level is None:
                break
            levels.append(level)
            tried = self._best(level, _TRIED[length - 1])
            found += [
                (score, length - 1, number)
                for score, number in zip(self._scores(level, tried), tried.tolist(), strict=True)
            ]
        found.sort(key=lambda each: -each[0])
        best = found[:_MAX_PATHS] if found and found[0][0] >= least else []
        walks = {
            at: _walks(levels[: at + 1], [number for _, level, number in best if level == at])
            for at in {level for _, level, _ in best}
        }
        return [Path(score, *walks[at][number]) for score, at, number in best]

    # -- walking --------------------------------------------------------------------------------

    def _longer(self, levels: list[_Level], starts: Ints) -> _Level | None:
        graph = self._graph
        if levels:
            last = levels[-1]
            sizes = np.bincount(last.path, minlength=len(last.texts))
            rank = np.full(len(last.texts), len(last.texts))
            best = self._best(last, _FOLLOWED)
            rank[best] = np.arange(len(best))
            rank[sizes > _MAX_NODES] = len(last.texts)
            led = (rank[last.path] < len(best)) & ~graph.is_date[last.node]
            rows = np.flatnonzero(led).astype(np.int32)
            rows = rows[np.argsort(rank[last.path[rows]], kind="stable")]
            nodes, before = last.node[rows], last.path[rows]
        else:
            rows = np.arange(len(starts), dtype=np.int32)
            nodes, before = starts, np.zeros(len(starts), np.int32)
        begin, end = graph.half_start[nodes], graph.half_start[nodes + 1]
        count = end - begin
        count = np.where(np.cumsum(count) > _MAX_WALKS, 0, count)  # hubs have too many edges
        at = np.repeat(np.arange(len(nodes)), count)
        offset = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        half = begin[at] + offset
        edge, far = graph.half_edge[half], graph.half_target[half]
        kept_rows = graph.repeated[edge] & self._usable[far] & ~np.isin(far, starts)
        if len(levels) > 1:
            kept_rows &= far != levels[-2].node[levels[-1].parent[rows[at]]]
        at, edge, far = at[kept_rows], edge[kept_rows], far[kept_rows]
        if not len(edge):
            return None
        backward = graph.target[edge] == nodes[at]
        place = self._place[graph.local[edge]].astype(np.int64)
        key = (before[at].astype(np.int64) * len(self._texts) + place) * 2 + backward
        _, first, path = np.unique(key, return_index=True, return_inverse=True)
        texts, back = place[first][:, None].astype(np.int32), backward[first][:, None]
        kinds = graph.kind_of[far[first]][:, None]
        if levels:
            parents = before[at[first]]
            texts = np.hstack([levels[-1].texts[parents], texts])
            back = np.hstack([levels[-1].backward[parents], back])
            kinds = np.hstack([levels[-1].kinds[parents], kinds])
        return _Level(far, edge, rows[at], path.astype(np.int32), texts, back, kinds)

    def _best(self, level: _Level, most: int) -> Ints:
        gain = 0.5 * self._support + 0.5 * self._relative
        return np.argsort(-gain[level.texts].sum(axis=1), kind="stable")[:most].astype(np.int32)

    # -- weighing -------------------------------------------------------------------------------

    def _features(self, level: _Level, tried: Ints) -> dict[str, Floats]:
        """The features that distinguish intended paths from others, (n_tried,) each."""
        texts, kinds = level.texts[tried], level.kinds[tried]
        length = texts.shape[1]
        meant = self._steps[texts].sum(axis=1) + self._kinds[kinds].sum(axis=1)
        meant /= np.linalg.norm(meant, axis=1, keepdims=True)
        covered = np.maximum(
            self._word_fits[:, texts].max(axis=2), self._word_kinds[:, kinds].max(axis=2)
        )
        different = np.array([len(set(row)) for row in texts.tolist()])
        return {
            "meaning": meant @ self._question,
            "support": self._support[texts].mean(axis=1),
            "apart": self._apart(texts),
            "covered": covered.mean(axis=0),
            "least_covered": covered.min(axis=0),
            "least_relative": (covered - self._word_best[:, None]).min(axis=0),
            "shared": self._shared[:, texts].any(axis=2).mean(axis=0),
            "kind": self._asked_kind[kinds[:, -1]],
            "backward": level.backward[tried].mean(axis=1),
            "repeated": (length - different).astype(np.float32),
            "three": np.full(len(tried), length == 3, np.float32),
        }

    def _apart(self, texts: Ints) -> Floats:
        """How well each step fits words of its own, which do not overlap another step's.

        Every choice of one of the best spans for each step is an entry of an array with an axis
        for each step.
        """
        count, length = texts.shape
        spans, worth = self._best_spans[:, texts], self._best_worth[:, texts]

        def along(values: npt.NDArray[Any], *steps: int) -> npt.NDArray[Any]:
            axes = [len(spans) if k in steps else 1 for k in range(length)]
            return values.reshape(*axes, count)

        total = sum(along(worth[:, :, k], k) for k in range(length)) / length
        for k in range(length):
            for other in range(k):
                meet = self._overlap[spans[None, :, :, k], spans[:, None, :, other]]
                total = total - 0.3 / length * along(meet, other, k)
        best: Floats = np.asarray(total, np.float32).reshape(-1, count).max(axis=0)
        return best

    def _scores(self, level: _Level, tried: Ints) -> list[float]:
        features = self._features(level, tried)
        total = np.zeros(len(tried), np.float32)
        for name, weight in _WEIGHTS.items():
            total += weight * features[name]
        return [float(each) for each in total]


def _walks(levels: Sequence[_Level], numbers: Sequence[int]) -> dict[int, tuple[Ints, Ints]]:
    """For each of these paths of the last level, by its number, the ends and the edges of its
    walks, as in `Path`."""
    last = levels[-1]
    at: Ints = np.flatnonzero(np.isin(last.path, numbers)).astype(np.int32)
    at = at[np.argsort(last.path[at], kind="stable")]
    known, first = np.unique(last.path[at], return_index=True)
    ends, edges = last.node[at], []
    for each in reversed(levels):
        edges.append(each.edge[at])
        at = each.parent[at]
    parts = np.split(ends, first[1:]), np.split(np.stack(edges, axis=1), first[1:])
    return dict(zip(known.tolist(), zip(*parts, strict=True), strict=True))
