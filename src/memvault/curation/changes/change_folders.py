"""The folders that changes create or leave, and which are removed if they are empty."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from memvault.curation.changes.history import History
from memvault.curation.changes.plan import Plan
from memvault.model.change import Change
from memvault.vault.files import Vault


def new_folders(vault: Vault, plan: Plan) -> tuple[str, ...]:
    """The folders that a plan will create, parents first."""
    arriving = [edit.moved_to or edit.path for edit in plan.edits if edit.arrives]
    return tuple(folder for folder in _folders_of(arriving) if not vault.is_folder(folder))


def remove_empty_folders(vault: Vault, history: History, undone: Sequence[Change]) -> None:
    """Remove these changes' folders that are empty now and were created by a change."""
    created = {folder for change in history.all() for folder in change.folders}
    for folder in reversed(_folders_of(path for change in undone for path in change.paths)):
        if folder in created:
            vault.remove_empty_folder(folder)


def remove_left_folders(vault: Vault, folder: str, moved: Iterable[str]) -> None:
    """Remove a folder, and those below it, that are empty since these files moved out of them."""
    for left in reversed(_folders_of(moved)):
        if left == folder or left.startswith(f"{folder}/"):
            vault.remove_empty_folder(left)


def _folders_of(paths: Iterable[str]) -> list[str]:
    """The visible folders that contain these files, parents first."""
    folders = {str(folder) for path in paths for folder in PurePosixPath(path).parents}
    return sorted(folder for folder in folders if not folder.startswith("."))
