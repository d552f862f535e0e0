"""Plots of fading, learning and dreams over time for *activity*: a bar for each week."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from memvault.consolidation.rewards import FULL
from memvault.model.change import ChangeKind

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container

WEEKS = 40  # as long as learning keeps its days
WIDTH, TOP, HEIGHT, LEFT = 360, 8, 64, 24
GAP = 1.5

Amounts = Iterable[tuple[date, float]]


@dataclass(frozen=True, slots=True)
class Bar:
    """The amount of one week, as a rectangle."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    label: str


@dataclass(frozen=True, slots=True)
class Plot:
    """Bars above and below a line.

    Attributes:
        zero: the height of the line.
        marks: the greatest amounts in either direction, with their heights.
        total: the sum of all bars, in words.
    """

    title: str
    total: str
    bars: list[Bar]
    zero: float
    marks: list[tuple[float, str]]
    first_day: str
    last_day: str
    left: int = LEFT
    width: int = WIDTH
    height: int = TOP + HEIGHT + 20


def plots(container: Container) -> list[Plot]:
    """The plots of fading, learning and dreams that have data."""
    today = container.now().astimezone(UTC).date()
    changes = container.curator.history.changes(kinds=(ChangeKind.FADED, ChangeKind.RECONSTRUCTED))
    faded, reconstructed = (
        [(_day(c.at), 1.0) for c in changes if c.kind is kind and not c.undone_by]
        for kind in (ChangeKind.FADED, ChangeKind.RECONSTRUCTED)
    )
    uses = list(container.learning.learnt.state.memories.values())
    days = [(date.fromordinal(d), v / FULL) for use in uses for d, v in list(use.days.items())]
    gains = [(day, value) for day, value in days if value > 0]
    losses = [(day, -value) for day, value in days if value < 0]
    reports = container.dreaming.record.reports()
    proposals = [(_day(report.at), float(report.discoveries)) for report in reports]
    all_plots = (
        _plot("Faded", ("faded: {:.0f}", "brought back: {:.0f}"), today, faded, reconstructed),
        _plot("Learnt", ("rewards: {:.1f}", "penalties: {:.1f}"), today, gains, losses),
        _plot("Dreamt", ("proposals: {:.0f}", ""), today, proposals, []),
    )  # fmt: skip
    return [plot for plot in all_plots if plot.bars]


def _plot(title: str, words: tuple[str, str], today: date, more: Amounts, less: Amounts) -> Plot:
    above_words, below_words = words
    above, below = _weekly(more, today), _weekly(less, today)
    highest, lowest = max(above), max(below)
    scale = HEIGHT / max(1.0, highest + lowest)
    zero = round(TOP + highest * scale, 1)
    totals = [
        above_words.format(sum(above)),
        *([below_words.format(sum(below))] if sum(below) else []),
    ]
    marks = [(TOP + 4.0, f"{highest:.0f}")] if highest >= 1 else []
    marks += [(TOP + HEIGHT + 4.0, f"{lowest:.0f}")] if lowest >= 1 else []
    return Plot(
        title, f"{', '.join(totals)} in the last {WEEKS} weeks",
        [
            *_bars(above, zero, scale, "bar", above_words),
            *_bars(below, zero, -scale, "less", below_words),
        ],
        zero, marks, f"{today - timedelta(days=7 * WEEKS - 1):%Y-%m-%d}", f"{today:%Y-%m-%d}",
    )  # fmt: skip


def _weekly(amounts: Amounts, today: date) -> list[float]:
    """The sums by week, this week's last."""
    sums = [0.0] * WEEKS
    for day, amount in amounts:
        age = (today - day).days
        if 0 <= age < 7 * WEEKS:
            sums[-1 - age // 7] += amount
    return sums


def _bars(sums: list[float], zero: float, scale: float, kind: str, words: str) -> Iterator[Bar]:
    wide = (WIDTH - LEFT) / WEEKS
    for week, amount in enumerate(sums):
        if amount:
            high = round(amount * abs(scale), 1)
            top = round(zero - high, 1) if scale > 0 else zero
            x = round(LEFT + week * wide, 1)
            yield Bar(x, top, round(wide - GAP, 1), high, kind, words.format(amount))


def _day(at: datetime) -> date:
    return at.astimezone(UTC).date()
