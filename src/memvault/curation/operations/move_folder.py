"""Moves all notes of a folder, as one change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from memvault.curation.changes.staging import Staging
from memvault.curation.operations.destination import (
    checked_folder,
    destination_path,
    path_in_vault,
)
from memvault.curation.operations.merge import MergeIndex
from memvault.curation.operations.move import Move, finish_move, left_notice, stage_moves
from memvault.curation.operations.relink import unreadable_canvases
from memvault.model.errors import InvalidParams, NoteConflict, NoteNotFound
from memvault.model.memory import Memory
from memvault.model.unicode_forms import normalized
from memvault.vault.documents import is_document
from memvault.vault.file_names import folded_name
from memvault.vault.files import Vault
from memvault.vault.links import without_suffix


@dataclass(frozen=True, slots=True)
class FolderMove:
    """A folder whose notes moved.

    Attributes:
        moves: each note that moved.
        staying: how many other files are in the folder; they stay there.
        unreadable: see `Move`.
    """

    moved_from: str
    path: str
    moves: tuple[Move, ...]
    staying: int
    unreadable: tuple[str, ...] = ()

    @property
    def moved(self) -> dict[str, str]:
        """The new path of each note, by its former one."""
        return {move.moved_from: move.path for move in self.moves}

    @property
    def notice(self) -> str | None:
        """Which files and links stay as they are."""
        files = "1 other file stays" if self.staying == 1 else f"{self.staying:,} other files stay"
        staying = f"Only notes move: {files} in {self.moved_from}/. " if self.staying else ""
        return (staying + (left_notice(self.unreadable) or "")).strip() or None


def source_folder(vault: Vault, folder: str) -> str:
    """The path of a folder as the vault spells it. Raises OutsideVault: no notes can be there."""
    return vault.note_folder(path_in_vault(vault, folder))


def notes_in(memories: Iterable[Memory], folder: str) -> list[Memory]:
    """The notes in a folder (`source_folder`) and below it, but no PDF files and canvases.

    Raises NoteNotFound: there are none.
    """
    prefix = f"{folder}/"
    found = [
        memory
        for memory in memories
        if memory.path.startswith(prefix) and not is_document(memory.path)
    ]
    if not found:
        raise NoteNotFound(
            f"There is no note in {prefix}; give a folder by its path in the vault", folder=prefix
        )
    return sorted(found, key=lambda memory: memory.path)


def stage_folder_move(
    staging: Staging,
    index: MergeIndex,
    folder: str,
    notes: Sequence[Memory],
    destination: str,
    *,
    reads_as_before: bool = False,
) -> FolderMove:
    """Move the notes of a folder into another folder, or to the folder's new path.

    Properties are set as by `stage_move`.

    Args:
        folder: its path as `source_folder` gives it.
        notes: those of `notes_in`.
        destination: a folder that exists or ends in "/", into which the folder moves with its
            name; else the folder's new path.
        reads_as_before: see `stage_moves`.

    Raises:
        InvalidParams, OutsideVault, NoteConflict: a note cannot be there (`destination_path`), the
            folder would be in itself, or its name would change only in case.
        MalformedFrontmatter: a property must be set and the YAML cannot be edited safely.
    """
    place = _destination_folder(staging.vault, folder, destination)
    if place == folder:
        return FolderMove(folder, place, (), 0)
    wanted = {
        note.path: destination_path(staging, note.path, place + note.path.removeprefix(folder))
        for note in notes
    }
    if len(set(wanted.values())) < len(wanted):
        raise NoteConflict(f"Two notes of {folder}/ would have the same path; rename one first")
    new = stage_moves(staging, index, notes, wanted, reads_as_before=reads_as_before)
    moves = tuple(finish_move(staging, note, new[note.path]) for note in notes)
    staying = max(0, _count_of_files(staging.vault, folder) - len(notes))
    unreadable = unreadable_canvases(staging, index.memories, new)
    return FolderMove(folder, place, moves, staying, unreadable)


def _destination_folder(vault: Vault, folder: str, destination: str) -> str:
    wanted, name = path_in_vault(vault, destination), PurePosixPath(folder).name
    if without_suffix(wanted) != wanted:
        raise InvalidParams(f"{wanted} is the path of a note; give a folder, without .md")
    is_same = folded_name(wanted) == folded_name(folder)
    if is_same and normalized(wanted) != normalized(folder):
        raise InvalidParams(
            f"The upper and lower case of {folder}/ cannot be changed here; rename the folder in "
            "your editor or file manager"
        )
    is_into = destination.strip().endswith(("/", "\\")) or vault.is_folder(wanted)
    place = checked_folder(vault, f"{wanted}/{name}".strip("/") if is_into else wanted)
    if folded_name(place).startswith(folded_name(folder) + "/"):
        raise InvalidParams(f"{folder}/ cannot move into itself; give another folder")
    return place


def _count_of_files(vault: Vault, folder: str) -> int:
    """The number of visible files in a folder and below it."""
    root = vault.file_path(folder)
    found = (file.relative_to(root) for file in root.rglob("*") if file.is_file())
    return sum(not any(part.startswith(".") for part in file.parts) for file in found)
