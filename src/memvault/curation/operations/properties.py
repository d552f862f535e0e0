"""Sets properties of memories: tags, pin, importance, lifecycle, verification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from memvault.curation.changes.staging import Staging
from memvault.curation.targets import Target
from memvault.model.change import MARKED_RIGHT, Fact, FactKind
from memvault.model.errors import InvalidParams
from memvault.model.memory import DEFAULT_IMPORTANCE, Lifecycle
from memvault.vault.compose import importance_word
from memvault.vault.frontmatter.edit import remove_key, set_key
from memvault.vault.frontmatter.properties import memory_of, read_importance
from memvault.vault.parse import frontmatter_of, parse_note


@dataclass(frozen=True, slots=True)
class PropertyChange:
    """A value before and after a change.

    Attributes:
        path: None for a concept without a note.
        proposed_path: where a note with the new lifecycle belongs; None if it is there already.
    """

    path: str | None
    before: Any
    after: Any
    proposed_path: str | None = None


def stage_tags(staging: Staging, target: Target, tags: Sequence[str]) -> PropertyChange:
    """Set the tags of the frontmatter; tags in the text stay.

    Raises:
        InvalidParams: the target has no note.
        MalformedFrontmatter: the YAML cannot be edited safely.
    """
    path = path_of(target, "tags")
    new_tags = list(dict.fromkeys(tag.strip().removeprefix("#") for tag in tags if tag.strip()))
    before = property_of(staging, path, "tags")
    if new_tags or before is not None:
        set_property(staging, path, "tags", new_tags or None)
    return PropertyChange(path, before, new_tags)


def stage_pin(staging: Staging, target: Target, *, pinned: bool) -> PropertyChange:
    """Pin a note, so that it never decays, or unpin it.

    Raises:
        InvalidParams: the target has no note.
        MalformedFrontmatter: the YAML cannot be edited safely.
    """
    path = path_of(target, "a pin")
    before = property_of(staging, path, "pinned")
    set_property(staging, path, "pinned", True if pinned else None)
    return PropertyChange(path, before, pinned)


def path_of(target: Target, value_name: str) -> str:
    """The path of the target's note.

    Raises:
        InvalidParams: the target has no note that could hold ``value_name``.
    """
    if target.note is None:
        raise InvalidParams(
            f"{target.name} is only named in notes and has no note of its own that could hold "
            f"{value_name}; store a memory with this title first"
        )
    return target.note.path


def property_of(staging: Staging, path: str, key: str) -> Any:
    """The value of a key, ignoring case; None if the note lacks the key."""
    values = frontmatter_of(staging.read(path))
    return values.get(spelling(values, key))


def set_property(staging: Staging, path: str, key: str, value: object | None) -> None:
    """Set a key of the frontmatter, ignoring case; None removes the key.

    Raises:
        MalformedFrontmatter: the YAML cannot be edited safely.
    """
    data = staging.read(path)
    spelled_key = spelling(frontmatter_of(data), key)
    changed = remove_key(data, spelled_key) if value is None else set_key(data, spelled_key, value)
    staging.write(path, changed)


def spelling(values: dict[str, Any], key: str) -> str:
    """The key as the note spells it; unchanged if the note lacks it."""
    return next((name for name in values if name.casefold() == key.casefold()), key)


def stage_importance(
    staging: Staging,
    target: Target,
    *,
    importance: float | None = None,
    delta: float | None = None,
    concept_importance: float = DEFAULT_IMPORTANCE,
) -> PropertyChange:
    """Set the importance, or change it by ``delta``; it stays within [0, 1].

    Args:
        concept_importance: the current importance of a concept without a note.

    Raises:
        InvalidParams: not exactly one of ``importance`` and ``delta`` is given.
        MalformedFrontmatter: the YAML cannot be edited safely.
    """
    if (importance is None) == (delta is None):
        raise InvalidParams("Provide exactly one of importance and delta")
    path = target.note.path if target.note else None
    before = (
        read_importance(property_of(staging, path, "importance")) if path else concept_importance
    )
    unbounded = importance if importance is not None else before + (delta or 0.0)
    after = round(min(1.0, max(0.0, unbounded)), 3)
    if path is None:
        if after != before:
            staging.facts.append(
                Fact(kind=FactKind.IMPORTANCE, node_ids=target.node_ids, names=(target.name,),
                     value=after)
            )  # fmt: skip
    elif after != before:
        word = importance_word(after)
        set_property(staging, path, "importance", "medium" if word is None else word)
    return PropertyChange(path, before, after)


def stage_lifecycle(staging: Staging, target: Target, lifecycle: Lifecycle) -> PropertyChange:
    """Set the lifecycle; the note keeps its path.

    Raises:
        InvalidParams: the target has no note.
        MalformedFrontmatter: the YAML cannot be edited safely.
    """
    path = path_of(target, "a lifecycle")
    note = parse_note(path, staging.read(path))
    before = memory_of(note, fallback_time=datetime.now(UTC)).lifecycle
    if before is not lifecycle:
        set_property(staging, path, "lifecycle", str(lifecycle))
    return PropertyChange(path, before, lifecycle)


def stage_verification(
    staging: Staging, target: Target, *, verified: bool, by: str, on: date
) -> PropertyChange:
    """Set ``verified``, ``verified_by`` and ``verified_on``.

    Raises:
        InvalidParams: the target has no note.
        MalformedFrontmatter: the YAML cannot be edited safely.
    """
    path = path_of(target, "a verification")
    before = property_of(staging, path, "verified")
    set_property(staging, path, "verified", verified)
    set_property(staging, path, "verified_by", by)
    set_property(staging, path, "verified_on", on)
    staging.memo[MARKED_RIGHT] = str(verified).lower()
    return PropertyChange(path, before, verified)
