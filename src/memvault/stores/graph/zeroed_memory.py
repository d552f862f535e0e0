"""Zeroes memory for an engine that writes whole pages after filling only a part of them.

Ladybug allocates pages with ``malloc``, fills their beginning and writes them whole. The rest of a
page is memory that the process has freed: a client's message, a note, a token.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable

_M_PERTURB = -6  # mallopt(3): allocated bytes are set to the complement of this, freed bytes to it
_ZEROES, _OFF = 0xFF, 0


class ZeroedMemory:
    """A context in which all memory that the process allocates is zero, in every thread.

    Reentrant and thread-safe. Works with glibc; elsewhere this changes nothing. (macOS 13 and
    later zeroes memory when it is freed, Windows and musl do not.)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._set_perturb = _set_perturb()

    def __enter__(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._set_perturb(_ZEROES)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._set_perturb(_OFF)


def _set_perturb() -> Callable[[int], object]:
    """A function that sets the allocator's M_PERTURB; does nothing if the C library has none
    (musl)."""
    if sys.platform != "linux":
        return lambda value: None
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return lambda value: mallopt and mallopt(_M_PERTURB, value)


zeroed_memory = ZeroedMemory()
"""The process has one allocator."""
