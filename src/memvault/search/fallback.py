"""Answers that come whatever is down (triple E-02, E-07, section 7.2).

Without the graph the vectors answer; without the vectors the graph, from the names in the question;
without both, what the same question found before. An answer that takes too long gives way to what
can be had at once. Each says so.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTime
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from memvault.model.errors import GraphQueryError, StorageError, StoreUnavailable
from memvault.model.memory import Memory
from memvault.model.note import LineRange
from memvault.model.search import Hop, Recalled, Scope
from memvault.model.state import CacheStats
from memvault.search.hybrid import Recall
from memvault.search.neighbourhood import Neighbourhood
from memvault.search.relations.multihop import MOST_HOPS, NO_GRAPH, MultiHop, Reached
from memvault.search.relations.question import stems
from memvault.vault.parse import parse_note

logger = logging.getLogger(__name__)
KEPT = 512  # questions whose answers are remembered
AT_ONCE = 8  # questions under way
CHECKED = 1.0  # seconds for which a graph that answered is taken to answer still
WHOLE = 0.8  # share of the time limit for the whole answer; the rest is for a part of it

NO_VECTORS = (
    "The passage index does not answer: these are the notes that the question names and what is "
    "related to them. Run `memvault doctor` to mend it."
)
NOTHING_NAMED = (
    "The passage index does not answer, and the question names no note or thing: name one, or run "
    "`memvault doctor` to mend the index."
)
TOO_SLOW = "The whole answer took longer than {limit:g} s: this is what could be had in that time."
REMEMBERED = (
    "Neither index answers: this is what the same question found on {when}. Run `memvault doctor` "
    "to mend them."
)
REMEMBERED_SLOW = (
    "The indexes took longer than {limit:g} s: this is what the same question found on {when}."
)
NOTHING = (
    "No index answers, and this question was not asked before. Run `memvault doctor`; get_memory "
    "still reads any note by its path."
)

DOWN = (StorageError, GraphQueryError)
Ask = Callable[[], Reached]


@dataclass(frozen=True, slots=True)
class _Kept:
    memories: tuple[Recalled, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class _Asked:
    kind: str
    query: str
    top_k: int
    scope: Scope | None
    max_hops: int = 1

    @property
    def key(self) -> str:
        """Equal for questions that differ in nothing but case, spaces and how many they ask."""
        scope = self.scope or Scope()
        filters = scope.filters.model_dump(mode="json") if scope.filters else None
        words = " ".join(self.query.casefold().split())
        return json.dumps([self.kind, self.max_hops, words, scope.project, filters])


class AnswerCache:
    """What questions found, the last `KEPT` of them; thread-safe."""

    def __init__(self) -> None:
        self.reads = CacheStats()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, key: str, memories: Sequence[Recalled]) -> None:
        with self._lock:
            known = self._kept.get(key)
            if known is None or len(known.memories) <= len(memories):
                self._kept[key] = _Kept(tuple(memories), datetime.now(UTC))
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)

    def get(self, key: str) -> tuple[tuple[Recalled, ...], datetime] | None:
        with self._lock:
            known = self._kept.get(key)
            self.reads += CacheStats(misses=1) if known is None else CacheStats(hits=1)
            return None if known is None else (known.memories, known.at)


class SteadyRecall:
    """`MultiHop` and `Recall` with something to fall back on; safe in any thread.

    Args:
        read: a note's bytes, by path.
        limit_seconds: what an answer may take.

    Its methods raise StoreUnavailable if nothing at all can be had.
    """

    def __init__(
        self,
        multihop: MultiHop,
        plain: Recall,
        neighbourhood: Neighbourhood,
        *,
        memory_of: Callable[[str], Memory | None],
        read: Callable[[str], bytes],
        cache: AnswerCache,
        limit_seconds: float,
    ) -> None:
        self._multihop = multihop
        self._plain = plain
        self._neighbourhood = neighbourhood
        self._memory_of = memory_of
        self._read = read
        self._cache = cache
        self._limit = limit_seconds
        self._good_until = 0.0
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="memvault-answers")

    def recall(self, query: str, top_k: int, scope: Scope | None = None) -> Reached:
        """As `MultiHop.find`; says that the graph is down also where the question needed none of
        its roads, since what is linked and contradicted is then unknown."""
        asked = _Asked("recall", query, top_k, scope)
        check = self._checked()
        reached = self._answer(asked, lambda: self._multihop.find(query, top_k, scope))
        down = check is not None and check.done() and check.exception() is not None
        return replace(reached, notice=NO_GRAPH) if down and not reached.notice else reached

    def search(self, query: str, top_k: int, scope: Scope | None = None) -> Reached:
        """As `Recall.recall`."""
        asked = _Asked("recall", query, top_k, scope)
        return self._answer(asked, lambda: Reached(self._plain.recall(query, top_k, scope)))

    def ask(
        self, query: str, top_k: int, scope: Scope | None = None, max_hops: int = MOST_HOPS
    ) -> Reached:
        """As `MultiHop.ask`."""
        asked = _Asked("graph", query, top_k, scope, max_hops)
        return self._answer(asked, lambda: self._multihop.ask(query, top_k, scope, max_hops))

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    # -- in order of worth ----------------------------------------------------------------------

    def _checked(self) -> Future[None] | None:
        """A look at the graph while the vectors are asked; None if it has just answered."""
        if time.monotonic() < self._good_until:
            return None

        def check() -> None:
            self._neighbourhood.check_graph()
            self._good_until = time.monotonic() + CHECKED

        return self._pool.submit(check)

    def _answer(self, question: _Asked, whole: Ask) -> Reached:
        began = time.monotonic()
        asked = self._pool.submit(whole)
        try:
            reached = asked.result(WHOLE * self._limit)
        except DOWN as error:
            logger.warning("answering without the vectors: %s", error)
            slow = False
        except NotInTime:
            logger.warning("slow query, over %.1f s: %.80s", WHOLE * self._limit, question.query)
            slow = True
        else:
            if reached.notice is None:
                self._cache.put(question.key, reached.memories)
            return reached
        left = max(0.0, self._limit - (time.monotonic() - began))
        return self._part(question, slow, left)

    def _part(self, question: _Asked, slow: bool, seconds: float) -> Reached:
        """What can be had without the whole; the vectors are asked again where they were slow."""
        too_slow = TOO_SLOW.format(limit=self._limit)
        end = time.monotonic() + seconds
        named = self._pool.submit(self._named, question)
        if slow:
            near = self._pool.submit(
                self._plain.recall, question.query, question.top_k, question.scope
            )
            if found := _soon(near, seconds / 2):
                return Reached(found, too_slow)
        standing = _soon(named, end - time.monotonic())
        if standing:
            return Reached(standing, too_slow if slow else NO_VECTORS)
        kept = self._cache.get(question.key)
        if kept is not None:
            memories, at = kept
            words = REMEMBERED_SLOW if slow else REMEMBERED
            when = f"{at:%d %B %Y, %H:%M} UTC"
            notice = words.format(limit=self._limit, when=when)
            return Reached(list(memories[: question.top_k]), notice)
        if standing is None:
            raise StoreUnavailable(NOTHING)
        return Reached([], too_slow if slow else NOTHING_NAMED)

    def _named(self, question: _Asked) -> list[Recalled]:
        around = self._neighbourhood.around_names(
            question.query, question.top_k, question.max_hops, question.scope
        )
        asked = stems(question.query)
        return [
            each
            for key, relevance, hops in around
            if (memory := self._memory_of(key)) is not None
            and (each := self._passage(memory, asked, relevance, hops)) is not None
        ]

    def _passage(
        self, memory: Memory, asked: frozenset[str], relevance: float, hops: tuple[Hop, ...]
    ) -> Recalled | None:
        """The paragraph of a note that has most of the question's words; None if it cannot be
        read."""
        try:
            note = parse_note(memory.path, self._read(memory.path))
        except StorageError:
            return None
        if not note.blocks:
            return Recalled(memory.id, relevance, "", LineRange(1, 1), memory.title, hops)
        best = max(note.blocks, key=lambda block: len(stems(block.text) & asked))
        heading = " > ".join((memory.title, *best.heading))
        return Recalled(memory.id, relevance, heading, best.lines, best.text, hops)


def _soon(asked: Future[list[Recalled]], seconds: float) -> list[Recalled] | None:
    """What was asked for; None if it is down or not there in time."""
    try:
        return asked.result(max(0.0, seconds))
    except (*DOWN, NotInTime):
        return None
