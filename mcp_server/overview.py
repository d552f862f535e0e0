"""What can be said of the vault as a whole, worked out once per state of the index."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcp_server.answers.status import CurationTask
from memvault.model.errors import GraphQueryError, StoreUnavailable
from memvault.model.graph import EdgeOrigin, GraphNode
from memvault.model.memory import Memory

if TYPE_CHECKING:
    from indexer.catalogue import NoteRecord
    from indexer.indexer import Indexer
    from mcp_server.services import Services

TOP = 5
# A relation may also be stated by a name that is not linked; such an edge weighs less.
LINKED = (EdgeOrigin.LINK, EdgeOrigin.EMBED, EdgeOrigin.FIELD, EdgeOrigin.FRONTMATTER)
NAMED = 10  # names of missing notes that one task lists


@dataclass(frozen=True, slots=True)
class Survey:
    """What the graph shows: the nodes that take part in most relations, with their number, and by
    memory id the links that lead nowhere yet."""

    concepts: list[tuple[GraphNode, int]] = field(default_factory=list)
    unresolved: dict[str, list[str]] = field(default_factory=dict)


class Overview:
    """Concepts, curation tasks and counts. Thread-safe."""

    def __init__(self, services: Callable[[], Services]) -> None:
        self._services = services
        self._seen: tuple[Indexer, int] | None = None
        self._survey = Survey()
        self._lock = threading.Lock()

    def survey(self) -> Survey:
        """As of the last change of the index; empty if the graph does not answer."""
        indexer = self._services().indexer
        with self._lock:
            now = (indexer, indexer.version)
            if now != self._seen:
                try:
                    self._survey, self._seen = self._look(), now
                except (StoreUnavailable, GraphQueryError):
                    self._survey = Survey()
            return self._survey

    def tasks(self) -> list[CurationTask]:
        """Notes whose frontmatter cannot be read, then notes with links that lead nowhere yet."""
        catalogue = self._services().catalogue
        records = sorted(catalogue.records(), key=lambda each: each.memory.path)
        unresolved = self.survey().unresolved
        return [
            *(_malformed(record) for record in records if record.frontmatter_problem),
            *(
                _unresolved(record.memory, unresolved[record.memory.id])
                for record in records
                if record.memory.id in unresolved
            ),
        ]

    def counts(self) -> dict[str, int]:
        """Notes, and what the stores that answer hold."""
        stores = self._services().stores
        counts = {"notes": len(self._services().catalogue)}
        try:
            counts["chunks"] = stores.vectors.count()
            counts["nodes"], counts["edges"] = stores.graph.counts()
        except (StoreUnavailable, GraphQueryError):
            return counts
        return counts

    def _look(self) -> Survey:
        # Brings the whole of note reading along, which listing the tools need not wait for.
        from memvault.text.relations import EMBED_WEIGHT

        graph = self._services().stores.graph
        nodes = {node.id: node for node in graph.all_nodes()}
        degree: Counter[str] = Counter()
        missing: defaultdict[str, set[str]] = defaultdict(set)
        for edge in graph.all_edges():
            degree.update((edge.source, edge.target))
            target = nodes.get(edge.target)
            is_link = edge.origin in LINKED and edge.weight >= EMBED_WEIGHT
            if is_link and target is not None and target.path is None:
                missing[edge.source].add(target.name)
        best = sorted(degree.items(), key=lambda item: (-item[1], item[0]))
        return Survey(
            [(nodes[key], count) for key, count in best[:TOP] if key in nodes],
            {key: sorted(names) for key, names in missing.items()},
        )


def _malformed(record: NoteRecord) -> CurationTask:
    return CurationTask(
        task_type="malformed_frontmatter",
        target_nodes=[record.memory.id],
        paths=[record.memory.path],
        priority="high",
        detail=record.frontmatter_problem or "",
    )


def _unresolved(memory: Memory, names: list[str]) -> CurationTask:
    return CurationTask(
        task_type="unresolved_links",
        target_nodes=[memory.id],
        paths=[memory.path],
        priority="low",
        detail="no note yet for: " + ", ".join(names[:NAMED]),
    )
