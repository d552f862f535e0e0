"""reload_manifest."""

from __future__ import annotations

from typing import Annotated

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.changes import ManifestChangeShape, ReloadedAnswer, TouchedShape
from mcp_server.tools.arguments import FULL, SETS, Preview, SessionId, WhyChanged
from mcp_server.tools.toolbox import Tools, why_of
from memvault.curation.manifest.keeper import ManifestPreview, ManifestRefused, TouchedNote
from memvault.curation.manifest.reading import RequestedEdit
from memvault.model.change import TaskAction
from memvault.model.errors import OutsideVault
from memvault.vault.files import Vault
from memvault.vault.ignore import MANIFEST

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
        keeper = container.manifest
        edits_preview = keeper.preview()
        errors = [str(fault) for fault in edits_preview.faults]
        approval = None if errors else keeper.needed_approval(edits_preview.edits, why)
        change = None
        if not (preview or errors or approval):  # what waits for the person needs no confirmation
            try:
                done = keeper.apply(why, confirm=confirm)
                change, approval = done.change, done.approval
            except ManifestRefused as error:
                errors = [error.message]
        trashed = [note.path for note in edits_preview.trashed]
        call = TaskAction.by("reload_manifest", digest=edits_preview.digest, notes=trashed)
        notice = self._box.propose(approval, call, why, preview=preview)
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
