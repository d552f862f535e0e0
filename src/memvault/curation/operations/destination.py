"""Checks where a note may be moved to."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from memvault.curation.changes.staging import Staging
from memvault.model.errors import InvalidParams, NoteConflict, OutsideVault
from memvault.model.unicode_forms import normalized
from memvault.vault.file_names import folded_name, safe_name
from memvault.vault.files import Vault
from memvault.vault.links import without_suffix


def destination_path(staging: Staging, path: str, destination: str) -> str:
    """The path to which a note moves.

    Args:
        path: the note's present path.
        destination: a folder, "/" for the vault's own, or a path that ends in ``.md`` for a new
            file name.

    Raises:
        InvalidParams: a new name is not valid on every system or in links, or a file is named as a
            folder.
        OutsideVault: it is outside the vault, hidden, ignored or behind a link.
        NoteConflict: a file has that name, or would have it where case does not count.
    """
    vault = staging.vault
    requested = path_in_vault(vault, destination)
    folder, _, name = requested.rpartition("/")
    if without_suffix(name) == name:
        folder, name = requested, PurePosixPath(path).name
    folder = checked_folder(vault, folder)
    new = f"{folder}/{name}" if folder else name
    if new == path:
        return path
    if name != PurePosixPath(path).name:
        _check_name(name)
    if not vault.is_note(new):
        raise OutsideVault(f"{new} would not be a note: that place is hidden, ignored or a link")
    _check_free(staging, folder, name, path)
    return new


def path_in_vault(vault: Vault, destination: str) -> str:
    """The destination relative to the vault's folder, "" for that. Raises OutsideVault."""
    path = destination.strip().replace("\\", "/")
    if path.startswith("/") and path.strip("/"):
        inside = vault.relative(Path(path))
        if inside is None:
            raise OutsideVault(f"{destination!r} is outside the vault; paths start at its folder")
        path = "" if inside == "." else inside
    return path.removeprefix("./").strip("/")


def checked_folder(vault: Vault, folder: str) -> str:
    """A folder's path, as existing folders spell it.

    Raises:
        InvalidParams: it is not valid on every system.
        OutsideVault: no note can be there.
    """
    checked = vault.note_folder(folder)
    if folded_name(checked) != folded_name(folder):
        raise InvalidParams(
            f"{folder!r} is not a valid folder on every system; {checked!r} would be"
        )
    return checked


def _check_name(name: str) -> None:
    stem = without_suffix(name)
    valid = safe_name(stem)
    if normalized(stem) != valid:
        suffix = name.removeprefix(stem)
        raise InvalidParams(
            f"{name!r} is not a valid file name on every system and in links; "
            f"{valid + suffix!r} would be"
        )


def _check_free(staging: Staging, folder: str, name: str, path: str) -> None:
    """Raise NoteConflict if the folder has another file of this name, ignoring case."""
    names = staging.vault.spellings_in(folder).get(folded_name(name), ())
    for other in (f"{folder}/{each}".lstrip("/") for each in names):
        if other != path and staging.exists(other):
            raise NoteConflict(
                f"There is a file {other} already; give another name that ends in .md",
                path=other,
            )
