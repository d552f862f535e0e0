"""Renames files where the system ignores case, so that "notes.md" is found as "Notes.md", too."""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path

from memvault.model.unicode_forms import normalized
from memvault.vault.file_names import folded_name
from memvault.vault.write import TEMPORARY_PREFIX, TEMPORARY_SUFFIX, move, sync_folder


def is_spelled(file: Path) -> bool:
    """Whether a file that is found at this path has exactly this name."""
    other = file.with_name(file.name.swapcase())
    try:
        if other == file or not other.exists():
            return True
        names = os.listdir(file.parent)  # noqa: PTH208 - for each note, so it must be quick
        return file.name in names or normalized(file.name) in map(normalized, names)
    except OSError:
        return True


def move_or_respell(source: Path, target: Path) -> None:
    """As `move`; the target may also be another spelling of the file's own name."""
    if target.exists() and not is_spelled(target) and _is_spelling(source, target):
        _respell(source, target)
    else:
        move(source, target)


def _is_spelling(source: Path, target: Path) -> bool:
    """Whether a system that ignores case takes both paths for one."""
    return source.parent == target.parent and folded_name(source.name) == folded_name(target.name)


def _respell(source: Path, target: Path) -> None:
    source.rename(target)  # macOS and Windows rename in one step; Linux does nothing
    if not is_spelled(target):
        move(source, _between(target))
        try:
            move(_between(target), target)
        except OSError:
            move(_between(target), source)
            raise
    sync_folder(target.parent)


def finish_respelling(target: Path) -> None:
    """Complete a change of case that a crash interrupted."""
    if _between(target).exists():
        move(_between(target), target)


def _between(target: Path) -> Path:
    """The name that the file has for a moment where it cannot be renamed in one step."""
    key = blake2b(target.name.encode(), digest_size=8).hexdigest()
    return target.with_name(f"{TEMPORARY_PREFIX}{key}{TEMPORARY_SUFFIX}")
