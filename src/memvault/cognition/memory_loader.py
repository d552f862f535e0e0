"""Assembles memory nodes from the vault, the stores and the counted use, with a cache."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from cachetools import LRUCache

from memvault.cognition.activity import Activity
from memvault.cognition.learning_state import learning_state_of_new
from memvault.cognition.pulse import PulseMeter
from memvault.model.memory import MAX_CONTENT_CHARS, Memory, MemoryOf, UTLState
from memvault.model.memory_node import MemoryNode
from memvault.model.note import Vector
from memvault.model.state import CacheStats
from memvault.vault.frontmatter.read import read_frontmatter
from memvault.vault.parse import decode

logger = logging.getLogger(__name__)
MAX_BYTES = 4 * MAX_CONTENT_CHARS + 65_536  # of a note: four bytes per character, and a header
NO_VECTOR = np.zeros(0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class _LoadedNote:
    """The cached parts of a node, which change only with the note.

    They are valid while ``memory`` is the indexed object: indexing a note replaces it.
    """

    memory: Memory
    content: str
    embedding: Vector
    utl_state: UTLState  # when the memory was stored, else when this was read


@dataclass(eq=False)
class MemoryLoader:
    """Loads the memory nodes of one vault. Thread-safe.

    Text and vector are cached for the ``capacity`` most recently used memories; a changed note is
    read again. State and use, which change without the note, are always current.

    Attributes:
        memory_of: gives the indexed memory of an id, from memory; unknown ids cost nothing else.
        read: gives the bytes of the note at a path of the vault.
        activity: gives the current activity.
        capacity: gives the size of the cache; called at first use, since the settings are read
            later.
    """

    memory_of: MemoryOf
    read: Callable[[str], bytes]
    meter: PulseMeter
    activity: Callable[[], Activity]
    capacity: Callable[[], int]

    def __post_init__(self) -> None:
        self._reads = CacheStats()
        self._lock = threading.Lock()

    @cached_property
    def _cache(self) -> LRUCache[str, _LoadedNote]:
        return LRUCache(self.capacity())

    @property
    def reads(self) -> CacheStats:
        return self._reads

    def __len__(self) -> int:
        return len(self._cache)

    def get(self, id: str) -> MemoryNode | None:
        """The node with this id; None if no indexed note has it.

        Raises:
            NoteNotFound, StorageError: the note was just removed, or cannot be read.
            UnknownFormat: a newer memvault wrote the record of its use.
        """
        memory = self.memory_of(id)
        if memory is None:
            with self._lock:
                self._cache.pop(id, None)
            return None
        loaded = self._cached(memory) or self._load(memory)
        use = self.activity().of(id)
        return MemoryNode(
            id=id,
            content=loaded.content,
            embedding=loaded.embedding,
            created_at=memory.created_at,
            last_accessed=use.last_accessed or memory.created_at,
            importance=memory.importance,
            access_count=use.access_count,
            johari_quadrant=self.meter.states([id])[id].quadrant,
            utl_state=use.utl_state or loaded.utl_state,
            agent_id=use.agent_id,
            metadata=memory.metadata,
        )

    def _cached(self, memory: Memory) -> _LoadedNote | None:
        with self._lock:
            loaded = self._cache.get(memory.id)
            if loaded is None or loaded.memory is not memory:
                return None
            self._reads += CacheStats(hits=1)
            return loaded

    def _load(self, memory: Memory) -> _LoadedNote:
        content = _body(self.read(memory.path))
        vector = self.meter.similarity_index.vectors([memory.id])[memory.id]
        stored = self.activity().of(memory.id).utl_state
        loaded = _LoadedNote(
            memory,
            content,
            NO_VECTOR if vector is None else vector,
            stored or learning_state_of_new(self.meter, memory.id).state,
        )
        with self._lock:
            is_full = len(self._cache) == self._cache.maxsize and memory.id not in self._cache
            self._cache[memory.id] = loaded
            self._reads += CacheStats(misses=1, evictions=int(is_full))
        if is_full:
            logger.debug("The least recently used memory was evicted from the cache.")
        return loaded


def _body(data: bytes) -> str:
    """A note's text below its frontmatter, cut after the last whole line that fits into a node."""
    text = decode(data, MAX_BYTES).text
    text = text[read_frontmatter(text).body_start :].strip("\n")
    if len(text) <= MAX_CONTENT_CHARS:
        return text
    return text[: text.rfind("\n", 0, MAX_CONTENT_CHARS) + 1 or MAX_CONTENT_CHARS]
