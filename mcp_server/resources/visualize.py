"""Maps of the graph as Mermaid, D3 or Graphviz (graph-tools 1.3, visualize).

No ``from __future__ import annotations`` here: FastMCP cannot read annotations as text.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from fastmcp.resources import ResourceContent, ResourceResult, resource

from mcp_server.answers.status import ClashShape, MapEdgeShape, MapNodeShape, VisualResource
from mcp_server.middleware.client_identity import connection_id
from mcp_server.resources.state import check_choice
from mcp_server.tools.toolbox import Toolbox
from memvault.model.errors import (
    AmbiguousTarget,
    InvalidParams,
    NoteNotFound,
    SessionNotFound,
    StoreUnavailable,
)
from memvault.model.memory import claimant
from memvault.reasoning.map_exports import d3, graphviz, mermaid
from memvault.reasoning.memory_map import MAX_NODES, MemoryMap, memory_map

URI = "visualize://{scope}/{topic}{?format,depth,include_weights,highlight_conflicts,limit}"
SCOPES = ("session", "topic", "node")
FORMATS = ("mermaid", "d3", "graphviz")
THIS_SESSION = ("current", "current_session")
CLUSTER = 10  # memories nearest to a topic, the centres of its map
NEAR_BEST = 0.5  # of the best relevance, at which a memory still belongs to the topic
MAX_ASKED = 200  # nodes; Mermaid cannot draw more
LARGEST_DEPTH = 5
YES, NO = ("true", "1", "yes"), ("false", "0", "no")
JSON = "application/json"


class VisualResources:
    """The resource that draws maps. Made once per server; thread-safe."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    @resource(URI, title="A map of the memory", mime_type=JSON)
    def map(
        self,
        scope: str,
        topic: str,
        *,
        format: str = "mermaid",
        depth: str = "2",
        include_weights: str = "true",
        highlight_conflicts: str = "true",
        limit: str = str(MAX_NODES),
    ) -> ResourceResult:
        """A map of part of the memory, for the person: show them the diagram when they ask for
        their memory map, or when notes seem to be duplicates or to contradict each other.

        `visualize://topic/{words}` draws the memories closest in meaning, `visualize://node/{id or
        name}` the neighbours of one node, `visualize://session/current` what this session was
        shown. `?format=` mermaid, d3 or graphviz; `depth` 1 to 5 relations; `include_weights` and
        `highlight_conflicts` true or false; `limit` 1 to 200 nodes.
        """
        check_choice("scope", scope, SCOPES)
        check_choice("format", format, FORMATS)
        weights = _flag("include_weights", include_weights)
        highlight = _flag("highlight_conflicts", highlight_conflicts)
        drawn = memory_map(
            self._centres(scope, topic),
            self._box.container.live.graph_view,
            self._box.container.live.catalogue.by_id,
            depth=_number("depth", depth, LARGEST_DEPTH),
            limit=_number("limit", limit, MAX_ASKED),
        )
        unweighted = {} if weights else {"weight": None}
        pictured = self._attributed(drawn)
        shape = VisualResource(
            scope=scope,
            topic=topic,
            format=format,
            nodes=[MapNodeShape.of(node, **unweighted) for node in drawn.nodes],
            edges=[MapEdgeShape.of(edge, **unweighted) for edge in drawn.edges],
            conflicts=[
                ClashShape.of(
                    conflict,
                    node_a=conflict.sides[0].node.id,
                    node_b=conflict.sides[1].node.id,
                    titles=[side.node.name for side in conflict.sides],
                )
                for conflict in drawn.conflicts
            ],
            notice=_notice(scope, drawn),
            **_picture(format, pictured if highlight else pictured.without_conflicts(), weights),
        )
        text = shape.model_dump_json(by_alias=True)
        return ResourceResult([ResourceContent(text, mime_type=JSON)])

    def _attributed(self, drawn: MemoryMap) -> MemoryMap:
        """The map with the author in the name of each note that is neither the person's nor
        verified."""
        by_id = self._box.container.live.catalogue.by_id
        claimed = [(node, claimant(by_id(node.id))) for node in drawn.nodes]
        nodes = (
            replace(node, name=f"{node.name} (by {author})") if author else node
            for node, author in claimed
        )
        return replace(drawn, nodes=tuple(nodes))

    def _centres(self, scope: str, topic: str) -> Sequence[str]:
        """Ids of the nodes to draw around, the best first."""
        if scope == "node":
            return [self._box.lookup.node(topic).id]
        if scope == "session":
            return self._working_set(topic)
        return self._cluster(topic)

    def _working_set(self, session_id: str) -> list[str]:
        """Ids of the session's memories; empty for the connection's own session before its first
        use.

        Raises SessionNotFound: there is no other session of this id.
        """
        sessions = self._box.container.sessions
        if session_id not in THIS_SESSION:
            return list(sessions.get(session_id).working_set)
        try:
            return list(sessions.get(connection_id()).working_set)
        except SessionNotFound:
            return []

    def _cluster(self, topic: str) -> list[str]:
        """The node with this name, then the memories nearest to it in meaning and words.

        Raises StoreUnavailable: the vector store does not answer, and no node has this name.
        """
        container = self._box.container
        ids: list[str] = []
        with suppress(NoteNotFound, AmbiguousTarget):
            ids.append(self._box.lookup.node(topic).id)
        try:
            hits = container.live.searcher.find(topic, CLUSTER)
        except StoreUnavailable:
            if not ids:
                raise
            hits = []
        best = max((hit.relevance for hit in hits), default=0.0)
        return [*ids, *(hit.memory.id for hit in hits if hit.relevance >= NEAR_BEST * best)]


def _picture(format: str, drawn: MemoryMap, weights: bool) -> dict[str, Any]:
    if format == "d3":
        return {"d3_json": d3(drawn, weights=weights)}
    if format == "graphviz":
        return {"graphviz_code": graphviz(drawn, weights=weights)}
    return {"mermaid_code": mermaid(drawn, weights=weights)}


def _notice(scope: str, drawn: MemoryMap) -> str | None:
    if not drawn.nodes:
        return (
            "Nothing has been recalled in this session yet."
            if scope == "session"
            else "The memory is empty."
        )
    if drawn.left_out:
        return f"{drawn.left_out} weaker relations between these are not drawn."
    return None


def _flag(parameter: str, value: str) -> bool:
    if value.lower() not in YES + NO:
        raise InvalidParams(f"{parameter} must be true or false", parameter=parameter)
    return value.lower() in YES


def _number(parameter: str, value: str, limit: int) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < 5 and 1 <= int(value) <= limit):
        raise InvalidParams(f"{parameter} must be between 1 and {limit}", parameter=parameter)
    return int(value)
