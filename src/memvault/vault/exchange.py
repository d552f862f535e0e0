"""Renames that plain rename(2) cannot do, where the system can: two files changing names in one
step, and a name taken only if it is free."""

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


def exchange(one: Path, other: Path) -> bool:
    """Let two existing files of one folder change names. False if the system cannot, and then
    nothing has happened."""
    if sys.platform == "linux" and (rename := _function("renameat2")) is not None:
        names = (_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other))
        return bool(rename(*names, ctypes.c_uint(_RENAME_EXCHANGE)) == 0)
    if sys.platform == "darwin" and (rename := _function("renamex_np")) is not None:
        names_only = (os.fsencode(one), os.fsencode(other))
        return bool(rename(*names_only, ctypes.c_uint(_RENAME_SWAP)) == 0)
    return False


def rename_if_free(source: Path, target: Path) -> bool:
    """Give a file another name that nobody has, in one step. False if the system cannot, and then
    nothing has happened.

    Raises:
        FileExistsError: the name is taken.
        OSError: the file is not there, or may not be moved.
    """
    if sys.platform == "win32":
        source.rename(target)  # refuses an existing target there
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
