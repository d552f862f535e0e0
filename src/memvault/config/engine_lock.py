"""Whether an engine runs, by the lock that it holds.

Hooks load this at every prompt, so it needs only a little of the standard library. The engine takes
the lock with `filelock`, for itself alone.
"""

from __future__ import annotations

import os
import sys


def is_held(file: str) -> bool:
    """Whether a process holds the lock of this file.

    Takes the lock for a moment if none does; on POSIX, shared with others that look at the same
    time, so that none of them takes another for an engine.
    """
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

            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False
