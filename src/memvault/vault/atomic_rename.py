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
_RENAME_NOREPLACE, _RENAME_EXCHANGE = 1, 2  # Linux, renameat2(2)
_RENAME_SWAP, _RENAME_EXCL = 2, 4  # macOS, renamex_np(2)
_CANNOT = {
    errno.EINVAL, errno.ENOSYS, errno.EPERM,
    getattr(errno, "ENOTSUP", errno.ENOSYS), getattr(errno, "EOPNOTSUPP", errno.ENOSYS),
}  # fmt: skip


def atomic_swap(first: Path, second: Path) -> bool:
    """Swap the names of two existing files of one folder in one step.

    Returns False, without any effect, if the system does not support it.
    """
    if sys.platform == "linux" and (rename := _function("renameat2")) is not None:
        names = (_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second))
        return bool(rename(*names, ctypes.c_uint(_RENAME_EXCHANGE)) == 0)
    if sys.platform == "darwin" and (rename := _function("renamex_np")) is not None:
        names_only = (os.fsencode(first), os.fsencode(second))
        return bool(rename(*names_only, ctypes.c_uint(_RENAME_SWAP)) == 0)
    return False


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
    if sys.platform == "linux" and (rename := _function("renameat2")) is not None:
        names = (_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target))
        done = rename(*names, ctypes.c_uint(_RENAME_NOREPLACE)) == 0
    elif sys.platform == "darwin" and (rename := _function("renamex_np")) is not None:
        names_only = (os.fsencode(source), os.fsencode(target))
        done = rename(*names_only, ctypes.c_uint(_RENAME_EXCL)) == 0
    else:
        return False
    if not done:
        number = ctypes.get_errno()
        if number in _CANNOT:
            return False
        raise OSError(number, os.strerror(number), str(source), None, str(target))
    return True


@cache
def _function(name: str) -> Any:
    return getattr(ctypes.CDLL(None, use_errno=True), name, None)
