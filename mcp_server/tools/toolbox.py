"""The services that all tools share: the container, the pulse, and the display of memories."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from mcp_server.answers.memories import (
    EmbeddedShape,
    FullAnswer,
    NodeShape,
    bare,
    concluded,
    excerpt_limits,
    shown,
)
from mcp_server.answers.token_budget import ANSWER_TOKENS, TokenBudget
from mcp_server.engine.startup import Startup
from mcp_server.middleware.client_identity import (
    ToolSet,
    client_name,
    connection_id,
    is_person,
    wanted_set,
)
from mcp_server.runtime.learning_service import UNNAMED
from memvault.cognition.memory_loader import MemoryNodes
from memvault.cognition.pulse import PulseMeter
from memvault.cognition.sessions import Session
from memvault.curation.changes.plan import Attribution
from memvault.curation.proposals import ProposalKind
from memvault.curation.targets import Target, nearest_names, resolve
from memvault.model.change import TaskAction, TaskType
from memvault.model.errors import (
    DiskFull,
    GraphQueryError,
    InvalidParams,
    MemvaultError,
    NoteNotFound,
    NoteQuarantined,
    StorageError,
    StoreUnavailable,
)
from memvault.model.graph import GraphEdge
from memvault.model.memory import Memory, MemoryNode, UTLState
from memvault.model.search import (
    Aspect,
    Filters,
    Hit,
    Insights,
    NodeRef,
    Scope,
    SearchResult,
    VerbosityLevel,
)
from memvault.model.state import CognitivePulse, SuggestedAction
from memvault.reasoning.critique import Contradiction
from memvault.reasoning.insights import EVERY_ASPECT, NEAR, insights
from memvault.reasoning.lead_sentences import LeadSentences
from memvault.search.embeds import Embeds
from memvault.stores.graph_view import node_ref

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container


def node_named(container: Container, name: str) -> NodeRef:
    """The graph's node with this id, path or name; ``#name`` is a tag.

    Raises:
        NoteNotFound: no node has this name.
        AmbiguousTarget: several nodes have it.
        StoreUnavailable, GraphQueryError: the graph does not answer.
    """
    key = name.strip()
    if container.live.graph_view.node(key) is not None:
        return node_ref(key, container.live.graph_view)
    meant = None if key.startswith("#") else container.live.indexer.names.lookup(key)
    if meant is not None and container.live.graph_view.node(meant.target) is not None:
        return node_ref(meant.target, container.live.graph_view)
    target = resolve(key, container.live.catalogue, container.live.stores.graph)
    return node_ref(target.node_ids[0], container.live.graph_view)


CONCLUDED: tuple[Aspect, ...] = ("causal_links", "entailment_cones", "conflicts")
AROUND: tuple[Aspect, ...] = ("neighborhood",)
LOOK_SECONDS = 0.5
_THEIRS = {
    ProposalKind.MOVED: "{} is their own note, which only they move",
    ProposalKind.FORGOTTEN: "{} is their own note, which only they forget",
    ProposalKind.MERGED: "{} is their own note, which only they merge into another",
    ProposalKind.MANIFEST: "{} is their own note, which only they forget or merge",
    ProposalKind.UNDONE: "they changed {} themselves, which only they undo",
}
MAX_NEAR = 12  # neighbours of a memory that is the only result
NO_CONCLUSIONS = "The graph is unreachable; causes and conflicts are missing from this answer."
Full = TypeVar("Full", bound=FullAnswer)


def supersede_hint(title: str) -> str:
    """The notice for a client whose text in this note contradicts other memories."""
    return (
        "An older memory says otherwise (contradicts). Ask the person which is right; to "
        "supersede the older one: edit_memory with operation=append and "
        f"content='Superseded by: [[{title}]]'."
    )


class Toolbox:
    """The services that all tools share. Made once per server; thread-safe."""

    def __init__(self, startup: Startup) -> None:
        self._startup = startup
        self.tools: set[str] = set()  # names of all tools
        self.core_tools: set[str] = set()  # of these, the core set
        self.tool_set: ToolSet = "core"  # of connections that request none
        self.meter = PulseMeter(
            lambda: self.container.live.similarity_index,
            tasks=self._tasks_about,
            offers=self._could_advise,
            background=lambda: self.container.worker,
        )
        self.memory_nodes = MemoryNodes(
            self._memory_of,
            self._read,
            self.meter,
            activity=lambda: self.container.activity,
            capacity=lambda: self.container.settings.cache.memories,
        )
        self._lead_sentences = LeadSentences(self._read)
        self._embeds = Embeds(self._read, self._stated_by, self._linked_from)

    @property
    def container(self) -> Container:
        """The open container. Raises StoreUnavailable while it opens; tool calls wait for that."""
        return self._startup.now()

    def warm_up(self) -> float | None:
        """Measure all memories' states in the background, so that the first questions need not wait
        (`bench_pulse`). Returns seconds to wait if the similarity index is not loaded yet."""
        if not self.container.live.similarity_index.is_loaded:
            return LOOK_SECONDS
        self.meter.measure_all()
        return None

    def _tasks_about(self, ids: Collection[str] | None) -> Set[TaskType]:
        return self.container.curation.kinds(ids)

    @property
    def offered(self) -> Set[str]:
        """Names of the tools that the calling client sees."""
        is_full = (wanted_set() or self.tool_set) == "full"
        return self.tools if is_full else self.core_tools

    def offers(self, tool: str) -> bool:
        """Whether the calling client sees this tool."""
        return tool in self.offered

    def _could_advise(self, tool: str) -> bool:
        is_dream = tool == SuggestedAction.TRIGGER_DREAM
        return self.offers(tool) and (not is_dream or self.container.dreaming.is_worthwhile)

    def _memory_of(self, memory_id: str) -> Memory | None:
        return self.container.live.catalogue.by_id(memory_id)

    def _stated_by(self, memory_id: str) -> Sequence[GraphEdge]:
        return self.container.live.graph_view.stated_by(memory_id)

    def _linked_from(self, target: str, source: str) -> str | None:
        return self.container.live.indexer.links.resolve(target, source)

    def _read(self, path: str) -> bytes:
        return self.container.guarded.read(path)

    def is_persons(self, note: Memory | None) -> bool:
        """Whether the caller is a client and the person wrote, changed or moved this note."""
        if note is None or is_person():
            return False
        return not self.container.actions.deletable(Target(note.title, note))

    def propose(
        self,
        kind: ProposalKind,
        call: TaskAction,
        about: tuple[str, str],
        why: Attribution,
        *,
        preview: bool,
    ) -> str:
        """Record a client's call as a proposal to the person; returns the notice for the client.

        Args:
            about: id and path of the person's note, or of the note that they changed.
        """
        if not preview:
            self.container.proposals.propose_call(kind, call, about, why.actor, why.rationale)
        return (
            f"This waits for the person: {_THEIRS[kind].format(about[1])}. Tell them that it is on "
            "the Curate page. Nothing is changed until they agree."
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
            self.container.learning.shown(connection_id(), client, session.id, question, hits)

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
        learning.read(connection_id(), ids, cited=cited, client=client_name())

    def log_question(self, query: str, result: SearchResult, scope: Scope | None = None) -> None:
        """Record the outcome of a question: no answer, or claims on a sensitive topic."""
        self.log_claims(query, result)
        name = client_name() or UNNAMED
        self.container.learning.asked(name, query, result, scope or Scope())

    def log_claims(self, query: str, result: SearchResult) -> None:
        """Log the claims that this answer to a sensitive question withholds or shows."""
        self.container.gate_log.record(query, result, client_name() or "")

    def memory(self, memory_id: str) -> Memory:
        """The memory with this id. Raises NoteNotFound, NoteQuarantined."""
        memory = self.container.live.indexer.catalogue.by_id(memory_id)
        if memory is None:
            self._raise_if_quarantined(memory_id)
            raise NoteNotFound(
                f"No memory has the id {memory_id}. Search for what it says.",
                id=memory_id,
            )
        return memory

    def _raise_if_quarantined(self, name: str) -> None:
        """Raises NoteQuarantined: the note with this id or path is in quarantine."""
        for held in self.container.guarded.held():
            if held.whole and name in (held.note_id, held.path):
                raise NoteQuarantined(
                    f"{held.path} is in quarantine: it contains what looks like orders to an AI "
                    f"model ({', '.join(held.kinds)}). The person can release it on the Curate "
                    "page.",
                    path=held.path,
                )

    def text_of(self, memory: Memory) -> str:
        """The whole note, as it is on disk.

        Raises:
            NoteNotFound: it was just removed.
            StorageError: it cannot be read (core ERR-CORE-002).
        """
        try:
            return self._read(memory.path).decode("utf-8", errors="replace")
        except StorageError as error:
            raise StorageError(
                f"Storage error: Read failed for node {memory.id}: {error.message}", id=memory.id
            ) from error

    def node(self, memory: Memory) -> MemoryNode:
        """The memory with its state. Raises NoteNotFound: the note was just removed."""
        node = self.memory_nodes.get(memory.id)
        if node is None:
            raise NoteNotFound(f"There is no note at {memory.path}", path=memory.path)
        return node

    def memory_on_disk(self, path: str) -> Memory:
        """The memory at a path that may not be indexed yet.

        Raises NoteNotFound.
        """
        memory = self.container.live.indexer.as_on_disk(path)
        if memory is None:
            raise NoteNotFound(f"There is no note at {path}", path=path)
        return memory

    def memory_at(self, name: str) -> Memory:
        """The memory of the note with this path, file name, alias or title.

        Raises:
            NoteNotFound: no note has this name; the message has the nearest names.
            AmbiguousTarget: several notes have this title.
        """
        indexer = self.container.live.indexer
        wanted = name.strip().lstrip("/")
        memory = indexer.catalogue.by_path(wanted)
        is_name = "/" not in wanted and "\\" not in wanted
        if memory is None and is_name and (meant := indexer.links.resolve(wanted, "")) is not None:
            memory = indexer.catalogue.by_path(meant)
        if memory is None:
            with suppress(NoteNotFound, StoreUnavailable, GraphQueryError):
                memory = resolve(wanted, indexer.catalogue, self.container.live.stores.graph).note
        if memory is None:
            self._raise_if_quarantined(wanted)
            near = nearest_names(wanted, indexer.catalogue)
            hint = "search for what it says"
            if near:
                hint = f"the nearest are {', '.join(near)}"
            raise NoteNotFound(f"No note has the path or name {name!r}; {hint}", path=name)
        return memory

    def contradicted(self, text: str | None, apart_from: str | None = None) -> list[Contradiction]:
        """As `Critic.contradicted_by_new`; none while a store does not answer."""
        with suppress(StoreUnavailable, GraphQueryError, DiskFull):
            return self.container.live.critic.contradicted_by_new(text or "", apart_from)
        return []

    def related(self, text: str | None, project: str | None) -> list[Memory]:
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
        own = self.container.live.catalogue.project_named(project) if project is not None else None
        if project is None or own is not None:
            return Scope(filters, own)
        names = sorted(self.container.live.catalogue.projects())
        known = f"Known projects: {', '.join(names)}" if names else "No note has a project"
        raise InvalidParams(
            f"No note belongs to a project {project!r}. {known}. Correct the name, or leave "
            "project out to search everything.",
            projects=names,
        )

    def pulse_of(self, hits: Sequence[Hit], session: Session | None = None) -> CognitivePulse:
        """The pulse of an answer to a question, which ``session`` counts as a turn."""
        pulse = self.meter.of([hit.memory.id for hit in hits], [hit.relevance for hit in hits])
        if session is not None:
            self.container.learning.answered(session.id, pulse.entropy, len(hits))
        return pulse

    def nodes(self, hits: Sequence[Hit], level: VerbosityLevel, query: str) -> list[NodeShape]:
        """The hits as an answer to this question shows them."""
        if level is VerbosityLevel.RAW_ONLY:
            return [bare(hit) for hit in hits]
        states = self.meter.states([hit.memory.id for hit in hits])
        full = level is VerbosityLevel.FULL_INSIGHTS
        gated = any(hit.gated for hit in hits)
        choose = self.container.own_excerpts if gated else self.container.excerpts
        excerpts = choose.of(query, hits, excerpt_limits(len(hits), level))
        nodes = shown(hits, states, excerpts, self._utl_state if full else None)
        if gated:  # embedded text may be others' words
            return nodes
        parts = [
            [] if hit.withheld else self._embeds.of(hit.memory, excerpt.text, excerpt.lines)
            for hit, excerpt in zip(hits, excerpts, strict=True)
        ]
        return [
            node.model_copy(update={"embedded": [EmbeddedShape.of(part) for part in some]})
            if some
            else node
            for node, some in zip(nodes, parts, strict=True)
        ]

    def insights(
        self, ids: Sequence[str], wanted: Collection[Aspect] = EVERY_ASPECT, near: int = NEAR
    ) -> Insights:
        """Causes, entailment, neighbours and conflicts of these memories, best first.

        Raises StoreUnavailable, GraphQueryError: the graph does not answer.
        """
        return insights(
            ids,
            self.container.live.graph_view,
            self._memory_of,
            wanted,
            near=near,
            lead_of=self._lead_sentences.of,
        )

    def concluded(self, answer: Full, result: SearchResult, level: VerbosityLevel) -> Full:
        """The answer; at the highest level with conclusions from its memories."""
        if level is not VerbosityLevel.FULL_INSIGHTS:
            return answer
        if result.matter is not None and result.claims:
            return answer  # conclusions may quote claims, too
        ids = [hit.memory.id for hit in result.hits]
        try:
            answer = answer.model_copy(update=concluded(self.insights(ids, CONCLUDED)))
            room = TokenBudget(self.container.embedder.tokens, self.container.live.catalogue)
            left = ANSWER_TOKENS[level] - room.of(answer)
            if left <= 0:
                return answer
            around = self.insights(ids, AROUND, near=MAX_NEAR).neighborhood
            told: dict[str, object] = {"neighborhood": room.surroundings(around, left)}
        except (StoreUnavailable, GraphQueryError):
            told = {"notice": answer.notice or NO_CONCLUSIONS}
        return answer.model_copy(update=told)

    def _utl_state(self, memory_id: str) -> UTLState | None:
        """The memory's state of learning; None if the note is gone or cannot be read."""
        with suppress(MemvaultError):
            node = self.memory_nodes.get(memory_id)
            return node.utl_state if node is not None else None
        return None


class Tools:
    """A group of tools; each method marked with `tool` is served."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box
