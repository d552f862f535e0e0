"""How the memory is doing."""

from __future__ import annotations

from collections.abc import Callable

from fastmcp.tools import tool

from mcp_server.answers.status import CurationTaskShape, StatusAnswer
from mcp_server.arguments import SessionId
from mcp_server.overview import Overview
from mcp_server.toolbox import Toolbox
from mcp_server.tools.kinds import CORE, READS
from memvault.model.errors import MemvaultError

MOST_TASKS = 20


class StatusTools:
    """Tools over the whole of the memory."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box
        self._overview = Overview(lambda: box.services)

    @tool(annotations=READS, tags=CORE, title="Status of the memory")
    def get_memetic_status(self, session_id: SessionId = None) -> StatusAnswer:
        """How the memory is doing: entropy, coherence, what it is mostly about, what is indexed,
        whether its stores answer, and what a person might want to put right.

        Call it when answers look incomplete or stale, or when the person asks about their memory.
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
