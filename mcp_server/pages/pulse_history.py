"""The pulse of the vault over time: it is measured, recorded, and drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from mcp_server.tools.toolbox import Toolbox
from memvault.cognition.pulse_log import PulsePoint

EVERY_SECONDS = 300.0
PLOT_WIDTH, PLOT_HEIGHT, LEFT, BOTTOM = 640, 190, 30, 24


@dataclass(frozen=True, slots=True)
class PulsePlot:
    """The pulse as SVG: lines as points, the places of the last values, the first and last day."""

    entropy: str
    coherence: str
    last: tuple[float, float, float]  # x, and y of both
    first_day: str
    last_day: str
    width: int = PLOT_WIDTH
    height: int = PLOT_HEIGHT


def pulse_plot(points: Sequence[PulsePoint]) -> PulsePlot:
    """The plot of at least one point, oldest first.

    Time runs from left to right; both values are in [0, 1], from bottom to top.
    """
    start, end = points[0].at.timestamp(), points[-1].at.timestamp()
    span = max(end - start, 1.0)

    def x(point: PulsePoint) -> float:
        return round(LEFT + (PLOT_WIDTH - LEFT - 8) * (point.at.timestamp() - start) / span, 1)

    def y(value: float) -> float:
        return round(8 + (PLOT_HEIGHT - BOTTOM - 8) * (1.0 - value), 1)

    def line(value: Callable[[PulsePoint], float]) -> str:
        return " ".join(f"{x(point)},{y(value(point))}" for point in points)

    last = points[-1]
    return PulsePlot(
        line(lambda point: point.entropy),
        line(lambda point: point.coherence),
        (x(last), y(last.entropy), y(last.coherence)),
        f"{points[0].at:%Y-%m-%d}",
        f"{last.at:%Y-%m-%d}",
    )


def pulse_points(box: Toolbox, days: int) -> Sequence[PulsePoint]:
    """The pulse of the vault in the last ``days`` days, and the current one.

    Raises StoreUnavailable: the container is not open yet.
    """
    now = datetime.now(UTC)
    pulse, notes = box.meter.of_vault(), len(box.container.live.catalogue)
    recorded = box.container.pulse_log.points(now - timedelta(days=days))
    return [*recorded, PulsePoint(now, pulse.entropy, pulse.coherence, notes)]


def record_pulse(box: Toolbox) -> float:
    """Record the current pulse of the vault; returns the seconds until the next record."""
    notes = len(box.container.live.catalogue)
    if notes:
        box.container.pulse_log.record(box.meter.of_vault(), notes, datetime.now(UTC))
    return EVERY_SECONDS
