"""NumPy's products on one thread.

A question's products are of a few milliseconds. OpenBLAS shares each among all cores, and its
threads then wait for the next one at full speed: of 59 ms of processor time that a question over
roads took on two cores, 22 went into waiting, while the language reader and the stores had
something to do.
"""

from __future__ import annotations

from threadpoolctl import threadpool_limits


def use_one_thread() -> None:
    """Hold for the rest of the process."""
    threadpool_limits(1, user_api="blas")
