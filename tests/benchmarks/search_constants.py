"""The constants of search, chosen on all question sets but one and judged on the one left out.

Each set is held out in turn: the grid's best point on the other sets is what would have been chosen
without it. Where that scores as the defaults do on the set, no constant is good for one set only.
"""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from statistics import mean

import numpy as np

from mcp_server.runtime.container import Container
from memvault.config.paths import StateFolder
from memvault.config.settings import Settings
from memvault.model.memory import Memory
from memvault.model.search import Mode
from memvault.search import association, late_interaction
from memvault.search.fusion import FusionSettings

SHOWN = 10
LOST = 0.02  # answerable questions that a threshold may cost
MAX_ASKED = 120  # questions of each set, at every point of the grid
DENSE_WEIGHTS = (0.25, 0.4, 0.6)
HALVES = (2.0, 4.0, 8.0)
KEPT = (1, 3, 10)  # 10 leaves every first result where it is: links then add nothing
TOKEN_WEIGHTS = (0.0, 0.1, 0.2, 0.4)  # tried with the other constants as they are in use
DEFAULTS = FusionSettings()


@dataclass(frozen=True)
class Point:
    """The constants of one trial."""

    dense_weight: float
    half_keywords: float
    kept: int
    token_weight: float = late_interaction.TOKEN_WEIGHT

    def __str__(self) -> str:
        return f"{self.dense_weight:g}, {self.half_keywords:g}, {self.kept}, {self.token_weight:g}"


IN_USE = Point(DEFAULTS.dense_weight, DEFAULTS.half_keywords, association.FIXED_PLACES)
GRID = [
    *(Point(*each) for each in product(DENSE_WEIGHTS, HALVES, KEPT)),
    *(replace(IN_USE, token_weight=weight) for weight in TOKEN_WEIGHTS),
]


@contextmanager
def trial(container: Container, point: Point) -> Iterator[None]:
    """Searches with these constants."""
    hybrid, kept = container.live.searcher.hybrid, association.FIXED_PLACES
    token_weight = late_interaction.TOKEN_WEIGHT
    hybrid._settings = FusionSettings(
        dense_weight=point.dense_weight, half_keywords=point.half_keywords
    )
    association.FIXED_PLACES = point.kept
    late_interaction.TOKEN_WEIGHT = point.token_weight
    try:
        yield
    finally:
        hybrid._settings, association.FIXED_PLACES = DEFAULTS, kept
        late_interaction.TOKEN_WEIGHT = token_weight


def score(container: Container, questions: Sequence[Mapping[str, object]]) -> float:
    """The mean of R@5, all@10 and MRR."""
    parts: list[float] = []
    for question in questions:
        gold = set(question["gold"])  # type: ignore[call-overload]
        hits = container.live.searcher.find(str(question["question"]), SHOWN)
        found = [hit.memory.path for hit in hits]
        rank = next((k for k, path in enumerate(found, 1) if path in gold), 0)
        recall = len(gold & set(found[:5])) / len(gold)
        parts.append((recall + float(gold <= set(found)) + (1 / rank if rank else 0.0)) / 3)
    return mean(parts)


@dataclass(frozen=True)
class Silence:
    """The shares of questions that get no memory: of those that the vault answers, of those that it
    plausibly might but does not, and of another vault's.

    ``bereft``: of those that it answers, asked as if the notes that answer them were gone, the
    share that gets nothing as confident as what all but `LOST` of them get with these notes.
    """

    answered: float
    unanswered: float | None
    foreign: float
    bereft: float


@dataclass(frozen=True)
class Measured:
    """One set."""

    scores: Mapping[Point, float]
    silence: Silence


def measured(vault: Path, queries: Path, state: StateFolder, foreign: Sequence[str]) -> Measured:
    """A set at every point of the grid; its vault is indexed if it is not.

    Args:
        foreign: questions of other vaults.
    """
    questions = json.loads(queries.read_text("utf-8"))
    answerable = [each for each in questions if each["gold"]]
    answerable = random.Random(1).sample(answerable, min(MAX_ASKED, len(answerable)))
    open_ = [each["question"] for each in questions if not each["gold"]]
    container = Container(vault, Settings(), state)
    try:
        container.start(watch=False)
        container.live.searcher.warm_up()
        container.live.searcher.hybrid.vocabulary.load()
        found = {}
        for point in GRID:
            with trial(container, point):
                found[point] = score(container, answerable)
        silence = Silence(
            silent(container, [each["question"] for each in answerable]),
            silent(container, open_) if open_ else None,
            silent(container, foreign),
            bereft(container, answerable),
        )
        return Measured(found, silence)
    finally:
        container.close()


def silent(container: Container, questions: Sequence[str]) -> float:
    """The share of questions that get no memory."""
    results = [container.live.searcher.search(each, mode=Mode.DEFAULT) for each in questions]
    return mean(not result.hits for result in results) if results else 0.0


def bereft(container: Container, questions: Sequence[Mapping[str, object]]) -> float:
    """As `Silence.bereft`."""
    own = [_most_confident(container, str(each["question"])) for each in questions]
    least = float(np.quantile(own, LOST))
    below = []
    for question in questions:
        with gone(container, question["gold"]):  # type: ignore[arg-type]
            below.append(_most_confident(container, str(question["question"])) < least)
    return mean(below)


def _most_confident(container: Container, question: str) -> float:
    result = container.live.searcher.search(question, mode=Mode.DEFAULT)
    return max((hit.confidence for hit in result.hits), default=0.0)


@contextmanager
def gone(container: Container, paths: Collection[str]) -> Iterator[None]:
    """Searches as if these notes had just been deleted."""
    searcher = container.live.searcher
    by_id = container.live.catalogue.by_id

    def remaining(note_id: str) -> Memory | None:
        memory = by_id(note_id)
        return None if memory is None or memory.path in paths else memory

    places = (searcher.hybrid, searcher.candidates._association)
    for place in places:
        place._memory_of = remaining
    container.live.catalogue.by_id = remaining  # type: ignore[method-assign]
    try:
        yield
    finally:
        for place in places:
            place._memory_of = by_id
        container.live.catalogue.by_id = by_id  # type: ignore[method-assign]


def table(sets: Mapping[str, Measured]) -> str:
    """One line a set, in Markdown."""
    found = {name: each.scores for name, each in sets.items()}
    lines = [
        "| set left out | chosen without it (dense weight, half, kept, tokens) | with that | in use "
        f"({IN_USE}) | the best for it alone |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, own in found.items():
        others = [each for other, each in found.items() if other != name] or [own]
        chosen = max(GRID, key=lambda point: mean(each[point] for each in others))
        best = max(GRID, key=lambda point: own[point])
        lines.append(
            f"| {name} | {chosen} | {own[chosen]:.3f} | {own[IN_USE]:.3f} | "
            f"{own[best]:.3f} ({best}) |"
        )
    lines += [
        "",
        "| set | answerable questions that get nothing | unanswerable ones | another vault's | "
        f"nothing as confident as {1 - LOST:.0%} of its own have, without the notes that answer |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, each in sets.items():
        own = each.silence
        unanswered = "" if own.unanswered is None else f"{own.unanswered:.2f}"
        lines.append(
            f"| {name} | {own.answered:.3f} | {unanswered} | {own.foreign:.2f} | {own.bereft:.2f} |"
        )
    return "\n".join(lines)
