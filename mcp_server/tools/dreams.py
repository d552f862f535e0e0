"""trigger_dream."""

from __future__ import annotations

from typing import Annotated, Literal

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.status import DreamAnswer, DreamPhaseShape, ProposalShape
from mcp_server.runtime.dreaming import MAX_WAITING
from mcp_server.tools.arguments import ADDS, FULL, SessionId, WhyChanged
from mcp_server.tools.toolbox import Tools, why_of
from memvault.consolidation.dreams.record import DiscoveryKind, DreamPhase

PATIENCE_SECONDS = 8.0  # clients give up on a call after about 60 seconds, people sooner
_PHASES = {"nrem": (DreamPhase.NREM,), "rem": (DreamPhase.REM,), "full": tuple(DreamPhase)}


class DreamTools(Tools):
    @tool(annotations=ADDS, tags=FULL, title="Let the memory dream")
    def trigger_dream(
        self,
        *,
        phase: Annotated[
            Literal["nrem", "rem", "full"],
            Field(description="nrem replays recent memories; rem explores; full does both."),
        ] = "full",
        duration: Annotated[
            int | None, Field(ge=1, le=300, description="Seconds at most; default 180 and 120.")
        ] = None,
        rationale: WhyChanged = "A client asked for a dream",
        session_id: SessionId = None,
    ) -> DreamAnswer:
        """Look for missing links, blind spots, summaries and open questions in the background.

        Nothing is changed: proposals wait for the person on the Curate page and in
        get_memetic_status; the latest are listed, `waiting` counts all. `running` says that the
        dream goes on; call again for what it finds.
        """
        self._box.touch(session_id)
        dreaming = self._box.container.dreaming
        before = len(dreaming.record.reports())
        dreaming.trigger(_PHASES[phase], duration, why_of(rationale).rationale)
        dreaming.wait(PATIENCE_SECONDS)
        self._box.container.curation.wait(PATIENCE_SECONDS)
        waiting = dreaming.waiting()
        return DreamAnswer(
            running=dreaming.running,
            phases=[DreamPhaseShape.of(report) for report in dreaming.record.reports()[before:]],
            proposals=[
                ProposalShape.of(
                    proposal, title="" if proposal.kind is DiscoveryKind.ANSWER else proposal.title
                )
                for proposal in waiting[-MAX_WAITING:]
            ],
            waiting=len(waiting),
            pulse=self._box.meter.of_vault(),
        )
