"""Reading back what a person edited in ``manifest.md``."""

from __future__ import annotations

from typing import Annotated

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.changes import LineShape, ManifestChangeShape, ReloadedAnswer, TouchedShape
from mcp_server.tools.arguments import FULL, SETS, SessionId, WhyChanged
from mcp_server.tools.curation import why_of
from mcp_server.tools.toolbox import Toolbox
from memvault.curation.manifest.keeper import Previewed, Refused, Touched
from memvault.curation.manifest.reading import Wanted
from memvault.model.errors import OutsideVault
from memvault.vault.files import Vault
from memvault.vault.ignore import MANIFEST

MOST_CHANGES = 100  # that an answer shows
MOST_NOTES = 20  # of each change …
MOST_LINES = 20  # … and lines of each note
RATIONALE = "The person edited the manifest"

Preview = Annotated[bool, Field(description="Only say what would change. Show it to the person.")]
Confirm = Annotated[
    bool,
    Field(description="The person has seen that much is forgotten at once, and wants it."),
]
ManifestPath = Annotated[
    str | None,
    Field(min_length=1, max_length=1024, description="Left out, the vault's manifest.md."),
]


class ManifestTools:
    """The tool that applies a person's edits of the list of concepts."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

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
        concept, [MERGE: A, B] joins B into A, [NOTE: A] text adds text to A's note.

        Call it when they say that they edited the manifest: first as it is, to show them what
        would change, then with preview=false. All of it is done, or nothing.
        """
        self._box.touch(session_id)
        services = self._box.services
        why = why_of(rationale)
        path = _path_in_vault(services.vault, manifest_path)
        found = services.manifest().preview(path)
        errors = [str(fault) for fault in found.faults]
        change = None
        if not preview and not errors:
            try:
                change = services.apply_manifest(why, path, confirm=confirm)
            except Refused as error:
                errors = [error.message]
        return ReloadedAnswer(
            path=path,
            preview=preview,
            changes_detected=_shapes(found),
            changes_total=len(found.wanted),
            applied=change is not None,
            errors=errors,
            confirm_needed=None if change else found.asks,
            reversal_hash=change.reversal_hash if change else None,
            pulse=self._box.meter.of_vault(),
        )


def _shapes(found: Previewed) -> list[ManifestChangeShape]:
    touched = [*found.touched, *[()] * (len(found.wanted) - len(found.touched))]
    pairs = list(zip(found.wanted, touched, strict=True))[:MOST_CHANGES]
    return [_shape(wanted, notes) for wanted, notes in pairs]


def _shape(wanted: Wanted, notes: tuple[Touched, ...]) -> ManifestChangeShape:
    return ManifestChangeShape(
        action=wanted.action,
        target_concepts=list(wanted.concepts),
        resolved_node_ids=list(wanted.node_ids),
        notes=[
            TouchedShape(
                path=note.path,
                lines=[
                    LineShape(path=each.path, line=each.line, before=each.before, after=each.after)
                    for each in note.lines[:MOST_LINES]
                ]
                or None,
            )
            for note in notes[:MOST_NOTES]
        ],
        line=wanted.line,
        says=wanted.says or None,
    )


def _path_in_vault(vault: Vault, path: str | None) -> str:
    """The vault path of a manifest that a call names, absolute or not.

    Raises:
        OutsideVault: it is not in the vault.
    """
    if path is None:
        return MANIFEST
    wanted = path.strip().replace("\\", "/").removeprefix("./")
    inside = vault.relative(vault.root / wanted)
    if inside is None or inside.startswith((".", "~")) or not inside.endswith(".md"):
        raise OutsideVault(
            f"{path!r} is no manifest of this vault: leave it out, or name a .md file in the vault",
            parameter="manifest_path",
        )
    return inside
