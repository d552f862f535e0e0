"""The graph store in one LadybugDB file (the maintained Kuzu), within this process."""

from __future__ import annotations

import logging
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import ladybug

from memvault.model.errors import GraphQueryError, MemvaultError, StoreUnavailable
from memvault.stores import faults
from memvault.stores.connection_pool import ConnectionPool
from memvault.stores.graph import cypher as queries
from memvault.stores.graph.cypher import (
    EDGE_COLUMNS,
    EDGE_PROPERTIES,
    NODE_COLUMNS,
    CypherGraphStore,
    Row,
    Transaction,
)
from memvault.stores.graph.zeroed_memory import zeroed_memory
from memvault.stores.server import CallRecorder

logger = logging.getLogger(__name__)

BUFFER_POOL_BYTES = 128 * 1024 * 1024
MAX_DATABASE_BYTES = 1 << 34  # address space; some systems refuse the default of 8 TB
THREADS = 2
# Each transaction, however small, takes some 50 kB of the pool, which only a checkpoint frees. The
# engine makes one by itself after 16 MB of log, which small transactions reach too late.
CHECKPOINT_CHANGES = 500
RETRY_CHANGES = 50  # after a checkpoint that failed
BULK_ROWS = 5_000  # from here on, COPY from a file is faster
MAX_SINGLE_LOOKUPS = 16  # up to here, looking up nodes one by one through the index is faster
_BYTES_PER_ROW = 1_024
_BYTES_PER_CHARACTER = 8  # in the CSV file, the log and the database
_SCHEMA = (
    "CREATE NODE TABLE IF NOT EXISTS Node(id STRING PRIMARY KEY, kind STRING, name STRING,"
    " path STRING, project STRING, date STRING)",
    "CREATE REL TABLE IF NOT EXISTS Edge(FROM Node TO Node, relation STRING, origin STRING,"
    " sentence STRING, line INT64, ordinal INT64, weight DOUBLE)",
    "ALTER TABLE Edge ADD IF NOT EXISTS place INT64 DEFAULT -1",
    "ALTER TABLE Edge ADD IF NOT EXISTS length INT64 DEFAULT 0",
)


class LadybugGraphStore(CypherGraphStore):
    """One writer at a time and any number of readers, each with a pooled connection and a snapshot
    of the graph at the start of its query. A completed call survives a killed process.

    Raises:
        StorageError: on opening, if the file is damaged.
        StoreUnavailable: on opening, if another process has the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.calls = CallRecorder()
        self._write_lock = threading.Lock()
        self._changes_until_checkpoint = CHECKPOINT_CHANGES
        self._pool = ConnectionPool(lambda: ladybug.Connection(self._database))
        path.parent.mkdir(parents=True, exist_ok=True)
        faults.ensure_space(path.parent, 0)
        try:
            with zeroed_memory:
                self._database = _opened(path)
                self._writer = ladybug.Connection(self._database)
                for statement in _SCHEMA:
                    self._writer.execute(statement)
            self.counts()
        except (RuntimeError, MemoryError, GraphQueryError) as error:
            # A damaged log makes the engine ask for more memory than there is.
            if "lock" in str(error).lower():
                raise StoreUnavailable("Another process has the indexes open.") from error
            raise faults.integrity_error() from error

    def close(self) -> None:
        with self._write_lock, zeroed_memory:
            if self._pool.closed:
                return
            self._pool.close()
            self._writer.close()
            self._database.close()

    def _change(self, rows: int, characters: int, work: Callable[[Transaction], None]) -> None:
        with self._transaction(rows * _BYTES_PER_ROW + characters * _BYTES_PER_CHARACTER):
            work(self)

    def run(self, query: str, **values: Any) -> list[Any]:
        """Run a query; within `_change` only."""
        return _rows(self._writer, query, values)

    def insert_nodes(self, rows: Sequence[Row]) -> None:
        if len(rows) >= BULK_ROWS:
            self._copy("Node", NODE_COLUMNS, rows)
        elif rows:
            properties, columns = _in_columns(NODE_COLUMNS, rows, "i")
            self.run(f"UNWIND range(1, size($id)) AS i CREATE (:Node {properties})", **columns)

    def insert_edges(self, rows: Sequence[Row]) -> None:
        if len(rows) >= BULK_ROWS:
            self._copy("Edge", EDGE_COLUMNS, rows)
        elif rows:
            properties, columns = _in_columns(EDGE_PROPERTIES, rows, "r.i")
            pairs = [{"a": r["source"], "b": r["target"], "i": i} for i, r in enumerate(rows, 1)]
            self.run(
                "UNWIND $pairs AS r MATCH (a:Node {id: r.a}) MATCH (b:Node {id: r.b})"
                f" CREATE (a)-[:Edge {properties}]->(b)",
                pairs=pairs,
                **columns,
            )

    def _copy(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Insert through a CSV file, in which text is quoted and an empty field is null."""
        with tempfile.TemporaryDirectory(dir=self._path.parent) as folder:
            file = Path(folder) / "rows.csv"
            with file.open("w", encoding="utf-8", newline="") as stream:
                for row in rows:
                    stream.write(",".join(_field(row[column]) for column in columns) + "\n")
            name = file.as_posix().replace("\\", "\\\\").replace('"', '\\"')
            self.run(
                f'COPY {table} FROM "{name}" (HEADER=FALSE, PARALLEL=FALSE, AUTO_DETECT=FALSE,'
                " QUOTE='\"', ESCAPE='\"', DELIM=',')"
            )

    @contextmanager
    def _transaction(self, size: int) -> Iterator[None]:
        with self._write_lock, zeroed_memory, self.calls.timed(), self._faults():
            if self._pool.closed:
                raise faults.store_closed()
            faults.ensure_space(self._path.parent, size)
            self._writer.execute("BEGIN TRANSACTION")
            try:
                yield
                self._writer.execute("COMMIT")
            except BaseException:
                with suppress(RuntimeError):  # the error has ended the transaction already
                    self._writer.execute("ROLLBACK")
                raise
            finally:
                self._checkpoint_if_due()

    def _checkpoint_if_due(self) -> None:
        """After many changes, free their memory: some 0.1 s, after the queries that run. New
        queries wait meanwhile."""
        self._changes_until_checkpoint -= 1
        if self._changes_until_checkpoint > 0:
            return
        try:
            self._writer.execute("CHECKPOINT")
            self._changes_until_checkpoint = CHECKPOINT_CHANGES
        except (RuntimeError, MemoryError) as error:  # for example, the disk is full
            self._changes_until_checkpoint = RETRY_CHANGES
            logger.warning("The graph's memory is freed later: %s", error)

    def _read(self, query: str, **values: Any) -> list[Any]:
        with self.calls.timed(), self._faults(), self._pool.borrowed() as connection:
            return _rows(connection, query, values)

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except MemvaultError:
            raise
        except (RuntimeError, OSError) as error:
            if self._pool.closed:
                raise faults.store_closed() from error
            if faults.reports_full_disk(error) or faults.is_disk_full(self._path.parent):
                raise faults.disk_full() from error
            if "buffer pool is full" in str(error).lower():
                raise GraphQueryError(
                    "The graph index has no memory left: too much is written or asked at once. "
                    "Split the notes with the most links."
                ) from error
            raise GraphQueryError("The graph index failed. Run `memvault rebuild`.") from error


