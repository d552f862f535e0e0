"""Sessions of clients, and the state of a session's working set."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from memvault.cognition.learning_state import learning_state_of_set
from memvault.cognition.pulse import PulseMeter
from memvault.model.errors import SessionNotFound
from memvault.model.memory import JohariQuadrant, UTLState
from memvault.model.search import VerbosityLevel
from memvault.model.state import CognitivePulse

WORKING_SET = 50  # memories in a working set, which graph-tools calls the context
MAX_REMEMBERED = 10_000  # sessions, including expired ones; about 8 kB each when full


class Session:
    """A client's session. Thread-safe.

    ``verbosity`` is the default level of its answers.
    """

    def __init__(self, id: str, user_id: str, client: str | None, now: datetime) -> None:
        self.id = id
        self.user_id = user_id
        self.client = client
        self.created = now
        self.last_activity = now
        self.verbosity = VerbosityLevel.TEXT_AND_IDS
        self._accessed: OrderedDict[str, None] = OrderedDict()  # `working_set` needs its order
        self._pulse_reads = 0
        self._advice: frozenset[str] = frozenset()
        self._warnings = 0
        self._lock = threading.Lock()

    @property
    def working_set(self) -> list[str]:
        """The ids of the last memories in answers, most recent first."""
        with self._lock:
            return list(reversed(self._accessed))

    @property
    def pulse_reads(self) -> int:
        """The number of pulse reads since the session's last tool call."""
        return self._pulse_reads

    def level(self, requested: int | None) -> VerbosityLevel:
        """The requested verbosity, or the session's default."""
        return self.verbosity if requested is None else VerbosityLevel(requested)

    def accessed(self, ids: Iterable[str]) -> None:
        """Add these memories, best first, to the working set."""
        with self._lock:
            for memory_id in reversed(list(ids)):
                self._accessed[memory_id] = None
                self._accessed.move_to_end(memory_id)
            while len(self._accessed) > WORKING_SET:
                self._accessed.popitem(last=False)

    def pulse_was_read(self) -> None:
        with self._lock:
            self._pulse_reads += 1

    def warned(self, advice: Iterable[str]) -> int:
        """Record a warning that suggests these tools; returns how many were ignored before it."""
        with self._lock:
            self._advice = frozenset(advice)
            self._warnings += 1
            return self._warnings - 1

    def heeded(self) -> None:
        """Reset the warnings: the client followed the last one, or it no longer applies."""
        with self._lock:
            self._warnings, self._advice = 0, frozenset()

    def tool_called(self, tool: str) -> None:
        """Reset the warnings if the called tool was suggested."""
        if tool in self._advice:
            self.heeded()

    def called(self, now: datetime, client: str | None) -> None:
        """Record a tool call."""
        with self._lock:
            self.last_activity = now
            self.client = client or self.client
            self._pulse_reads = 0


class Sessions:
    """The sessions of a person; each begins with the first call that names it. Thread-safe.

    Args:
        user_id: the person's id; all sessions share the person's memory.
        expiry: how long a session lasts without a call.
    """

    def __init__(
        self,
        user_id: str,
        expiry: timedelta = timedelta(hours=24),
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.user_id = user_id
        self._expiry = expiry
        self._clock = clock
        self._sessions: OrderedDict[str, Session] = OrderedDict()  # `recent` needs its order
        self._lock = threading.Lock()

    def touch(
        self, session_id: str, client: str | None = None, *, renewable: bool = False
    ) -> Session:
        """Record a tool call and return its session, which is created if it is new.

        Args:
            client: the name that the caller gave itself.
            renewable: whether an expired session starts over, since nobody chose its id.

        Raises:
            SessionNotFound: the session has expired (core EC-CORE-015).
        """
        now = self._clock()
        with self._lock:
            session = self._sessions.get(session_id)
            expired = session is not None and self._has_expired(session, now)
            if expired and not renewable:
                raise _not_found(session_id)
            if session is None or expired:
                session = Session(session_id, self.user_id, client, now)
                self._sessions[session_id] = session
            session.called(now, client)
            self._sessions.move_to_end(session_id)
            while len(self._sessions) > MAX_REMEMBERED:
                self._sessions.popitem(last=False)
            return session

    def tool_called(self, session_id: str, tool: str) -> None:
        """Record which tool a session called, if the session exists."""
        with self._lock:
            session = self._sessions.get(session_id)
        if session is not None:
            session.tool_called(tool)

    def get(self, session_id: str) -> Session:
        """The session with this id; does not count as a call.

        Raises:
            SessionNotFound: it has expired, or no call ever named it.
        """
        with self._lock:
            session = self._sessions.get(session_id)
            if session is None or self._has_expired(session, self._clock()):
                raise _not_found(session_id)
            return session

    def recent(self, limit: int) -> list[Session]:
        """The most recently active sessions that have not expired, latest first."""
        with self._lock:
            now = self._clock()
            live = [
                session
                for session in self._sessions.values()
                if not self._has_expired(session, now)
            ]
        return list(reversed(live))[:limit]

    def _has_expired(self, session: Session, now: datetime) -> bool:
        return now - session.last_activity > self._expiry


def _not_found(session_id: str) -> SessionNotFound:
    return SessionNotFound(
        f"Session expired or not found: {session_id}. Begin a new session_id, or leave it out",
        session_id=session_id,
    )


@dataclass(frozen=True, slots=True)
class SessionState:
    """The state of a working set.

    Attributes:
        memories: the memories of the set that the vault still has, most recent first.
        quadrants: the number of these memories in each quadrant.
    """

    memories: tuple[str, ...]
    pulse: CognitivePulse
    quadrants: Mapping[JohariQuadrant, int]
    utl_state: UTLState


def pulse_of_session(meter: PulseMeter, working_set: Sequence[str]) -> CognitivePulse:
    """The pulse of a working set; of the whole vault if the set is empty."""
    existing = [key for key in working_set if meter.similarity_index.is_memory(key)]
    return meter.of(existing) if existing else meter.of_vault()


def session_state(meter: PulseMeter, working_set: Sequence[str]) -> SessionState:
    """The state of a working set; an empty one has entropy 0 and coherence 0."""
    existing = [key for key in working_set if meter.similarity_index.is_memory(key)]
    counts = Counter(state.quadrant for state in meter.states(existing).values())
    return SessionState(
        tuple(existing),
        meter.of(existing),
        {quadrant: counts[quadrant] for quadrant in JohariQuadrant},
        learning_state_of_set(meter, existing),
    )
