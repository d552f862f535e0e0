"""What a session's working set adds up to."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from memvault.cognition.learning_state import learnt_together
from memvault.cognition.pulse import PulseMeter
from memvault.model.errors import SessionNotFound
from memvault.model.memory import JohariQuadrant, UTLState
from memvault.model.search import VerbosityLevel
from memvault.model.state import CognitivePulse

WORKING_SET = 50  # memories; what graph-tools calls the context
MAX_REMEMBERED = 10_000  # sessions, expired ones included; about 8 kB each when full


def _now() -> datetime:
    return datetime.now(UTC)


class Session:
    """What one client is about. Thread-safe.

    ``verbosity`` is the level of the answers whose call names none.
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
        """Ids of the last memories that answers showed, the most recent first."""
        with self._lock:
            return list(reversed(self._accessed))

    @property
    def pulse_reads(self) -> int:
        """How often the pulse was read since the session's last tool call."""
        return self._pulse_reads

    def level(self, asked: int | None) -> VerbosityLevel:
        """The verbosity of an answer whose call asks for this one, or for none."""
        return self.verbosity if asked is None else VerbosityLevel(asked)

    def accessed(self, ids: Iterable[str]) -> None:
        """Take these memories, best first, into the working set."""
        with self._lock:
            for each in reversed(list(ids)):
                self._accessed[each] = None
                self._accessed.move_to_end(each)
            while len(self._accessed) > WORKING_SET:
                self._accessed.popitem(last=False)

    def pulse_was_read(self) -> int:
        """How often it was since the last tool call, this time included."""
        with self._lock:
            self._pulse_reads += 1
            return self._pulse_reads

    def warned(self, advice: Iterable[str]) -> int:
        """Note a warning that suggests these tools; how many before it were ignored in a row."""
        with self._lock:
            self._advice = frozenset(advice)
            self._warnings += 1
            return self._warnings - 1

    def heeded(self) -> None:
        """Note that the client did what the last warning suggests, or needs it no more."""
        with self._lock:
            self._warnings, self._advice = 0, frozenset()

    def tool_called(self, tool: str) -> None:
        """Note which tool was called."""
        if tool in self._advice:
            self.heeded()

    def called(self, now: datetime, client: str | None) -> None:
        """Note a tool call."""
        with self._lock:
            self.last_activity = now
            self.client = client or self.client
            self._pulse_reads = 0


class Sessions:
    """A session begins with the first call that names it. Thread-safe.

    Args:
        user_id: whose they are; all of a person's sessions share the one memory.
        expiry: how long a session lasts without a call.
    """

    def __init__(
        self,
        user_id: str,
        expiry: timedelta = timedelta(hours=24),
        clock: Callable[[], datetime] = _now,
    ) -> None:
        self.user_id = user_id
        self._expiry = expiry
        self._clock = clock
        self._sessions: OrderedDict[str, Session] = OrderedDict()  # `recent` needs its order
        self._lock = threading.Lock()

    def touch(
        self, session_id: str, client: str | None = None, *, renewable: bool = False
    ) -> Session:
        """Note a tool call of this session and give it, begun if it is new.

        Args:
            client: the name under which the caller introduced itself.
            renewable: an expired session begins again, since nobody chose its id.

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
        """Note which tool a session called, if there is such a session."""
        with self._lock:
            session = self._sessions.get(session_id)
        if session is not None:
            session.tool_called(tool)

    def get(self, session_id: str) -> Session:
        """The session, without counting this as a call of it.

        Raises:
            SessionNotFound: it has expired, or no call ever named it.
        """
        with self._lock:
            session = self._sessions.get(session_id)
            if session is None or self._has_expired(session, self._clock()):
                raise _not_found(session_id)
            return session

    def recent(self, most: int) -> list[Session]:
        """The last sessions that were active and have not expired, the latest first."""
        with self._lock:
            now = self._clock()
            live = [each for each in self._sessions.values() if not self._has_expired(each, now)]
        return list(reversed(live))[:most]

    def _has_expired(self, session: Session, now: datetime) -> bool:
        return now - session.last_activity > self._expiry


def _not_found(session_id: str) -> SessionNotFound:
    return SessionNotFound(
        f"Session expired or not found: {session_id}. Begin a new session_id, or leave it out",
        session_id=session_id,
    )


@dataclass(frozen=True, slots=True)
class SessionState:
    """``memories`` are those of the working set that the vault still has, most recent first, and
    ``quadrants`` how many of them stand in each quadrant."""

    memories: tuple[str, ...]
    pulse: CognitivePulse
    quadrants: Mapping[JohariQuadrant, int]
    utl_state: UTLState


def pulse_of_session(meter: PulseMeter, working_set: Sequence[str]) -> CognitivePulse:
    """The pulse of a working set; of the whole vault while the set is empty."""
    there = [key for key in working_set if meter.similarity_index.is_memory(key)]
    return meter.of(there) if there else meter.of_vault()


def session_state(meter: PulseMeter, working_set: Sequence[str]) -> SessionState:
    """The state of a working set; an empty one has entropy 0 and coherence 0."""
    there = [key for key in working_set if meter.similarity_index.is_memory(key)]
    counts = Counter(state.quadrant for state in meter.states(there).values())
    return SessionState(
        tuple(there),
        meter.of(there),
        {quadrant: counts[quadrant] for quadrant in JohariQuadrant},
        learnt_together(meter, there),
    )
