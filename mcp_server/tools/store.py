"""Writing a memory."""

from __future__ import annotations

from typing import Annotated

from fastmcp.tools import tool
from pydantic import Field, JsonValue

from mcp_server.answers.base import utc
from mcp_server.answers.changes import PreferenceAnswer, StoredAnswer
from mcp_server.middleware.client_identity import client_name
from mcp_server.tools.arguments import (
    ADDS,
    CORE,
    READS,
    SETS,
    PreferenceKey,
    Project,
    Rationale,
    SessionId,
)
from mcp_server.tools.curation import why_of
from mcp_server.tools.toolbox import Toolbox
from memvault.cognition.pulse import learnt
from memvault.curation.operations.draft import Draft
from memvault.curation.operations.preferences import get_preference, set_preference
from memvault.curation.operations.remember import remember
from memvault.model.errors import InvalidParams
from memvault.model.memory import MAX_CONTENT_CHARS, Lifecycle, Memory
from memvault.vault.links import LinkIndex

Value = Annotated[
    str, Field(min_length=1, max_length=2000, description="What the person prefers, in one line.")
]


class PreferenceTools:
    """Tools over the notes of preferences."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    @tool(annotations=READS, tags=CORE, title="Get a preference")
    def get_preference(self, key: PreferenceKey) -> PreferenceAnswer:
        """Look up how the person likes something done; `value` is null if they never said.

        Exact look-up by key, in any case and with spaces, hyphens or underscores; ask
        recall_memory if you do not know the key.
        """
        found = get_preference(self._box.services.stores.keyvalue, key)
        return PreferenceAnswer(
            key=found.key if found else key,
            value=found.value if found else None,
            path=found.path if found else None,
            pulse=self._box.meter.of_vault(),
        )

    @tool(annotations=SETS, tags=CORE, title="Set a preference")
    def set_preference(
        self, key: PreferenceKey, value: Value, rationale: Rationale
    ) -> PreferenceAnswer:
        """Keep a lasting preference of the person's, as one line of their preferences note.

        Only what they said or clearly showed they want from now on. It replaces the value that
        the key has.
        """
        services = self._box.services
        known = get_preference(services.stores.keyvalue, key)
        written = set_preference(
            services.curator,
            key,
            value,
            why_of(rationale),
            path=known.path if known else None,
        ).result
        services.indexing.index_written([written.path])
        return PreferenceAnswer(
            key=written.key,
            value=written.value,
            path=written.path,
            pulse=self._box.meter.of_vault(),
        )


Content = Annotated[
    str | None,
    Field(
        description="What to remember, as Markdown, in full sentences that can be understood "
        "without this conversation. [[Note title]] links to a note.",
        json_schema_extra={"maxLength": MAX_CONTENT_CHARS},
    ),
]
Encoded = Annotated[
    str | None, Field(description="Instead of content: a picture, sound or film in base64.")
]
Title = Annotated[str | None, Field(max_length=200, description="The note's title and file name.")]
Importance = Annotated[
    float | str | None,
    Field(description="critical, high, medium or low, or a number from 0 to 1; medium if unsure."),
]
Modality = Annotated[
    str,
    Field(
        description="What content_base64 is.",
        json_schema_extra={"enum": ["text", "image", "audio", "video"]},
    ),
]
Kept = Annotated[
    Lifecycle | None,
    Field(
        description="permanent only if the person asked to keep it for good; temporary for a "
        "project, ephemeral for a session. Left out, memvault decides."
    ),
]
Kind = Annotated[
    str | None,
    Field(max_length=100, description="fact, decision, person, event, preference, idea, …"),
]
Links = Annotated[
    list[str] | None, Field(description="Ids or paths of memories that this one belongs with.")
]


class StoreTools:
    """Tools that write new notes."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    @tool(annotations=ADDS, tags=CORE, title="Store a memory")
    def store_memory(
        self,
        *,
        rationale: Rationale,
        content: Content = None,
        content_base64: Encoded = None,
        title: Title = None,
        importance: Importance = None,
        modality: Modality = "text",
        lifecycle: Kept = None,
        project: Project = None,
        type: Kind = None,
        tags: list[str] | None = None,
        link_to: Links = None,
        metadata: dict[str, JsonValue] | None = None,
        session_id: SessionId = None,
    ) -> StoredAnswer:
        """Keep something worth knowing in later conversations, as a note the person can edit.

        Store what was decided, learnt or asked to be remembered, one thing per memory; recall
        first, so that nothing is stored twice. For how the person likes things done, use
        set_preference. `metadata` becomes further frontmatter keys.
        """
        self._box.touch(session_id)
        draft = Draft.checked(
            content=content,
            content_base64=content_base64,
            rationale=rationale,
            title=title,
            importance=importance,
            modality=modality,
            lifecycle=lifecycle,
            project=project,
            type=type,
            tags=tags,
            link_to=link_to,
            metadata=metadata,
            client=client_name(),
        )
        return self._answer(self._write(draft))

    def _write(self, draft: Draft) -> Memory:
        services = self._box.services
        links = LinkIndex() if draft.link_to else None
        if links is not None:
            for memory in services.catalogue.all():
                links.add(memory.path, memory.aliases)
        path = remember(
            services.curator,
            draft,
            [self._related(name) for name in draft.link_to],
            links=links,
        ).result.path
        services.indexing.index_written([path])
        return services.catalogue.by_path(path) or self._box.memory_on_disk(path)

    def _related(self, name: str) -> Memory:
        catalogue = self._box.services.catalogue
        memory = catalogue.by_id(name) or catalogue.by_path(name)
        if memory is None:
            raise InvalidParams(f"link_to: no memory has the id or path {name!r}")
        return memory

    def _answer(self, memory: Memory) -> StoredAnswer:
        meter = self._box.meter
        new = learnt(meter, memory.id)
        self._box.services.activity.stored(memory.id, client_name(), new.state)
        return StoredAnswer(
            node_id=memory.id,
            path=memory.path,
            created_at=utc(memory.created_at),
            johari_quadrant=meter.states([memory.id])[memory.id].quadrant,
            utl_state=new.state,
            pulse=meter.of([memory.id, *new.among]),
        )
