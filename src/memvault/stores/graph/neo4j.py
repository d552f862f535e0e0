"""The graph store on a Neo4j server, over Bolt.

The nodes of each generation of a vault have a label of their own instead of ``Node``, so that many
vaults can share a database. The label's constraint, which is also its index, is created with the
first query, and again after a lost connection, since the server may have come back empty. Neo4j
reads committed data: a query may see both old and new edges of a note that is being replaced.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString, TypeVar

import neo4j
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    ConnectionAcquisitionTimeoutError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)

from memvault.model.batched import batched
from memvault.model.errors import DiskFull, GraphQueryError, StoreUnavailable
from memvault.stores.graph import cypher as queries
from memvault.stores.graph.cypher import CypherGraphStore, Row, Transaction
from memvault.stores.server import Server, StoreNamespace, invalid_url, refused

CONNECT_SECONDS = 3.0
READ_SECONDS = 3.0
READ_ALL_SECONDS = 120.0
WRITE_SECONDS = 60.0
ROWS_PER_QUERY = 5_000
# Counts without reading the target nodes: no edge leaves its generation.
_COUNT_EDGES = "MATCH (:Node)-[e:Edge]->() RETURN count(e)"
_OF_NODE = ", ".join(f"{column}: r.{column}" for column in queries.NODE_COLUMNS)
_OF_EDGE = ", ".join(f"{name}: r.{name}" for name in queries.EDGE_PROPERTIES)
_CREATE_NODES = f"UNWIND $rows AS r CREATE (:Node {{{_OF_NODE}}})"
_CREATE_EDGES = (
    "UNWIND $rows AS r MATCH (a:Node {id: r.source}) MATCH (b:Node {id: r.target})"
    f" CREATE (a)-[:Edge {{{_OF_EDGE}}}]->(b)"
)
_CONSTRAINT = "CREATE CONSTRAINT {name} IF NOT EXISTS FOR (n:Node) REQUIRE n.id IS UNIQUE"
_DROP_CONSTRAINT = "DROP CONSTRAINT {name} IF EXISTS"
_DROP = "MATCH (n:Node) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS"
# Rows that are deleted while they are read lack some properties. In complete rows, this number of
# leading columns is never null.
_NEVER_NULL = {
    queries.NODES: 3,
    queries.ALL_NODES: 3,
    **dict.fromkeys((queries.ALL_EDGES, queries.EDGES_FROM, queries.EDGES_TO), 10),
}
_GONE = "Neo.ClientError.Statement.EntityNotFound"
_READ_ALL = (queries.ALL_NODES, queries.ALL_EDGES)
_INTERNAL_ERROR = "Neo.DatabaseError."
_NO_ROOM = ("no space left", "file too large", "read only", "readonly", "writeonreadonly")
T = TypeVar("T")


class _TookTooLong(Exception):
    """The connections were closed, because a query timed out."""


class _Changing(Exception):
    """Data was deleted while the query read it; the query can be repeated."""


class _Writing:
    """One transaction on the server."""

    def __init__(self, transaction: neo4j.ManagedTransaction, label: str) -> None:
        self._transaction = transaction
        self._label = label

    def run(self, query: str, **values: Any) -> list[Any]:
        if any(len(value) == 0 for value in values.values()):
            return []
        result = self._transaction.run(_labelled(query, self._label), values)
        return result.values()

    def insert_nodes(self, rows: Sequence[Row]) -> None:
        self._insert(_CREATE_NODES, rows)

    def insert_edges(self, rows: Sequence[Row]) -> None:
        self._insert(_CREATE_EDGES, rows)

    def _insert(self, query: str, rows: Sequence[Row]) -> None:
        for batch in batched(rows, ROWS_PER_QUERY):
            self.run(query, rows=batch)


class Neo4jGraphStore(CypherGraphStore):
    """One generation of one vault's graph; writes of this process go one at a time.

    Raises:
        InvalidParams: the URL is invalid.
    """

    def __init__(
        self, url: str, namespace: StoreNamespace, user: str, password: str | None = None
    ) -> None:
        self._url = url
        self._auth = None if password is None else (user, password)
        self._label = f"Memvault_{namespace.vault}_{namespace.generation}"
        self._write_lock = threading.Lock()
        self._driver_lock = threading.Lock()
        self._driver: neo4j.Driver | None = None
        self._bookmarks = neo4j.GraphDatabase.bookmark_manager()
        self._prepared = False
        self.server = Server(
            "Neo4j",
            timeouts=(_TookTooLong, ConnectionAcquisitionTimeoutError),
            network=(ServiceUnavailable, SessionExpired, TransientError, _Changing),
        )
        self.calls = self.server.calls
        try:
            self._driver = self._connect()
        except (ValueError, ConfigurationError):
            raise invalid_url("graph") from None

    def counts(self) -> tuple[int, int]:
        nodes = self._read(queries.COUNT_NODES)[0][0]
        edges = self._read(_COUNT_EDGES)[0][0]
        return nodes, edges

    def drop(self) -> None:
        """Delete all data of this generation."""
        with self._write_lock:
            self._ask(lambda driver: self._run_alone(driver, _DROP), READ_ALL_SECONDS)
            self._ask(lambda driver: self._run_alone(driver, _DROP_CONSTRAINT), WRITE_SECONDS)
            self._prepared = False

    def close(self) -> None:
        if self.server.close():
            self._disconnect(None)

    def _change(self, rows: int, characters: int, work: Callable[[Transaction], None]) -> None:
        def write(driver: neo4j.Driver) -> None:
            with driver.session(bookmark_manager=self._bookmarks) as session:
                session.execute_write(lambda change: work(_Writing(change, self._label)))

        with self._write_lock:
            # A write may take long, but a hanging server should be detected soon.
            self._ask(lambda driver: driver.verify_connectivity(), READ_SECONDS)
            self._ask(write, WRITE_SECONDS, writes=True)

    def _read(self, query: str, **values: Any) -> list[Any]:
        if any(len(value) == 0 for value in values.values()):
            return []

        def read(driver: neo4j.Driver) -> list[Any]:
            with driver.session(bookmark_manager=self._bookmarks) as session:
                return session.execute_read(
                    lambda reading: reading.run(_labelled(query, self._label), values).values()
                )

        rows = self._ask(read, READ_ALL_SECONDS if query in _READ_ALL else READ_SECONDS)
        never_null = _NEVER_NULL.get(query, 0)
        return [row for row in rows if None not in row[:never_null]]

    # -- the way to the server ------------------------------------------------------------------

    def _ask(self, call: Callable[[neo4j.Driver], T], seconds: float, *, writes: bool = False) -> T:
        def attempt() -> T:
            with self._translated(), self._within(seconds) as driver:
                try:
                    if not self._prepared:
                        self._run_alone(driver, _CONSTRAINT)
                        self._prepared = True
                    return call(driver)
                except (DriverError, TransientError):
                    self._prepared = False
                    raise

        return self.server.ask(attempt, writes=writes)

    def _run_alone(self, driver: neo4j.Driver, query: str) -> None:
        """Run a query that needs a transaction of its own."""
        text = query.replace("{name}", f"`{self._label}`")
        with driver.session(bookmark_manager=self._bookmarks) as session:
            session.run(_labelled(text, self._label)).consume()

    @contextmanager
    def _within(self, seconds: float) -> Iterator[neo4j.Driver]:
        """Close the driver's connections after these seconds: the driver itself waits for a hanging
        server without limit."""
        driver = self._connected()
        late = threading.Event()

        def cut_off() -> None:
            late.set()
            self._disconnect(driver)

        # Not a job of the worker: it must run on time even if all its threads are busy.
        timer = threading.Timer(seconds, cut_off)
        timer.daemon = True
        timer.start()
        try:
            yield driver
        except (DriverError, OSError) as error:
            if late.is_set():
                raise _TookTooLong from error
            if self._driver is not driver:  # another call closed the connections
                raise SessionExpired("the connections were closed") from error
            raise
        finally:
            timer.cancel()

    def _connect(self) -> neo4j.Driver:
        return neo4j.GraphDatabase.driver(
            self._url,
            auth=self._auth,
            connection_timeout=CONNECT_SECONDS,
            connection_acquisition_timeout=READ_SECONDS,
            max_transaction_retry_time=0.0,  # `Server` retries
            telemetry_disabled=True,
            notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
            user_agent="memvault",
        )

    def _connected(self) -> neo4j.Driver:
        with self._driver_lock:
            if self._driver is None:
                self._driver = self._connect()
            return self._driver

    def _disconnect(self, driver: neo4j.Driver | None) -> None:
        """Close this driver if it is still the current one; None closes the current one."""
        with self._driver_lock:
            if driver is not None and self._driver is not driver:
                return
            driver, self._driver = self._driver, None
        if driver is not None:
            driver.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except AuthError as error:
            raise refused(
                "Neo4j refuses the user or password",
                "MEMVAULT_NEO4J_USER and MEMVAULT_NEO4J_PASSWORD",
            ) from error
        except TransientError:
            raise
        except Neo4jError as error:
            if error.code == _GONE:
                raise _Changing from error
            text = f"{error.code} {error.message}"
            if any(words in text.lower() for words in _NO_ROOM):
                raise DiskFull(
                    "Neo4j cannot write to its disk. Free some space; no partial data was written."
                ) from error
            if text.startswith(_INTERNAL_ERROR):
                raise StoreUnavailable(
                    f"Neo4j failed ({error.code}): see its log and restart it."
                ) from error
            raise GraphQueryError(f"Neo4j rejected a query: {error.code}") from error


def _labelled(query: str, label: str) -> LiteralString:
    """The query with ``:Node`` replaced by this label."""
    return re.sub(r":Node\b", f":`{label}`", query)
