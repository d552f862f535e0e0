"""Learning from use in an engine: observes answers and changes, and writes down what it learns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memvault.consolidation.learning import Learning, device_of
from memvault.consolidation.signals import UseObserver
from memvault.model.memory import Memory
from memvault.model.search import Hit

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container

WRITE_SECONDS = 5.0
UNNAMED = "an unnamed client"  # an empty name would be the person


class LearningService:
    """What the engine of one vault learns. Thread-safe; without ``[learning] enabled`` nothing."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self.learnt = Learning(
            container.vault,
            device_of(container.state.root),
            keyvalue=lambda: container.live.stores.keyvalue,
        )
        self._uses = UseObserver(
            self.learnt,
            self._memory_of,
            self._memory_at,
            stored=container.activity.of,
            connected=lambda key: bool(container.live.similarity_index.related(key, 1)),
            changes=lambda hashes: [container.curator.history.change(each) for each in hashes],
        )
        if self.is_on:
            container.curator.made = self._uses.changed
            container.worker.run("learn from use", self._write, after=WRITE_SECONDS)

    @property
    def is_on(self) -> bool:
        return self._container.settings.learning.enabled

    def shown(self, connection: str, client: str | None, session: str, hits: Sequence[Hit]) -> None:
        """Note the memories of an answer, best first."""
        if self.is_on:
            seen = [hit for hit in hits if not hit.withheld]
            self._uses.shown(connection, client or UNNAMED, session, seen)

    def read(self, connection: str, ids: Sequence[str], *, cited: bool = False) -> None:
        """Note which memories were read."""
        if self.is_on:
            self._uses.read(connection, ids, cited=cited)

    def preference(self, ids: Sequence[str]) -> list[float] | None:
        """What use says for or against these memories, in (-1, 1); None before it says anything."""
        return self.learnt.weights(ids) if self.is_on and self.learnt.state.memories else None

    def close(self) -> None:
        """Write everything down; never raises."""
        if self.is_on:
            self._uses.judge_changes()
            self.learnt.close()

    def _write(self) -> float:
        self._uses.judge_changes()
        self.learnt.write()
        return WRITE_SECONDS

    def _memory_of(self, memory_id: str) -> Memory | None:
        return self._container.live.catalogue.by_id(memory_id)

    def _memory_at(self, path: str) -> Memory | None:
        return self._container.live.catalogue.by_path(path)
