"""Saying that a memory is right, or that it is not: who looked, and on which day."""

from __future__ import annotations

from datetime import date

from memvault.curation.operations.properties import Setting, path_of, property_of, set_property
from memvault.curation.staging import Staging
from memvault.curation.targets import Target


def stage_verification(
    staging: Staging, target: Target, *, verified: bool, by: str, on: date
) -> Setting:
    """Set ``verified``, ``verified_by`` and ``verified_on``.

    Raises:
        InvalidParams: it is no note.
        MalformedFrontmatter: the YAML cannot be edited safely.
    """
    path = path_of(target, "a verification")
    before = property_of(staging, path, "verified")
    set_property(staging, path, "verified", verified)
    set_property(staging, path, "verified_by", by)
    set_property(staging, path, "verified_on", on)
    return Setting(path, before, verified)
