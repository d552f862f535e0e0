"""How a store's calls go: how many were answered, in what time, and how many failed."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from dataclasses import dataclass
from types import TracebackType

from memvault.model.errors import MemvaultError

# Upper bounds in seconds: from a look-up in memory to the longest that a server is waited for.
BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class CallFigures:
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


class Calls:
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

    def figures(self) -> CallFigures:
        with self._lock:
            return CallFigures(tuple(self._answered), self._seconds, self._failures, self._failing)

    def one(self) -> OneCall:
        """Notes what happens within ``with``."""
        return OneCall(self)


class OneCall:
    """A class of its own, since a generator would cost as much as the quickest calls."""

    __slots__ = ("_began", "_calls")

    def __init__(self, calls: Calls) -> None:
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
