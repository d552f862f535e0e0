"""Two files changing names in one step, where the system can do that."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2  # Linux, renameat2(2)
_RENAME_SWAP = 2  # macOS, renamex_np(2)


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


@cache
def _function(name: str) -> Any:
    return getattr(ctypes.CDLL(None, use_errno=True), name, None)
