"""Checks at intervals that the servers answer and still have their data, also while no client
calls."""

from __future__ import annotations

import logging
from collections.abc import Callable

from indexer.indexer import Indexer
from mcp_server.runtime.worker import Worker
from memvault.model.errors import MemvaultError

logger = logging.getLogger(__name__)
CHECK = "check the servers"
CHECK_SECONDS = 5.0


class ServerCheck:
    """A job of the worker that calls ``restore`` when a server has lost its data.

    Args:
        indexer: returns the live indexer.
    """

    def __init__(self, indexer: Callable[[], Indexer], restore: Callable[[], None]) -> None:
        self._indexer = indexer
        self._restore = restore
        self._lost_reported = False

    def start(self, worker: Worker) -> None:
        worker.run(CHECK, self._step, after=CHECK_SECONDS)

    def _step(self) -> float:
        try:
            has_lost_index = self._indexer().comparison.has_lost_an_index()
        except MemvaultError as error:
            logger.info("%s", error.message)
            return CHECK_SECONDS
        if has_lost_index and not self._lost_reported:
            self._restore()
        self._lost_reported = has_lost_index
        return CHECK_SECONDS
