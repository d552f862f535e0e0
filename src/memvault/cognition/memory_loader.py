"""Memory nodes put together from the vault, the stores and what is counted; the last used kept."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from cachetools import LRUCache

from memvault.cognition.activity import Activity
from memvault.cognition.learning_state import learned_memory
from memvault.cognition.pulse import PulseMeter
from memvault.model.memory import MAX_CONTENT_CHARS, Memory, MemoryNode, UTLState
from memvault.model.note import Vector
from memvault.model.state import CacheStats
from memvault.vault.frontmatter.read import read_header
from memvault.vault.parse import decode

logger = logging.getLogger(__name__)
MAX_BYTES = 4 * MAX_CONTENT_CHARS + 65_536  # of a note: text of four bytes a character, a header
NO_VECTOR = np.zeros(0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class _Kept:
    """What does not change while the note does not. ``memory`` tells whether it has: indexing a
    note replaces its record."""

    memory: Memory
    content: str
    embedding: Vector
    utl_state: UTLState  # at its storing, else as it was when this was read


class MemoryNodes:
    """The nodes of one vault. Thread-safe.

    Text and vector are read once and kept for the ``capacity`` memories used last; a note that
    changes is read again. State and use, which change without the note, are current in every node.

    Args:
        memory_of: the indexed memory of an id, from the catalogue in memory; absent ids cost
            nothing else.
        read: the bytes of the note at a path of the vault.
        activity: as it is now.
        capacity: how many are kept; asked at the first use, because the settings are read later.
    """

    def __init__(
        self,
        memory_of: Callable[[str], Memory | None],
        read: Callable[[str], bytes],
        meter: PulseMeter,
        activity: Callable[[], Activity],
        capacity: Callable[[], int],
    ) -> None:
        self._memory_of = memory_of
        self._read = read
        self._meter = meter
        self._activity = activity
        self._capacity = capacity
        self._reads = CacheStats()
        self._lock = threading.Lock()

    @cached_property
    def _kept(self) -> LRUCache[str, _Kept]:
        return LRUCache(self._capacity())

    @property
    def reads(self) -> CacheStats:
        return self._reads

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, id: str) -> MemoryNode | None:
        """The node; None for an id that no indexed note has.

        Raises:
            NoteNotFound, StorageError: the note was removed a moment ago, or cannot be read.
            UnknownFormat: a newer memvault wrote how it was used.
        """
        memory = self._memory_of(id)
        if memory is None:
            with self._lock:
                self._kept.pop(id, None)
            return None
        kept = self._known(memory) or self._load(memory)
        use = self._activity().of(id)
        return MemoryNode(
            id=id,
            content=kept.content,
            embedding=kept.embedding,
            created_at=memory.created_at,
            last_accessed=use.last_accessed or memory.created_at,
            importance=memory.importance,
            access_count=use.access_count,
            johari_quadrant=self._meter.states([id])[id].quadrant,
            utl_state=use.utl_state or kept.utl_state,
            agent_id=use.agent_id,
            metadata=memory.metadata,
        )

    def _known(self, memory: Memory) -> _Kept | None:
        with self._lock:
            kept = self._kept.get(memory.id)
            if kept is None or kept.memory is not memory:
                return None
            self._reads += CacheStats(hits=1)
            return kept

    def _load(self, memory: Memory) -> _Kept:
        content = _body(self._read(memory.path))
        vector = self._meter.similarity_index.vectors([memory.id])[memory.id]
        stored = self._activity().of(memory.id).utl_state
        kept = _Kept(
            memory,
            content,
            NO_VECTOR if vector is None else vector,
            stored or learned_memory(self._meter, memory.id).state,
        )
        with self._lock:
            is_full = len(self._kept) == self._kept.maxsize and memory.id not in self._kept
            self._kept[memory.id] = kept
            self._reads += CacheStats(misses=1, evictions=int(is_full))
        if is_full:
            logger.debug("The least recently used memory was evicted from the cache.")
        return kept


def _body(data: bytes) -> str:
    """A note's text under its frontmatter, cut after the last whole line that a node holds."""
    text = decode(data, MAX_BYTES).text
    text = text[read_header(text).body_start :].strip("\n")
    if len(text) <= MAX_CONTENT_CHARS:
        return text
    return text[: text.rfind("\n", 0, MAX_CONTENT_CHARS) + 1 or MAX_CONTENT_CHARS]
