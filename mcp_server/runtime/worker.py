"""The engine's one background worker, and how threads share the processor.

A question multiplies matrices for a few milliseconds at a time. OpenBLAS divides each product among
all cores, and its threads then wait for the next one at full speed: of 59 ms of processor time for
a question about relations on two cores, 22 were spent waiting.

Python lets a background thread keep the interpreter for 5 ms. A call releases it dozens of times,
with each read of a store or a file, and would wait as long each time.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import sys
import threading
import time
from collections.abc import Callable

from threadpoolctl import threadpool_limits

from memvault.model.errors import MemvaultError
from memvault.model.priority import making_way

# Objects made before the youngest are looked at, once all is open: 0.6 ms each time. With the
# 50,000 of the start it is 16 ms, amid a question.
_YOUNG = 2_000
# Of what outlives that, a look takes 1 ms for every 2,000. It is due between two questions from
# four such lots on, and amid one only if there was no pause for twenty.
DUE, _LATEST, _OLDEST = 4, 20, 500


def settle() -> None:
    """Collect once, look no more at what is left, and give back what is free; to be called when
    indexes were opened or closed."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, _LATEST, _OLDEST)
    give_back_memory()


def collect_between_questions() -> None:
    """Look at what outlived the last looks, if it is time; to be called while no question runs."""
    if gc.get_count()[1] >= DUE:
        gc.collect(1)


def collect_recent() -> None:
    """Collect what was made since `settle`, and give back what is free; to be called when a model
    was unloaded. Looking at all that is open would stop every thread: 2 s with 100,000 notes."""
    gc.collect()
    give_back_memory()


def give_back_memory() -> None:
    """Return freed memory to the system."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if trim is not None:
            trim(0)


# glibc gives each of some 28 threads a heap of its own, with holes: with two heaps an idle engine
# takes 12 MB less.
_ARENA_MAX, _ARENAS = -8, 2
TURN_SECONDS = 0.001  # that a thread may go on while others wait


def share_the_processor() -> None:
    """Hold NumPy's products to one thread, turns short and heaps few, until the process ends."""
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
        if mallopt is not None:
            mallopt(_ARENA_MAX, _ARENAS)
    threadpool_limits(1, user_api="blas")
    sys.setswitchinterval(TURN_SECONDS)


logger = logging.getLogger(__name__)
THREADS = 3  # a long job (a model that loads, a search for tasks) must not hold up a lease
RETRY_SECONDS = 10.0  # after a job failed

Job = Callable[[], float | None]
"""Does one step of its work; returns the seconds until its next step, None when it is done."""


class Worker:
    """Runs jobs when they are due, each name at most once at a time. Thread-safe.

    A job that fails is logged and run again later. Threads are started when they are needed.

    Args:
        let_pass: waits for what goes before; see `make_way`.
    """

    def __init__(self, let_pass: Callable[[], None] | None = None) -> None:
        self._let_pass = let_pass
        self._condition = threading.Condition()
        self._due: dict[str, tuple[float, Job]] = {}  # by name: monotonic time
        self._running: dict[str, bool] = {}  # by name: whether it may be scheduled again
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._stopped = False

    @property
    def stopped(self) -> bool:
        """Whether jobs should end early."""
        return self._stopped

    @property
    def pending(self) -> list[str]:
        """The names of the jobs that run or are due."""
        with self._condition:
            now = time.monotonic()
            due = (name for name, (at, _) in self._due.items() if at <= now)
            return sorted({*self._running, *due})

    def run(self, name: str, job: Job, *, after: float = 0.0) -> None:
        """Run a job in so many seconds, in place of one of this name that still waits."""
        with self._condition:
            if not self._stopped:
                self._schedule(name, job, after)

    def cancel(self, name: str) -> None:
        """Take back a job that waits; one that runs is not run again."""
        with self._condition:
            self._due.pop(name, None)
            if name in self._running:
                self._running[name] = False
            self._condition.notify_all()

    def wait(self, name: str, timeout: float) -> bool:
        """Wait until no job of this name waits or runs; False when the time (seconds) ran out."""

        def is_done() -> bool:
            return self._stopped or not (name in self._due or name in self._running)

        with self._condition:
            return self._condition.wait_for(is_done, timeout)

    def ask_to_stop(self) -> None:
        """Start no more jobs; returns at once."""
        with self._condition:
            self._stopped = True
            self._due.clear()
            self._condition.notify_all()

    def stop(self, timeout: float) -> bool:
        """The same, waiting for the jobs that run; False when the time (seconds) ran out."""
        self.ask_to_stop()
        deadline = time.monotonic() + timeout
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _schedule(self, name: str, job: Job, after: float) -> None:
        self._due[name] = (time.monotonic() + after, job)
        self._start_thread_if_needed()
        self._condition.notify_all()

    def _start_thread_if_needed(self) -> None:
        """So that one thread is free to wait for the next job."""
        if self._due and not self._idle and len(self._threads) < THREADS:
            name = f"memvault-worker-{len(self._threads)}"
            thread = threading.Thread(target=self._work, name=name, daemon=True)
            self._threads.append(thread)
            self._idle += 1  # from now on, so that no second one is started for the same job
            thread.start()

    def _work(self) -> None:
        while (taken := self._next()) is not None:
            name, job = taken
            again = self._step(name, job)
            with self._condition:
                self._idle += 1
                wanted = self._running.pop(name)
                if again is not None and wanted and name not in self._due and not self._stopped:
                    self._schedule(name, job, again)
                self._condition.notify_all()

    def _next(self) -> tuple[str, Job] | None:
        """The job that is due first; None to stop."""
        with self._condition:
            try:
                while not self._stopped:
                    free = [(at, name) for name, (at, _) in self._due.items()]
                    at, name = min((e for e in free if e[1] not in self._running), default=(0, ""))
                    left = at - time.monotonic()
                    if name and left <= 0:
                        self._running[name] = True
                        return name, self._due.pop(name)[1]
                    self._condition.wait(left if name else None)
                return None
            finally:
                self._idle -= 1
                self._start_thread_if_needed()

    def _step(self, name: str, job: Job) -> float | None:
        try:
            with making_way(self._let_pass):
                return job()
        except MemvaultError as error:
            if not self._stopped:
                logger.warning("%s: %s", name, error.message)
        except Exception:
            if not self._stopped:
                logger.exception("%s failed", name)
        return RETRY_SECONDS
