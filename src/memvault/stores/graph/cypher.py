"""The Cypher that Ladybug and Neo4j share, and the part of the store that uses it.

Values are passed as parameters only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from memvault.model.errors import GraphQueryError
from memvault.model.graph import EdgeOrigin, GraphEdge, GraphNode, NoteGraph, by_position

NODE_COLUMNS = ("id", "kind", "name", "path", "project", "date")
EDGE_PROPERTIES = (
    "relation", "origin", "sentence", "line", "ordinal", "weight", "place", "length",
)  # fmt: skip
EDGE_COLUMNS = ("source", "target", *EDGE_PROPERTIES)
_NODE = ", ".join(f"n.{column}" for column in NODE_COLUMNS)
_EDGE = ", ".join(("a.id", "b.id", *(f"e.{name}" for name in EDGE_PROPERTIES)))

IN_IDS = "IN $ids"
_BY_ID = "UNWIND $ids AS i MATCH (n:Node {id: i})"
_EDGES = "MATCH (a:Node)-[e:Edge]->(b:Node)"

NODES = f"{_BY_ID} RETURN {_NODE}"
PATHS = f"{_BY_ID} RETURN n.id, n.path"
ALL_NODES = f"MATCH (n:Node) RETURN {_NODE}"
COUNT_NODES = "MATCH (n:Node) RETURN count(n)"
UPDATE_NODES = "UNWIND $rows AS r MATCH (n:Node {id: r.id}) SET " + ", ".join(
    f"n.{column} = r.{column}" for column in NODE_COLUMNS[1:]
)
DELETE_NODES = f"{_BY_ID} DETACH DELETE n"

ALL_EDGES = f"{_EDGES} RETURN {_EDGE}"
COUNT_EDGES = f"{_EDGES} RETURN count(e)"
EDGES_FROM = f"{_EDGES} WHERE a.id {IN_IDS} RETURN {_EDGE}"
EDGES_TO = f"{_EDGES} WHERE b.id {IN_IDS} RETURN {_EDGE}"
DELETE_EDGES_FROM = f"MATCH (a:Node)-[e:Edge]->(:Node) WHERE a.id {IN_IDS} DELETE e"

NAMED_BY = f"{_EDGES} WHERE a.id {IN_IDS} AND b.path IS NULL RETURN DISTINCT b.id"
STILL_NAMED = f"{_EDGES} WHERE b.id {IN_IDS} RETURN DISTINCT b.id"

Row = dict[str, Any]


class Transaction(Protocol):
    """A transaction: all of its writes are kept, or none."""

    def run(self, query: str, **values: Any) -> list[Any]:
        """The answer's rows; none if a value is empty."""
        ...

    def insert_nodes(self, rows: Sequence[Row]) -> None: ...

    def insert_edges(self, rows: Sequence[Row]) -> None: ...


