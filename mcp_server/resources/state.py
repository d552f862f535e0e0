"""Resources that clients read and subscribe to (graph-tools 1.3).

No ``from __future__ import annotations`` here: FastMCP cannot read annotations as text.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import wraps
from typing import Any

from fastmcp.decorators import get_fastmcp_meta
from fastmcp.exceptions import ResourceError
from fastmcp.resources import ResourceContent, ResourceResult, resource
from pydantic import BaseModel

from mcp_server.answers.base import Filled, Moment, Named, Rounded, Shape, optional, read_from, utc
from mcp_server.answers.memories import StateShape
from mcp_server.answers.status import ConceptShape
from mcp_server.middleware.client_identity import client_name, connection_id
from mcp_server.tools.status import main_concepts
from mcp_server.tools.toolbox import Toolbox
from memvault.cognition.sessions import Session, pulse_of_session, session_state
from memvault.model.errors import InvalidParams, MemvaultError, NoteNotFound, SessionNotFound
from memvault.model.graph import GraphEdge
from memvault.model.memory import JohariQuadrant, Lifecycle, Memory, Stage, UTLState, claimant
from memvault.model.search import Hit
from memvault.model.state import CognitivePulse
from memvault.model.unicode_forms import without_line_breaks
from memvault.stores.graph_view import node_ref

PULSE_URI = "utl://current_session/pulse"
THIS_SESSION = "current_session"
LOOP_AFTER = 5  # readings of the pulse without a tool call
CURRENT = 10  # memories in scope "current"; "session" shows the whole working set
MAX_EDGES = 50
CONTENT_BYTES = 1_600  # of a memory's text that are shown
JSON, MARKDOWN = "application/json", "text/markdown"

SCOPES = ("current", "session", "global")


class PulseResource(CognitivePulse):
    """``thought_loop_warning``: the pulse was read repeatedly without a tool call; ``notice``: a
    disk is nearly full."""

    lifecycle: Stage
    curation_tasks_pending: int
    thought_loop_warning: bool
    notice: str | None = optional()


class SessionStateResource(Shape):
    """``johari`` counts the memories of the working set by quadrant."""

    session_id: str
    memories: int
    entropy: float
    coherence: float
    learning_score: Rounded
    utl_state: UTLState
    johari: dict[JohariQuadrant, int]
    last_activity: Moment


class ContextMemory(Named):
    type: str
    project: str | None = optional()
    johari_quadrant: JohariQuadrant


class ContextResource(Shape):
    """``memories`` are those that the session's answers showed, latest first; ``concepts`` the main
    subjects of the vault."""

    scope: str
    memories: list[ContextMemory] | None = optional()
    concepts: list[ConceptShape] | None = optional()
    notes: int | None = optional()
    lifecycle: Stage | None = optional()
    pulse: CognitivePulse


class EdgeShape(Shape):
    """The note at ``stated_in`` states the relation in ``line``; ``outgoing`` if it starts here.
    The other node has no ``path`` if it has no note."""

    relation: str
    outgoing: bool
    id: str
    title: str = read_from("name")
    path: str | None = optional()
    sentence: Filled[str] = optional()
    stated_in: str | None = optional()
    line: int
    weight: Rounded


class NodeResource(Shape):
    """A memory, or an entity, which has neither path nor text; ``edges`` are the strongest of
    ``edges_total``."""

    id: str
    title: str
    kind: str
    path: str | None = optional()
    content: str | None = optional()
    lifecycle: Lifecycle | None = optional()
    importance: float | None = optional()
    verified: bool | None = optional()
    created_at: Moment | None = optional()
    access_count: int | None = optional()
    johari_quadrant: JohariQuadrant | None = optional()
    state: StateShape | None = optional()
    utl_state: UTLState | None = optional()
    edges: list[EdgeShape]
    edges_total: int
    pulse: CognitivePulse


FORMATS = ("json", "markdown")


class Resources:
    """The resources of pulse, session, context and node. Made once per server; thread-safe."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    @resource(PULSE_URI, title="Cognitive pulse", mime_type=JSON)
    def pulse(self) -> ResourceResult:
        """The pulse of this session: entropy and coherence of the memories it was shown, and a
        suggested action. Can be subscribed to: an update follows a change, at most every 5 seconds.
        """
        session = self._session()
        session.pulse_was_read()
        return _json(self.pulse_of(session))

    @resource("utl://{session_id}/state", title="Learning state of a session", mime_type=JSON)
    def state(self, session_id: str) -> ResourceResult:
        """Entropy, coherence, quadrants and learning score of the memories that a session has been
        shown. `current_session` is the session of this connection.
        """
        session = self._session(session_id)
        state = session_state(self._box.meter, session.working_set)
        utl = state.utl_state
        return _json(
            SessionStateResource(
                session_id=session.id,
                memories=len(state.memories),
                entropy=state.pulse.entropy,
                coherence=state.pulse.coherence,
                learning_score=utl.learning_score,
                utl_state=utl,
                johari=dict(state.quadrants),
                last_activity=session.last_activity,
            )
        )

    @resource("context://{scope}{?format}", title="Subject of the conversation", mime_type=JSON)
    def context(self, scope: str, format: str = "json") -> ResourceResult:
        """The subject of the conversation: `current` lists the memories that answers showed last,
        `session` the whole working set, `global` the main subjects of the vault. `?format=markdown`
        gives text instead of JSON.
        """
        check_choice("scope", scope, SCOPES)
        check_choice("format", format, FORMATS)
        shown = self._global() if scope == "global" else self._recent(scope)
        return _markdown(shown, self._author_note) if format == "markdown" else _json(shown)

    @resource("graph://{node_id}", title="A node of the graph", mime_type=JSON)
    def node(self, node_id: str) -> ResourceResult:
        """A memory, or an entity that notes name, with its relations, the sentences that state
        them, and its state.
        """
        container = self._box.container
        node = container.live.graph_view.node(node_id)
        memory = container.live.catalogue.by_id(node_id)
        if node is None and memory is None:
            raise NoteNotFound(
                f"No node of the graph has the id {node_id}. Search for what it says.",
                id=node_id,
            )
        edges = container.live.graph_view.of(node_id)
        shape = NodeResource(
            id=node_id,
            title=memory.title if memory else node.name if node else "",
            kind=memory.type if memory else node.kind if node else "",
            edges=[self._edge(edge, node_id) for edge in edges[:MAX_EDGES]],
            edges_total=len(edges),
            pulse=self._box.meter.of([node_id] if memory else []),
        )
        return _json(shape.model_copy(update=self._details(memory)) if memory else shape)

    def pulse_of(self, session: Session) -> PulseResource:
        """The pulse of this session, without counting this call as a reading."""
        container = self._box.container
        pulse = pulse_of_session(self._box.meter, session.working_set)
        return PulseResource(
            **pulse.model_dump(),
            lifecycle=Stage.of(len(container.live.catalogue)),
            curation_tasks_pending=container.curation.pending(),
            thought_loop_warning=session.pulse_reads >= LOOP_AFTER,
            notice=container.upkeep.low_disk() or None,
        )

    def seen_by(self, session_id: str) -> str:
        """The pulse of this session as JSON text; for a new session the vault's."""
        sessions = self._box.container.sessions
        try:
            session = sessions.get(session_id)
        except SessionNotFound:
            session = Session(session_id, sessions.user_id, None, datetime.now(UTC))
        return self.pulse_of(session).model_dump_json()

    def _session(self, session_id: str = THIS_SESSION) -> Session:
        """The session of this id; by default the connection's own, which is created if needed.

        Raises SessionNotFound.
        """
        sessions = self._box.container.sessions
        if session_id != THIS_SESSION:
            return sessions.get(session_id)
        own_id = connection_id()
        try:
            return sessions.get(own_id)
        except SessionNotFound:
            return sessions.touch(own_id, client_name(), renewable=True)

    def _author_note(self, path: str) -> str:
        author = claimant(self._box.container.live.catalogue.by_path(path))
        return f", written by {author}, unverified" if author else ""

    def _recent(self, scope: str) -> ContextResource:
        working_set = self._session().working_set
        state = session_state(
            self._box.meter, working_set[:CURRENT] if scope == "current" else working_set
        )
        memories = [self._box.lookup.memory(key) for key in state.memories]
        return ContextResource(scope=scope, memories=self._named(memories), pulse=state.pulse)

    def _named(self, memories: Sequence[Memory]) -> list[ContextMemory]:
        states = self._box.meter.states([memory.id for memory in memories])
        return [
            ContextMemory.of(memory, johari_quadrant=states[memory.id].quadrant)
            for memory in memories
        ]

    def _global(self) -> ContextResource:
        notes = len(self._box.container.live.catalogue)
        return ContextResource(
            scope="global",
            concepts=main_concepts(self._box.container),
            notes=notes,
            lifecycle=Stage.of(notes),
            pulse=self._box.meter.of_vault(),
        )

    def _edge(self, edge: GraphEdge, node_id: str) -> EdgeShape:
        edges = self._box.container.live.graph_view
        outgoing = edge.source == node_id
        other = node_ref(edge.target if outgoing else edge.source, edges)
        return EdgeShape.of(
            other,
            relation=edge.relation,
            outgoing=outgoing,
            sentence=edge.sentence,
            stated_in=node_ref(edge.source, edges).path,
            line=edge.line,
            weight=edge.weight,
        )

    def _details(self, memory: Memory) -> dict[str, Any]:
        node = self._box.node(memory)
        state = self._box.meter.states([memory.id])[memory.id]
        whole_note = Hit(memory, 1.0, text=node.content)
        excerpts = self._box.container.excerpts
        (excerpt,) = excerpts.of(memory.title, [whole_note], [CONTENT_BYTES])
        return {
            "path": memory.path,
            "content": excerpt.text,
            "lifecycle": memory.lifecycle,
            "importance": memory.importance,
            "verified": memory.is_trusted,
            "created_at": utc(memory.created_at),
            "access_count": node.access_count,
            "johari_quadrant": state.quadrant,
            "state": StateShape.of(state),
            "utl_state": node.utl_state,
        }


