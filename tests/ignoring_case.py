"""A folder as file systems of macOS, Windows and memory sticks have it, which ignore case.

No such file system can be made here, so the calls of the operating system are replaced: each finds
a file by any spelling of its name.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from memvault.vault import write

_rename, _lstat = os.rename, os.lstat


def _lexists(path: Any) -> bool:
    try:
        _lstat(path)
    except (OSError, ValueError):
        return False
    return True


def found(path: Any) -> Any:
    """The path of the file that a path means, as its folder spells it."""
    if isinstance(path, int) or _lexists(path):
        return path
    wanted = Path(path)
    files = wanted.parent.iterdir() if _lexists(wanted.parent) else ()
    same = (each for each in files if each.name.casefold() == wanted.name.casefold())
    return next(same, wanted)


@contextmanager
def ignoring_case(*, in_one_step: bool) -> Iterator[None]:
    """Ignore case in file names.

    Args:
        in_one_step: whether a rename to another spelling renames, as on macOS and Windows; on
            Linux it does nothing.
    """

    def by_any_spelling(call: Callable[..., Any]) -> Callable[..., Any]:
        return lambda path, *arguments, **named: call(found(path), *arguments, **named)

    def rename(source: Any, target: Any) -> None:
        if found(source) != found(target):
            _rename(found(source), found(target))
        elif in_one_step:
            _rename(found(source), target)

    def rename_if_free(source: Path, target: Path) -> bool:
        if _lexists(found(target)):
            raise FileExistsError(target)
        _rename(found(source), target)
        return True

    def link(source: Any, target: Any) -> None:
        if _lexists(found(target)):
            raise FileExistsError(target)
        os_link(found(source), target)

    os_link = os.link
    calls = [(os, name) for name in ("stat", "lstat", "open", "unlink", "chmod", "access")]
    patches = [
        patch.object(owner, name, by_any_spelling(getattr(owner, name)))
        for owner, name in [*calls, (io, "open")]
    ]
    patches += [patch.object(os, name, rename) for name in ("rename", "replace")]
    patches += [
        patch.object(os, "link", link),
        patch.object(write, "rename_if_free", rename_if_free),
    ]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in reversed(patches):
            each.stop()
