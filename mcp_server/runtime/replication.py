"""Shares the server stores of a vault between processes: one indexes, the others follow."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from indexer.replica import (
    RENEW_SECONDS,
    ChangeFeed,
    IndexerStatus,
    LeaderLease,
    Replica,
    publish_status,
)
from mcp_server.runtime.worker import Worker
from memvault.model.errors import DiskFull, StoreUnavailable

if TYPE_CHECKING:
    from indexer.indexer import Indexer

logger = logging.getLogger(__name__)
INDEXED_ELSEWHERE = (
    "Another process indexes this vault, and this one follows it. Run this where `memvault watch` "
    "runs; if that process was killed, run it here in a minute, when this one has taken over."
)
FOLLOW, RENEW, TAKE_OVER = "follow the indexer", "renew the lease", "take over indexing"


class Replication:
    """Decides whether this process indexes or follows the process that does.

    Args:
        indexer: returns the live indexer.
        switch: opens the live generation if another process has replaced it.
        begin, end: start and stop indexing here; jobs of the worker call them.
        own_status: the progress of this process, if it indexes.
    """

    def __init__(
        self,
        indexer: Callable[[], Indexer],
        worker: Worker,
        *,
        switch: Callable[[], None],
        begin: Callable[[], object],
        end: Callable[[], None],
        own_status: Callable[[], IndexerStatus],
    ) -> None:
        self._indexer = indexer
        self._worker = worker
        self._begin = begin
        self._end = end
        self._replica = Replica(indexer, switch)
        self._own_status = own_status
        self._lease = LeaderLease(
            lambda: indexer().stores.keyvalue,
            won=lambda: worker.run(TAKE_OVER, self._take_over),
            lost=self._step_down,
            renewed=self._publish,
        )
        self._may_lead = False

    @property
    def follows(self) -> bool:
        return self._replica.active

    def elsewhere(self) -> IndexerStatus | None:
        """The progress of the process that indexes; None if there seems to be none."""
        return self._replica.indexing

    def start(self, *, may_lead: bool) -> bool:
        """Index or follow; returns whether this process indexes.

        A follower that may lead takes over when the leader has ended; so does a process that finds
        the store full, as soon as that accepts writes.
        """
        self._may_lead = may_lead
        leads = may_lead and self._lease.acquire()
        if may_lead:
            self._worker.run(RENEW, self._lease.renew, after=RENEW_SECONDS)
        if leads:
            try:
                self._announce()
            except DiskFull as error:
                logger.error("%s Indexing starts after that.", error.message)
                self._worker.run(TAKE_OVER, self._take_over, after=RENEW_SECONDS)
            else:
                return True
        self._follow()
        return False

    def stop(self) -> None:
        """Stop following and release the lease; call this when the worker has stopped."""
        self._replica.active = False
        if self._may_lead:
            self._lease.release()

    def wait_for(self, paths: Collection[str]) -> bool:
        """Wait some seconds until the other process has indexed these notes; False if it has
        not."""
        return self._replica.wait_for(paths)

    def report(self, indexer: Indexer, paths: Collection[str]) -> None:
        """Notify following processes of notes that this one has indexed."""
        if not self.follows:
            ChangeFeed(indexer.stores.keyvalue).append(paths)

    def check_leads(self) -> None:
        """Check that this process indexes. Raises StoreUnavailable: another one does."""
        if self.follows:
            raise StoreUnavailable(INDEXED_ELSEWHERE)

    def _follow(self) -> None:
        self._replica.active = True
        self._worker.run(FOLLOW, self._replica.step)

    def _announce(self) -> None:
        """Have followers check everything, as the last leader may have missed changes."""
        ChangeFeed(self._indexer().stores.keyvalue).append(None)

    def _publish(self) -> None:
        publish_status(self._indexer().stores.keyvalue, self._own_status())

    def _take_over(self) -> None:
        """Start to index here. If a store does not answer, the worker retries; until then,
        follow."""
        self._replica.catch_up()
        self._announce()
        self._replica.active = False
        self._begin()

    def _step_down(self) -> None:
        self._worker.cancel(TAKE_OVER)
        self._end()
        self._follow()
