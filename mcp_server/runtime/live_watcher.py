"""Keeps a watcher on the vault for the live generation, also when another one becomes live."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from indexer.indexer import Indexer
from indexer.watch import Watcher
from memvault.config.settings import IndexSettings


class LiveWatcher:
    """Watches the vault for one indexer at a time, if any.

    Args:
        live: returns the live indexer.
        may_watch: False while another process indexes, or this one stops.
    """

    def __init__(
        self,
        settings: IndexSettings,
        live: Callable[[], Indexer],
        may_watch: Callable[[], bool],
    ) -> None:
        self._settings = settings
        self._live = live
        self._may_watch = may_watch
        self._watcher: Watcher | None = None

    @property
    def way(self) -> str:
        """The way in which changes are detected: "events", "polling" or "no"."""
        if (watcher := self._watcher) is None:
            return "no"
        return "polling" if watcher.polling else "events"

    def start(self) -> None:
        """Watch for the live indexer, unless the vault is watched already."""
        if self._watcher is None:
            self._watch(self._live())

    def stop(self) -> None:
        """Stop watching after the running change."""
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.stop()

    @contextmanager
    def moved_to(self, fresh: Indexer) -> Iterator[None]:
        """Watch for a fresh indexer while the block makes it live.

        If the block fails, the live indexer is watched for again, and compares the whole vault.
        """
        was_watching = self._watcher is not None
        self.stop()
        try:
            if was_watching:
                self._watch(fresh)
            yield
        finally:
            if was_watching and self._live() is not fresh:
                self.stop()
                if self._may_watch():
                    self.start()
                    self.ask_for_scan()

    def ask_for_scan(self) -> None:
        """Have the whole vault compared soon, if it is watched."""
        if (watcher := self._watcher) is not None:
            watcher.ask_for_scan()

    def lag_seconds(self) -> float:
        """Age of the oldest change that is not yet indexed; 0 without one."""
        return 0.0 if (watcher := self._watcher) is None else watcher.lag_seconds()

    def _watch(self, indexer: Indexer) -> None:
        self._watcher = Watcher(indexer, self._settings)
        self._watcher.start()
