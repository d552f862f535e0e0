"""Entailment cones: the nodes that are more general, and more specific, than a memory.

The sources are relations with a standard name (``part of``, ``up``, ``is a``, ``contains``;
`memvault.model.graph`), the project of a note, index notes, the note of a folder, and nested tags
(``#a/b`` is under ``#a``).

The specification (core) names the cones after Ganea et al. (arXiv 1804.01882); here they are
stated relations, not an embedding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from memvault.model.graph import (
    BROADER,
    NAMED_ORIGINS,
    NARROWER,
    EdgeOrigin,
    GraphEdge,
    NodeKind,
    relation_name,
)
from memvault.model.memory import Memory, MemoryOf
from memvault.model.search import EntailmentCone, Related
from memvault.stores.graph_view import GraphView, edge_source, folder_of, node_ref

MAX_ENTRIES = 5  # in each direction
MIN_LISTED = 3  # links of an index note
LINK_SHARE = 0.5  # least share of its sentence that a link takes up in a list item
MAX_EDGES = 500  # strongest edges of a node that are read
INDEX_STEMS = ("index", "_index", "readme", "moc")
_LINKS = (EdgeOrigin.LINK, EdgeOrigin.EMBED)


def entailment_cones(
    ids: Sequence[str],
    edges: GraphView,
    memory_of: MemoryOf,
    allowed: Callable[[str], bool] = lambda _: True,
) -> tuple[EntailmentCone, ...]:
    """The cone of each of these memories that has one, at most `MAX_ENTRIES` entries each way."""
    cones = (entailment_cone(key, edges, memory_of(key), MAX_ENTRIES, allowed) for key in ids)
    return tuple(cone for cone in cones if cone.general or cone.special)


def entailment_cone(
    node_id: str,
    edges: GraphView,
    memory: Memory | None,
    limit: int,
    allowed: Callable[[str], bool] = lambda _: True,
) -> EntailmentCone:
    """The cone of a node, at most ``limit`` entries each way.

    Args:
        memory: None for an entity.
        allowed: nodes for which it is false are left out.
    """
    general: dict[str, Related] = {}
    special: dict[str, Related] = {}
    touching = (e for e in edges.of(node_id) if allowed(e.source) and allowed(e.target))
    for edge in islice(touching, MAX_EDGES):
        _add_related(node_id, edge, edges, general, special)
    if memory is not None:
        for related in _above_in_folders(memory, edges):
            if allowed(related.node.id):
                general.setdefault(related.node.id, related)
        for related in _above_in_tags(memory, edges):
            general.setdefault(related.node.id, related)
        for related in _below_in_folder(memory, edges, limit, allowed):
            special.setdefault(related.node.id, related)
    # Nodes stated in both directions are neither more general nor more specific.
    unordered = general.keys() & special.keys() | {node_id}
    return EntailmentCone(
        node_id,
        tuple(islice((related for key, related in general.items() if key not in unordered), limit)),
        tuple(islice((related for key, related in special.items() if key not in unordered), limit)),
    )


def _add_related(
    node_id: str,
    edge: GraphEdge,
    edges: GraphView,
    general: dict[str, Related],
    special: dict[str, Related],
) -> None:
    """Add the other end of an edge to the more general or more special nodes, if it is either."""
    is_outgoing = edge.source == node_id
    other = edge.target if is_outgoing else edge.source
    name = relation_name(edge.relation)
    why = ""
    if (edge.origin in NAMED_ORIGINS or " " in name) and (name in BROADER or name in NARROWER):
        is_general, why = is_outgoing == (name in BROADER), edge.relation
    elif is_listed(edge) and is_index(edge.source, edges):
        is_general, why = not is_outgoing, "listed"
    if why:
        related = Related(node_ref(other, edges), why, edge_source(edge, edges))
        (general if is_general else special).setdefault(other, related)


def is_listed(edge: GraphEdge) -> bool:
    """Whether a link is a list entry (it fills at least half of its sentence) or an embed."""
    if edge.origin is EdgeOrigin.EMBED:
        return True
    long_enough = edge.length >= LINK_SHARE * len(edge.sentence.strip())
    return edge.origin is EdgeOrigin.LINK and edge.place >= 0 and long_enough


def is_index(node_id: str, edges: GraphView) -> bool:
    """Whether a note lists at least `MIN_LISTED` others, and most of its links are list entries."""
    links = [edge for edge in edges.stated_by(node_id) if edge.origin in _LINKS]
    listed = {edge.target for edge in links if is_listed(edge)}
    return len(listed) >= MIN_LISTED and 2 * len(listed) > len({edge.target for edge in links})


def _above_in_folders(memory: Memory, edges: GraphView) -> Iterator[Related]:
    """The folder note of the note's folder, else of the nearest parent folder that has one."""
    folder = folder_of(memory.path)
    if folder_note(folder, edges) == memory.id:
        folder = folder_of(folder)
    while folder:
        above = folder_note(folder, edges)
        if above is not None and above != memory.id:
            yield Related(node_ref(above, edges), f"note of the folder {folder}")
            return
        folder = folder_of(folder)


