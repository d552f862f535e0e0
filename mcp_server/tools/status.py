"""The memory's state, and the session's settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.base import utc
from mcp_server.answers.status import (
    CurationTaskShape,
    InstructionsAnswer,
    SessionShape,
    StatusAnswer,
    VerbosityAnswer,
)
from mcp_server.prompts import ANTIPATTERNS, BEHAVIOURS, FRAGMENT
from mcp_server.runtime.vault_stats import Overview
from mcp_server.tools.arguments import CORE, FULL, READS, TUNES, SessionId
from mcp_server.tools.toolbox import Toolbox
from memvault.model.errors import MemvaultError
from memvault.model.search import VerbosityLevel

Level = Annotated[
    int,
    Field(
        ge=0,
        le=2,
        description="0: ids and titles only. 1: the passage that answers. 2: more text and why.",
    ),
]


class SessionTools:
    """set_verbosity and get_system_instructions."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

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
            critical_behaviors=BEHAVIOURS,
            antipatterns=ANTIPATTERNS,
            session=SessionShape(
                session_id=session.id,
                user_id=session.user_id,
                created=utc(session.created),
                verbosity_level=session.verbosity,
                working_set=session.working_set,
            ),
            pulse=self._box.meter.of_vault(),
        )


MOST_TASKS = 20


class StatusTools:
    """get_memetic_status."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box
        self._overview = Overview(lambda: box.services)

    @tool(annotations=READS, tags=CORE, title="Status of the memory")
    def get_memetic_status(self, session_id: SessionId = None) -> StatusAnswer:
        """Report what is indexed, main subjects, store health and curation tasks for the person.

        Call it when answers look incomplete, or when the person asks about their memory.
        """
        self._box.touch(session_id)
        services = self._box.services
        pulse = self._box.meter.of_vault()
        tasks = services.curation.tasks()
        stores = services.stores
        return StatusAnswer(
            entropy_level=pulse.entropy,
            coherence_score=pulse.coherence,
            top_active_concepts=self._overview.concepts(),
            suggested_action=pulse.suggested_action,
            dream_available=False,  # nothing consolidates memories yet
            curation_tasks=[
                CurationTaskShape.of(task, self._box.tools) for task in tasks[:MOST_TASKS]
            ],
            curation_tasks_total=len(tasks),
            indexed=self._overview.counts(),
            stores={
                "vectors": _health(stores.vectors.count),
                "graph": _health(stores.graph.counts),
                "keyvalue": _health(lambda: stores.keyvalue.count("notes")),
            },
            pulse=pulse,
        )


def _health(ask: Callable[[], object]) -> str:
    try:
        ask()
    except MemvaultError as error:
        return error.message
    return "ok"
