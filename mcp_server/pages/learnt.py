"""What *activity* shows of learning from use: rewards by day, what gained and lost, a reset."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import nlargest

from starlette.requests import Request
from starlette.routing import BaseRoute

from mcp_server.pages.page_actions import PERSON, Form
from mcp_server.pages.site import Site
from memvault.consolidation.learning import Learning
from memvault.consolidation.rewards import FULL
from memvault.model.change import Actor

DAYS = 30
MOST_SHOWN = 5
WIDTH, HEIGHT, BAR = 640, 120, 14
_LEAST_SCALE = 1.0  # full rewards that a whole bar stands for, at least


@dataclass(frozen=True, slots=True)
class Bar:
    """The rewards (or penalties) of one day, as a rectangle; the middle line is 0."""

    x: float
    y: float
    height: float
    kind: str
    label: str


@dataclass(frozen=True, slots=True)
class Learnt:
    """``gained`` and ``lost`` are ids and titles of memories with their utilities, ``unanswered``
    the questions that found nothing, with when they were asked and by which client."""

    memories: int
    bars: list[Bar]
    first_day: str
    last_day: str
    gained: list[tuple[str, str, float]]
    lost: list[tuple[str, str, float]]
    unanswered: list[tuple[str, datetime, str]]
    reset_at: datetime | None
    width: int = WIDTH
    height: int = HEIGHT
    bar: int = BAR


class LearntPart:
    """The part, and its buttons."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.routes: list[BaseRoute] = [
            site.action("/learnt/reset", self._reset),
            site.action("/learnt/undo-reset", self._undo_reset),
            site.action("/learnt/settle", self._settle),
        ]

    def shown(self) -> Learnt | None:
        """None before anything was learnt."""
        service = self._site.container.learning
        resets = service.learnt.resets()
        unanswered = service.learnt.unanswered()
        if not (service.learnt.state.memories or resets or unanswered):
            return None
        today = datetime.now(UTC).date()
        by_id = self._site.container.live.catalogue.by_id
        known = [
            (key, memory.title, round(service.learnt.utility(key), 2))
            for key in list(service.learnt.state.memories)
            if (memory := by_id(key)) is not None
        ]
        return Learnt(
            memories=len(known),
            bars=_bars(service.learnt, today.toordinal()),
            first_day=f"{today - timedelta(days=DAYS - 1):%Y-%m-%d}",
            last_day=f"{today:%Y-%m-%d}",
            gained=nlargest(MOST_SHOWN, [e for e in known if e[2] > 0], key=lambda e: e[2]),
            lost=nlargest(MOST_SHOWN, [e for e in known if e[2] < 0], key=lambda e: -e[2]),
            unanswered=unanswered,
            reset_at=resets[-1].ts if resets else None,
        )

    def _reset(self, request: Request, form: Form) -> str:
        self._site.container.learning.learnt.reset(Actor(kind="person", name=PERSON))
        return form.text("back", "/activity")

    def _settle(self, request: Request, form: Form) -> str:
        service = self._site.container.learning
        service.settle(form.needed("question"))
        service.learnt.flush()
        return form.text("back", "/activity")

    def _undo_reset(self, request: Request, form: Form) -> str:
        self._site.container.learning.learnt.undo_reset(Actor(kind="person", name=PERSON))
        return form.text("back", "/activity")


def _bars(learnt: Learning, today: int) -> list[Bar]:
    gains, losses = [0] * DAYS, [0] * DAYS
    for use in list(learnt.state.memories.values()):
        for day, sum_ in list(use.days.items()):
            if 0 <= (place := DAYS - 1 - (today - day)) < DAYS:
                (gains if sum_ > 0 else losses)[place] += sum_
    scale = max(_LEAST_SCALE * FULL, *gains, *(-each for each in losses))
    middle, step = HEIGHT / 2 - 8, WIDTH / DAYS
    bars = []
    for values, kind in ((gains, "good"), (losses, "bad")):
        for place, value in enumerate(values):
            if value:
                height = round(abs(value) / scale * (middle - 4), 1)
                y = round(middle - height if value > 0 else middle, 1)
                x = round(place * step + (step - BAR) / 2, 1)
                bars.append(Bar(x, y, height, kind, f"{value / FULL:+.1f}"))
    return bars
