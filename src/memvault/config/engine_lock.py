"""Whether an engine runs, by the lock that it holds.

Hooks load this at every prompt, so it needs only a little of the standard library. The lock is
taken as `filelock` takes it.
"""

from __future__ import annotations

import os
import sys


def is_held(file: str) -> bool:
    """Whether a process holds the lock of this file. Takes the lock for a moment if none does."""
    try:
        handle = os.open(file, os.O_RDWR)
    except OSError:
        return False
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False