def resource_methods(group: object) -> list[Callable[..., Any]]:
    """The methods of a group that are marked as resources, with errors that say what to do."""
    marked = [name for name, member in vars(type(group)).items() if get_fastmcp_meta(member)]
    return [_answering(getattr(group, name)) for name in marked]


def _answering(read: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(read)
    def answer(*args: Any, **kwargs: Any) -> Any:
        try:
            return read(*args, **kwargs)
        except MemvaultError as error:
            raise ResourceError(error.message, log_level=logging.DEBUG) from error

    return answer


def check_choice(parameter: str, value: str, choices: Sequence[str]) -> None:
    """Check that the value is one of the choices. Raises InvalidParams."""
    if value not in choices:
        raise InvalidParams(
            f"{parameter} must be one of {', '.join(choices)}", parameter=parameter, received=value
        )


def _json(shape: BaseModel) -> ResourceResult:
    return ResourceResult([ResourceContent(shape.model_dump_json(by_alias=True), mime_type=JSON)])


def _markdown(context: ContextResource, author_note: Callable[[str], str]) -> ResourceResult:
    """The context as Markdown with wikilinks and paths, as in a note.

    Args:
        author_note: gives the note about the author of the memory at a path, if not the person.
    """
    pulse = context.pulse
    lines = [
        f"# Context: {context.scope}",
        "",
        f"Entropy {pulse.entropy:.2f}, coherence {pulse.coherence:.2f}; "
        f"suggested: {pulse.suggested_action}.",
        "",
    ]
    if context.notes is not None:
        lines += [f"{context.notes} notes ({context.lifecycle}), mostly about:", ""]
    for concept in context.concepts or ():
        place = (
            f" ({without_line_breaks(concept.path)}){author_note(concept.path)}"
            if concept.path
            else ""
        )
        lines.append(f"- {concept.name}{place}")
    for memory in context.memories or ():
        place = f"({without_line_breaks(memory.path)})"
        lines.append(f"- [[{memory.title}]] {place}: {memory.type}{author_note(memory.path)}")
    if not context.memories and not context.concepts:
        lines.append("Nothing has been recalled yet.")
    return ResourceResult([ResourceContent("\n".join(lines) + "\n", mime_type=MARKDOWN)])
