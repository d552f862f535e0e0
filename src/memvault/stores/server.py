"""A database server as the stores see it: asked again when it fails, then left alone a while."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TypeVar

from memvault.model.errors import DiskFull, MemvaultError, StoreUnavailable
from memvault.stores import faults

# Upper bounds in seconds: from a look-up in memory to the longest that a server is waited for.
BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class CallStats:
    """Since the store was opened.

    Attributes:
        answered: calls by time, one count a bound and a last one for longer calls.
        seconds: spent on all that were answered.
        failures: calls without an answer.
        failing: whether the last call was one.
    """

    answered: tuple[int, ...] = (0,) * (len(BOUNDS) + 1)
    seconds: float = 0.0
    failures: int = 0
    failing: bool = False


class CallRecorder:
    """Takes note of one store's calls; thread-safe. A note costs about a microsecond."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answered = [0] * (len(BOUNDS) + 1)
        self._seconds = 0.0
        self._failures = 0
        self._failing = False

    def answered(self, seconds: float) -> None:
        place = bisect_left(BOUNDS, seconds)
        with self._lock:
            self._answered[place] += 1
            self._seconds += seconds
            self._failing = False

    def failed(self) -> None:
        with self._lock:
            self._failures += 1
            self._failing = True

    def stats(self) -> CallStats:
        with self._lock:
            return CallStats(tuple(self._answered), self._seconds, self._failures, self._failing)

    def timed(self) -> TimedCall:
        """Notes what happens within ``with``."""
        return TimedCall(self)


class TimedCall:
    """A class of its own, since a generator would cost as much as the quickest calls."""

    __slots__ = ("_began", "_calls")

    def __init__(self, calls: CallRecorder) -> None:
        self._calls = calls

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, MemvaultError):
            self._calls.failed()
        else:
            self._calls.answered(time.perf_counter() - self._began)


NETWORK_RETRIES = 3
TIMEOUT_RETRIES = 1
FIRST_WAIT_SECONDS = 0.1  # doubled with every further retry
REST_SECONDS = 2.0  # after all retries failed, calls fail at once, so that answers degrade quickly
T = TypeVar("T")
Errors = tuple[type[Exception], ...]


@dataclass(frozen=True, slots=True)
class StoreNamespace:
    """Whose indexes, among those that a server keeps: letters, digits, ``-`` and ``_``."""

    vault: str
    generation: str


class Server:
    """Thread-safe.

    Args:
        name: as messages call it.
        timeouts: what the client raises when no answer comes in time.
        network: what it raises when the server cannot be reached or closes the connection.
    """

    def __init__(self, name: str, *, timeouts: Errors, network: Errors) -> None:
        self.name = name
        self.calls = CallRecorder()
        self.unreachable = False  # whether the last call had no answer
        self.full = False  # whether it had no room for the last write
        self._timeouts = timeouts
        self._network = network
        self._resting_until = 0.0
        self._closing = threading.Event()

    def ask(self, attempt: Callable[[], T], *, repeatable: bool = True, writes: bool = False) -> T:
        """What the attempt gives. One that is not repeatable is tried once.

        Raises:
            StoreUnavailable: the store is closed, or no attempt was answered.
            DiskFull: the server has no room for what the attempt writes.
        """
        began = time.perf_counter()
        try:
            result = self._ask(attempt, repeatable)
        except StoreUnavailable:
            self.calls.failed()
            raise
        except DiskFull:
            self.full = True
            self.calls.failed()
            raise
        if writes:
            self.full = False
        self.calls.answered(time.perf_counter() - began)
        return result

    def _ask(self, attempt: Callable[[], T], repeatable: bool) -> T:
        failures = 0
        while True:
            self._ensure_worth_trying()
            try:
                result = attempt()
            except (*self._timeouts, *self._network) as error:
                failures += 1
                retries = TIMEOUT_RETRIES if isinstance(error, self._timeouts) else NETWORK_RETRIES
                if not repeatable or failures > retries:
                    self.unreachable = True
                    self._resting_until = time.monotonic() + REST_SECONDS
                    raise self._unavailable() from error
                self._closing.wait(FIRST_WAIT_SECONDS * 2 ** (failures - 1))
            except StoreUnavailable:  # it refuses to
                self.unreachable = True
                raise
            else:
                self.unreachable = False
                return result

    @property
    def closed(self) -> bool:
        return self._closing.is_set()

    def close(self) -> bool:
        """Refuse further calls; False if that was done before."""
        first = not self._closing.is_set()
        self._closing.set()
        return first

    def _ensure_worth_trying(self) -> None:
        if self._closing.is_set():
            raise faults.closed()
        if time.monotonic() < self._resting_until:
            raise self._unavailable()

    def _unavailable(self) -> StoreUnavailable:
        return StoreUnavailable(
            f"The {self.name} server does not answer. Check that it runs and can be reached."
        )
