"""get_memetic_status, set_verbosity and get_system_instructions."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Annotated

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.status import (
    ConceptShape,
    CurationTaskShape,
    InstructionsAnswer,
    SessionShape,
    StatusAnswer,
    VerbosityAnswer,
)
from mcp_server.prompts import ANTIPATTERNS, BEHAVIOURS, FRAGMENT
from mcp_server.tools.arguments import CORE, FULL, READS, TUNES, SessionId
from mcp_server.tools.toolbox import Tools
from memvault.curation.operations.preferences import NAMESPACE as PREFERENCES
from memvault.model.errors import GraphQueryError, MemvaultError, StoreUnavailable
from memvault.model.memory import Memory
from memvault.model.search import VerbosityLevel

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container
    from mcp_server.runtime.generations import Generation

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
    counted = ((-used.access_count, key) for key, used in container.activity.all().items())
    by_ids, best = container.live.catalogue.by_ids, list[tuple[int, Memory]]()
    used_keys = sorted((count, key) for count, key in counted if count)
    for negative_count, equal in groupby(used_keys, itemgetter(0)):
        memories = sorted(by_ids(key for _, key in equal), key=attrgetter("path"))
        best += [(-negative_count, memory) for memory in memories]
        if len(best) >= MAX_CONCEPTS:
            break
    if best:
        return [
            ConceptShape(id=memory.id, name=memory.title, path=memory.path, access_count=count)
            for count, memory in best[:MAX_CONCEPTS]
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
