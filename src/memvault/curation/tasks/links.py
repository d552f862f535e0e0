"""Links that lead nowhere yet, and notes that nothing leads to."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from textwrap import shorten

from memvault.model.curation import CurationTask, Priority, Settling, TaskType
from memvault.model.graph import EdgeOrigin, NodeKind
from memvault.model.memory import Lifecycle, Memory
from memvault.reasoning.edges import EdgeIndex
from memvault.text.relations import EMBED_WEIGHT
from memvault.vault.compose import MAX_TITLE_CHARS, wikilink

# A relation may also be stated by a name that is not linked; such an edge weighs less.
LINKED = (EdgeOrigin.LINK, EdgeOrigin.EMBED, EdgeOrigin.FIELD, EdgeOrigin.FRONTMATTER)
NAMED = 10  # names of missing notes that one task lists


def missing_notes(memory_id: str, edges: EdgeIndex) -> tuple[str, ...]:
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


def orphans(memories: Collection[Memory], edges: EdgeIndex) -> list[Memory]:
    """The notes that no relation joins to another note, not even by a thing that both name.

    A day that two notes name joins nobody. Ephemeral notes pass by themselves.
    """
    if len(memories) < 2:
        return []
    joining: dict[str, bool] = {}  # by the node at the other end

    def joins(memory_id: str, other: str) -> bool:
        if other not in joining:
            node = edges.node(other)
            is_note = node is not None and node.path is not None
            is_day = node is not None and node.kind == NodeKind.DATE
            joining[other] = is_note or (not is_day and _named_by_two(other, edges))
        return other != memory_id and joining[other]

    def is_alone(memory_id: str) -> bool:
        # What it states comes first, since a hub's other edges are many.
        if any(joins(memory_id, edge.target) for edge in edges.stated_by(memory_id)):
            return False
        return all(edge.source == memory_id for edge in edges.of(memory_id))

    lasting = (each for each in memories if each.lifecycle is not Lifecycle.EPHEMERAL)
    return [memory for memory in lasting if is_alone(memory.id)]


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


def _named_by_two(node_id: str, edges: EdgeIndex) -> bool:
    first: str | None = None
    for edge in edges.of(node_id):
        if first is not None and edge.source != first:
            return True
        first = edge.source
    return False
