"""Confidence against correctness on the question sets beside the repository.

Every set's questions are asked of its own vault, and of another's, where nothing can be right.
Printed are the reliability and the expected calibration error (ECE, 10 bins; Guo et al. 2017) of
the map in use, the coefficients that these sets would give, and how a map fitted on one set does on
the others. Sets are folders as `run_question_sets` asks them.

usage: python -m tests.benchmarks.bench_calibration [--sets DIR …] [--limit N]
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mcp_server.runtime.container import Container
from memvault.search.calibration import (
    ANSWERS,
    CONCERNS,
    Calibration,
    features,
)
from tests.benchmarks.measured_vaults import opened_set
from tests.benchmarks.run_question_sets import SETS

Array = npt.NDArray[np.float64]
SHOWN = 10
LOOKED_AT = 20
FOREIGN = 136  # questions of another vault asked of each
FOREIGN_SHARE = 0.25  # of a set's weight: most questions are asked where something is known
BINS = 10
RIDGE = 1e-4  # of standardised coefficients
CONCERNED = (0, 2, 5)  # features of `CONCERNS`


@dataclass(frozen=True)
class Rows:
    """What was shown: (n, 8) features, whether each was right, and whether it stood first."""

    seen: Array
    right: Array
    first: npt.NDArray[np.bool_]


def asked(container: Container, questions: list[dict[str, object]], *, own: bool) -> Rows:
    seen, right, first = [], [], []
    for question in questions:
        text = str(question["question"])
        hits = container.live.searcher.find(text, LOOKED_AT)
        rows = features(text, hits)[:SHOWN]
        gold = question["gold"] if own else ()
        assert isinstance(gold, list | tuple)
        seen.append(rows)
        right += [hit.memory.path in gold for hit in hits[:SHOWN]]
        first += [k == 0 for k in range(len(rows))]
    return Rows(np.concatenate(seen), np.array(right, float), np.array(first))


def measured(folder: Path, other: Path | None, scratch: Path, limit: int) -> tuple[Rows, Rows]:
    """A set's questions, and another's asked of the same vault."""
    with opened_set(folder, scratch) as container:
        dice = random.Random(3)
        questions = json.loads((folder / "queries.json").read_text("utf-8"))
        if limit:
            questions = dice.sample(questions, min(limit, len(questions)))
        strange = json.loads((other / "queries.json").read_text("utf-8")) if other else []
        strange = dice.sample(strange, min(FOREIGN, len(strange)))
        own = asked(container, questions, own=True)
        return own, asked(container, strange, own=False) if strange else own


def fitted(groups: list[tuple[Array, Array, float]], columns: tuple[int, ...]) -> Calibration:
    """Logistic regression by Newton's method; every group counts by its weight, not its size."""
    seen = np.concatenate([rows[:, columns] for rows, _, _ in groups])
    right = np.concatenate([labels for _, labels, _ in groups])
    share = np.concatenate([np.full(len(y), w / len(y)) for _, y, w in groups])
    share /= share.mean()
    mean, spread = seen.mean(axis=0), seen.std(axis=0) + 1e-9
    table = np.c_[np.ones(len(seen)), (seen - mean) / spread]
    penalty = RIDGE * len(right) * np.r_[0.0, np.ones(len(columns))]
    odds = np.zeros(table.shape[1])
    for _ in range(60):
        chance = 1.0 / (1.0 + np.exp(-table @ odds))
        slope = table.T @ (share * (chance - right)) + penalty * odds
        curve = (table.T * (share * chance * (1.0 - chance))) @ table + np.diag(penalty + 1e-9)
        odds -= np.linalg.solve(curve, slope)
    weights = np.zeros(8)
    weights[list(columns)] = odds[1:] / spread
    intercept = odds[0] - float(weights[list(columns)] @ mean)
    return Calibration(intercept, *(float(w) for w in weights))


def ece(chance: Array, right: Array) -> float:
    place = np.minimum((chance * BINS).astype(int), BINS - 1)
    parts = [place == k for k in range(BINS) if (place == k).any()]
    return float(sum(p.mean() * abs(chance[p].mean() - right[p].mean()) for p in parts))


def judged(name: str, calibration: Calibration, rows: Rows) -> None:
    chance = np.array(calibration.confidences(rows.seen))
    every, top = ece(chance, rows.right), ece(chance[rows.first], rows.right[rows.first])
    sure = chance >= 0.85
    share = rows.right[sure].mean() if sure.any() else float("nan")
    print(f"{name:44s} ECE {every:.3f}, of the first {top:.3f}; >= 0.85: {sure.sum()}, "
          f"right {share:.2f}")  # fmt: skip


def reliability(calibration: Calibration, rows: Rows) -> None:
    chance = np.array(calibration.confidences(rows.seen))
    place = np.minimum((chance * BINS).astype(int), BINS - 1)
    for k in range(BINS):
        part = place == k
        if part.any():
            print(f"    {k / BINS:.1f}  n={part.sum():5d}  confidence {chance[part].mean():.3f}  "
                  f"right {rows.right[part].mean():.3f}")  # fmt: skip


def shown(name: str, calibration: Calibration) -> None:
    print(f"{name}: {tuple(round(float(value), 2) for value in astuple(calibration))}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=Path, nargs="+", default=[SETS], help="folders of sets")
    parser.add_argument("--limit", type=int, default=0, help="questions of each set; 0: all")
    given = parser.parse_args()
    folders = sorted(
        queries.parent for sets in given.sets for queries in sets.glob("*/queries.json")
    )
    if not folders:
        print(f"No question sets in {', '.join(map(str, given.sets))}: nothing is measured.")
        return
    found: dict[str, tuple[Rows, Rows]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for k, folder in enumerate(folders):
            other = folders[k - 1] if len(folders) > 1 else None
            found[folder.name] = measured(folder, other, Path(scratch), given.limit)
    groups = {
        name: [(own.seen, own.right, 1.0), (far.seen, np.zeros(len(far.seen)), FOREIGN_SHARE)]
        for name, (own, far) in found.items()
    }
    print("\n## The map in use")
    for name, (own, far) in found.items():
        judged(name, ANSWERS, own)
        reliability(ANSWERS, own)
        if far is not own:
            judged(f"{name}, asked another's questions", ANSWERS, far)
    print("\n## Fitted on one, judged on the others")
    for name, own_groups in groups.items():
        alone = fitted(own_groups, tuple(range(8)))
        for other_name, (own, _) in found.items():
            judged(f"{name} -> {other_name}", alone, own)
    print(
        "\n## Coefficients (intercept, relevance, gap, words, rank, step, relation, relation_relevance, link)"
    )
    shown("ANSWERS in use", ANSWERS)
    shown("fitted on all ", fitted([g for some in groups.values() for g in some], tuple(range(8))))
    known = [(own.seen, np.ones(len(own.seen)), 1.0) for own, _ in found.values()]
    strange = [(far.seen, np.zeros(len(far.seen)), 1.0) for _, far in found.values()]
    shown("CONCERNS in use", CONCERNS)
    shown("fitted on all  ", fitted(known + strange, CONCERNED))


if __name__ == "__main__":
    main()
