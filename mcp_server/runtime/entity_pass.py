"""The second pass over a note, for names that only a trained pipeline finds.

It runs in the background after a note has become searchable. Its findings are cached by the note's
content hash, so neither a rebuild nor a link from another note runs the pipeline again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from itertools import islice

from indexer.entity_cache import EntityCache
from indexer.indexer import Indexer
from indexer.note_reading import UnreadableNote, read_note
from mcp_server.runtime.worker import Worker, collect_recent
from memvault.config.settings import IndexSettings
from memvault.model.note import ParsedNote
from memvault.text.entities import EntityPipeline, open_entity_pipeline

FIND, UNLOAD = "find entities", "unload the entity pipeline"
BATCH = 32  # notes per step, whose edges are then written together
UNLOAD_SECONDS = 30.0  # without a note to read, after which the pipeline is unloaded


class EntityPass:
    """Runs the trained pipeline over indexed notes, a few per step. Thread-safe."""

    def __init__(
        self,
        indexer: Callable[[], Indexer],
        cache: EntityCache,
        settings: IndexSettings,
        worker: Worker,
    ) -> None:
        self._indexer = indexer
        self._cache = cache
        self._worker = worker
        self._is_off = settings.ner == "off"
        self._lock = threading.Lock()
        self._queue: dict[str, None] = {}  # paths, in the order of arrival
        self._in_step = 0
        self._pipeline: EntityPipeline | None = None

    @property
    def waiting(self) -> int:
        """Notes that the pipeline has not read yet."""
        return len(self._queue) + self._in_step

    def add(self, paths: Collection[str]) -> None:
        """Queue these notes; `run` reads them."""
        if not self._is_off:
            with self._lock:
                self._queue.update(dict.fromkeys(paths))

    def run(self) -> None:
        """Read the queued notes in the background."""
        if self.waiting:
            self._worker.run(FIND, self._step, patient=True)

    def wait(self, timeout: float) -> bool:
        """Wait until all queued notes are read; False if that takes longer (seconds)."""
        return self._worker.wait(FIND, timeout)

    def _step(self) -> float | None:
        """Read some waiting notes; returns 0 if more wait, else None."""
        with self._lock:
            paths = list(islice(self._queue, BATCH))
            for path in paths:
                del self._queue[path]
            self._in_step = len(paths)
        try:
            if paths:
                self._read(paths)
        except BaseException:
            self.add(paths)
            raise
        finally:
            self._in_step = 0
        if self._queue:
            return 0.0
        self._worker.run(UNLOAD, self._unload, after=UNLOAD_SECONDS)
        return None

    def _unload(self) -> None:
        """Unload the pipeline, which takes about 100 MB, until it is needed again."""
        if not self._queue:
            self._pipeline = None
        collect_recent()

    def _read(self, paths: Collection[str]) -> None:
        new = self._notes_to_read(paths)
        if not new:
            return
        self._pipeline = pipeline = self._pipeline or open_entity_pipeline()
        if pipeline is None:  # the extra `memvault[ner]` is not installed
            self._is_off = True
            self._queue.clear()
            return
        indexer, found = self._indexer(), pipeline.find(new)
        # First, since a note with cached entities is not read again: if the engine is killed, or
        # the graph does not answer, the next scan writes the edges.
        indexer.catalogue.to_relink.add([note.path for note in new])
        for note, entities in zip(new, found, strict=True):
            self._cache.put(note.content_hash, entities)
        indexer.relink([note.path for note in new])

    def _notes_to_read(self, paths: Collection[str]) -> list[ParsedNote]:
        indexer = self._indexer()
        notes = []
        for path in paths:
            memory = indexer.catalogue.by_path(path)
            if memory is None or self._cache.get(memory.content_hash) is not None:
                continue
            try:
                reading = read_note(indexer.vault, path, indexer.max_note_bytes)
            except UnreadableNote:
                continue  # the scan has reported it
            if reading is not None and reading.note.content_hash == memory.content_hash:
                notes.append(reading.note)
        return notes
