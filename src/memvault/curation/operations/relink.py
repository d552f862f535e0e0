"""Rewrites the links in notes and canvases to notes that move or are merged."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath
from urllib.parse import unquote

from memvault.curation.changes.staging import Staging
from memvault.curation.operations.canvas import is_readable, rewrite_canvas
from memvault.search.scope import MemoryLookup
from memvault.vault.documents import is_canvas
from memvault.vault.rewrite_links import Attached, Redirect, rewrite_links


def relink(
    staging: Staging,
    path: str,
    redirect: Redirect,
    moved: Mapping[str, str],
    attached: Attached = lambda _: None,
) -> bool:
    """Redirect the links of a note or a canvas; returns whether any changed.

    A canvas that is not valid JSON stays as it is.

    Args:
        redirect, attached: see `rewrite_links`.
        moved: see `rewrite_canvas`.

    Raises:
        MalformedFrontmatter: the note is UTF-16.
    """
    data = staging.read(path)
    if not is_canvas(path):
        changed = rewrite_links(path, data, redirect, attached)
    elif is_readable(data):
        changed = rewrite_canvas(path, data, redirect, moved)
    else:
        return False
    if changed == data:
        return False
    staging.relink(path, changed)
    return True


def attached_files(staging: Staging, source: str, target: str) -> Attached:
    """A redirect for relative links to files, in text that moves from one note to another."""
    folder = posixpath.dirname(source)

    def attached(dest: str) -> str | None:
        if "://" in dest or folder == posixpath.dirname(target):
            return None
        file = posixpath.normpath(posixpath.join(folder, unquote(dest)))
        return file if not file.startswith("..") and staging.vault.is_taken(file) else None

    return attached


def unreadable_canvases(
    staging: Staging, memories: MemoryLookup, notes: Collection[str]
) -> tuple[str, ...]:
    """The canvases that have the file name of one of these notes but are not valid JSON."""
    names = {PurePosixPath(note).stem for note in notes}
    found = []
    for path in sorted(memory.path for memory in memories.all() if is_canvas(memory.path)):
        data = staging.read(path) if staging.exists(path) else b"{}"
        text = data.decode("utf-8", "replace")
        if any(name in text for name in names) and not is_readable(data):
            found.append(path)
    return tuple(found)
