"""Partial answers if a store fails or is slow (triple E-02, E-07, section 7.2).

Without the graph, vectors answer; without vectors, the graph, by the names in the question; without
both, the cached answer of the same question. An answer that takes too long is replaced by a quick
one. Each partial answer has a notice.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTime
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeVar

from cachetools import LRUCache

from memvault.model.errors import GraphQueryError, StorageError, StoreUnavailable
from memvault.model.memory import Memory
from memvault.model.note import LineRange
from memvault.model.search import Hit
from memvault.model.state import CacheStats
from memvault.search.association import Association
from memvault.search.hybrid import HybridSearch
from memvault.search.request import Candidates, SearchRequest
from memvault.search.scope import MemoryLookup, in_scope
from memvault.stores import faults
from memvault.text.name_matcher import NameMatcher
from memvault.text.stems import stems
from memvault.vault.parse import parse_note

logger = logging.getLogger(__name__)
MAX_CACHED = 512  # questions whose answers are cached
MAX_THREADS = 8  # questions that are answered at once
FULL_ANSWER_SHARE = 0.8  # of the time limit for the whole answer; the rest is for a partial one
NAMED_RELEVANCE = 0.5  # of a note that the question names

NO_GRAPH = "The graph does not answer; these are the notes nearest to the question."
NO_VECTORS = (
    "The passage index does not answer: these are the notes that the question names and what is "
    "related to them. Run `memvault doctor` to repair it."
)
NOTHING_NAMED = (
    "The passage index does not answer, and the question names no note or concept. Name one, or "
    "run `memvault doctor` to repair the index."
)
TOO_SLOW = "Timed out after {limit:g} s; the results are partial."
REMEMBERED = (
    "Neither index answers: this is what the same question found on {when}. Run `memvault doctor` "
    "to repair them."
)
REMEMBERED_SLOW = (
    "The indexes took longer than {limit:g} s: this is what the same question found on {when}."
)
NOTHING = (
    "No index answers, and this question was not asked before. Run `memvault doctor`; get_memory "
    "still reads any note by its path."
)

DOWN = (StorageError, GraphQueryError)
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class _CachedAnswer:
    hits: tuple[Hit, ...]
    at: datetime


class AnswerCache:
    """The hits of the `MAX_CACHED` questions used last. Thread-safe."""

    def __init__(self) -> None:
        self.reads = CacheStats()
        self._answers: LRUCache[str, _CachedAnswer] = LRUCache(MAX_CACHED)
        self._lock = threading.Lock()

    def put(self, key: str, hits: Sequence[Hit]) -> None:
        with self._lock:
            cached = self._answers.get(key)
            if cached is None or len(cached.hits) <= len(hits):
                self._answers[key] = _CachedAnswer(
                    tuple(replace(hit) for hit in hits), datetime.now(UTC)
                )

    def get(self, key: str) -> tuple[list[Hit], datetime] | None:
        with self._lock:
            cached = self._answers.get(key)
            self.reads += CacheStats(misses=1) if cached is None else CacheStats(hits=1)
            return None if cached is None else ([replace(hit) for hit in cached.hits], cached.at)


@dataclass(eq=False)
class Fallback:
    """Gives a partial answer if the whole one fails or is late. Thread-safe.

    Attributes:
        read: returns the bytes of the note at a path.
        limit_seconds: time limit of an answer.
    """

    hybrid: HybridSearch
    association: Association
    memories: MemoryLookup
    names: NameMatcher
    read: Callable[[str], bytes]
    cache: AnswerCache
    limit_seconds: float

    def __post_init__(self) -> None:
        # A pool rather than worker jobs: a caller waits for each, and abandons it at its limit.
        self._pool = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="memvault-answers")
        # A second pool, because searches of a store that hangs may hold all threads of the first.
        self._by_name = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="memvault-names")

    def answer(
        self, request: SearchRequest, limit: int, full_search: Callable[[], Candidates]
    ) -> Candidates:
        """The result of ``full_search``, or a partial one.

        Raises:
            StoreUnavailable: not even a partial answer exists.
        """
        started_at = time.monotonic()
        future = self._begin(self._pool, full_search)
        try:
            candidates = future.result(FULL_ANSWER_SHARE * self.limit_seconds)
        except DOWN as error:
            logger.warning("answering without the vectors: %s", error)
            is_slow = False
        except CancelledError as error:  # closed before its turn came
            raise faults.store_closed() from error
        except NotInTime:
            seconds = FULL_ANSWER_SHARE * self.limit_seconds
            logger.warning("slow query, over %.1f s: %.80s", seconds, request.query)
            is_slow = True
        else:
            if candidates.notice is None:
                self.cache.put(request.key, candidates.hits)
            return candidates
        remaining = max(0.0, self.limit_seconds - (time.monotonic() - started_at))
        return self._partial(request, limit, is_slow, remaining)

    def close(self) -> None:
        """Start no more searches."""
        for pool in (self._pool, self._by_name):
            pool.shutdown(wait=False, cancel_futures=True)

    def _begin(self, pool: ThreadPoolExecutor, work: Callable[[], Result]) -> Future[Result]:
        """Start the work in a pool.

        Raises:
            StoreUnavailable: the pool is closed.
        """
        try:
            return pool.submit(work)
        except RuntimeError as error:  # the pool is shut down
            raise faults.store_closed() from error

    def _partial(
        self, request: SearchRequest, limit: int, is_slow: bool, seconds: float
    ) -> Candidates:
        """A partial answer; slow vectors are tried once more."""
        too_slow = TOO_SLOW.format(limit=self.limit_seconds)
        end = time.monotonic() + seconds
        by_name = self._begin(self._by_name, lambda: self._named_notes(request, limit))
        if is_slow:
            nearest_notes = self._begin(self._pool, lambda: self._nearest(request, limit))
            if hits := _result_within(nearest_notes, seconds / 2):
                return Candidates(hits, too_slow)
        named_notes = _result_within(by_name, end - time.monotonic())
        if named_notes:
            return Candidates(named_notes, too_slow if is_slow else NO_VECTORS)
        cached = self.cache.get(request.key)
        if cached is not None:
            hits, found_at = cached
            hits = [hit for hit in hits if self.memories.by_id(hit.memory.id) is not None]
            notice = REMEMBERED_SLOW if is_slow else REMEMBERED
            when = f"{found_at:%d %B %Y, %H:%M} UTC"
            return Candidates(hits[:limit], notice.format(limit=self.limit_seconds, when=when))
        if named_notes is None:
            raise StoreUnavailable(NOTHING)
        return Candidates([], too_slow if is_slow else NOTHING_NAMED)

    def _nearest(self, request: SearchRequest, limit: int) -> list[Hit]:
        hits = self.hybrid.search(request.query, limit, request.scope)
        self.hybrid.read_passages(request.query, hits)
        return hits

    def _named_notes(self, request: SearchRequest, limit: int) -> list[Hit]:
        """An answer without vectors: the notes that the question names and their linked notes."""
        self.association.warm_up()
        mentions = self.names.find(request.query, question=True)
        memories = {m.name.target: self.memories.by_id(m.name.target) for m in mentions}
        named = [
            Hit(memory, NAMED_RELEVANCE)
            for memory in memories.values()
            if memory is not None and in_scope(memory, request.scope)
        ]
        hits = self.association.extend(request.query, named, request.scope)[:limit]
        question_stems = stems(request.query)
        return [hit for hit in hits if self._read_passage(hit, question_stems)]

    def _read_passage(self, hit: Hit, question_stems: frozenset[str]) -> bool:
        """Fill in the paragraph of the note that has most of the question's words.

        Returns False if the note cannot be read.
        """
        memory: Memory = hit.memory
        try:
            note = parse_note(memory.path, self.read(memory.path))
        except StorageError:
            return False
        if not note.blocks:
            hit.lines, hit.text = LineRange(1, 1), memory.title
            return True
        best = max(note.blocks, key=lambda block: len(stems(block.text) & question_stems))
        hit.heading = " > ".join((memory.title, *best.heading))
        hit.lines, hit.text = best.lines, best.text
        return True


def _result_within(future: Future[list[Hit]], seconds: float) -> list[Hit] | None:
    """The result of a search; None if its store failed or it is late."""
    try:
        return future.result(max(0.0, seconds))
    except (*DOWN, NotInTime, CancelledError):
        return None
