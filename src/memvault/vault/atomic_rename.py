"""Renames files in one step, where the operating system can."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

_AT_FDCWD = -100
# Flags of Linux, renameat2(2), and of macOS, renamex_np(2).
_EXCHANGE, _NO_REPLACE = (2, 2), (1, 4)
UNSUPPORTED = {
    errno.EINVAL, errno.ENOSYS, errno.EPERM,
    getattr(errno, "ENOTSUP", errno.ENOSYS), getattr(errno, "EOPNOTSUPP", errno.ENOSYS),
}  # fmt: skip


def atomic_swap(first: Path, second: Path) -> bool:
    """Swap the names of two existing files of one folder in one step.

    Returns False, without any effect, if the system does not support it.
    """
    return _renamed(first, second, _EXCHANGE) is True


def rename_if_free(source: Path, target: Path) -> bool:
    """Rename a file in one step, never over another file.

    Returns False, without any effect, if the system does not support it.

    Raises:
        FileExistsError: the target exists.
        OSError: the file does not exist or cannot be moved.
    """
    if sys.platform == "win32":
        source.rename(target)  # on Windows, this refuses an existing target
        return True
    done = _renamed(source, target, _NO_REPLACE)
    if done is False and (number := ctypes.get_errno()) not in UNSUPPORTED:
        raise OSError(number, os.strerror(number), str(source), None, str(target))
    return bool(done)


def _renamed(source: Path, target: Path, flags: tuple[int, int]) -> bool | None:
    """Whether the system's call renamed a file; None on a system without one.

    Args:
        flags: of Linux and of macOS.
    """
    paths = os.fsencode(source), os.fsencode(target)
    if sys.platform == "linux" and (rename := _function("renameat2")) is not None:
        return bool(rename(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], ctypes.c_uint(flags[0])) == 0)
    if sys.platform == "darwin" and (rename := _function("renamex_np")) is not None:
        return bool(rename(*paths, ctypes.c_uint(flags[1])) == 0)
    return None


@cache
def _function(name: str) -> Any:
    return getattr(ctypes.CDLL(None, use_errno=True), name, None)
