"""The services that all tools share: the container, the pulse, lookups, and records of use."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from mcp_server.answers.changes import MAX_LINES, LineShape
from mcp_server.engine import ToolSet
from mcp_server.engine.startup import Startup
from mcp_server.middleware.call_keys import call_key
from mcp_server.middleware.client_identity import (
    client_name,
    connection_id,
    is_person,
    requested_tools,
)
from mcp_server.runtime.learning_service import UNNAMED
from mcp_server.tools.memory_presenter import MemoryPresenter
from mcp_server.tools.node_lookup import NodeLookup
from memvault.cognition.memory_loader import MemoryLoader
from memvault.cognition.pulse import PulseMeter
from memvault.cognition.sessions import Session
from memvault.curation.changes.curator import ChangeResult
from memvault.curation.changes.plan import Attribution
from memvault.curation.changes.undo import UndoResult
from memvault.curation.operations.draft import check_rationale
from memvault.curation.proposals import NeededApproval
from memvault.model.change import TaskAction, TaskType
from memvault.model.errors import (
    DiskFull,
    GraphQueryError,
    InvalidParams,
    NoteNotFound,
    StoreUnavailable,
)
from memvault.model.memory import Memory
from memvault.model.memory_node import MemoryNode
from memvault.model.search import Filters, Hit, Scope, SearchResult
from memvault.model.state import CognitivePulse, SuggestedAction
from memvault.reasoning.critique import Contradiction
from memvault.text.secrets import without_secrets
from memvault.vault.links import wikilink_from_all

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container

RETRY_SECONDS = 0.5  # until the similarity index is loaded


class Toolbox:
    """The services that all tools share. Made once per server; thread-safe.

    Args:
        tool_set: the one of connections that request none.

    Attributes:
        tools, core_tools, readers: names of all tools, of the core set, and of those that change
            nothing.
    """

    def __init__(self, startup: Startup, tool_set: ToolSet = "core") -> None:
        self._startup = startup
        self.tools: set[str] = set()
        self.core_tools: set[str] = set()
        self.readers: set[str] = set()
        self._tool_set = tool_set
        self.meter = PulseMeter(
            lambda: self.container.live.similarity_index,
            tasks=self._tasks_about,
            offers=self._may_suggest,
            background=lambda: self.container.worker,
        )
        self.memory_nodes = MemoryLoader(
            self._memory_of,
            self._read,
            self.meter,
            activity=lambda: self.container.activity,
            capacity=lambda: self.container.settings.cache.memories,
        )
        self.lookup = NodeLookup(startup.now)
        self.presenter = MemoryPresenter(startup.now, self.meter, self.memory_nodes)

    @property
    def container(self) -> Container:
        """The open container. Raises StoreUnavailable while it opens; tool calls wait for that."""
        return self._startup.now()

    def warm_up(self) -> float | None:
        """Measure all memories' states in the background, so that the first questions need not wait
        (`bench_pulse`). Returns seconds to wait if the similarity index is not loaded yet."""
        if not self.container.live.similarity_index.is_loaded:
            return RETRY_SECONDS
        self.meter.measure_all()
        return None

    def _tasks_about(self, ids: Collection[str] | None) -> Set[TaskType]:
        return self.container.curation.kinds(ids)

    @property
    def offered(self) -> Set[str]:
        """Names of the tools that the calling client sees."""
        is_full = (requested_tools() or self._tool_set) == "full"
        return self.tools if is_full else self.core_tools

    def offers(self, tool: str) -> bool:
        """Whether the calling client sees this tool."""
        return tool in self.offered

    def _may_suggest(self, tool: str) -> bool:
        is_dream = tool == SuggestedAction.TRIGGER_DREAM
        return self.offers(tool) and (not is_dream or self.container.dreaming.is_worthwhile)

    def _memory_of(self, memory_id: str) -> Memory | None:
        return self.container.memory_of(memory_id)

    def _read(self, path: str) -> bytes:
        return self.container.guarded.read(path)

    def propose(
        self, needed: NeededApproval | None, call: TaskAction, why: Attribution, *, preview: bool
    ) -> str | None:
        """Record a call that needs the person's approval as a proposal to them.

        Returns the notice for the client; None if it needs none.
        """
        if needed is None:
            return None
        if not preview:
            self.container.proposals.propose_call(needed, call, why.actor, why.rationale)
        return (
            f"This waits for the person: {needed.reason}. Tell them that it is on the Curate page. "
            "Nothing is changed until they agree."
        )

    def touch(self, session_id: str | None = None) -> Session:
        """The session of this call; without an id, the connection's own.

        Raises SessionNotFound: the session has expired.
        """
        sessions = self.container.sessions
        if session_id is None:
            return sessions.touch(connection_id(), client_name(), renewable=True)
        return sessions.touch(session_id, client_name())

    def record_shown(
        self, session: Session, ids: Sequence[str], question: str = "", hits: Sequence[Hit] = ()
    ) -> None:
        """Record the memories that an answer shows, best first; with hits if it answers a
        question."""
        session.accessed(ids)
        self.container.activity.accessed(ids)
        if hits:
            client = client_name()
            self.container.learning.record_shown(
                connection_id(), client, session.id, question, hits
            )

    def record_answer(
        self, session: Session, query: str, result: SearchResult, scope: Scope | None = None
    ) -> None:
        """Record the memories that answer a question, or that none does."""
        self.log_question(query, result, scope)
        self.record_shown(session, [hit.memory.id for hit in result.hits], query, result.hits)

    def record_read(self, session: Session, ids: Sequence[str], *, cited: bool = False) -> None:
        """Record the memories that were read whole or as citations."""
        self.record_shown(session, ids)
        learning = self.container.learning
        learning.record_read(connection_id(), ids, cited=cited, client=client_name())

    def log_question(self, query: str, result: SearchResult, scope: Scope | None = None) -> None:
        """Record the outcome of a question: no answer, or claims on a sensitive topic."""
        self.log_claims(query, result)
        name = client_name() or UNNAMED
        self.container.learning.record_question(name, query, result, scope or Scope())

    def log_claims(self, query: str, result: SearchResult) -> None:
        """Log the claims that this answer to a sensitive question withholds or shows."""
        self.container.gate_log.record(query, result, client_name() or "")

    def node(self, memory: Memory) -> MemoryNode:
        """The memory with its state. Raises NoteNotFound: the note was just removed."""
        node = self.memory_nodes.get(memory.id)
        if node is None:
            raise NoteNotFound(f"There is no note at {memory.path}", path=memory.path)
        return node

    def contradicted(
        self, text: str | None, project: str | None, apart_from: str | None = None
    ) -> list[Contradiction]:
        """As `Critic.contradicted_by_new`; none while a store does not answer."""
        with suppress(StoreUnavailable, GraphQueryError, DiskFull):
            scope = Scope(None, project)
            return self.container.live.critic.contradicted_by_new(text or "", scope, apart_from)
        return []

    def supersede_hint(self, memory: Memory, contradicted: Sequence[Contradiction]) -> str:
        """The notice for a client whose text in this note contradicts other memories."""
        link = self.link_to(memory, [contradiction.memory for contradiction in contradicted])
        return (
            "An older memory says otherwise (contradicts). Ask the person which is right; to "
            "supersede the older one: edit_memory with operation=append and "
            f"content='Superseded by: {link}'."
        )

    def link_to(self, memory: Memory, memories: Sequence[Memory]) -> str:
        """A wikilink that leads to this memory's note from each of the other notes."""
        links = self.container.live.indexer.links
        return wikilink_from_all(memory.path, [other.path for other in memories], links)

    def related(self, text: str | None, project: str | None) -> list[Hit]:
        """As `Critic.related_to_new`; none while a store does not answer."""
        with suppress(StoreUnavailable, GraphQueryError, DiskFull):
            scope = Scope(None, project)
            return self.container.live.critic.related_to_new(text or "", scope)
        return []

    def scope(self, project: str | None, filters: Filters | None = None) -> Scope:
        """The scope of a search.

        Raises:
            InvalidParams: no note belongs to this project.
        """
        catalogue = self.container.live.catalogue
        spelling = catalogue.project_named(project) if project is not None else None
        if project is None or spelling is not None:
            return Scope(filters, spelling)
        names = sorted(catalogue.projects())
        known_projects = f"Known projects: {', '.join(names)}" if names else "No note has a project"
        raise InvalidParams(
            f"No note belongs to a project {project!r}. {known_projects}. Correct the name, or "
            "leave project out to search everything.",
            projects=names,
        )

    def pulse_of(self, hits: Sequence[Hit], session: Session) -> CognitivePulse:
        """The pulse of an answer to a question, which the session counts as a turn."""
        pulse = self.meter.of_hits(hits)
        self.container.learning.record_answer(session.id, pulse.entropy, len(hits))
        return pulse


class Tools:
    """A group of tools; each method marked with `tool` is served."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    def _operated(self, done: ChangeResult[Any] | UndoResult, preview: bool) -> dict[str, Any]:
        """The fields of an `Operated` answer."""
        lines = done.plan.lines_changed(MAX_LINES) if preview else None
        return {
            "preview": preview,
            "lines": None if lines is None else [LineShape.of(line) for line in lines],
            "reversal_hash": done.change.reversal_hash if done.change else None,
            "pulse": self._box.meter.of_change(),
        }


def why_of(rationale: str, reason: str | None = None) -> Attribution:
    """Who requests a change, and why: the calling client with its rationale, in which secrets are
    masked, since the journal keeps it.

    Raises:
        InvalidParams: the rationale is too short or too long.
    """
    try:
        checked = without_secrets(check_rationale(rationale))
    except ValueError as error:
        raise InvalidParams(str(error)) from error
    name = client_name() or ""
    kind: Literal["client", "person"] = "person" if is_person() else "client"
    return Attribution(name, checked, reason, kind, call=call_key())
