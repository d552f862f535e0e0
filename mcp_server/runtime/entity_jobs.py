"""Runs the entity pass in the background, and unloads its pipeline when no note waits."""

from __future__ import annotations

from collections.abc import Callable, Collection

from indexer.entity_cache import EntityCache
from indexer.entity_pass import EntityPass
from indexer.indexer import Indexer
from mcp_server.runtime.worker import Worker, collect_recent
from memvault.config.settings import IndexSettings

FIND, UNLOAD = "find entities", "unload the entity pipeline"
UNLOAD_SECONDS = 30.0  # without a note to read, after which the pipeline is unloaded


class EntityJobs:
    """Finds the entities of indexed notes with the trained pipeline. Thread-safe."""

    def __init__(
        self,
        indexer: Callable[[], Indexer],
        cache: EntityCache,
        settings: IndexSettings,
        worker: Worker,
    ) -> None:
        self._entity_pass = EntityPass(indexer, cache, settings)
        self._worker = worker

    @property
    def waiting(self) -> int:
        """Notes that the pipeline has not read yet."""
        return self._entity_pass.waiting

    def add(self, paths: Collection[str]) -> None:
        """Queue these notes; `run` reads them."""
        self._entity_pass.add(paths)

    def run(self) -> None:
        """Read the queued notes in the background."""
        if self._entity_pass.waiting:
            self._worker.run(FIND, self._read, patient=True)

    def wait(self, timeout: float) -> bool:
        """Wait until all queued notes are read; False if that takes longer (seconds)."""
        return self._worker.wait(FIND, timeout)

    def _read(self) -> float | None:
        next_seconds = self._entity_pass.step()
        if next_seconds is None:
            self._worker.run(UNLOAD, self._unload, after=UNLOAD_SECONDS)
        return next_seconds

    def _unload(self) -> None:
        self._entity_pass.release()
        collect_recent()
