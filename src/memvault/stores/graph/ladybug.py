"""The graph store in one LadybugDB file (the maintained Kuzu), within this process."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, LifoQueue
from typing import Any

import ladybug

from memvault.model.errors import GraphQueryError, MemvaultError, StoreUnavailable
from memvault.model.graph import EdgeOrigin, GraphEdge, GraphNode, NoteGraph
from memvault.stores import faults
from memvault.stores.graph import queries

BUFFER_POOL_BYTES = 128 * 1024 * 1024
MAX_DATABASE_BYTES = 1 << 34  # address space only, but the default of 8 TB is refused in places
THREADS = 2
BULK_ROWS = {"Node": 2_000, "Edge": 8_000}  # from here on COPY from a file is faster
_BYTES_PER_ROW = 1_024
_BYTES_PER_CHARACTER = 8  # in the file to copy from, in the log and in the database
_SCHEMA = (
    "CREATE NODE TABLE IF NOT EXISTS Node(id STRING PRIMARY KEY, kind STRING, name STRING,"
    " path STRING, project STRING, date STRING)",
    "CREATE REL TABLE IF NOT EXISTS Edge(FROM Node TO Node, relation STRING, origin STRING,"
    " sentence STRING, line INT64, ordinal INT64, weight DOUBLE)",
    "ALTER TABLE Edge ADD IF NOT EXISTS place INT64 DEFAULT -1",
    "ALTER TABLE Edge ADD IF NOT EXISTS length INT64 DEFAULT 0",
)
_NODE_COLUMNS = ("id", "kind", "name", "path", "project", "date")
_EDGE_COLUMNS = (
    "source",
    "target",
    "relation",
    "origin",
    "sentence",
    "line",
    "ordinal",
    "weight",
    "place",
    "length",
)
Row = dict[str, Any]


class LadybugGraphStore:
    """One writer at a time; any number of readers, each on a connection of a pool and on the
    graph as it was when its query began. A call that has returned survives a killed process.

    Raises:
        StorageError: on opening, if the file is damaged.
        StoreUnavailable: on opening, if another process has the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._write_lock = threading.Lock()
        self._readers: LifoQueue[ladybug.Connection] = LifoQueue()
        self._closed = False
        path.parent.mkdir(parents=True, exist_ok=True)
        faults.ensure_space(path.parent, 0)
        try:
            self._database = ladybug.Database(
                path,
                buffer_pool_size=BUFFER_POOL_BYTES,
                max_num_threads=THREADS,
                max_db_size=MAX_DATABASE_BYTES,
            )
            self._writer = ladybug.Connection(self._database)
            for statement in _SCHEMA:
                self._writer.execute(statement)
            self.counts()
        except (RuntimeError, GraphQueryError) as error:
            if "lock" in str(error).lower():
                raise StoreUnavailable("Another process has the indexes open.") from error
            raise faults.integrity_error() from error

    def replace(self, notes: Sequence[NoteGraph]) -> None:
        latest = {graph.node.id: graph for graph in notes}
        if not latest:
            return
        edges = [row for graph in latest.values() for row in _edge_rows(graph)]
        named = {
            entity.id: entity
            for graph in latest.values()
            for entity in graph.entities
            if entity.id not in latest
        }
        said = sum(len(edge["sentence"]) for edge in edges)
        rows = len(edges) + len(latest) + len(named)
        with self._transaction(rows * _BYTES_PER_ROW + said * _BYTES_PER_CHARACTER):
            paths = dict(self._write(queries.PATHS, ids=[*latest, *named, *_targets(edges)]))
            _check_targets(edges, paths.keys() | latest.keys() | named.keys())
            known = [note_id for note_id in latest if note_id in paths]
            loose = set(named)
            if known:
                loose.update(row[0] for row in self._write(queries.NAMED_BY, ids=known))
                self._write(queries.DELETE_EDGES_FROM, ids=known)
            nodes = [graph.node for graph in latest.values()]
            nodes += [entity for entity in named.values() if paths.get(entity.id) is None]
            self._put_nodes(nodes, paths)
            self._insert("Edge", queries.CREATE_EDGES, _EDGE_COLUMNS, edges)
            self._drop_unnamed(loose - _targets(edges))

    def remove(self, note_ids: Collection[str]) -> None:
        ids = list(dict.fromkeys(note_ids))
        if not ids:
            return
        with self._transaction(0):
            loose = {row[0] for row in self._write(queries.NAMED_BY, ids=ids)}
            self._write(queries.DELETE_NODES, ids=ids)
            self._drop_unnamed(loose - set(ids))

    def neighbours(self, ids: Collection[str], limit: int = 10_000) -> list[GraphEdge]:
        wanted = list(ids)
        found = self._read(queries.EDGES_FROM, ids=wanted)
        own = set(wanted)
        found += [row for row in self._read(queries.EDGES_TO, ids=wanted) if row[0] not in own]
        return sorted(map(_edge, found), key=_order)[:limit]

    def stated_by(self, note_ids: Collection[str]) -> list[GraphEdge]:
        found = self._read(queries.EDGES_FROM, ids=list(note_ids))
        return sorted(map(_edge, found), key=_order)

    def between(self, ids: Collection[str]) -> list[GraphEdge]:
        return sorted(map(_edge, self._read(queries.EDGES_BETWEEN, ids=list(ids))), key=_order)

    def nodes(self, ids: Collection[str]) -> dict[str, GraphNode]:
        rows = self._read(queries.NODES, ids=list(dict.fromkeys(ids)))
        return {row[0]: GraphNode(*row) for row in rows}

    def all_nodes(self) -> Iterator[GraphNode]:
        for row in self._read(queries.ALL_NODES):
            yield GraphNode(*row)

    def all_edges(self) -> Iterator[GraphEdge]:
        for row in self._read(queries.ALL_EDGES):
            yield _edge(row)

    def counts(self) -> tuple[int, int]:
        nodes = self._read(queries.COUNT_NODES)[0][0]
        edges = self._read(queries.COUNT_EDGES)[0][0]
        return nodes, edges

    def close(self) -> None:
        with self._write_lock:
            if self._closed:
                return
            self._closed = True
            while True:
                try:
                    self._readers.get_nowait().close()
                except Empty:
                    break
            self._writer.close()
            self._database.close()

    def _put_nodes(self, nodes: Iterable[GraphNode], known: Mapping[str, str | None]) -> None:
        new: list[Row] = []
        old: list[Row] = []
        for node in nodes:
            row = {column: getattr(node, column) for column in _NODE_COLUMNS}
            (old if node.id in known else new).append(row)
        self._insert("Node", queries.CREATE_NODES, _NODE_COLUMNS, new)
        if old:
            self._write(queries.UPDATE_NODES, rows=old)

    def _drop_unnamed(self, loose: Collection[str]) -> None:
        """Of nodes that may have lost their last edge, remove those that have and have no note."""
        if not loose:
            return
        ids = list(loose)
        named = {row[0] for row in self._write(queries.STILL_NAMED, ids=ids)}
        paths = self._write(queries.PATHS, ids=ids)
        gone = [node_id for node_id, path in paths if path is None and node_id not in named]
        if gone:
            self._write(queries.DELETE_NODES, ids=gone)

    def _insert(self, table: str, query: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        if len(rows) >= BULK_ROWS[table]:
            self._copy(table, columns, rows)
        elif rows:
            self._write(query, rows=list(rows))

    def _copy(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Through a file, in which every text is quoted and nothing at all means null."""
        with tempfile.TemporaryDirectory(dir=self._path.parent) as folder:
            file = Path(folder) / "rows.csv"
            with file.open("w", encoding="utf-8", newline="") as stream:
                for row in rows:
                    stream.write(",".join(_field(row[column]) for column in columns) + "\n")
            name = file.as_posix().replace("\\", "\\\\").replace('"', '\\"')
            self._write(
                f'COPY {table} FROM "{name}" (HEADER=FALSE, PARALLEL=FALSE, AUTO_DETECT=FALSE,'
                " QUOTE='\"', ESCAPE='\"', DELIM=',')"
            )

    @contextmanager
    def _transaction(self, size: int) -> Iterator[None]:
        with self._write_lock, self._faults():
            if self._closed:
                raise faults.closed()
            faults.ensure_space(self._path.parent, size)
            self._writer.execute("BEGIN TRANSACTION")
            try:
                yield
                self._writer.execute("COMMIT")
            except BaseException:
                with suppress(RuntimeError):
                    self._writer.execute("ROLLBACK")
                raise

    def _write(self, query: str, **values: Any) -> list[Any]:
        """Within `_transaction` only."""
        return _rows(self._writer, query, values)

    def _read(self, query: str, **values: Any) -> list[Any]:
        with self._faults(), self._reader() as connection:
            return _rows(connection, query, values)

    @contextmanager
    def _reader(self) -> Iterator[ladybug.Connection]:
        if self._closed:
            raise faults.closed()
        try:
            connection = self._readers.get_nowait()
        except Empty:
            connection = ladybug.Connection(self._database)
        try:
            yield connection
        finally:
            if self._closed:
                connection.close()
            else:
                self._readers.put(connection)

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except MemvaultError:
            raise
        except (RuntimeError, OSError) as error:
            if self._closed:
                raise faults.closed() from error
            if faults.speaks_of_space(error) or faults.is_full(self._path.parent):
                raise faults.disk_full() from error
            raise GraphQueryError("The graph index failed. Run `memvault rebuild`.") from error


def _rows(connection: ladybug.Connection, query: str, values: Mapping[str, Any]) -> list[Any]:
    """Empty parameters have no type that the engine could know, and nothing to ask for."""
    if any(len(value) == 0 for value in values.values()):
        return []
    result = connection.execute(query, dict(values))
    rows: list[Any] = result.get_all()
    result.close()
    return rows


def _field(value: str | float | None) -> str:
    if value is None:
        return ""
    return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else repr(value)


def _edge_rows(graph: NoteGraph) -> Iterator[Row]:
    for edge in graph.edges:
        if edge.source != graph.node.id:
            raise GraphQueryError("An edge must start at the note that states it.")
        row = {column: getattr(edge, column) for column in _EDGE_COLUMNS}
        row["origin"] = edge.origin.value
        yield row


def _targets(edges: Iterable[Row]) -> set[str]:
    return {row["target"] for row in edges}


def _check_targets(edges: Iterable[Row], known: Collection[str]) -> None:
    if missing := _targets(edges).difference(known):
        raise GraphQueryError(
            "An edge ends at a node that is not in the graph.", missing=len(missing)
        )


def _edge(row: Sequence[Any]) -> GraphEdge:
    source, target, relation, origin, sentence, line, ordinal, weight, place, length = row
    return GraphEdge(
        source=source,
        target=target,
        relation=relation or "",
        origin=EdgeOrigin(origin),
        sentence=sentence or "",
        line=line,
        ordinal=ordinal,
        weight=weight,
        place=place,
        length=length,
    )


def _order(edge: GraphEdge) -> tuple[str, int, int, str, str, str]:
    return (edge.source, edge.line, edge.ordinal, edge.target, edge.relation, edge.origin)
