"""Tools that move notes: one, those of a folder, and those of a finished project."""

from __future__ import annotations

from typing import Annotated, Any

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.changes import ArchivedAnswer, FolderMovedAnswer, MovedAnswer
from mcp_server.tools.arguments import FULL, SETS, Preview, SessionId, TargetName, WhyChanged
from mcp_server.tools.toolbox import Tools, why_of
from memvault.curation.changes.curator import ChangeResult
from memvault.curation.changes.plan import Attribution
from memvault.curation.operations.move import Move
from memvault.curation.operations.move_folder import FolderMove
from memvault.model.change import TaskAction

Destination = Annotated[
    str,
    Field(
        min_length=1,
        max_length=1024,
        description="A folder of the vault, / for its own, or a path that ends in .md to rename.",
    ),
]


class MoveTools(Tools):
    """Tools that change the paths of notes; every move can be undone."""

    @tool(annotations=SETS, tags=FULL, title="Move or rename a note")
    def move_memory(
        self,
        target: TargetName,
        destination: Destination,
        *,
        rationale: WhyChanged,
        preview: Preview = False,
        session_id: SessionId = None,
    ) -> MovedAnswer:
        """Move a note to another folder, or give its file a new name.

        Links to it are kept: those that would break are rewritten. Notes of the person's, and notes
        that would become permanent there, move only once they agree on the Curate page.
        """
        self._box.touch(session_id)
        self._box.lookup.raise_if_quarantined(target.strip().lstrip("/"))
        actions, why = self._box.container.actions, why_of(rationale)
        done = actions.move(target, destination, why, preview=preview)
        node_id = done.plan.node_ids[0]
        call = TaskAction.by("move_memory", target=node_id, destination=done.result.path)
        fields = self._moved(done, call, why, preview=preview)
        if done.approval is not None and not preview:
            note = self._box.lookup.memory(node_id)
            fields |= {"path": note.path, "lifecycle": note.lifecycle, "project": note.project}
        return MovedAnswer.of(done.result, node_id=node_id, **fields)

    @tool(annotations=SETS, tags=FULL, title="Move or rename a folder")
    def move_folder(
        self,
        folder: Annotated[str, Field(min_length=1, max_length=1024, description="Its path.")],
        destination: Annotated[
            str,
            Field(
                min_length=1,
                max_length=1024,
                description="A folder that exists or ends in /, to move into; else the new path.",
            ),
        ],
        *,
        rationale: WhyChanged,
        preview: Preview = False,
        session_id: SessionId = None,
    ) -> FolderMovedAnswer:
        """Move all notes of a folder as one change, which one undo_change reverts.

        Links to them are kept; other files stay. Notes of the person's, and notes that would become
        permanent there, move only once they agree on the Curate page.
        """
        self._box.touch(session_id)
        actions, why = self._box.container.actions, why_of(rationale)
        done = actions.move_folder(folder, destination, why, preview=preview)
        call = TaskAction.by("move_folder", folder=folder, destination=destination)
        fields = self._moved(done, call, why, preview=preview)
        if done.approval is not None and not preview:
            fields["moved"] = {}
        return FolderMovedAnswer.of(done.result, **fields)

    @tool(annotations=SETS, tags=FULL, title="Archive a finished project")
    def archive_project(
        self,
        project: Annotated[str, Field(min_length=1, max_length=255, description="Its folder.")],
        *,
        rationale: WhyChanged,
        preview: Preview = False,
        session_id: SessionId = None,
    ) -> ArchivedAnswer:
        """Move the notes of a finished project to archive/projects/, those in the folder chosen for
        new notes within it; notes of the person's only once they agree on the Curate page.

        They stay searchable, links to them are kept, and undo_change moves them back.
        """
        self._box.touch(session_id)
        actions, why = self._box.container.actions, why_of(rationale)
        done = actions.archive_project(project, why, preview=preview)
        call = TaskAction.by("archive_project", project=project)
        notice = self._box.propose(done.approval, call, why, preview=preview)
        return ArchivedAnswer(
            moved=done.result if preview or notice is None else {},
            notice=notice,
            **self._operated(done, preview),
        )

    def _moved(
        self,
        done: ChangeResult[Move] | ChangeResult[FolderMove],
        call: TaskAction,
        why: Attribution,
        *,
        preview: bool,
    ) -> dict[str, Any]:
        """The fields of an answer about a move; proposes the call if the move needs approval."""
        notice = self._box.propose(done.approval, call, why, preview=preview)
        changed = [edit.path for edit in done.plan.edits if edit.moved_to is None]
        return {
            "notes_changed": [] if notice else changed,
            "notice": notice or done.result.notice,
            **self._operated(done, preview),
        }
