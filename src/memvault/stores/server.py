"""Calls to database servers: retries, a pause after failures, and statistics."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from prometheus_client import Histogram

from memvault.config.settings import no_url
from memvault.model.errors import DiskFull, InvalidParams, MemvaultError, StoreUnavailable
from memvault.stores import faults

# Upper bounds of the histogram's buckets in seconds.
BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


def refused(what: str, variable: str) -> StoreUnavailable:
    """The error for a password that a server refuses; an engine reads the variable at its start."""
    return StoreUnavailable(f"{what}. Set {variable}, then run `memvault stop`.")


def invalid_url(role: str) -> InvalidParams:
    """The error for a server's URL that its client refuses; ``role`` is the configuration's key.

    The client's own message may quote the URL, and so a password in it.
    """
    return InvalidParams(f"configuration: {role}: {no_url(role)}")


class CallRecorder:
    """Records the durations and failures of a store's calls (about 1 us each). Thread-safe.

    Attributes:
        seconds: histogram of the durations of answered calls.
        failures: number of failed calls.
        failing: whether the last call failed.
    """

    def __init__(self) -> None:
        self.seconds = Histogram(
            "memvault_store_seconds", "Duration of answered calls.", registry=None, buckets=BOUNDS
        )
        self.failures = 0
        self.failing = False
        self._lock = threading.Lock()

    def answered(self, seconds: float) -> None:
        self.seconds.observe(seconds)
        self.failing = False

    def failed(self) -> None:
        with self._lock:
            self.failures += 1
            self.failing = True

    def timed(self) -> TimedCall:
        """Record the calls made within the ``with`` block."""
        return TimedCall(self)


class TimedCall:
    """Records one call. A class, because a generator costs as much as the fastest calls."""

    __slots__ = ("_began", "_calls")

    def __init__(self, calls: CallRecorder) -> None:
        self._calls = calls

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, MemvaultError):
            self._calls.failed()
        else:
            self._calls.answered(time.perf_counter() - self._began)


NETWORK_RETRIES = 3
TIMEOUT_RETRIES = 1
FIRST_WAIT_SECONDS = 0.1  # doubled after each retry
REST_SECONDS = 2.0  # after all retries failed, calls fail at once for so long
T = TypeVar("T")
Errors = tuple[type[Exception], ...]


@dataclass(frozen=True, slots=True)
class StoreNamespace:
    """Identifies the indexes of a vault's generation on a server: letters, digits, ``-``, ``_``."""

    vault: str
    generation: str


class Server:
    """Retries calls to a server; after all retries failed, calls fail at once for a while.

    Thread-safe.

    Args:
        name: for messages.
        timeouts: the client's errors if there is no answer in time.
        network: the client's errors if the server cannot be reached or closes the connection.
    """

    def __init__(self, name: str, *, timeouts: Errors, network: Errors) -> None:
        self.name = name
        self.calls = CallRecorder()
        self.unreachable = False  # the last call had no answer
        self.full = False  # there was no space for the last write
        self.problem = ""  # why it failed last, and what to do
        self._timeouts = timeouts
        self._network = network
        self._resting_until = 0.0
        self._closing = threading.Event()

    def ask(self, attempt: Callable[[], T], *, repeatable: bool = True, writes: bool = False) -> T:
        """Run a call, with retries if it is repeatable, and return its result.

        Raises:
            StoreUnavailable: the store is closed, or no attempt was answered.
            DiskFull: the server has no space for the write.
        """
        began = time.perf_counter()
        try:
            result = self._ask(attempt, repeatable)
        except (StoreUnavailable, DiskFull) as error:
            self.full |= isinstance(error, DiskFull)
            self.problem = error.message
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
            except StoreUnavailable:  # the server refuses, for instance the password
                self.unreachable = True
                raise
            else:
                self.unreachable = False
                return result

    def close(self) -> bool:
        """Refuse further calls; False if already closed."""
        first = not self._closing.is_set()
        self._closing.set()
        return first

    def _ensure_worth_trying(self) -> None:
        if self._closing.is_set():
            raise faults.store_closed()
        if time.monotonic() < self._resting_until:
            raise self._unavailable()

    def _unavailable(self) -> StoreUnavailable:
        return StoreUnavailable(
            f"The {self.name} server does not answer. Check that it runs and can be reached."
        )
