"""Entropy and coherence over time as two lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memvault.cognition.course import Point

WIDTH, HEIGHT, LEFT, BOTTOM = 640, 190, 30, 24


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines as SVG points, dots as places of the last values, and the first and last day."""

    entropy: str
    coherence: str
    last: tuple[float, float, float]  # x, and y of both
    first_day: str
    last_day: str
    width: int = WIDTH
    height: int = HEIGHT


def plotted(points: Sequence[Point]) -> Plot:
    """At least one point, oldest first. Time goes evenly from left to right; both values lie in
    [0, 1], from the bottom to the top."""
    start, end = points[0].at.timestamp(), points[-1].at.timestamp()
    span = max(end - start, 1.0)

    def x(point: Point) -> float:
        return round(LEFT + (WIDTH - LEFT - 8) * (point.at.timestamp() - start) / span, 1)

    def y(value: float) -> float:
        return round(8 + (HEIGHT - BOTTOM - 8) * (1.0 - value), 1)

    def line(value: Callable[[Point], float]) -> str:
        return " ".join(f"{x(point)},{y(value(point))}" for point in points)

    last = points[-1]
    return Plot(
        line(lambda point: point.entropy),
        line(lambda point: point.coherence),
        (x(last), y(last.entropy), y(last.coherence)),
        f"{points[0].at:%Y-%m-%d}",
        f"{last.at:%Y-%m-%d}",
    )
