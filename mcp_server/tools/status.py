"""get_memetic_status, set_verbosity and get_system_instructions."""

from __future__ import annotations

from typing import Annotated

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.status import (
    CurationTaskShape,
    InstructionsAnswer,
    SessionShape,
    StatusAnswer,
    VerbosityAnswer,
)
from mcp_server.prompts import ANTIPATTERNS, BEHAVIOURS, FRAGMENT
from mcp_server.runtime.vault_stats import VaultStats
from mcp_server.tools.arguments import CORE, FULL, READS, TUNES, SessionId
from mcp_server.tools.toolbox import Toolbox, Tools
from memvault.model.search import VerbosityLevel

Level = Annotated[
    int,
    Field(
        ge=0,
        le=2,
        description="0: ids and titles only. 1: the passage that answers. 2: more text and why.",
    ),
]


class SessionTools(Tools):
    """set_verbosity and get_system_instructions."""

    @tool(annotations=TUNES, tags=FULL, title="Set verbosity")
    def set_verbosity(self, level: Level, session_id: SessionId = None) -> VerbosityAnswer:
        """Set answer length: 0 titles, 1 answering passages, 2 more and why.

        For the session, or the connection if no session_id is given. A call's own verbosity_level
        takes precedence.
        """
        session = self._box.touch(session_id)
        previous, session.verbosity = session.verbosity, VerbosityLevel(level)
        return VerbosityAnswer(
            previous_level=previous, new_level=level, pulse=self._box.meter.of_vault()
        )

    @tool(annotations=READS, tags=FULL, title="How to use this memory")
    def get_system_instructions(self, session_id: SessionId = None) -> InstructionsAnswer:
        """Get instructions for using this memory: a fragment for your system prompt, when to call
        what, and what to avoid. Call it once at the start.
        """
        session = self._box.touch(session_id)
        return InstructionsAnswer(
            system_prompt_fragment=FRAGMENT,
            critical_behaviors=[
                behaviour for behaviour in BEHAVIOURS if self._box.offers(behaviour.tool)
            ],
            antipatterns=ANTIPATTERNS,
            session=SessionShape.of(session),
            pulse=self._box.meter.of_vault(),
        )


MAX_TASKS = 20


class StatusTools(Tools):
    """get_memetic_status."""

    def __init__(self, box: Toolbox) -> None:
        super().__init__(box)
        self._vault_stats = VaultStats(lambda: box.container)

    @tool(annotations=READS, tags=CORE, title="Status of the memory")
    def get_memetic_status(self, session_id: SessionId = None) -> StatusAnswer:
        """Report what is indexed, main subjects, store health and curation tasks for the person.

        Call it when answers look incomplete, or when the person asks about their memory.
        """
        self._box.touch(session_id)
        container = self._box.container
        pulse = self._box.meter.of_vault()
        tasks = container.curation.tasks()
        indexed, stores = self._vault_stats.counts()
        return StatusAnswer(
            entropy_level=pulse.entropy,
            coherence_score=pulse.coherence,
            top_active_concepts=self._vault_stats.concepts(),
            suggested_action=pulse.suggested_action,
            dream_available=container.dreaming.available,
            curation_tasks=[
                CurationTaskShape.settled_with(self._box.offered, task)
                for task in tasks[:MAX_TASKS]
            ],
            curation_tasks_total=len(tasks),
            indexed=indexed,
            stores=stores,
            pulse=pulse,
        )
