"""How long a memory is meant to last."""

from __future__ import annotations

from datetime import UTC, datetime

from memvault.curation.operations.properties import Setting, path_of, set_property
from memvault.curation.staging import Staging
from memvault.curation.targets import Target
from memvault.model.memory import Lifecycle
from memvault.vault.parse import parse_note
from memvault.vault.properties import memory_of


def stage_lifecycle(staging: Staging, target: Target, lifecycle: Lifecycle) -> Setting:
    """Set the lifecycle; the note stays where it is.

    Raises:
        InvalidParams: it is no note.
        MalformedFrontmatter: the YAML cannot be edited safely.
    """
    path = path_of(target, "a lifecycle")
    note = parse_note(path, staging.read(path))
    before = memory_of(note, fallback_time=datetime.now(UTC)).lifecycle
    if before is not lifecycle:
        set_property(staging, path, "lifecycle", str(lifecycle))
    return Setting(path, before, lifecycle)
