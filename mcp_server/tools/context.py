"""A context for a question, distilled from the notes."""

from __future__ import annotations

from typing import Annotated, Literal

from anyio import to_thread
from fastmcp.tools import tool
from mcp_types import InputRequiredResult
from pydantic import Field

from mcp_server.answers.context import ContextAnswer
from mcp_server.arguments import Project, Query, SessionId, Verbosity
from mcp_server.contexts import Asked, Contexts
from mcp_server.summary import with_summary
from mcp_server.toolbox import Toolbox
from mcp_server.tools.kinds import CORE, READS
from memvault.model.insights import Aspect
from memvault.model.query import Scope
from memvault.retrieval.context.forms import Form

LOOKED_AT = {"low": 5, "normal": 10, "high": 20, "critical": 40}  # memories, by priority

MaxTokens = Annotated[
    int | None,
    Field(
        ge=100,
        le=8192,
        description="Tokens that the context may take. Left out, the whole answer keeps to its "
        "verbosity, about 100, 200 or 800; give 2048 for a thorough look.",
    ),
]
Priority = Annotated[
    Literal["low", "normal", "high", "critical"],
    Field(description="How deep to look: 5, 10, 20 or 40 memories are read."),
]
Distillation = Annotated[
    Literal["auto", "raw", "narrative", "structured", "code_focused"],
    Field(
        description="raw: whole passages. narrative: sentences as prose. structured: bullets. "
        "code_focused: code first. auto chooses by what is found."
    ),
]
Metadata = Annotated[
    list[Aspect] | None,
    Field(max_length=4, description="Also say this of the memories; verbosity 2 says all of it."),
]
Summarise = Annotated[
    bool, Field(description="Also ask your own model for a summary, if your client allows that.")
]


class ContextTools:
    """Tools over `Distiller`."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box
        self._contexts = Contexts(box)

    @tool(annotations=READS, tags=CORE, title="Inject context")
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
        project: Project = None,
        summarise: Summarise = False,
    ) -> ContextAnswer | InputRequiredResult:
        """Gather what the notes say to a question into one text within a budget of tokens.

        Use it to ground a longer answer or a task; recall_memory finds single memories. Every
        sentence is a note's own, word for word; [node_…] says whose, `sources` says where. What
        this session has seen lately weighs a little more.
        """
        session = self._box.touch(session_id)
        asked = Asked(
            query=query,
            scope=Scope(None, project),
            level=session.level(verbosity_level),
            count=LOOKED_AT[priority],
            max_tokens=max_tokens,
            form=None if distillation_mode == "auto" else Form(distillation_mode),
            aspects=include_metadata or (),
        )
        answer, context = await to_thread.run_sync(self._contexts.answer, asked, session)
        if summarise and context is not None and context.text:
            return await with_summary(answer, context, query)
        return answer
