"""Tools that change notes: edit, merge, annotate, set properties."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.changes import (
    AnnotatedAnswer,
    ContradictedShape,
    EditedAnswer,
    MergedAnswer,
    ReconstructedAnswer,
    SetAnswer,
)
from mcp_server.tools.arguments import (
    ADDS,
    CORE,
    EDITS,
    FULL,
    SETS,
    Importance,
    Preview,
    SessionId,
    TargetName,
    WhyChanged,
)
from mcp_server.tools.toolbox import Tools, why_of
from memvault.curation.approval import check_edit, claim_of_lifecycle, claim_of_verdict
from memvault.curation.changes.curator import ChangeResult
from memvault.curation.changes.plan import Attribution
from memvault.curation.operations.edit import EditOperation, NoteEdit
from memvault.curation.operations.move import lifecycle_path
from memvault.curation.operations.properties import PropertyChange
from memvault.curation.proposals import ProposalKind
from memvault.model.change import TaskAction
from memvault.model.errors import InvalidParams
from memvault.model.memory import MAX_CONTENT_CHARS, Lifecycle, Memory, checked_importance

Delta = Annotated[
    float | None, Field(ge=-1.0, le=1.0, description="How much to add; the sum stays in [0, 1].")
]
Note = Annotated[str, Field(min_length=1, max_length=4096, description="The remark, in Markdown.")]
EditContent = Annotated[
    str,
    Field(
        max_length=MAX_CONTENT_CHARS,
        description="The new text, in Markdown; for set_property the value, empty to remove it.",
    ),
]
Section = Annotated[
    str | None,
    Field(max_length=1024, description="A heading: replace, append or prepend below it."),
]
Find = Annotated[
    str | None,
    Field(
        max_length=MAX_CONTENT_CHARS,
        description="The text to replace, which must occur once; for replace_section the text it "
        "must still have.",
    ),
]
PropertyName = Annotated[str | None, Field(max_length=100, description="For set_property.")]
Sources = Annotated[
    list[TargetName],
    Field(min_length=2, max_length=100, description="Memories to merge; may include the target."),
]

REFRAMED = (
    "The person's sentences next to what you replaced now count as your claims, since that may "
    "change their meaning; on sensitive questions they are withheld. To keep them the person's: "
    "undo_change, then append what is new."
)


class OperationTools(Tools):
    """Tools that change existing notes; every change can be undone."""

    @tool(annotations=EDITS, tags=CORE, title="Edit a memory")
    def edit_memory(
        self,
        target: TargetName,
        operation: Annotated[EditOperation, Field(description="How to change it.")],
        content: EditContent,
        *,
        rationale: WhyChanged,
        section: Section = None,
        find: Find = None,
        property: PropertyName = None,
        preview: Preview = False,
        session_id: SessionId = None,
    ) -> EditedAnswer:
        """Change part of a note; the rest keeps its bytes.

        Correct a memory so, instead of storing a second one.
        """
        self._box.touch(session_id)
        edit = NoteEdit(operation, content, section, find, property)
        actions, why = self._box.container.actions, why_of(rationale)
        check_edit(edit, why)
        adds = operation in (EditOperation.APPEND, EditOperation.PREPEND)
        # Before the edit, after which the note itself would support what it says.
        done = actions.edit(target, edit, why, preview=True)
        node_id = done.plan.node_ids[0]
        edited = self._box.container.live.catalogue.by_id(node_id)
        contradicted = self._box.contradicted(
            done.result.stated, edited.project if edited else None, None if adds else node_id
        )
        if not preview:
            done = actions.edit(target, edit, why)
        memory = self._box.container.live.indexer.as_on_disk(done.result.path)  # None if it is held
        hint = self._box.supersede_hint(memory, contradicted) if contradicted and memory else None
        call = TaskAction.by(
            "edit_memory", target=node_id, operation=operation, content=content, property=property
        )
        notice = self._box.propose(done.approval, call, why, preview=preview)
        if done.change and edited and self._is_newly_reframed(edited):
            hint = " ".join(filter(None, (REFRAMED, hint)))
        fields = {"after": done.result.before} if done.approval and not preview else {}
        return EditedAnswer.of(
            done.result,
            node_id=node_id,
            preview=preview,
            reversal_hash=done.change.reversal_hash if done.change else None,
            contradicts=[ContradictedShape.of(memory) for memory in contradicted] or None,
            notice=notice or hint,
            pulse=self._box.meter.around(node_id),
            **fields,
        )

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
        their names as aliases; links to them then lead to it, and they move to the trash; notes of
        the person's only once they agree on the Curate page. Concepts without notes are merged
        without changing a note.
        """
        self._box.touch(session_id)
        actions, why = self._box.container.actions, why_of(rationale)
        done = actions.merge(sources, target, why, preview=preview)
        merged, target_id, notice = done.result, done.result.node_ids[0], None
        if done.approval is not None:
            ids = [actions.target(source).node_ids[0] for source in sources]
            call = TaskAction.by("merge_concepts", sources=ids, target=target_id)
            notice = self._box.propose(done.approval, call, why, preview=preview)
            merged = merged if preview else replace(merged, merged_from=(), notes_changed=())
        return MergedAnswer.of(
            merged, node_id=target_id, notice=notice, **self._operated(done, preview)
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
        actions = self._box.container.actions
        done = actions.annotate(target, note, why_of(rationale), preview=preview)
        added = [line.after for line in done.plan.lines_changed() if line.after is not None]
        note_now = self._box.container.live.catalogue.by_path(done.result)
        return AnnotatedAnswer(
            node_id=note_now.id if note_now is not None else done.plan.node_ids[0],
            path=done.result,
            after="\n".join(added),
            **self._operated(done, preview),
        )

    @tool(annotations=SETS, tags=FULL, title="Bring back a faded memory's full text")
    def reconstruct_memory(
        self,
        target: TargetName,
        *,
        rationale: WhyChanged,
        preview: Preview = False,
        session_id: SessionId = None,
    ) -> ReconstructedAnswer:
        """Bring back the archived full text of a memory that `faded` to its summary or keys.

        The note is then what it was, to the byte; what was written into it since stays in it. It
        does not fade again for weeks.
        """
        self._box.touch(session_id)
        actions = self._box.container.actions
        done = actions.reconstruct(target, why_of(rationale), preview=preview)
        node_id = done.plan.node_ids[0]
        return ReconstructedAnswer(
            node_id=node_id, path=done.result, **self._operated(done, preview)
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
        try:
            number = None if importance is None else checked_importance(importance)
        except ValueError as error:
            raise InvalidParams(str(error)) from error
        done = self._box.container.actions.set_importance(
            target, why_of(rationale), importance=number, delta=delta, preview=preview
        )
        return self._answer(done, preview=preview)

    @tool(annotations=SETS, tags=FULL, title="Set a memory's lifecycle")
    def set_lifecycle(
        self,
        target: TargetName,
        lifecycle: Annotated[Lifecycle, Field(description="The new lifecycle.")],
        *,
        rationale: WhyChanged,
        move: Annotated[bool, Field(description="Also move the note to proposed_path.")] = False,
        preview: Preview = False,
        session_id: SessionId = None,
    ) -> SetAnswer:
        """Set how long a memory lasts: permanent, temporary (a project's) or ephemeral (fades).

        Only the person makes a memory permanent: from you it is a proposal that they see on Curate.
        `proposed_path` is the folder that goes with the lifecycle.
        """
        self._box.touch(session_id)
        why = why_of(rationale)
        if claim := claim_of_lifecycle(lifecycle, why):
            return self._record_claim(claim, target, why, preview=preview)
        done = self._box.container.actions.set_lifecycle(
            target, lifecycle, why, move=move, preview=preview
        )
        node_id = done.plan.node_ids[0]
        call = TaskAction.by("set_lifecycle", target=node_id, lifecycle=lifecycle, move=move)
        notice = self._box.propose(done.approval, call, why, preview=preview)
        fields = {}
        if done.approval is not None and not preview:
            fields = {
                "path": done.approval.path, "proposed_path": done.result.path,
                "after": done.result.before,
            }  # fmt: skip
        return self._answer(done, preview=preview, notice=notice, **fields)

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
        """Record that the person called a memory right, or wrong; they decide on the Curate page.

        Only if the person said so, never on your own judgement. Until they agree, the memory stays
        as it is.
        """
        self._box.touch(session_id)
        why = why_of(rationale)
        if claim := claim_of_verdict(why, verified=verified):
            return self._record_claim(claim, target, why, preview=preview)
        done = self._box.container.actions.verify(
            target, why, verified=verified, by=why.name or "a client", preview=preview
        )
        return self._answer(done, preview=preview)

    def _record_claim(
        self, kind: ProposalKind, name: str, why: Attribution, *, preview: bool
    ) -> SetAnswer:
        """Record a client's claim, which changes nothing until the person agrees."""
        container = self._box.container
        memory = container.actions.target(name).note
        if memory is None:
            raise InvalidParams(
                f"{name} is only named in notes and has no note of its own to be confirmed; store "
                "a memory with this title first"
            )
        if not preview:
            container.proposals.propose(kind, memory, why.actor, why.rationale)
        now = memory.lifecycle if kind is ProposalKind.PERMANENT else memory.verified
        return SetAnswer(
            node_id=memory.id,
            path=memory.path,
            proposed_path=(
                lifecycle_path(memory, Lifecycle.PERMANENT, container.vault.folders)
                if kind is ProposalKind.PERMANENT
                else None
            ),
            before=now,
            after=now,
            preview=preview,
            notice=f"Recorded as your claim, not as the person's word: it waits for them as "
            f"“{kind}” on the Curate page. Nothing is changed until they agree.",
            pulse=self._box.meter.of_change(),
        )

    def _is_newly_reframed(self, before: Memory) -> bool:
        """Whether an edit took sentences of the person's out of their frame."""
        memory = self._box.container.live.catalogue.by_id(before.id)
        return (
            memory is not None
            and memory.provenance.has_reframed
            and not before.provenance.has_reframed
        )

    def _answer(
        self, done: ChangeResult[PropertyChange], *, preview: bool, **others: Any
    ) -> SetAnswer:
        fields = {"node_id": done.plan.node_ids[0], **self._operated(done, preview), **others}
        return SetAnswer.of(done.result, **fields)
