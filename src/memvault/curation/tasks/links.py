"""Links that lead nowhere yet, and notes that nothing leads to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from textwrap import shorten

from memvault.model.change import CurationTask, Priority, Settling, TaskType
from memvault.model.graph import EdgeOrigin, NodeKind
from memvault.model.memory import Lifecycle, Memory
from memvault.stores.graph_view import GraphView
from memvault.text.relations import EMBED_WEIGHT
from memvault.vault.compose import MAX_TITLE_CHARS
from memvault.vault.links import wikilink

# A relation may also be stated by a name that is not linked; such an edge weighs less.
LINKED = (EdgeOrigin.LINK, EdgeOrigin.EMBED, EdgeOrigin.FIELD, EdgeOrigin.FRONTMATTER)
NAMED = 10  # names of missing notes that one task lists


def missing_notes(memory_id: str, edges: GraphView) -> tuple[str, ...]:
    """The names that a note's links use and no note has."""
    links = (
        edge
        for edge in edges.stated_by(memory_id)
        if edge.origin in LINKED and edge.weight >= EMBED_WEIGHT
    )
    targets = (edges.node(edge.target) for edge in links)
    return tuple(sorted({node.name for node in targets if node and node.path is None}))


def unresolved(memory: Memory, names: Sequence[str]) -> CurationTask:
    return CurationTask(
        task_type=TaskType.UNRESOLVED_LINKS,
        target_nodes=(memory.id,),
        paths=(memory.path,),
        priority=Priority.LOW,
        detail="no note yet for: " + ", ".join(names[:NAMED]),
        settled_by=(Settling.by("store_memory", title=names[0]),),
    )


class Orphans:
    """The notes that no relation joins to another note, not even by a thing that both name, kept
    true as notes change. Not thread-safe.

    A day that two notes name joins nobody. Ephemeral notes pass by themselves.
    """

    def __init__(self, edges: GraphView) -> None:
        self._edges = edges
        # By the id of a note, one that it is joined to; true until one of the two changes.
        self._joined_to: dict[str, str] = {}

    def find(self, memories: Mapping[str, Memory], changed: Collection[str]) -> list[Memory]:
        """Those among all memories, by path.

        Args:
            memories: every note, by id.
            changed: ids of those that were written, linked anew or are gone since the last time.
        """
        if len(memories) < 2:
            self._joined_to.clear()
            return []
        known, self._joined_to = self._joined_to, {}
        namers: dict[str, tuple[str, ...]] = {}  # two at most, by the thing that they name
        alone: list[Memory] = []
        for key, memory in memories.items():
            if memory.lifecycle is Lifecycle.EPHEMERAL:
                continue
            other = known.get(key)
            if other is None or key in changed or other in changed:
                other = self._other(key, namers)
            if other is None:
                alone.append(memory)
            else:
                self._joined_to[key] = other
        return sorted(alone, key=lambda memory: memory.path)

    def _other(self, key: str, namers: dict[str, tuple[str, ...]]) -> str | None:
        """A note that this one is joined to. What it states comes first, since a hub's other
        edges are many."""
        for edge in self._edges.stated_by(key):
            target = edge.target
            node = self._edges.node(target)
            if target == key:
                continue
            if node is not None and node.path is not None:
                return target
            if node is not None and node.kind == NodeKind.DATE:
                continue
            if target not in namers:
                sources = dict.fromkeys(edge.source for edge in self._edges.of(target))
                namers[target] = tuple(islice(sources, 2))
            other = next((each for each in namers[target] if each != key), None)
            if other is not None:
                return other
        return next((e.source for e in self._edges.of(key) if e.source != key), None)


def orphan(memory: Memory, nearest: Memory | None) -> CurationTask:
    """``nearest`` is the note whose text is closest in meaning."""
    near = f"; the closest in meaning is {nearest.path}" if nearest else ""
    return CurationTask(
        task_type=TaskType.ORPHAN,
        target_nodes=(memory.id,),
        paths=(memory.path,),
        priority=Priority.LOW,
        detail=f"no link or name joins it to any other note{near}",
        settled_by=_joined(memory, nearest) if nearest else (),
    )


def _joined(memory: Memory, nearest: Memory) -> tuple[Settling, ...]:
    related = f"Related: {wikilink(nearest.path, memory.path)}"
    return (
        Settling.by("annotate_node", target=memory.id, note=related),
        Settling.by(
            "store_memory",
            title=shorten(f"{memory.title} and {nearest.title}", MAX_TITLE_CHARS, placeholder="…"),
            link_to=[memory.id, nearest.id],
        ),
    )
