"""The part of *activity* about learning: memories that gained or lost, questions, a reset."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from heapq import nlargest

from starlette.requests import Request
from starlette.routing import BaseRoute

from mcp_server.pages.forms import Form
from mcp_server.pages.site import Site
from memvault.consolidation.cases import Case, by_value
from memvault.curation.decisions import ACTOR
from memvault.model.memory import Memory

MAX_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Learnt:
    """What was learnt from use.

    ``gained`` and ``lost`` are ids and titles of memories with their utilities; ``helped`` the
    questions that memories helped most with; ``unanswered`` the questions without results, with
    their times and clients.
    """

    memories: int
    gained: list[tuple[str, str, float]]
    lost: list[tuple[str, str, float]]
    helped: list[tuple[Case, Memory]]
    unanswered: list[tuple[str, datetime, str]]
    reset_at: datetime | None


class LearntPart:
    """The part of the page, and its buttons."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.routes: list[BaseRoute] = [
            site.action("/learnt/reset", self._reset),
            site.action("/learnt/undo-reset", self._undo_reset),
            site.action("/learnt/settle", self._settle),
        ]

    def shown(self) -> Learnt | None:
        """The data to show; None before anything was learnt."""
        service = self._site.container.learning
        resets = service.learnt.resets()
        unanswered = service.learnt.unanswered()
        if not (service.learnt.state.memories or resets or unanswered):
            return None
        by_id = self._site.container.live.catalogue.by_id
        utilities = [
            (key, memory.title, round(service.learnt.utility(key), 2))
            for key in list(service.learnt.state.memories)
            if (memory := by_id(key)) is not None
        ]
        return Learnt(
            memories=len(utilities),
            gained=nlargest(
                MAX_SHOWN, [row for row in utilities if row[2] > 0], key=lambda row: row[2]
            ),
            lost=nlargest(
                MAX_SHOWN, [row for row in utilities if row[2] < 0], key=lambda row: -row[2]
            ),
            helped=[
                (case, memory)
                for case in by_value(service.cases.in_use(), MAX_SHOWN)
                if (memory := by_id(case.memory)) is not None
            ],
            unanswered=unanswered,
            reset_at=resets[-1].ts if resets else None,
        )

    def _reset(self, request: Request, form: Form) -> None:
        self._site.container.learning.learnt.reset(ACTOR)

    def _settle(self, request: Request, form: Form) -> None:
        service = self._site.container.learning
        service.settle(form.needed("question"))
        service.learnt.flush()

    def _undo_reset(self, request: Request, form: Form) -> None:
        self._site.container.learning.learnt.undo_reset(ACTOR)
