"""Turns the memories that are shown, read and changed into signals to learn from.

Whoever reads a memory of an answer has seen and passed over those ranked before it: only these
count as ignored (Joachims et al., SIGIR 2005).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

from cachetools import LRUCache

from memvault.consolidation.rewards import FULL, REWARDS, Signal, SignalKind
from memvault.model.change import MARKED_RIGHT, Change, ChangeKind
from memvault.model.errors import MemvaultError
from memvault.model.memory import Lifecycle, Memory, MemoryActivity, MemoryOf, Stage
from memvault.model.provenance import OriginKind
from memvault.model.search import FoundBy, Hit
from memvault.text.secrets import without_secrets

MAX_CONNECTIONS = 1_000
MAX_ANSWERS = 3  # latest answers that are remembered per connection
MAX_READ = 20  # memories that count per connection and day, each once
MAX_QUESTION_CHARS = 300
MAX_READ_BEFORE = 5  # latest read memories that form pairs with the next one
NEAR_DUPLICATE = 0.1  # surprise below which a stored memory repeats another
NOVEL = 0.3  # surprise from which a stored memory is new
STAGE_WEIGHTS = {
    SignalKind.NOVEL: {Stage.INFANCY: 1.4, Stage.GROWTH: 1.0, Stage.MATURITY: 0.6},
    SignalKind.COHERENT: {Stage.INFANCY: 0.6, Stage.GROWTH: 1.0, Stage.MATURITY: 1.4},
}
_WRITERS = frozenset({OriginKind.CLIENT, OriginKind.WEB})


@dataclass(slots=True)
class _Answer:
    """The memories of an answer, best first, with the routes that led to them."""

    question: str
    routes: dict[str, tuple[str, ...]]


@dataclass(slots=True)
class _Connection:
    client: str
    session: str = ""
    answers: deque[_Answer] = field(default_factory=lambda: deque(maxlen=MAX_ANSWERS))
    read: list[str] = field(default_factory=list)
    cited: set[str] = field(default_factory=set)
    ignored: set[str] = field(default_factory=set)

    def shows(self, id: str) -> _Answer | None:
        """The last answer that showed a memory."""
        return next((answer for answer in reversed(self.answers) if id in answer.routes), None)


@dataclass(eq=False)
class UseObserver:
    """Observes how answers are used. Thread-safe; every call takes microseconds.

    Attributes:
        memory_of: gives the memory with an id.
        at_path: gives the memory of the note at a path.
        stored: gives how a memory was stored; ``agent_id`` is None if no client stored it.
        connected: whether a memory is connected with others.
        changes: gives the changes with these hashes.
        stage: the stage of the vault; in a young one, new memories are rewarded more than
            connected ones.
        rate: a factor of all rewards.
    """

    observe: Callable[[Iterable[Signal]], None]
    memory_of: MemoryOf
    at_path: Callable[[str], Memory | None]
    stored: Callable[[str], MemoryActivity]
    connected: Callable[[str], bool]
    changes: Callable[[Sequence[str]], list[Change]]
    stage: Callable[[], Stage]
    rate: Callable[[], float]
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._connections: LRUCache[str, _Connection] = LRUCache(MAX_CONNECTIONS)
        self._changed: list[Change] = []

    def shown(
        self, connection: str, client: str, session: str, question: str, hits: Sequence[Hit]
    ) -> None:
        """Record the memories of an answer, best first.

        One connection may have several sessions, and reads memories without naming a session.
        """
        if not hits:
            return
        answer = _Answer(stored_question(question), {hit.memory.id: route_of(hit) for hit in hits})
        with self._lock:
            today = self._key_of_today(connection)
            if today not in self._connections:
                self._connections[today] = _Connection(client)
            state = self._connections[today]
            state.session = session
            state.answers.append(answer)

    def read(self, connections: Sequence[str], ids: Iterable[str], *, cited: bool = False) -> None:
        """Record which memories were read.

        Each counts for the first of these connections whose last answers showed it.
        """
        signals: list[Signal] = []
        with self._lock:
            states = [self._connections.get(self._key_of_today(name)) for name in connections]
            for key in ids:
                showing = (c for c in states if c is not None and c.shows(key) is not None)
                if (connection := next(showing, None)) is not None:
                    signals += self._read(connection, key, cited=cited)
        self.observe(signals)

    def _key_of_today(self, connection: str) -> str:
        """The key of a connection on this day.

        A connection may last for weeks, and reads count again on another day.
        """
        return f"{connection} {self.clock():%Y-%m-%d}"

    def _read(self, connection: _Connection, id: str, *, cited: bool) -> list[Signal]:
        answer = connection.shows(id)
        if answer is None or len(connection.read) >= MAX_READ:
            return []
        signals = []
        if id not in connection.read:
            opened = self._signal(SignalKind.OPENED, connection, answer, id)
            fields = {
                "route": answer.routes[id],
                "beside": tuple(connection.read[-MAX_READ_BEFORE:]),
            }
            signals.append(opened.model_copy(update=fields))
            connection.read.append(id)
            signals += self._passed_over(connection, answer, id)
        if cited and id not in connection.cited:
            connection.cited.add(id)
            signals.append(self._signal(SignalKind.CITED, connection, answer, id))
        return signals

    def _passed_over(self, connection: _Connection, answer: _Answer, id: str) -> Iterable[Signal]:
        for earlier in answer.routes:
            if earlier == id:
                return
            if earlier not in connection.read and earlier not in connection.ignored:
                connection.ignored.add(earlier)
                yield self._signal(SignalKind.IGNORED, connection, answer, earlier)

    def _signal(
        self, kind: SignalKind, connection: _Connection, answer: _Answer, id: str
    ) -> Signal:
        return Signal(
            at=self.clock(), kind=kind, thousandths=self._thousandths(kind),
            client=connection.client, session=connection.session,
            author=author_of(self.memory_of(id)), memory=id, question=answer.question,
        )  # fmt: skip

    def _thousandths(self, kind: SignalKind) -> int:
        reward = REWARDS[kind] * self.rate()
        if kind in STAGE_WEIGHTS:
            reward *= STAGE_WEIGHTS[kind][self.stage()]
        return max(-FULL, min(FULL, round(reward * FULL)))

    # -- changes --------------------------------------------------------------------------------

    def changed(self, change: Change) -> None:
        """Queue a change of the vault for `judge_changes`, which runs once it is indexed."""
        with self._lock:
            self._changed.append(change)

    def judge_changes(self) -> None:
        """Turn the queued changes into signals."""
        with self._lock:
            changes, self._changed = self._changed, []
        for change in changes:
            with suppress(MemvaultError):  # its memory is gone, or a store does not answer
                self._judge(change)

    def _judge(self, change: Change) -> None:
        by_client = change.actor.kind == "client" and change.kind is not ChangeKind.CREATED
        giver = change.client or change.actor.name if by_client else ""
        self.observe(
            Signal(
                at=change.at, kind=kind, thousandths=self._thousandths(kind), client=giver,
                session=change.actor.session, author=author, memory=memory,
            )
            for kind, author, memory in self._signals_of(change)
        )  # fmt: skip

    def _signals_of(self, change: Change) -> list[tuple[SignalKind, str, str]]:
        """The kind, author and memory of each signal of a change."""
        memories = [m for key in change.node_ids if (m := self.memory_of(key)) is not None]
        memories = memories or [m for path in change.paths if (m := self.at_path(path)) is not None]
        by_person = change.actor.kind == "person"
        match change.kind:
            case ChangeKind.CREATED if change.actor.kind == "client":
                author = change.client or change.actor.name
                return [
                    (kind, author, m.id) for m in memories for kind in self._kinds_of_stored(m.id)
                ]
            case ChangeKind.VERIFIED if by_person:
                # The index may not know it yet.
                is_right = change.memo.get(MARKED_RIGHT) == "true"
                kind = SignalKind.VERIFIED if is_right else SignalKind.CONTRADICTED
                return [(kind, self._writer(m), m.id) for m in memories]
            case ChangeKind.LIFECYCLE_SET if by_person:
                permanent = [m for m in memories if m.lifecycle is Lifecycle.PERMANENT]
                return [(SignalKind.KEPT, self._writer(m), m.id) for m in permanent]
            case ChangeKind.RESTORED if by_person:
                return [(SignalKind.KEPT, self._writer(m), m.id) for m in memories]
            case ChangeKind.MERGED:
                return [(SignalKind.MERGED, self._writer(m), m.id) for m in memories]
            case ChangeKind.UNDONE:
                undone = self.changes(change.undoes)
                return [
                    (SignalKind.UNDONE, earlier.client or earlier.actor.name, "")
                    for earlier in undone
                    if earlier.actor.kind == "client" and earlier.kind is not ChangeKind.UNDONE
                ]
        return []

    def _writer(self, memory: Memory) -> str:
        """The client that wrote a memory, even if the person verified it since."""
        return _client_in(memory) or self.stored(memory.id).agent_id or ""

    def _kinds_of_stored(self, id: str) -> list[SignalKind]:
        state = self.stored(id).utl_state
        if state is None:
            return []
        if state.delta_s < NEAR_DUPLICATE:
            return [SignalKind.DUPLICATE]
        kind = SignalKind.COHERENT if self.connected(id) else SignalKind.UNCONNECTED
        return [kind, SignalKind.NOVEL] if state.delta_s >= NOVEL else [kind]


@lru_cache(maxsize=64)  # each answer needs it twice
def stored_question(question: str) -> str:
    """A question as it is stored: without secrets, on one line, and shortened."""
    return " ".join(without_secrets(question).split())[:MAX_QUESTION_CHARS]


def route_of(hit: Hit) -> tuple[str, ...]:
    """The ids of the nodes along which a hit was found, its own last; empty if found by text."""
    if hit.found_by is FoundBy.TEXT:
        return ()
    ids = [hit.memory.id]
    for hop in reversed(hit.hops):
        if ids[0] in hop.ends:
            ids.insert(0, hop.ends[1] if hop.ends[0] == ids[0] else hop.ends[0])
    return tuple(ids) if len(ids) > 1 else ()


def author_of(memory: Memory | None) -> str:
    """The client that wrote in a memory; empty if none did or the person verified it."""
    return "" if memory is None or memory.verified else _client_in(memory)


def _client_in(memory: Memory) -> str:
    """The client that wrote in a memory; empty if none did."""
    origins = (span.origin for span in memory.provenance.spans)
    writer = next((origin for origin in origins if origin.kind in _WRITERS), None)
    return "" if writer is None else writer.name or "an unnamed client"
