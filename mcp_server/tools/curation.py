"""Forgetting and restoring."""

from __future__ import annotations

from typing import Annotated, Literal

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.base import utc
from mcp_server.answers.changes import ForgottenAnswer, RestoredAnswer
from mcp_server.middleware.client_identity import client_name, is_person
from mcp_server.tools.arguments import ADDS, CORE, SETS, Preview, SessionId, TargetName, WhyChanged
from mcp_server.tools.toolbox import Toolbox
from memvault.curation.changes.forgotten import check_permanent
from memvault.curation.changes.plan import Attribution
from memvault.curation.operations.draft import check_rationale
from memvault.curation.targets import Target
from memvault.model.errors import InvalidParams

MOST_LINKS = 20  # notes that a preview lists

Reason = Annotated[
    str | None,
    Field(
        max_length=100,
        description="user_requested, duplicate, outdated, wrong, …",
    ),
]
ReversalHash = Annotated[str | None, Field(min_length=1, max_length=64)]
Soft = Annotated[
    bool,
    Field(description="false: delete at once, for good; only with reason user_requested."),
]


class CurationTools:
    """Tools that forget and restore."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

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
        """Move a note to the trash, or hide a concept that notes only name.

        Only if the person wants it gone. restore_concept brings it back within 30 days.
        """
        self._box.touch(session_id)
        why = why_of(rationale, reason)
        check_permanent(not soft_delete, reason)
        services = self._box.services
        found = services.actions.target(target)
        if preview:
            return self._preview(found)
        change = services.actions.forget([found], why, permanent=not soft_delete)
        (tombstone,) = change.forgot
        until = None if tombstone.permanent else tombstone.restorable_until
        return ForgottenAnswer(
            name=found.name,
            node_ids=list(found.node_ids),
            paths=[tombstone.path] if tombstone.path else [],
            preview=False,
            restorable_until=utc(until) if until else None,
            reversal_hash=None if tombstone.permanent else tombstone.reversal_hash,
            pulse=self._box.meter.of_vault(),
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
        """Bring a forgotten note or concept back unchanged. Give `target` or `reversal_hash`."""
        self._box.touch(session_id)
        if (target is None) == (reversal_hash is None):
            raise InvalidParams("Provide exactly one of target or reversal_hash")
        services = self._box.services
        done = services.actions.restore(target or reversal_hash or "", why_of(rationale))
        assert done.change is not None
        tombstone, path = done.result.tombstone, done.result.path
        memory = services.catalogue.by_path(path) if path else None
        return RestoredAnswer(
            name=tombstone.name,
            node_ids=[memory.id] if memory else list(tombstone.node_ids),
            paths=[path] if path else [],
            reversal_hash=done.change.reversal_hash,
            notice=f"{tombstone.path} is now another note, so this one was restored to {path}."
            if path != tombstone.path
            else None,
            pulse=self._box.meter.of_vault(),
        )

    def _preview(self, found: Target) -> ForgottenAnswer:
        services = self._box.services
        ids = set(found.node_ids)
        naming = {e.source for e in services.stores.graph.neighbours(ids) if e.target in ids}
        known = (services.catalogue.by_id(source) for source in naming - ids)
        paths = sorted(memory.path for memory in known if memory is not None)
        return ForgottenAnswer(
            name=found.name,
            node_ids=list(found.node_ids),
            paths=[found.note.path] if found.note else [],
            preview=True,
            linked_from=paths[:MOST_LINKS],
            pulse=self._box.meter.of_vault(),
        )


def why_of(rationale: str, reason: str | None = None) -> Attribution:
    """The provenance of a change: the calling client and its rationale.

    Raises:
        InvalidParams: the rationale is too short or too long.
    """
    try:
        checked = check_rationale(rationale)
    except ValueError as error:
        raise InvalidParams(str(error)) from error
    name = client_name() or ""
    kind: Literal["client", "person"] = "person" if is_person() else "client"
    return Attribution(client=name, rationale=checked, reason=reason, kind=kind)
