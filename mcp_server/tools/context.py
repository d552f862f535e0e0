"""inject_context, and hydrate_citation for its citations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from anyio import to_thread
from fastmcp.tools import tool
from mcp_types import InputRequiredResult
from pydantic import Field

from mcp_server.answers.context import (
    CitationsAnswer,
    ContextAnswer,
    ExpansionShape,
    LinkedMemoryShape,
)
from mcp_server.tools.arguments import CORE, FULL, READS, InProject, Query, SessionId, Verbosity
from mcp_server.tools.context_service import ContextRequest, ContextService
from mcp_server.tools.context_summary import with_summary
from mcp_server.tools.toolbox import Toolbox, Tools
from memvault.model.errors import (
    GraphQueryError,
    InvalidParams,
    NoteNotFound,
    StorageError,
    StoreUnavailable,
)
from memvault.model.memory import Memory
from memvault.model.search import Aspect, VerbosityLevel
from memvault.search.context.forms import ContextForm, ids_of_citation

NOTES_READ = {"low": 5, "normal": 10, "high": 20, "critical": 40}  # by priority

MaxTokens = Annotated[
    int | None,
    Field(
        ge=100,
        le=8192,
        description="2048 for a thorough look; default: the best sentences only.",
    ),
]
Priority = Annotated[
    Literal["low", "normal", "high", "critical"],
    Field(description="Reads 5, 10, 20 or 40 notes."),
]
Distillation = Annotated[
    Literal["auto", "raw", "narrative", "structured", "code_focused"],
    Field(description="Form of the text."),
]
Metadata = Annotated[
    list[Aspect] | None,
    Field(max_length=4, description="Also list these."),
]
Summarise = Annotated[bool, Field(description="Add a summary by your own model (sampling).")]


class ContextTools(Tools):
    """inject_context."""

    def __init__(self, box: Toolbox) -> None:
        super().__init__(box)
        self._contexts = ContextService(box)

    @tool(annotations=READS, tags=CORE, title="Gather context")
    async def inject_context(
        self,
        query: Query,
        *,
        max_tokens: MaxTokens = None,
        session_id: SessionId = None,
        priority: Priority = "normal",
        distillation_mode: Distillation = "auto",
        include_metadata: Metadata = None,
        verbosity_level: Verbosity = None,
        project: InProject = None,
        summarise: Summarise = False,
    ) -> ContextAnswer | InputRequiredResult:
        """Quote what many notes say to a question, as one text of max_tokens.

        For a longer answer or task. [node_…] marks the note of each sentence; `sources` lists them.
        """
        session = self._box.touch(session_id)
        request = ContextRequest(
            query=query,
            scope=self._box.scope(project),
            level=session.level(verbosity_level),
            count=NOTES_READ[priority],
            max_tokens=max_tokens,
            form=None if distillation_mode == "auto" else ContextForm(distillation_mode),
            aspects=include_metadata or (),
        )
        answer, context = await to_thread.run_sync(self._contexts.answer, request, session)
        if summarise and context is not None and context.text:
            return await with_summary(answer, context, query)
        return answer


SHOWN_CHARS = 2_000  # of a note, at verbosity 1
NEIGHBOURS_ONLY: tuple[Aspect, ...] = ("neighborhood",)

CitationTags = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=64)]],
    Field(min_length=1, max_length=10, description='Tags of a context, e.g. ["node_550e8400"].'),
]
IncludeNeighbors = Annotated[bool, Field(description="Also list directly related notes.")]


class CitationTools(Tools):
    """hydrate_citation."""

    @tool(annotations=READS, tags=FULL, title="Expand citations")
    def hydrate_citation(
        self,
        citation_tags: CitationTags,
        *,
        include_neighbors: IncludeNeighbors = False,
        verbosity_level: Verbosity = None,
        session_id: SessionId = None,
    ) -> CitationsAnswer:
        """Read the notes behind the [node_…] tags of a context, as they are on disk.

        Use it when a distilled sentence is vague or surprising. Verbosity 0 gives names only, 1 the
        first 2,000 characters of each note, 2 whole notes.
        """
        session = self._box.touch(session_id)
        level = session.level(verbosity_level)
        expansions = [self._expansion(tag, level, include_neighbors) for tag in citation_tags]
        ids = [expansion.id for expansion in expansions if expansion.id is not None]
        if not ids:
            raise InvalidParams(
                f"No citation tag could be resolved: {expansions[0].error}",
                citation_tags=citation_tags,
            )
        self._box.record_read(session, ids, cited=True)
        contents = [expansion.raw_content for expansion in expansions if expansion.raw_content]
        return CitationsAnswer(
            expansions=expansions,
            tokens_used=sum(self._box.container.embedder.tokens.count_all(contents)),
            pulse=self._box.meter.of(ids),
        )

    def _expansion(self, tag: str, level: VerbosityLevel, neighbours: bool) -> ExpansionShape:
        catalogue = self._box.container.live.catalogue
        ids = ids_of_citation(tag, catalogue.ids_starting)
        memory = catalogue.by_id(ids[0]) if ids and len(ids) == 1 else None
        if memory is None:
            return ExpansionShape(citation_tag=tag, error=_unresolved(tag, ids))
        without_text = ExpansionShape.of(
            memory,
            citation_tag=tag,
            agent_id=self._box.container.activity.of(memory.id).agent_id,
            neighbors=self._neighbours(memory) if neighbours else None,
        )
        if level is VerbosityLevel.RAW_ONLY:
            return without_text
        limit = None if level is VerbosityLevel.FULL_INSIGHTS else SHOWN_CHARS
        try:
            data = self._box.container.guarded.read(memory.path)
        except (NoteNotFound, StorageError) as error:
            return ExpansionShape(citation_tag=tag, error=error.message)
        content = data.decode("utf-8", errors="replace")
        text, last_line, is_cut = head(content, limit)
        return without_text.model_copy(
            update={"raw_content": text, "lines": [1, last_line], "more": is_cut}
        )

    def _neighbours(self, memory: Memory) -> list[LinkedMemoryShape] | None:
        try:
            neighborhood = self._box.presenter.insights([memory.id], NEIGHBOURS_ONLY).neighborhood
        except (StoreUnavailable, GraphQueryError):
            return None
        return [
            LinkedMemoryShape.of(neighbour)
            for neighbour in neighborhood.get(memory.id, ())
            if neighbour.node.path is not None and neighbour.distance == 1
        ]


def _unresolved(tag: str, ids: Sequence[str] | None) -> str:
    if ids is None:
        return f"{tag} is not a citation tag. Tags look like node_550e8400."
    if len(ids) > 1:
        return f"{tag} matches {len(ids)} memories. Add more digits of the id."
    return f"No memory has the tag {tag}; its note may be gone. Request the context again."


def head(content: str, limit: int | None) -> tuple[str, int, int | None]:
    """Whole lines up to ``limit`` characters, at least one; the number of the last line, and of the
    next if there is one."""
    end, number = 0, 0
    while end < len(content):
        following = content.find("\n", end) + 1 or len(content)
        if limit is not None and number and following > limit:
            return content[:end], number, number + 1
        end, number = following, number + 1
    return content, max(1, number), None
