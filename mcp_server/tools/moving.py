"""Tools that move notes: one to where the person wants it, and those of a finished project."""

from __future__ import annotations

from typing import Annotated, Any

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.changes import ArchivedAnswer, MovedAnswer, operated
from mcp_server.middleware.client_identity import is_person
from mcp_server.tools.arguments import FULL, SETS, Preview, SessionId, TargetName, WhyChanged
from mcp_server.tools.curation import why_of
from mcp_server.tools.toolbox import PERSON_DECIDES, Tools
from memvault.curation.changes.curator import ChangeResult
from memvault.curation.operations.move import Move
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
            done.result, node_id=note.id, notes_changed=changed,
            notice=done.result.notice, **self._operated(done, preview),
        )  # fmt: skip

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
        note = next((each for each in notes if self._box.is_persons(each)), None)
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
