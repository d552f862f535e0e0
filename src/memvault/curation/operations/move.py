"""Moves notes: to the folder of their lifecycle, or a finished project's notes to the archive.

Links to a moved note by its path are rewritten, and so are links in it that depend on its folder.
Wikilinks by name still work and stay.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath
from urllib.parse import unquote

from memvault.curation.changes.staging import Staging
from memvault.curation.operations.merge import MergeIndex
from memvault.curation.operations.remember import folder_of_lifecycle
from memvault.model.errors import NoteNotFound
from memvault.model.memory import Lifecycle, Memory
from memvault.vault.frontmatter.properties import ARCHIVE, FOLDER_LIFECYCLES
from memvault.vault.links import keys_of
from memvault.vault.rewrite_links import NewTarget, WrittenLink, rewrite_links


def lifecycle_path(memory: Memory, lifecycle: Lifecycle) -> str | None:
    """The path where a note with this lifecycle belongs; None if it stays where it is.

    Only notes in a lifecycle's folder move; other folders are the person's own.
    """
    top, _, rest = memory.path.partition("/")
    folder_lifecycle = FOLDER_LIFECYCLES.get(top.casefold())
    if not rest or folder_lifecycle is None or folder_lifecycle is lifecycle:
        return None
    folder = folder_of_lifecycle(lifecycle, memory.project, memory.created_at)
    return f"{folder}/{PurePosixPath(memory.path).name}"


def archive_paths(memories: Iterable[Memory], project: str) -> dict[str, str]:
    """The new path of each note in a project's folder, by its current path.

    Raises NoteNotFound: there is no such folder.
    """
    found = {}
    for memory in memories:
        top, _, rest = memory.path.partition("/")
        folder, _, name = rest.partition("/")
        if name and (top.casefold(), folder.casefold()) == ("projects", project.casefold()):
            found[memory.path] = f"{ARCHIVE}/{rest}"
    if not found:
        raise NoteNotFound(f"There is no note in projects/{project}/", project=project)
    return found


def stage_moves(
    staging: Staging, known: MergeIndex, memories: Iterable[Memory], moves: Mapping[str, str]
) -> dict[str, str]:
    """Move notes; returns the new path of each note, numbered if the name was taken.

    Args:
        memories: the notes that move.
        moves: the wanted path of each note, by its current path.
    """
    new = {path: staging.free_path(target, first=2) for path, target in moves.items()}
    keys = {key for memory in memories for key in keys_of(memory.path, memory.aliases)}
    for path in sorted(known.linking(keys) | set(new)):
        if not staging.exists(path):
            continue
        data = staging.read(path)
        changed = rewrite_links(
            path, data, _redirect(known, new, path), _attached(staging, path, new.get(path, path))
        )
        if changed != data:
            staging.write(path, changed)
    for path, target in new.items():
        staging.move(path, target, with_edits=True)
    return new


def _redirect(
    known: MergeIndex, new: Mapping[str, str], source: str
) -> Callable[[WrittenLink], NewTarget | None]:
    def redirect(link: WrittenLink) -> NewTarget | None:
        linked_path = known.links.resolve(link.target, source) if link.target else None
        if linked_path is None or (linked_path not in new and source not in new):
            return None
        path, stem = new.get(linked_path, linked_path), PurePosixPath(linked_path).stem
        places = (source, new.get(source, source), path)
        if {known.links.resolve(stem, place) for place in places} != {linked_path}:
            return NewTarget(path, path.removesuffix(".md").removesuffix(".markdown"), link.subpath)
        return NewTarget(path, stem if "/" in link.target else None, link.subpath)

    return redirect


def _attached(staging: Staging, path: str, target: str) -> Callable[[str], str | None]:
    """A redirect for relative links to files that do not move."""
    folder = posixpath.dirname(path)

    def attached(dest: str) -> str | None:
        if "://" in dest or folder == posixpath.dirname(target):
            return None
        file = posixpath.normpath(posixpath.join(folder, unquote(dest)))
        return file if not file.startswith("..") and staging.is_file(file) else None

    return attached
