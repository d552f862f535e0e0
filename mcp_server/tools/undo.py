"""The tool that undoes changes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Annotated

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.changes import (
    MAX_LINES,
    MovedShape,
    UndoConflictShape,
    UndoneAnswer,
    done_shape,
)
from mcp_server.tools.arguments import CORE, SETS, Preview, SessionId, WhyChanged
from mcp_server.tools.toolbox import Tools, why_of
from memvault.curation.changes.undo import undoable
from memvault.model.change import ChangeKind, TaskAction
from memvault.model.errors import InvalidParams

MAX_MOVES = 100  # that an answer lists


class UndoTools(Tools):
    """Tools that undo changes of notes."""

    @tool(annotations=SETS, tags=CORE, title="Undo changes")
    def undo_change(
        self,
        *,
        rationale: WhyChanged,
        change: Annotated[
            str | None, Field(min_length=1, max_length=64, description="A reversal_hash.")
        ] = None,
        client: Annotated[
            str | None,
            Field(min_length=1, max_length=100, description="All changes by this client."),
        ] = None,
        day: Annotated[
            date | None, Field(description="All changes of this local day, as YYYY-MM-DD.")
        ] = None,
        preview: Preview = False,
        session_id: SessionId = None,
    ) -> UndoneAnswer:
        """Undo one change (its `reversal_hash`), or all of a client or day.

        Notes edited since stay as they are and are listed in `conflicts`. An undo can itself be
        undone. What the person or another client changed waits for the person.
        """
        self._box.touch(session_id)
        actions, why = self._box.container.actions, why_of(rationale)
        repeated = self._box.container.curator.change_of_call(ChangeKind.UNDONE, why)
        hashes = () if repeated else self._named_changes(change, client, day)
        undone = actions.undo(hashes, why, preview=preview)
        call = TaskAction.by(
            "undo_change", changes=[change.reversal_hash for change in undone.undone]
        )
        notice = self._box.propose(undone.approval, call, why, preview=preview)
        is_shown = preview or not notice
        moves = undone.plan.moves if is_shown else []
        return UndoneAnswer(
            notice=notice,
            undone=[done_shape(change) for change in undone.undone] if is_shown else [],
            conflicts=[
                UndoConflictShape.of(conflict, lines=conflict.lines[:MAX_LINES])
                for conflict in undone.conflicts
            ],
            moved=[MovedShape(path=path, to=new_path) for path, new_path in moves[:MAX_MOVES]]
            or None,
            more_moved=max(0, len(moves) - MAX_MOVES) or None,
            **self._operated(undone, preview),
        )

    def _named_changes(
        self, change: str | None, client: str | None, day: date | None
    ) -> Sequence[str]:
        if (change is None) == (client is None and day is None):
            raise InvalidParams("Provide exactly one of change, or client and/or day")
        if change is not None:
            return [change]
        container = self._box.container
        changes = container.curator.history.changes(client=client, day=day)
        hashes = undoable(changes)
        if not hashes:
            raise InvalidParams("No such change is left to undo; `memvault log` lists them")
        return hashes
