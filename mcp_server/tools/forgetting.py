"""forget_concept and restore_concept."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Literal

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.changes import (
    ForgottenAnswer,
    RestoredAnswer,
)
from mcp_server.tools.arguments import (
    ADDS,
    CORE,
    SETS,
    Preview,
    SessionId,
    TargetName,
    WhyChanged,
)
from mcp_server.tools.toolbox import Tools, why_of
from memvault.curation.changes.forgetting import USER_REQUESTED, check_permanent
from memvault.curation.proposals import ProposalKind
from memvault.curation.targets import Target
from memvault.model.change import TaskAction
from memvault.model.errors import InvalidParams, MemvaultError, NoteNotFound

MAX_LINKS = 20  # notes that a preview lists

Reason = Annotated[
    str | None,
    Field(
        max_length=100,
        description="user_requested, duplicate, outdated, wrong, …",
    ),
]
ReversalHash = Annotated[
    str | None, Field(min_length=1, max_length=64, description="Of the forgetting.")
]
Soft = Annotated[
    bool,
    Field(description="false: delete for good, only with reason user_requested."),
]


class ForgettingTools(Tools):
    """Tools that forget and restore."""

    @tool(annotations=SETS, tags=CORE, title="Forget a note or concept")
    def forget_concept(
        self,
        target: TargetName,
        *,
        rationale: WhyChanged,
        reason: Reason = None,
        preview: Preview = False,
        soft_delete: Soft = True,
        session_id: SessionId = None,
    ) -> ForgottenAnswer:
        """Move a note to the trash, or hide a concept that has no note of its own.

        Only if the person wants it gone. restore_concept brings it back within 30 days. A note
        that the person wrote in stays until they agree on the Curate page.
        """
        self._box.touch(session_id)
        why = why_of(rationale, reason)
        check_permanent(not soft_delete, reason)
        actions = self._box.container.actions
        concept = actions.target(target)
        done = actions.forget([concept], why, permanent=not soft_delete, preview=preview)
        call = TaskAction.by(
            "forget_concept",
            target=concept.node_ids[0],
            reason=USER_REQUESTED,
            soft_delete=soft_delete,
        )
        notice = self._box.propose(done.approval, call, why, preview=preview)
        if done.change is None:
            return self._preview_answer(concept, notice, at_once=not soft_delete, preview=preview)
        (tombstone,) = done.change.forgot
        until = None if tombstone.permanent else tombstone.restorable_until
        return ForgottenAnswer(
            name=concept.name,
            node_ids=list(concept.node_ids),
            paths=[tombstone.path] if tombstone.path else [],
            preview=False,
            restorable_until=until,
            reversal_hash=None if tombstone.permanent else tombstone.reversal_hash,
            deletion="done" if tombstone.permanent else None,
            pulse=self._box.meter.of_change(),
        )

    @tool(annotations=ADDS, tags=CORE, title="Restore a forgotten note")
    def restore_concept(
        self,
        *,
        rationale: WhyChanged,
        target: TargetName | None = None,
        reversal_hash: ReversalHash = None,
        session_id: SessionId = None,
    ) -> RestoredAnswer:
        """Bring a forgotten note or concept back unchanged. Give `target` or `reversal_hash`.

        What the person removed themselves, only they bring back.
        """
        self._box.touch(session_id)
        if (target is None) == (reversal_hash is None):
            raise InvalidParams("Provide exactly one of target or reversal_hash")
        container = self._box.container
        try:
            done = container.actions.restore(target or reversal_hash or "", why_of(rationale))
        except NoteNotFound as error:
            if target is None or not self._waits(target):
                raise
            raise NoteNotFound(
                f"{target!r} is not forgotten yet: that still waits for the person, who can reject "
                "it on the Curate page",
                target=target,
            ) from error
        assert done.change is not None
        tombstone, path = done.result.tombstone, done.result.path
        memory = container.live.catalogue.by_path(path) if path else None
        return RestoredAnswer(
            name=tombstone.name,
            node_ids=[memory.id] if memory else list(tombstone.node_ids),
            paths=[path] if path else [],
            reversal_hash=done.change.reversal_hash,
            notice=f"{tombstone.path} is now another note, so this one was restored to {path}."
            if path != tombstone.path
            else None,
            pulse=self._box.meter.of_change(),
        )

    def _waits(self, target: str) -> bool:
        """Whether the person still has to agree that this note is forgotten."""
        container = self._box.container
        with suppress(MemvaultError):
            node_ids = container.actions.target(target).node_ids
            return container.proposals.is_waiting(ProposalKind.FORGOTTEN, node_ids)
        return False

    def _preview_answer(
        self, concept: Target, notice: str | None, *, at_once: bool, preview: bool
    ) -> ForgottenAnswer:
        """The answer of a preview, or of a call that waits for the person, which has a
        ``notice``."""
        container = self._box.container
        ids = set(concept.node_ids)
        naming = {e.source for e in container.live.stores.graph.neighbours(ids) if e.target in ids}
        paths = sorted(memory.path for memory in container.live.catalogue.by_ids(naming - ids))
        deletion: Literal["done", "proposed"] = "proposed" if notice else "done"
        return ForgottenAnswer(
            name=concept.name,
            node_ids=list(concept.node_ids) if preview else [],
            paths=[concept.note.path] if concept.note and preview else [],
            preview=preview,
            linked_from=paths[:MAX_LINKS],
            deletion=deletion if at_once and concept.note else None,
            notice=notice,
            pulse=self._box.meter.of_change(),
        )
