"""One vault's server stores in several processes: one indexes, the others follow."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from indexer.leader_lease import Duty
from indexer.replica import Changes, Follower, IndexerStatus, publish_status
from memvault.model.errors import MemvaultError, StoreUnavailable

if TYPE_CHECKING:
    from indexer.indexer import Indexer

CLOSE_SECONDS = 10.0
INDEXED_ELSEWHERE = (
    "Another process indexes this vault, and this one follows it. Run this where "
    "`memvault watch` runs."
)


class Sharing:
    """Whether this process indexes, and what it does while another one does.

    Args:
        indexer: the live one.
        move: opens the live generation, if that is another by now.
        begin, end: take up indexing, and lay it down; called in a thread of this class.
        own: how far this process is, if it indexes.
    """

    def __init__(
        self,
        indexer: Callable[[], Indexer],
        *,
        move: Callable[[], None],
        begin: Callable[[], object],
        end: Callable[[], None],
        own: Callable[[], IndexerStatus],
    ) -> None:
        self._indexer = indexer
        self._begin = begin
        self._end = end
        self._follower = Follower(indexer, move)
        self._own = own
        self._duty = Duty(
            lambda: indexer().stores.keyvalue,
            take_up=self._take_up,
            lay_down=self._lay_down,
            renewed=self._tell_standing,
        )
        self._wants_duty = False

    @property
    def follows(self) -> bool:
        return self._follower.active

    def elsewhere(self) -> IndexerStatus | None:
        """How far the process is that is followed; None if none seems to index."""
        return self._follower.indexing

    def start(self, *, wants_duty: bool) -> bool:
        """Whether this process is to index. If not it follows; one that wants to index does so when
        the one that does now has ended."""
        self._wants_duty = wants_duty
        if wants_duty and self._duty.start():
            self._announce()
            return True
        self._follower.start()
        return False

    def stop(self) -> None:
        self._follower.stop()
        if self._wants_duty:
            self._duty.stop(CLOSE_SECONDS)

    def wait_for(self, paths: Collection[str]) -> bool:
        """Whether these notes, written here, were indexed elsewhere within some seconds."""
        return self._follower.wait_for(paths)

    def tell(self, indexer: Indexer, paths: Collection[str]) -> None:
        """Tell those who follow what this process has indexed."""
        if not self.follows:
            Changes(indexer.stores.keyvalue).tell(paths)

    def check(self) -> None:
        """Raises StoreUnavailable where another process indexes."""
        if self.follows:
            raise StoreUnavailable(INDEXED_ELSEWHERE)

    def _announce(self) -> None:
        """The last process may have ended without telling all."""
        Changes(self._indexer().stores.keyvalue).tell(None)

    def _tell_standing(self) -> None:
        publish_status(self._indexer().stores.keyvalue, self._own())

    def _take_up(self) -> None:
        self._follower.stop()
        try:
            self._follower.catch_up()
            self._announce()
            self._begin()
        except MemvaultError:
            self._lay_down()
            raise

    def _lay_down(self) -> None:
        self._end()
        self._follower.start()