def _opened(path: Path) -> ladybug.Database:
    """The database in a file.

    A process that was killed during a write may leave the end of the log damaged. Only that write,
    which has not returned, is left out.
    """
    limits = {
        "buffer_pool_size": BUFFER_POOL_BYTES,
        "max_num_threads": THREADS,
        "max_db_size": MAX_DATABASE_BYTES,
    }
    try:
        return ladybug.Database(path, **limits)
    except RuntimeError as error:
        if "WAL" not in str(error):
            raise
        logger.warning("The end of the graph's log is damaged: %s", error)
        return ladybug.Database(path, **limits, throw_on_wal_replay_failure=False)


def _rows(connection: ladybug.Connection, query: str, values: Mapping[str, Any]) -> list[Any]:
    """Run a query; without rows for empty parameters, whose type the engine cannot infer.

    For ``a.id IN $ids`` the engine scans all nodes, for ``a.id = $id`` it uses the index: 4 ms
    against 0.2 ms for 10,000 nodes.
    """
    if any(len(value) == 0 for value in values.values()):
        return []
    ids = dict.fromkeys(values.get("ids", ()))
    if query.count(queries.IN_IDS) == 1 and len(ids) <= MAX_SINGLE_LOOKUPS:
        single = query.replace(queries.IN_IDS, "= $id")
        return [row for node_id in ids for row in _answer(connection, single, {"id": node_id})]
    return _answer(connection, query, values)


def _answer(connection: ladybug.Connection, query: str, values: Mapping[str, Any]) -> list[Any]:
    result = connection.execute(query, dict(values))
    rows: list[Any] = result.get_all()
    result.close()
    return rows


def _in_columns(
    columns: Sequence[str], rows: Sequence[Row], index: str
) -> tuple[str, dict[str, list[Any]]]:
    """The properties of a pattern, and a list of values for each.

    Lists of values take a third of the time of a list of maps. Properties that are null in all rows
    are left out, since the engine cannot infer their type.
    """
    lists = {column: [row[column] for row in rows] for column in columns}
    filled = {
        column: values for column, values in lists.items() if values.count(None) < len(values)
    }
    return "{" + ", ".join(f"{column}: ${column}[{index}]" for column in filled) + "}", filled


def _field(value: str | float | None) -> str:
    if value is None:
        return ""
    return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else repr(value)
