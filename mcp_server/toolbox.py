"""What all tools share: the services, the pulse, and how a memory is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from fastmcp.server.dependencies import get_context

from mcp_server.answers.base import excerpt, utc
from mcp_server.answers.recalled import HopShape, NodeShape, StateShape
from mcp_server.opening import Opening
from mcp_server.sessions import Sessions
from memvault.cognition.confidence import confidence
from memvault.cognition.landscape import IndexView
from memvault.cognition.pulse import MemoryState, PulseMeter
from memvault.model.errors import NoteNotFound
from memvault.model.memory import Memory
from memvault.model.pulse import CognitivePulse
from memvault.model.query import Recalled

if TYPE_CHECKING:
    from mcp_server.services import Services

PASSAGE_CHARS = 400  # at verbosity 1; the whole note is get_memory's
LONG_PASSAGE_CHARS = 1_600  # at verbosity 2


class Toolbox:
    """Made once per server; its methods may be called from any thread."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self.sessions = Sessions()
        self.meter = PulseMeter(self._view)

    @property
    def services(self) -> Services:
        """Raises StoreUnavailable while they open; calls are let through when they are open."""
        return self._opening.now()

    def _view(self) -> IndexView:
        stores, indexer = self.services.stores, self.services.indexer
        catalogue = indexer.catalogue
        return IndexView(
            stores.vectors,
            stores.graph,
            indexer.version,
            is_memory=lambda key: catalogue.by_id(key) is not None,
        )

    def memory(self, memory_id: str) -> Memory:
        """Raises NoteNotFound."""
        memory = self.services.indexer.catalogue.by_id(memory_id)
        if memory is None:
            raise NoteNotFound(
                f"No memory has the id {memory_id}: recall_memory gives the ids there are",
                id=memory_id,
            )
        return memory

    def memory_at(self, path: str) -> Memory:
        """The memory at a path, or under a title or alias as a link would name it.

        Raises NoteNotFound.
        """
        indexer = self.services.indexer
        wanted = path.strip().lstrip("/")
        memory = indexer.catalogue.by_path(wanted)
        if memory is None and (meant := indexer.links.resolve(wanted, "")) is not None:
            memory = indexer.catalogue.by_path(meant)
        if memory is None:
            raise NoteNotFound(
                f"No note is indexed at {path}, nor named so: recall_memory gives paths", path=path
            )
        return memory

    def known(self, found: Iterable[Recalled]) -> list[tuple[Recalled, Memory]]:
        """What was found, with its memories; what left the vault meanwhile is left out."""
        by_id = self.services.indexer.catalogue.by_id
        pairs = ((each, by_id(each.note_id)) for each in found)
        return [(each, memory) for each, memory in pairs if memory is not None]

    def pulse_of(self, found: Sequence[tuple[Recalled, Memory]]) -> CognitivePulse:
        return self.meter.of([m.id for _, m in found], [each.relevance for each, _ in found])

    def nodes(self, found: Sequence[tuple[Recalled, Memory]], verbosity: int) -> list[NodeShape]:
        """Memories as an answer shows them at this verbosity."""
        if verbosity == 0:
            return [_bare(each, memory) for each, memory in found]
        ids = [memory.id for _, memory in found]
        states = self.meter.states(ids)
        around = self.meter.landscape.around(ids)
        outdated = {key: bool(around[key].outdated_by) for key in ids}
        return [_node(each, memory, states, outdated, verbosity) for each, memory in found]

    def close(self) -> None:
        self.meter.close()


def client_name() -> str | None:
    """The name under which the calling client introduced itself."""
    parameters = get_context().session.client_params
    return parameters.client_info.name if parameters is not None else None


def _bare(each: Recalled, memory: Memory) -> NodeShape:
    return NodeShape(
        id=memory.id,
        title=memory.title,
        path=memory.path,
        relevance_score=round(each.relevance, 3),
        hops=_hops(each),
    )


def _node(
    each: Recalled,
    memory: Memory,
    states: Mapping[str, MemoryState],
    outdated: Mapping[str, bool],
    verbosity: int,
) -> NodeShape:
    state = states[memory.id]
    sure = confidence(each.relevance, verified=memory.verified, outdated=outdated[memory.id])
    plain = _bare(each, memory).model_copy(
        update={
            "heading": each.heading or None,
            "lines": list(each.lines),
            "content": excerpt(each.text, PASSAGE_CHARS if verbosity < 2 else LONG_PASSAGE_CHARS),
            "confidence": round(sure, 3),
            "importance": memory.importance,
            "verified": memory.verified,
            "lifecycle": memory.lifecycle,
            "type": memory.type,
            "created_at": utc(memory.created_at),
            "johari_quadrant": state.quadrant,
        }
    )
    if verbosity < 2:
        return plain
    return plain.model_copy(
        update={
            "project": memory.project,
            "date": utc(memory.date) if memory.date else None,
            "tags": list(memory.tags) or None,
            "rationale": memory.rationale,
            "state": StateShape(
                entropy=round(state.entropy, 3), coherence=round(state.coherence, 3)
            ),
        }
    )


def _hops(each: Recalled) -> list[HopShape] | None:
    if not each.hops:
        return None
    return [
        HopShape(source=hop.source, relation=hop.relation, target=hop.target, path=hop.path)
        for hop in each.hops
    ]