def _below_in_folder(
    memory: Memory, edges: GraphView, limit: int, allowed: Callable[[str], bool]
) -> Iterator[Related]:
    for folder in (folder_of(memory.path), memory.path.removesuffix(".md")):
        if folder and folder_note(folder, edges) == memory.id:
            for below in edges.notes_in(folder, limit + 1, allowed):
                if below != memory.id:
                    yield Related(node_ref(below, edges), f"in its folder {folder}")


def folder_note(folder: str, edges: GraphView) -> str | None:
    """The note of a folder, in it or next to it; None without one.

    In the folder it has the folder's name or the name of an index.
    """
    inside = (folder.rpartition("/")[2], *INDEX_STEMS)
    for path in (*(f"{folder}/{stem}.md" for stem in inside), f"{folder}.md"):
        note_id = edges.note_at(path)
        if note_id is not None:
            return note_id
    return None


def _above_in_tags(memory: Memory, edges: GraphView) -> Iterator[Related]:
    """The parent tags of a note's nested tags, nearest first."""
    parents = {
        tag.rpartition("/")[0].casefold(): tag for tag in memory.tags if tag.rpartition("/")[0]
    }
    for edge in edges.stated_by(memory.id):
        node = edges.node(edge.target)
        if node is not None and node.kind == NodeKind.TAG:
            tag = parents.get(node.name.casefold())
            if tag is not None:
                yield Related(node_ref(node.id, edges), f"#{tag} lies under #{node.name}")


MAX_STEPS = 12  # in a chain from a part to its whole
MAX_VISITED = 2_000


class Hierarchy:
    """The order of nodes by generality, from stated relations; cached until the graph changes.

    Args:
        edges: the graph in memory.
        memory_of: gives the memory of a node's id.
    """

    def __init__(self, edges: GraphView, memory_of: MemoryOf) -> None:
        self._edges = edges
        self._memory_of = memory_of
        self._version = edges.version
        self._general: dict[str, tuple[Related, ...]] = {}

    def chain(self, specific: str, general: str) -> tuple[Related, ...] | None:
        """The shortest chain from a node to a more general one; each step is the next node.

        None if no relations connect them; empty for the node itself.
        """
        reached: dict[str, tuple[str, Related] | None] = {specific: None}
        frontier = [specific]
        for _ in range(MAX_STEPS):
            if general in reached or not frontier or len(reached) > MAX_VISITED:
                break
            next_frontier: list[str] = []
            for node_id in frontier:
                for above in self._above(node_id):
                    if above.node.id not in reached:
                        reached[above.node.id] = (node_id, above)
                        next_frontier.append(above.node.id)
            frontier = next_frontier
        if general not in reached:
            return None
        chain: list[Related] = []
        node_id = general
        while (step := reached[node_id]) is not None:
            node_id = step[0]
            chain.append(step[1])
        return tuple(reversed(chain))

    def _above(self, node_id: str) -> tuple[Related, ...]:
        version = self._edges.version
        if version != self._version:
            self._version, self._general = version, {}
        cached = self._general  # in a variable, since another thread may replace it
        general = cached.get(node_id)
        if general is None:
            memory = self._memory_of(node_id)
            general = entailment_cone(node_id, self._edges, memory, MAX_EDGES).general
            cached[node_id] = general
        return general
