"""The second pass over a note: the names that only a trained pipeline finds.

It runs when a note is already searchable, and its findings are kept by the note's content, so
that neither a rebuild nor a link made elsewhere runs the pipeline again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection
from itertools import islice

from indexer.change_set import Unreadable, read_note
from indexer.entity_cache import FoundEntities
from indexer.indexer import Indexer
from memvault.config.settings import IndexSettings
from memvault.model.note import ParsedNote
from memvault.text.entities import open_entity_pipeline

logger = logging.getLogger(__name__)


BATCH = 16  # notes given to the pipeline at once; small, so that questions get their turn
RETRY_SECONDS = 10.0


class EntityPass:
    """Runs the trained pipeline over what the indexer wrote, in a thread of its own."""

    def __init__(
        self, indexer: Callable[[], Indexer], found: FoundEntities, settings: IndexSettings
    ) -> None:
        self._indexer = indexer
        self._found = found
        self._settings = settings
        self._condition = threading.Condition()
        self._waiting: dict[str, None] = {}  # in the order in which they came
        self._in_hand = 0
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="memvault-entities", daemon=True)

    @property
    def waiting(self) -> int:
        """Notes that the pipeline has not read yet."""
        with self._condition:
            return len(self._waiting) + self._in_hand

    def start(self) -> None:
        if self._settings.ner == "off":
            return
        self.add(sorted(self._indexer().catalogue.paths()))
        self._thread.start()

    def add(self, paths: Collection[str]) -> None:
        """Look at these notes when there is time."""
        if self._settings.ner == "off":
            return
        with self._condition:
            self._waiting.update(dict.fromkeys(paths))
            self._condition.notify_all()

    def wait(self, timeout: float) -> bool:
        """Wait until nothing is left to do; False when the time (seconds) ran out."""
        with self._condition:
            return self._condition.wait_for(
                lambda: (
                    self._stopped
                    or not self._thread.is_alive()
                    or not (self._waiting or self._in_hand)
                ),
                timeout,
            )

    def ask_to_stop(self) -> None:
        """Begin nothing more; returns at once."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()

    def stop(self, timeout: float | None = None) -> None:
        """Stop after the notes in hand, or when the time (seconds) runs out."""
        self.ask_to_stop()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _run(self) -> None:
        # Loading takes seconds, during which little else runs: better now than with the first save.
        pipeline = open_entity_pipeline()
        if pipeline is None:
            return self._give_up()
        while paths := self._next():
            try:
                new = self._not_found_yet(paths)
                if new:
                    for note, found in zip(new, pipeline.find(new), strict=True):
                        self._found.put(note.content_hash, found)
                    self._indexer().link_again([note.path for note in new])
            except Exception:
                if self._stopped:
                    return
                logger.exception("the entity pass failed; trying again later")
                self._pause()
                self.add(paths)
            self._done()

    def _next(self) -> list[str]:
        with self._condition:
            self._condition.wait_for(lambda: self._stopped or bool(self._waiting))
            if self._stopped:
                return []
            paths = list(islice(self._waiting, BATCH))
            for path in paths:
                del self._waiting[path]
            self._in_hand = len(paths)
            return paths

    def _pause(self) -> None:
        with self._condition:
            self._condition.wait_for(lambda: self._stopped, RETRY_SECONDS)

    def _done(self) -> None:
        with self._condition:
            self._in_hand = 0
            self._condition.notify_all()

    def _give_up(self) -> None:
        """Without the extra `memvault[ner]` there is nothing to do, now or later."""
        with self._condition:
            self._waiting.clear()
            self._in_hand = 0
            self._stopped = True
            self._condition.notify_all()

    def _not_found_yet(self, paths: Collection[str]) -> list[ParsedNote]:
        indexer = self._indexer()
        notes = []
        for path in paths:
            memory = indexer.catalogue.by_path(path)
            if memory is None or self._found.get(memory.content_hash) is not None:
                continue
            try:
                reading = read_note(indexer.vault, path, indexer.max_note_bytes)
            except Unreadable:
                continue
            if reading is not None and reading.note.content_hash == memory.content_hash:
                notes.append(reading.note)
        return notes