class CypherGraphStore(ABC):
    """A graph store without the connection to its engine."""

    @abstractmethod
    def _change(self, rows: int, characters: int, work: Callable[[Transaction], None]) -> None:
        """Run the work in one transaction; rows and characters estimate its writes."""

    @abstractmethod
    def _read(self, query: str, **values: Any) -> list[Any]:
        """The answer's rows; none if a value is empty."""

    def replace(self, notes: Sequence[NoteGraph]) -> None:
        latest = {graph.node.id: graph for graph in notes}
        if not latest:
            return
        edges = [row for graph in latest.values() for row in _edge_rows(graph)]
        entities = {
            entity.id: entity
            for graph in latest.values()
            for entity in graph.entities
            if entity.id not in latest
        }
        characters = sum(len(edge["sentence"]) for edge in edges)

        def work(transaction: Transaction) -> None:
            paths = dict(transaction.run(PATHS, ids=[*latest, *entities, *_targets(edges)]))
            _check_targets(edges, paths.keys() | latest.keys() | entities.keys())
            present = [note_id for note_id in latest if note_id in paths]
            candidates = set(entities)
            if present:
                candidates.update(row[0] for row in transaction.run(NAMED_BY, ids=present))
                transaction.run(DELETE_EDGES_FROM, ids=present)
            nodes = [graph.node for graph in latest.values()]
            nodes += [entity for entity in entities.values() if paths.get(entity.id) is None]
            _put_nodes(transaction, nodes, paths)
            transaction.insert_edges(edges)
            _drop_unnamed(transaction, candidates - _targets(edges))

        self._change(len(edges) + len(latest) + len(entities), characters, work)

    def remove(self, note_ids: Collection[str]) -> None:
        ids = list(dict.fromkeys(note_ids))

        def work(transaction: Transaction) -> None:
            candidates = {row[0] for row in transaction.run(NAMED_BY, ids=ids)}
            transaction.run(DELETE_NODES, ids=ids)
            _drop_unnamed(transaction, candidates - set(ids))

        if ids:
            self._change(0, 0, work)

    def neighbours(self, ids: Collection[str], limit: int = 10_000) -> list[GraphEdge]:
        node_ids = list(ids)
        rows = self._read(EDGES_FROM, ids=node_ids)
        sources = set(node_ids)
        rows += [row for row in self._read(EDGES_TO, ids=node_ids) if row[0] not in sources]
        return sorted(map(_edge, rows), key=by_position)[:limit]

    def stated_by(self, note_ids: Collection[str]) -> list[GraphEdge]:
        rows = self._read(EDGES_FROM, ids=list(note_ids))
        return sorted(map(_edge, rows), key=by_position)

    def nodes(self, ids: Collection[str]) -> dict[str, GraphNode]:
        rows = self._read(NODES, ids=list(dict.fromkeys(ids)))
        return {row[0]: GraphNode(*row) for row in rows}

    def all_nodes(self) -> Iterator[GraphNode]:
        for row in self._read(ALL_NODES):
            yield GraphNode(*row)

    def all_edges(self) -> Iterator[GraphEdge]:
        for row in self._read(ALL_EDGES):
            yield _edge(row)

    def counts(self) -> tuple[int, int]:
        nodes = self._read(COUNT_NODES)[0][0]
        edges = self._read(COUNT_EDGES)[0][0]
        return nodes, edges


def _put_nodes(
    transaction: Transaction, nodes: Iterable[GraphNode], present: Mapping[str, str | None]
) -> None:
    new_rows: list[Row] = []
    changed_rows: list[Row] = []
    for node in nodes:
        row = {column: getattr(node, column) for column in NODE_COLUMNS}
        (changed_rows if node.id in present else new_rows).append(row)
    transaction.insert_nodes(new_rows)
    transaction.run(UPDATE_NODES, rows=changed_rows)


def _drop_unnamed(transaction: Transaction, candidates: Collection[str]) -> None:
    """Remove the nodes among these that have no note and no edge left."""
    ids = list(candidates)
    still_named = {row[0] for row in transaction.run(STILL_NAMED, ids=ids)}
    paths = transaction.run(PATHS, ids=ids)
    unnamed = [node_id for node_id, path in paths if path is None and node_id not in still_named]
    transaction.run(DELETE_NODES, ids=unnamed)


def _edge_rows(graph: NoteGraph) -> Iterator[Row]:
    for edge in graph.edges:
        if edge.source != graph.node.id:
            raise GraphQueryError("An edge must start at the note that states it.")
        row = {column: getattr(edge, column) for column in EDGE_COLUMNS}
        row["origin"] = edge.origin.value
        yield row


def _targets(edges: Iterable[Row]) -> set[str]:
    return {row["target"] for row in edges}


def _check_targets(edges: Iterable[Row], present: Collection[str]) -> None:
    if missing := _targets(edges).difference(present):
        raise GraphQueryError(
            "An edge ends at a node that is not in the graph.", missing=len(missing)
        )


def _edge(row: Sequence[Any]) -> GraphEdge:
    source, target, relation, origin, sentence, *places = row
    return GraphEdge(source, target, relation or "", EdgeOrigin(origin), sentence or "", *places)
