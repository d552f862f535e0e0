"""Merging, annotating and setting properties of memories, and undoing changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Annotated, TypeVar

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.changes import (
    AnnotatedAnswer,
    ConflictShape,
    LineShape,
    MergedAnswer,
    SetAnswer,
    UndoneAnswer,
    done_shape,
)
from mcp_server.middleware.client_identity import client_name
from mcp_server.tools.arguments import (
    ADDS,
    CORE,
    FULL,
    SETS,
    Preview,
    SessionId,
    TargetName,
    WhyChanged,
)
from mcp_server.tools.curation import why_of
from mcp_server.tools.toolbox import Toolbox
from memvault.curation.changes.plan import LineChange, Plan
from memvault.curation.changes.staging import Staging
from memvault.curation.changes.undo import undoable
from memvault.curation.operations.edit import stage_annotation
from memvault.curation.operations.merge import Known, stage_merge
from memvault.curation.operations.properties import (
    Setting,
    stage_importance,
    stage_lifecycle,
    stage_verification,
)
from memvault.curation.targets import Target, resolve
from memvault.model.change import Change, ChangeKind
from memvault.model.errors import InvalidParams
from memvault.model.memory import Lifecycle

MOST_LINES = 100  # of a preview

Result = TypeVar("Result")
Importance = Annotated[
    float | None, Field(ge=0.0, le=1.0, description="The new importance, from 0 to 1.")
]
Delta = Annotated[
    float | None, Field(ge=-1.0, le=1.0, description="How much to add; the sum stays in [0, 1].")
]
Note = Annotated[str, Field(min_length=1, max_length=4096, description="The remark, in Markdown.")]
Sources = Annotated[
    list[TargetName],
    Field(min_length=2, max_length=100, description="Memories to merge; may include the target."),
]


class OperationTools:
    """Tools that change notes; every change can be undone."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    @tool(annotations=SETS, tags=FULL, title="Merge memories or concepts")
    def merge_concepts(
        self,
        sources: Sources,
        target: TargetName,
        *,
        rationale: WhyChanged,
        preview: Preview = False,
        session_id: SessionId = None,
    ) -> MergedAnswer:
        """Merge memories or concepts that the person agrees are the same.

        The target's note gains the text of the others, each under a heading with its origin, and
        their names as aliases; links to them then lead to it, and they move to the trash. Concepts
        without notes are merged without changing a note.
        """
        self._box.touch(session_id)
        services = self._box.services
        what = [self._resolved(name) for name in sources]
        into = self._resolved(target)
        known = Known(services.catalogue, services.indexer.links, services.catalogue.linking)
        names = tuple(dict.fromkeys(each.name for each in (into, *what)))
        plan, merged, change = self._do(
            lambda staging: stage_merge(staging, known, what, into),
            ChangeKind.MERGED, names, into.node_ids, rationale, preview=preview,
        )  # fmt: skip
        return MergedAnswer(
            node_id=merged.node_ids[0],
            path=merged.path,
            merged_from=list(merged.merged_from),
            notes_changed=list(merged.notes_changed),
            preview=preview,
            lines=_lines(plan) if preview else None,
            reversal_hash=change.reversal_hash if change else None,
            pulse=self._box.meter.of_vault(),
        )

    @tool(annotations=ADDS, tags=FULL, title="Annotate a memory")
    def annotate_node(
        self,
        target: TargetName,
        note: Note,
        *,
        rationale: WhyChanged,
        preview: Preview = False,
        session_id: SessionId = None,
    ) -> AnnotatedAnswer:
        """Add a dated remark under "Annotations" at the end of a note.

        For a correction, a link or a doubt that should leave the text as it is. A concept without
        a note gets one.
        """
        self._box.touch(session_id)
        found = self._resolved(target)
        plan, path, change = self._do(
            lambda staging: stage_annotation(staging, found, note, _today()),
            ChangeKind.ANNOTATED, (found.name,), found.node_ids, rationale, preview=preview,
        )  # fmt: skip
        added = [line.after for line in plan.lines_changed() if line.after is not None]
        return AnnotatedAnswer(
            node_id=found.node_ids[0],
            path=path,
            after="\n".join(added),
            preview=preview,
            lines=_lines(plan) if preview else None,
            reversal_hash=change.reversal_hash if change else None,
            pulse=self._box.meter.of_vault(),
        )

    @tool(annotations=ADDS, tags=FULL, title="Change a memory's importance")
    def boost_importance(
        self,
        target: TargetName,
        *,
        rationale: WhyChanged,
        importance: Importance = None,
        delta: Delta = None,
        preview: Preview = False,
        session_id: SessionId = None,
    ) -> SetAnswer:
        """Set the importance of a memory or concept, or change it by `delta`.

        Among equally relevant memories the more important come first. Give `importance` or `delta`.
        """
        self._box.touch(session_id)
        found = self._resolved(target)
        known = self._box.services.curator.importance_of(found.node_ids)
        return self._set(
            lambda staging: stage_importance(
                staging, found, importance=importance, delta=delta, known=known
            ),
            ChangeKind.BOOSTED, found, rationale, preview=preview,
        )  # fmt: skip

    @tool(annotations=SETS, tags=FULL, title="Set a memory's lifecycle")
    def set_lifecycle(
        self,
        target: TargetName,
        lifecycle: Lifecycle,
        *,
        rationale: WhyChanged,
        preview: Preview = False,
        session_id: SessionId = None,
    ) -> SetAnswer:
        """Set how long a memory lasts: permanent, temporary (a project's) or ephemeral (decays).

        Make something permanent only if the person asked for it: the history says who did.
        """
        self._box.touch(session_id)
        found = self._resolved(target)
        return self._set(
            lambda staging: stage_lifecycle(staging, found, lifecycle),
            ChangeKind.LIFECYCLE_SET, found, rationale, preview=preview,
        )  # fmt: skip

    @tool(annotations=SETS, tags=FULL, title="Mark a memory as verified or wrong")
    def verify_memory(
        self,
        target: TargetName,
        *,
        rationale: WhyChanged,
        verified: Annotated[bool, Field(description="false: the person says it is wrong.")] = True,
        preview: Preview = False,
        session_id: SessionId = None,
    ) -> SetAnswer:
        """Mark a memory as verified, or as wrong, by the person today.

        Only if the person said so, never on your own judgement.
        """
        self._box.touch(session_id)
        found = self._resolved(target)
        by = client_name() or "a client"
        return self._set(
            lambda staging: stage_verification(
                staging, found, verified=verified, by=by, on=_today()
            ),
            ChangeKind.VERIFIED, found, rationale, preview=preview,
        )  # fmt: skip

    @tool(annotations=SETS, tags=CORE, title="Undo changes")
    def undo_change(
        self,
        *,
        rationale: WhyChanged,
        change: Annotated[
            str | None, Field(min_length=4, max_length=64, description="A reversal_hash.")
        ] = None,
        client: Annotated[
            str | None,
            Field(min_length=1, max_length=100, description="All changes by this client."),
        ] = None,
        day: Annotated[date | None, Field(description="All changes of this day (UTC).")] = None,
        preview: Preview = False,
        session_id: SessionId = None,
    ) -> UndoneAnswer:
        """Undo one change (its `reversal_hash`), or all of a client or day.

        Notes edited since stay as they are and are listed in `conflicts`. An undo can itself be
        undone.
        """
        self._box.touch(session_id)
        services = self._box.services
        hashes = self._named_changes(change, client, day)
        undone = services.curator.undo(hashes, why_of(rationale), preview=preview)
        if undone.change is not None:
            services.indexing.index_written(undone.change.paths)
        return UndoneAnswer(
            undone=[done_shape(each) for each in undone.undone],
            conflicts=[
                ConflictShape(
                    reversal_hash=each.reversal_hash,
                    path=each.path,
                    reason=each.reason,
                    lines=_shapes(each.lines[:MOST_LINES]) or None,
                )
                for each in undone.conflicts
            ],
            preview=preview,
            lines=_lines(undone.plan) if preview else None,
            reversal_hash=undone.change.reversal_hash if undone.change else None,
            pulse=self._box.meter.of_vault(),
        )

    def _named_changes(
        self, change: str | None, client: str | None, day: date | None
    ) -> Sequence[str]:
        if (change is None) == (client is None and day is None):
            raise InvalidParams("Provide exactly one of change, or client and/or day")
        if change is not None:
            return [change]
        curator = self._box.services.curator
        hashes = undoable(curator.history.changes(client=client, day=day, limit=None))
        if not hashes:
            raise InvalidParams("No change by that client or on that day is left to undo")
        return hashes

    def _set(
        self,
        stage: Callable[[Staging], Setting],
        kind: ChangeKind,
        target: Target,
        rationale: str,
        *,
        preview: bool,
    ) -> SetAnswer:
        plan, setting, change = self._do(
            stage, kind, (target.name,), target.node_ids, rationale, preview=preview
        )
        return SetAnswer(
            node_id=target.node_ids[0],
            path=setting.path,
            before=setting.before,
            after=setting.after,
            preview=preview,
            lines=_lines(plan) if preview else None,
            reversal_hash=change.reversal_hash if change else None,
            pulse=self._box.meter.of_vault(),
        )

    def _do(
        self,
        stage: Callable[[Staging], Result],
        kind: ChangeKind,
        names: tuple[str, ...],
        node_ids: tuple[str, ...],
        rationale: str,
        *,
        preview: bool,
    ) -> tuple[Plan, Result, Change | None]:
        """Stages a change and, unless it is a preview or changes nothing, applies it."""
        why, services = why_of(rationale), self._box.services
        done = services.curator.perform(stage, kind, names, node_ids, why, preview=preview)
        if done.change is not None:
            services.indexing.index_written(done.change.paths)
        return done.plan, done.result, done.change

    def _resolved(self, target: str) -> Target:
        services = self._box.services
        return resolve(target, services.catalogue, services.stores.graph)


def _today() -> date:
    return datetime.now(UTC).date()


def _lines(plan: Plan) -> list[LineShape]:
    return _shapes(plan.lines_changed(MOST_LINES))


def _shapes(lines: Sequence[LineChange]) -> list[LineShape]:
    return [
        LineShape(path=each.path, line=each.line, before=each.before, after=each.after)
        for each in lines
    ]
