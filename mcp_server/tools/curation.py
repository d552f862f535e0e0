"""Forgetting, restoring, and applying the edited manifest."""

from __future__ import annotations

from typing import Annotated, Literal

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.changes import (
    ForgottenAnswer,
    ManifestChangeShape,
    ReloadedAnswer,
    RestoredAnswer,
    TouchedShape,
)
from mcp_server.middleware.call_keys import call_key
from mcp_server.middleware.client_identity import client_name, is_person
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
from mcp_server.tools.toolbox import Tools
from memvault.curation.changes.forgetting import USER_REQUESTED, check_permanent
from memvault.curation.changes.plan import Attribution
from memvault.curation.manifest.keeper import ManifestPreview, ManifestRefused, TouchedNote
from memvault.curation.manifest.reading import RequestedEdit
from memvault.curation.operations.draft import check_rationale
from memvault.curation.proposals import ProposalKind
from memvault.curation.targets import Target
from memvault.model.change import TaskAction
from memvault.model.errors import InvalidParams, OutsideVault
from memvault.text.secrets import without_secrets
from memvault.vault.documents import check_writable
from memvault.vault.files import Vault
from memvault.vault.ignore import MANIFEST

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


class CurationTools(Tools):
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

        Only if the person wants it gone. restore_concept brings it back within 30 days. What the
        person wrote or changed stays until they agree on the Curate page.
        """
        self._box.touch(session_id)
        why = why_of(rationale, reason)
        check_permanent(not soft_delete, reason)
        container = self._box.container
        concept = container.actions.target(target)
        notice, note = None, concept.note
        if note is not None:
            check_writable(note.path)
            container.vault.stored(note.path)  # raises NoteNotFound if it was just deleted
            needed = container.approvals.to_forget(note, why, permanent=not soft_delete)
            call = TaskAction.by(
                "forget_concept", target=note.id, reason=USER_REQUESTED, soft_delete=soft_delete
            )
            notice = self._box.propose(needed, call, why, preview=preview)
        if preview or notice:
            return self._preview_answer(concept, notice, at_once=not soft_delete, preview=preview)
        change = container.actions.forget([concept], why, permanent=not soft_delete)
        (tombstone,) = change.forgot
        until = None if tombstone.permanent else tombstone.restorable_until
        return ForgottenAnswer(
            name=concept.name,
            node_ids=list(concept.node_ids),
            paths=[tombstone.path] if tombstone.path else [],
            preview=False,
            restorable_until=until,
            reversal_hash=None if tombstone.permanent else tombstone.reversal_hash,
            deletion="done" if tombstone.permanent else None,
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
        """Bring a forgotten note or concept back unchanged. Give `target` or `reversal_hash`.

        What the person removed themselves, only they bring back.
        """
        self._box.touch(session_id)
        if (target is None) == (reversal_hash is None):
            raise InvalidParams("Provide exactly one of target or reversal_hash")
        container = self._box.container
        done = container.actions.restore(target or reversal_hash or "", why_of(rationale))
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
            pulse=self._box.meter.of_vault(),
        )

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
            pulse=self._box.meter.of_vault(),
        )


def why_of(rationale: str, reason: str | None = None) -> Attribution:
    """The provenance of a change: the calling client and its rationale, with secrets masked, since
    the journal keeps it.

    Raises:
        InvalidParams: the rationale is too short or too long.
    """
    try:
        checked = without_secrets(check_rationale(rationale))
    except ValueError as error:
        raise InvalidParams(str(error)) from error
    name = client_name() or ""
    kind: Literal["client", "person"] = "person" if is_person() else "client"
    return Attribution(name, checked, reason, kind, call=call_key())


MAX_CHANGES = 100  # that an answer shows
MAX_NOTES = 20  # of each change
MAX_LINES = 20  # of each note
RATIONALE = "The person edited the manifest"

Confirm = Annotated[
    bool,
    Field(description="The person has seen how much would be forgotten, and confirms it."),
]
ManifestPath = Annotated[
    str | None,
    Field(min_length=1, max_length=1024, description="The vault's manifest.md; leave it out."),
]


class ManifestTools(Tools):
    """The tool that applies a person's edits of the list of concepts."""

    @tool(annotations=SETS, tags=FULL, title="Apply the edited manifest")
    def reload_manifest(
        self,
        *,
        preview: Preview = True,
        manifest_path: ManifestPath = None,
        confirm: Confirm = False,
        rationale: WhyChanged = RATIONALE,
        session_id: SessionId = None,
    ) -> ReloadedAnswer:
        """Apply what the person edited in manifest.md of their vault: a deleted line forgets that
        concept, [MERGE: A, B] merges B into A, [NOTE: A] text adds text to A's note.

        Call it when they say that they edited the manifest: first as it is, to show them what
        would change, then with preview=false. All edits are applied, or none; if one forgets or
        merges a note of the person's, once they agree on the Curate page.
        """
        self._box.touch(session_id)
        container = self._box.container
        why = why_of(rationale)
        _check_manifest(container.vault, manifest_path)
        edits_preview = container.manifest().preview()
        errors = [str(fault) for fault in edits_preview.faults]
        notice = None if errors else self._wait_for_person(edits_preview, why, preview=preview)
        change = None
        if not (preview or errors or notice):
            try:
                change = container.apply_manifest(why, confirm=confirm)
            except ManifestRefused as error:
                errors = [error.message]
        return ReloadedAnswer(
            path=MANIFEST,
            preview=preview,
            notice=notice,
            changes_detected=_shapes(edits_preview),
            changes_total=len(edits_preview.edits),
            applied=change is not None,
            errors=errors,
            confirm_needed=None if change else edits_preview.confirmation_reason,
            reversal_hash=change.reversal_hash if change else None,
            pulse=self._box.meter.of_vault(),
        )

    def _wait_for_person(
        self, edits_preview: ManifestPreview, why: Attribution, *, preview: bool
    ) -> str | None:
        """Propose the call to the person if a client's edits would trash notes of theirs; returns
        the notice that says so, or None."""
        trashed = edits_preview.trashed
        needed = self._box.container.approvals.for_notes(ProposalKind.MANIFEST, trashed, why)
        paths = [note.path for note in trashed]
        call = TaskAction.by("reload_manifest", digest=edits_preview.digest, notes=paths)
        return self._box.propose(needed, call, why, preview=preview)


def _shapes(preview: ManifestPreview) -> list[ManifestChangeShape]:
    touched = [*preview.touched, *[()] * (len(preview.edits) - len(preview.touched))]
    pairs = list(zip(preview.edits, touched, strict=True))[:MAX_CHANGES]
    return [_shape(edit, notes) for edit, notes in pairs]


def _shape(edit: RequestedEdit, notes: tuple[TouchedNote, ...]) -> ManifestChangeShape:
    return ManifestChangeShape.of(
        edit,
        notes=[TouchedShape.of(note, lines=note.lines[:MAX_LINES]) for note in notes[:MAX_NOTES]],
    )


def _check_manifest(vault: Vault, path: str | None) -> None:
    """Check that a client applies the vault's own manifest, not a note that it wrote.

    Raises:
        OutsideVault: the path is not that of the vault's own manifest.
    """
    if path is None:
        return
    manifest = path.strip().replace("\\", "/").removeprefix("./")
    if vault.relative(vault.root / manifest) != MANIFEST:
        raise OutsideVault(
            f"{path!r} is not this vault's manifest: only {MANIFEST} in the vault's folder is "
            "applied, which the person edits; leave manifest_path out",
            parameter="manifest_path",
        )
