"""Figures and how they are shown: one table for people, one JSON file for programs."""

from __future__ import annotations

import json
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

OUT = Path(__file__).resolve().parents[2] / ".bench"


@dataclass(frozen=True)
class Figure:
    """One line of the table; ``least`` and ``aim`` are words, since some are ceilings."""

    what: str
    value: float
    unit: str
    least: str = ""
    aim: str = ""
    note: str = ""


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def timed(call: Callable[[], object], times: int, warm_up: int = 3) -> list[float]:
    """Milliseconds of each call, after some that do not count."""
    for _ in range(warm_up):
        call()
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        spent.append((time.perf_counter() - start) * 1000)
    return spent


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def show(name: str, figures: Sequence[Figure]) -> None:
    """Print the table and leave the JSON in ``.bench/<name>.json``."""
    OUT.mkdir(exist_ok=True)
    machine = f"{platform.processor() or platform.machine()}, Python {platform.python_version()}"
    content = {"machine": machine, "figures": [asdict(figure) for figure in figures]}
    (OUT / f"{name}.json").write_text(json.dumps(content, indent=2), encoding="utf-8")
    print(
        f"\n## {name}\n\n| what | measured | at least | aim | note |\n| --- | --- | --- | --- | --- |"
    )
    for one in figures:
        value = f"{one.value:,.0f}" if one.value >= 100 else f"{one.value:.3g}"
        print(
            f"| {one.what} | {value} {one.unit} | {one.least} | {one.aim} | {one.note} |",
            flush=True,
        )
