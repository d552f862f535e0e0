"""list_memories: notes by folder, project, properties and dates."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.memories import FolderShape, ListAnswer, ListedShape
from mcp_server.tools.arguments import FULL, READS, MaxCount, SessionId
from mcp_server.tools.toolbox import Tools
from memvault.curation.targets import raise_if_excluded
from memvault.model.memory import Lifecycle
from memvault.model.search import Filters
from memvault.search.lists.filtered_notes import NoteFilter, list_notes
from memvault.vault.frontmatter.properties import as_text

Folder = Annotated[
    str | None,
    Field(max_length=1024, description="Only notes in this folder and below it."),
]
Project = Annotated[
    str | None, Field(min_length=1, max_length=100, description="Only notes of this project.")
]
Kind = Annotated[str | None, Field(max_length=100, description="Such as decision or person.")]
Tags = Annotated[list[str] | None, Field(max_length=100, description="At least one of these tags.")]
Properties = Annotated[
    dict[str, str | int | float | bool] | None,
    Field(description='Values of properties, {"status": "open"}; an empty text means any value.'),
]
Day = Annotated[datetime | None, Field(description="ISO 8601.")]
Cursor = Annotated[
    str | None, Field(max_length=200, description="The cursor of the answer before, to go on.")
]


class ListTools(Tools):
    """list_memories."""

    @tool(annotations=READS, tags=FULL, title="List notes")
    def list_memories(
        self,
        folder: Folder = None,
        *,
        project: Project = None,
        type: Kind = None,
        tags: Tags = None,
        lifecycle: Annotated[Lifecycle | None, Field(description="Only of this one.")] = None,
        properties: Properties = None,
        created_after: Day = None,
        created_before: Day = None,
        changed_after: Day = None,
        changed_before: Day = None,
        limit: MaxCount = 20,
        cursor: Cursor = None,
        session_id: SessionId = None,
    ) -> ListAnswer:
        """List notes without a question, the newest first, and the folders with their counts.

        All given conditions must hold. To find what answers a question, use recall_memory.
        """
        self._box.touch(session_id)
        if folder:
            raise_if_excluded(folder.strip("/") + "/", self._box.container.vault.ignore_rules)
        project_name = self._box.scope(project).project
        note_filter = NoteFilter(
            folder or "",
            project_name,
            Filters(
                types=None if type is None else [type],
                tags=tags,
                lifecycles=None if lifecycle is None else [lifecycle],
                created_after=created_after,
                created_before=created_before,
            ),
            changed_after,
            changed_before,
            {key: as_text(value) for key, value in (properties or {}).items()},
        )
        page = list_notes(self._box.container.live.catalogue.records(), note_filter, limit, cursor)
        return ListAnswer.of(
            page,
            memories=[ListedShape.of(note) for note in page.notes],
            folders=[FolderShape.of(folder) for folder in page.folders],
            pulse=self._box.meter.of([note.memory.id for note in page.notes]),
        )
