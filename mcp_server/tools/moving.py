"""Tools that move notes: one, those of a folder, and those of a finished project."""

from __future__ import annotations

from typing import Annotated, Any

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.changes import ArchivedAnswer, FolderMovedAnswer, MovedAnswer, operated
from mcp_server.middleware.client_identity import is_person
from mcp_server.tools.arguments import FULL, SETS, Preview, SessionId, TargetName, WhyChanged
from mcp_server.tools.curation import why_of
from mcp_server.tools.toolbox import PERSON_DECIDES, Tools
from memvault.curation.changes.curator import ChangeResult
from memvault.curation.operations.move import Move
from memvault.curation.operations.move_folder import FolderMove
from memvault.curation.proposals import ProposalKind
from memvault.model.change import TaskAction
from memvault.model.memory import Lifecycle, Memory

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
        done = actions.move(target, destination, why, preview=True)
        note = self._box.lookup.memory(done.plan.node_ids[0])
        reason = self._persons_reason(note, done.result)
        if reason is not None and not done.plan.changes_nothing:
            call = TaskAction.by("move_memory", target=note.id, destination=done.result.path)
            notice = self._box.propose(
                ProposalKind.MOVED, call, (note.id, note.path), why, preview=preview, reason=reason
            )
            unmoved = Move(note.path, note.path, note.lifecycle, note.project)
            return MovedAnswer.of(
                done.result if preview else unmoved, node_id=note.id, notes_changed=[],
                notice=notice, **self._operated(done, preview),
            )  # fmt: skip
        if not preview:
            done = actions.move(target, destination, why)
        changed = [edit.path for edit in done.plan.edits if edit.moved_to is None]
        return MovedAnswer.of(
            done.result, node_id=note.id, notes_changed=changed, **self._operated(done, preview)
        )

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
        done = actions.move_folder(folder, destination, why, preview=True)
        waiting = self._waiting_note(done.result) if not done.plan.changes_nothing else None
        if waiting is not None:
            note, reason = waiting
            call = TaskAction.by("move_folder", folder=folder, destination=destination)
            notice = self._box.propose(
                ProposalKind.MOVED, call, (note.id, note.path), why, preview=preview, reason=reason
            )
            return FolderMovedAnswer.of(
                done.result, moved=done.result.moved if preview else {}, notes_changed=[],
                notice=notice, **self._operated(done, preview),
            )  # fmt: skip
        if not preview:
            done = actions.move_folder(folder, destination, why)
        changed = [edit.path for edit in done.plan.edits if edit.moved_to is None]
        return FolderMovedAnswer.of(
            done.result, notes_changed=changed, **self._operated(done, preview)
        )

    @tool(annotations=SETS, tags=FULL, title="Archive a finished project")
    def archive_project(
        self,
        project: Annotated[str, Field(min_length=1, max_length=255, description="Its folder.")],
        *,
        rationale: WhyChanged,
        preview: Preview = False,
        session_id: SessionId = None,
    ) -> ArchivedAnswer:
        """Move the notes of a finished project to archive/projects/; notes of the person's only
        once they agree on the Curate page.

        They stay searchable, links to them are kept, and undo_change moves them back.
        """
        self._box.touch(session_id)
        actions = self._box.container.actions
        planned = actions.archive_project(project, why_of(rationale), preview=True)
        notes = map(self._box.container.live.catalogue.by_path, planned.result)
        note = next((memory for memory in notes if self._box.is_persons(memory)), None)
        if note is not None:
            call = TaskAction.by("archive_project", project=project)
            notice = self._box.propose(
                ProposalKind.MOVED, call, (note.id, note.path), why_of(rationale), preview=preview
            )
            moved = planned.result if preview else {}
            return ArchivedAnswer(moved=moved, notice=notice, **self._operated(planned, preview))
        done = planned
        if not preview:
            done = actions.archive_project(project, why_of(rationale))
        return ArchivedAnswer(moved=done.result, **self._operated(done, preview))

    def _waiting_note(self, move: FolderMove) -> tuple[Memory, str] | None:
        """The first note of a folder that only the person may move, and why; None if there is
        none."""
        for each in move.moves:
            note = self._box.container.live.catalogue.by_path(each.moved_from)
            if note is not None and (reason := self._persons_reason(note, each)) is not None:
                return note, reason
        return None

    def _persons_reason(self, note: Memory, move: Move) -> str | None:
        """Why only the person may move this note, with {} for its path; None if a client may."""
        if self._box.is_persons(note):
            return PERSON_DECIDES[ProposalKind.MOVED]
        permanent = Lifecycle.PERMANENT
        if is_person() or note.lifecycle is permanent or move.lifecycle is not permanent:
            return None
        return "{} would become permanent there, which only they decide"

    def _operated(self, done: ChangeResult[Any], preview: bool) -> dict[str, Any]:
        return operated(done, self._box.meter.of_vault(), preview=preview)
