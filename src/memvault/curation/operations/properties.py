"""Setting what a note's frontmatter says of it: one key, and no other byte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memvault.curation.staging import Staging
from memvault.curation.targets import Target
from memvault.model.errors import InvalidParams
from memvault.vault.frontmatter import remove_key, set_key
from memvault.vault.parse import frontmatter_of


@dataclass(frozen=True, slots=True)
class Setting:
    """What was set: its value before and after; ``path`` is None for a concept without a note."""

    path: str | None
    before: Any
    after: Any


def stage_tags(staging: Staging, target: Target, tags: Sequence[str]) -> Setting:
    """Make the frontmatter's tags these; tags in the text stay.

    Raises:
        InvalidParams: it is no note.
        MalformedFrontmatter: the YAML cannot be edited safely.
    """
    path = path_of(target, "tags")
    wanted = list(dict.fromkeys(tag.strip().removeprefix("#") for tag in tags if tag.strip()))
    before = property_of(staging, path, "tags")
    if wanted or before is not None:
        set_property(staging, path, "tags", wanted or None)
    return Setting(path, before, wanted)


def stage_pin(staging: Staging, target: Target, *, pinned: bool) -> Setting:
    """Pin a note, so that it never decays, or take the pin out.

    Raises:
        InvalidParams: it is no note.
        MalformedFrontmatter: the YAML cannot be edited safely.
    """
    path = path_of(target, "a pin")
    before = property_of(staging, path, "pinned")
    set_property(staging, path, "pinned", True if pinned else None)
    return Setting(path, before, pinned)


def path_of(target: Target, what: str) -> str:
    """The path of the target's note.

    Raises:
        InvalidParams: it has none, so ``what`` has no place.
    """
    if target.note is None:
        raise InvalidParams(
            f"{target.name} is only named in notes and has none of its own that could hold {what}; "
            "store a memory with this title first"
        )
    return target.note.path


def property_of(staging: Staging, path: str, key: str) -> Any:
    """The value of a key, however it is spelt; None without it."""
    values = frontmatter_of(staging.read(path))
    return values.get(spelling(values, key))


def set_property(staging: Staging, path: str, key: str, value: object | None) -> None:
    """Set a key of the frontmatter, however it is spelt there; None takes it out.

    Raises:
        MalformedFrontmatter: the YAML cannot be edited safely.
    """
    data = staging.read(path)
    written = spelling(frontmatter_of(data), key)
    changed = remove_key(data, written) if value is None else set_key(data, written, value)
    staging.write(path, changed)


def spelling(values: dict[str, Any], key: str) -> str:
    """The key as the note spells it, else as it is."""
    return next((name for name in values if name.casefold() == key), key)
