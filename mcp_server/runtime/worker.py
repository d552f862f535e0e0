"""The engine's one background worker, and settings for sharing the processor between threads.

A question multiplies matrices for a few milliseconds at a time. OpenBLAS divides each product among
all cores, and its threads then busy-wait for the next product: of 59 ms of processor time for a
question about relations on two cores, 22 were spent waiting.

Python lets a background thread keep the interpreter for 5 ms. A call releases it dozens of times,
at each read of a store or file, and could wait 5 ms each time.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable

from threadpoolctl import threadpool_limits

from memvault.model.errors import MemvaultError
from memvault.model.priority import making_way

# New objects that trigger a collection of the youngest generation after the start: 0.6 ms each
# time. With the 50,000 used during the start, it would take 16 ms in the middle of a question.
_YOUNG = 2_000
# Young collections that trigger a collection of the next generation, which takes 1 ms for each of
# them: between two questions after four, in the middle of a question only after twenty.
DUE, _LATEST, _OLDEST = 4, 20, 500


def settle() -> None:
    """Collect garbage, exempt the remaining objects from collection, and return freed memory.

    Call this after indexes were opened or closed.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, _LATEST, _OLDEST)
    give_back_memory()


def collect_between_requests() -> None:
    """Collect the second generation if it is due; call this while no question runs."""
    if gc.get_count()[1] >= DUE:
        gc.collect(1)


def collect_recent() -> None:
    """Collect garbage made since `settle`, and return freed memory; for unloaded models.

    Collecting older objects, too, would stop every thread: 2 s with 100,000 notes.
    """
    gc.collect()
    give_back_memory()


def give_back_memory() -> None:
    """Return freed memory to the system."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if trim is not None:
            trim(0)


# glibc gives each of about 28 threads a heap of its own, with holes: with two heaps, an idle engine
# takes 12 MB less.
_ARENA_MAX, _ARENAS = -8, 2
TURN_SECONDS = 0.001  # for which a thread may run while others wait


def share_the_processor() -> None:
    """Limit NumPy's products to one thread, the length of turns, and the number of heaps.

    The limits hold until the process ends.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
        if mallopt is not None:
            mallopt(_ARENA_MAX, _ARENAS)
    threadpool_limits(1, user_api="blas")
    sys.setswitchinterval(TURN_SECONDS)


logger = logging.getLogger(__name__)
THREADS = 3  # a long job (loading a model, searching for tasks) must not delay a lease
RETRY_SECONDS = 10.0  # after a job failed
PATIENCE_SECONDS = 1.0  # after which a patient job looks again whether it may run

Job = Callable[[], float | None]
"""Does one step of its work; returns the seconds until its next step, None when it is done."""


class Worker:
    """Runs jobs when they are due, each name at most once at a time. Thread-safe.

    A job that fails is logged and run again later. Threads are started when they are needed.

    Args:
        let_pass: waits for requests; see `make_way`.

    Attributes:
        is_busy: whether patient jobs must wait, as many notes are indexed.
    """

    def __init__(self, let_pass: Callable[[], None] | None = None) -> None:
        self.is_busy: Callable[[], bool] = lambda: False
        self._let_pass = let_pass
        self._condition = threading.Condition()
        self._due: dict[str, tuple[float, Job]] = {}  # by name: monotonic time
        self._patient: set[str] = set()  # names
        self._awaited = Counter[str]()  # calls that wait for a job, by its name
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
        """The names of jobs that run or are due."""
        with self._condition:
            now = time.monotonic()
            due = (name for name, (at, _) in self._due.items() if at <= now)
            return sorted({*self._running, *due})

    def run(self, name: str, job: Job, *, after: float = 0.0, patient: bool = False) -> None:
        """Run a job in ``after`` seconds; replaces a waiting job of the same name.

        Args:
            patient: start none of its steps while many notes are indexed, unless a call waits for
                it.
        """
        with self._condition:
            if not self._stopped:
                if patient:
                    self._patient.add(name)
                self._schedule(name, job, after)

    def cancel(self, name: str) -> None:
        """Cancel a waiting job; a running one is not repeated."""
        with self._condition:
            self._due.pop(name, None)
            if name in self._running:
                self._running[name] = False
            self._condition.notify_all()

    def wait(self, name: str, timeout: float) -> bool:
        """Wait until no job of this name waits or runs; False after ``timeout`` seconds."""

        def is_done() -> bool:
            return self._stopped or not (name in self._due or name in self._running)

        with self._condition:
            self._awaited[name] += 1
            self._condition.notify_all()
            try:
                return self._condition.wait_for(is_done, timeout)
            finally:
                self._awaited[name] -= 1

    def ask_to_stop(self) -> None:
        """Start no more jobs; returns at once."""
        with self._condition:
            self._stopped = True
            self._due.clear()
            self._condition.notify_all()

    def stop(self, timeout: float) -> bool:
        """As `ask_to_stop`, but wait for running jobs; False after ``timeout`` seconds."""
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
        """Start a thread unless one is free to wait for the next job."""
        if self._due and not self._idle and len(self._threads) < THREADS:
            name = f"memvault-worker-{len(self._threads)}"
            thread = threading.Thread(target=self._work, name=name, daemon=True)
            self._threads.append(thread)
            self._idle += 1  # counted at once, so that no second thread is started for the same job
            thread.start()

    def _work(self) -> None:
        while (due_job := self._next()) is not None:
            name, job = due_job
            next_seconds = self._step(name, job)
            with self._condition:
                self._idle += 1
                may_repeat = self._running.pop(name)
                if (
                    next_seconds is not None
                    and may_repeat
                    and name not in self._due
                    and not self._stopped
                ):
                    self._schedule(name, job, next_seconds)
                self._condition.notify_all()

    def _next(self) -> tuple[str, Job] | None:
        """The job that is due first; None to stop."""
        with self._condition:
            try:
                while not self._stopped:
                    now = time.monotonic()
                    due = (
                        (self._start_of(name, at, now), name)
                        for name, (at, _) in self._due.items()
                        if name not in self._running
                    )
                    at, name = min(due, default=(0, ""))
                    remaining_seconds = at - now
                    if name and remaining_seconds <= 0:
                        self._running[name] = True
                        return name, self._due.pop(name)[1]
                    self._condition.wait(remaining_seconds if name else None)
                return None
            finally:
                self._idle -= 1
                self._start_thread_if_needed()

    def _start_of(self, name: str, at: float, now: float) -> float:
        """When a job that is due ``at`` a time may start, as monotonic times."""
        must_wait = name in self._patient and not self._awaited[name] and self.is_busy()
        return max(at, now + PATIENCE_SECONDS) if must_wait else at

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
