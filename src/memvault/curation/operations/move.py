"""Moves notes: where the person wants them, to the folder of their lifecycle, or a finished
project's notes to the archive.

A link that would no longer lead to its note, or that has its path, is rewritten as Obsidian does,
in other notes, in a moved one and in canvases. All other links stay as they are written. If a
client moves the note, every sentence reads as before, so that no new name gets into the person's
words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from memvault.curation.changes.staging import Staging, is_in_trash
from memvault.curation.operations.destination import destination_path
from memvault.curation.operations.merge import MergeIndex
from memvault.curation.operations.properties import path_of, set_property, stage_lifecycle
from memvault.curation.operations.relink import attached_files, relink, unreadable_canvases
from memvault.curation.targets import Target
from memvault.model.change import ChangeKind
from memvault.model.errors import NoteNotFound
from memvault.model.memory import FOLDER_LIFECYCLES, Lifecycle, Memory
from memvault.model.moments import day_of
from memvault.text.words import name_key
from memvault.vault.documents import document_text, is_canvas
from memvault.vault.file_names import folded_name
from memvault.vault.frontmatter.properties import (
    ARCHIVE,
    folder_lifecycle,
    folder_project,
    lifecycle_and_project,
)
from memvault.vault.links import LinkIndex, keys_of, moved_link, without_suffix
from memvault.vault.note_folders import NoteFolders
from memvault.vault.parse import frontmatter_of, parse_note
from memvault.vault.rewrite_links import NewTarget, WrittenLink


@dataclass(frozen=True, slots=True)
class Move:
    """A note that moved, with the lifecycle and project that it has at its new path.

    ``unreadable`` are the canvases that name it but are not valid JSON; links in them stay.
    """

    moved_from: str
    path: str
    lifecycle: Lifecycle
    project: str | None
    unreadable: tuple[str, ...] = ()

    @property
    def notice(self) -> str | None:
        """Which links stay as they are although they should change."""
        return left_notice(self.unreadable)


def left_notice(unreadable: Sequence[str]) -> str | None:
    """The notice about canvases whose links stay; None if there are none."""
    if not unreadable:
        return None
    canvases = ", ".join(unreadable)
    return f"Not valid JSON, so links in it stay as they are: {canvases}. Correct them in Obsidian."


def stage_move(
    staging: Staging,
    index: MergeIndex,
    target: Target,
    destination: str,
    *,
    reads_as_before: bool = False,
) -> Move:
    """Move a note to a folder, or to a path that ends in ``.md`` for a new file name.

    Where the folder means a lifecycle or a project, and the note's properties state another, these
    are set to that of the folder.

    Raises:
        InvalidParams, OutsideVault, NoteConflict: the note cannot be there (`destination_path`),
            or the target has no note.
        MalformedFrontmatter: a property must be set and the YAML cannot be edited safely.
    """
    path, note = path_of(target, "a place"), target.note
    assert note is not None
    new = destination_path(staging, path, destination)
    if new == path:
        return Move(path, path, note.lifecycle, note.project)
    stage_moves(staging, index, [note], {path: new}, reads_as_before=reads_as_before)
    move = finish_move(staging, note, new)
    return replace(move, unreadable=unreadable_canvases(staging, index.memories, [path]))


def finish_move(staging: Staging, note: Memory, new: str) -> Move:
    """Set the lifecycle and the project of a note that moved to those of its new folder.

    Raises:
        MalformedFrontmatter: the YAML cannot be edited safely.
    """
    place = staging.vault.folders.relative(new)
    lifecycle, project = folder_lifecycle(place), folder_project(place)
    if lifecycle is not None:
        moved = Target(note.title, note.model_copy(update={"path": new}))
        stage_lifecycle(staging, moved, lifecycle)
    stated = _lifecycle_and_project(staging, new)[1]
    if project is not None and stated is not None and name_key(stated) != name_key(project):
        set_property(staging, new, "project", project)
    return Move(note.path, new, *_lifecycle_and_project(staging, new))


def _lifecycle_and_project(staging: Staging, path: str) -> tuple[Lifecycle, str | None]:
    return lifecycle_and_project(frontmatter_of(staging.read(path)), path)


def lifecycle_path(memory: Memory, lifecycle: Lifecycle, folders: NoteFolders) -> str | None:
    """The path where a note with this lifecycle belongs; None if it stays where it is.

    Only notes in a lifecycle's folder move; other folders are the person's own.
    """
    top, _, below_top = folders.relative(memory.path).partition("/")
    current = FOLDER_LIFECYCLES.get(top.casefold())
    if not below_top or current is None or current is lifecycle:
        return None
    folder = folders.of(lifecycle, memory.project, day_of(memory.created_at))
    return f"{folder}/{PurePosixPath(memory.path).name}"


def archive_paths(memories: Iterable[Memory], project: str, folders: NoteFolders) -> dict[str, str]:
    """The new path of each note in a project's folder, by its current path.

    Notes in the chosen folder of new notes stay in it, others are archived at the vault's top.

    Raises NoteNotFound: there is no such folder.
    """
    new_paths = {}
    for memory in memories:
        path = folders.relative(memory.path)
        top, _, below_top = path.partition("/")
        folder, _, name = below_top.partition("/")
        if name and (top.casefold(), folder.casefold()) == ("projects", project.casefold()):
            around = memory.path.removesuffix(path)
            new_paths[memory.path] = f"{around}{ARCHIVE}/{below_top}"
    if not new_paths:
        raise NoteNotFound(f"There is no note in projects/{project}/", project=project)
    return new_paths


def stage_moves(
    staging: Staging,
    index: MergeIndex,
    memories: Iterable[Memory],
    moves: Mapping[str, str],
    *,
    reads_as_before: bool = False,
) -> dict[str, str]:
    """Move notes; returns the new path of each note, numbered if the name was taken.

    Args:
        memories: the notes that move.
        moves: the wanted path of each note, by its current path.
        reads_as_before: a rewritten link shows what it showed, not the note's new name.
    """
    new = {
        path: target
        if folded_name(target) == folded_name(path)  # the note itself may have the name
        else staging.free_path(target, first=2)
        for path, target in moves.items()
    }
    links = index.links.after_moves(new)
    for path in sorted(index.linking(_keys(memories, new)) | set(new)):
        if staging.exists(path):
            redirect = _redirect(index.links, links, new, path, only_target=not reads_as_before)
            relink(staging, path, redirect, new, attached_files(staging, path, new.get(path, path)))
    for path, target in new.items():
        staging.move(path, target, with_edits=True)
    return new


def misled_note(staging: Staging, index: MergeIndex) -> str | None:
    """A note or canvas in which the staged moves make a link lead elsewhere; None if there is none.

    Args:
        index: the notes as they are now.
    """
    plan = staging.plan(ChangeKind.MOVED, (), ())
    moves = {path: new for path, new in plan.moves if not is_in_trash(new)}
    memories = [memory for path in moves if (memory := index.memories.by_path(path)) is not None]
    after = index.links.after_moves(moves)
    for path in sorted(index.linking(_keys(memories, moves)) | set(moves)):
        place = moves.get(path, path)
        if staging.vault.stat(path) is None or not staging.exists(place):
            continue
        before, staged = _targets(path, staging.vault.stored(path)), staging.read(place)
        for old, new in zip(before, _targets(place, staged), strict=False):
            leads_to = index.links.resolve(old, path) if old else None
            if leads_to and after.resolve(new, place) != moves.get(leads_to, leads_to):
                return path
    return None


def _targets(path: str, data: bytes) -> list[str]:
    note = parse_note(path, document_text(path, data) if is_canvas(path) else data)
    return [link.target for link in note.links]


def _keys(memories: Iterable[Memory], new: Mapping[str, str]) -> set[str]:
    """The keys of the links that moving these notes may affect."""
    return {
        key
        for memory in memories
        for place in (memory.path, new[memory.path])
        for key in keys_of(place, memory.aliases)
    }


def _redirect(
    before: LinkIndex,
    after: LinkIndex,
    new: Mapping[str, str],
    source: str,
    *,
    only_target: bool,
) -> Callable[[WrittenLink], NewTarget | None]:
    """Redirects the links of the note at ``source`` that would no longer lead to their notes."""
    place = new.get(source, source)

    def redirect(link: WrittenLink) -> NewTarget | None:
        linked = before.resolve(link.target, source) if link.target else None
        if linked is None:
            return None
        path = new.get(linked, linked)
        # Its end would still lead there, until another note has that path.
        is_full_path = path != linked and _names_path(link.target, linked)
        if after.resolve(link.target, place) == path and not is_full_path:
            return None
        name, markdown = moved_link(link.target, path, place, after)
        return NewTarget(markdown, name, link.subpath, only_target)

    return redirect


def _names_path(target: str, path: str) -> bool:
    """Whether a link's target is the whole path of a note in a folder."""
    return "/" in path and folded_name(target) == folded_name(without_suffix(path))
