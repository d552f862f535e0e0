"""The project that a folder belongs to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePath

from memvault.text.words import name_key


def project_of(folder: str, projects: Iterable[str]) -> str | None:
    """The project of a folder: its repository's name, spelt as the vault spells it.

    None for a folder that holds no project, such as the home folder.
    """
    path = PurePath(folder)
    if not path.name or _is_home(folder):
        return None
    root = _repository(folder)
    name = PurePath(root or folder).name
    spelling = {name_key(project): project for project in projects}
    for candidate in (name, path.name):
        if name_key(candidate) in spelling:
            return spelling[name_key(candidate)]
    return name if root else None


def _repository(folder: str) -> str | None:
    """This folder or the nearest one above that is a Git repository's root."""
    for path in (Path(folder), *Path(folder).parents):
        if os.path.exists(path / ".git"):  # noqa: PTH110 (raises no error on a name that is too long)
            return None if _is_home(str(path)) else str(path)
    return None


def _is_home(folder: str) -> bool:
    return Path(folder) in (Path.home(), Path.home().parent, Path(Path(folder).anchor))
