"""get_memetic_status."""

from __future__ import annotations

from heapq import nsmallest
from typing import TYPE_CHECKING

from fastmcp.tools import tool

from mcp_server.answers.status import (
    ConceptShape,
    CurationTaskShape,
    StatusAnswer,
)
from mcp_server.tools.arguments import CORE, READS, SessionId
from mcp_server.tools.toolbox import Tools
from memvault.curation.operations.preferences import NAMESPACE as PREFERENCES
from memvault.model.errors import GraphQueryError, MemvaultError, StoreUnavailable

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container
    from mcp_server.runtime.generations import Generation

MAX_TASKS = 20
MAX_CONCEPTS = 5


class StatusTools(Tools):
    """get_memetic_status."""

    @tool(annotations=READS, tags=CORE, title="Status of the memory")
    def get_memetic_status(self, session_id: SessionId = None) -> StatusAnswer:
        """Report what is indexed, main subjects, store health and curation tasks for the person.

        Call it when answers look incomplete, or when the person asks about their memory.
        """
        self._box.touch(session_id)
        container = self._box.container
        pulse = self._box.meter.of_vault()
        tasks = container.curation.tasks()
        indexed, stores = _counts_and_health(container.live)
        return StatusAnswer(
            entropy_level=pulse.entropy,
            coherence_score=pulse.coherence,
            top_active_concepts=main_concepts(container),
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


def main_concepts(container: Container) -> list[ConceptShape]:
    """The memories that answers showed most.

    Before any answer, the nodes with most relations; none if the graph is unreachable.
    """
    uses = {key: used.access_count for key, used in container.activity.all().items()}
    used = container.live.catalogue.by_ids(key for key, count in uses.items() if count)
    best = nsmallest(MAX_CONCEPTS, used, key=lambda memory: (-uses[memory.id], memory.path))
    if best:
        return [
            ConceptShape(id=note.id, name=note.title, path=note.path, access_count=uses[note.id])
            for note in best
        ]
    try:
        connected = container.live.overviews.current().connected
    except (StoreUnavailable, GraphQueryError):
        return []
    return [
        ConceptShape.of(node, access_count=0, connections=count)
        for node, count in connected[:MAX_CONCEPTS]
    ]


def _counts_and_health(live: Generation) -> tuple[dict[str, int], dict[str, str]]:
    """Counts of notes, chunks, nodes and edges, as far as stores answer; and for each store "ok" or
    its error."""
    counts, health = {"notes": len(live.catalogue)}, dict[str, str]()

    def chunks() -> None:
        counts["chunks"] = live.stores.vectors.count()

    def relations() -> None:
        counts["nodes"], counts["edges"] = live.stores.graph.counts()

    def values() -> None:
        live.stores.keyvalue.count(PREFERENCES)  # few; counting 10,000 notes takes 7 ms

    for store, query in (("vectors", chunks), ("graph", relations), ("keyvalue", values)):
        try:
            query()
            health[store] = "ok"
        except MemvaultError as error:
            health[store] = error.message
    return counts, health
