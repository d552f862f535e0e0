"""What a person's edits of the manifest would change, or have changed."""

from __future__ import annotations

from mcp_server.answers.base import Answer, Shape, optional
from mcp_server.answers.operations import LineShape
from memvault.curation.manifest.reading import Action


class TouchedShape(Shape):
    """A note that changes; without ``lines`` it goes to the vault's trash, whole."""

    path: str
    lines: list[LineShape] | None = optional()


class ManifestChangeShape(Shape):
    """``line`` is of the manifest, left out for a line that was deleted; ``says`` what else
    there is to know, such as that a concept stands for several notes, or for none."""

    action: Action
    target_concepts: list[str]
    resolved_node_ids: list[str]
    notes: list[TouchedShape]
    line: int | None = optional()
    says: str | None = optional()


class ReloadedAnswer(Answer):
    """``errors`` name the lines of the manifest for which nothing was, or could be, applied.
    ``confirm_needed`` says why applying wants ``confirm``."""

    path: str
    preview: bool
    changes_detected: list[ManifestChangeShape]
    changes_total: int
    applied: bool
    errors: list[str]
    confirm_needed: str | None = optional()
    reversal_hash: str | None = optional()
