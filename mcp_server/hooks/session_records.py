"""Records what hooks gave and captured in each client session: one file a session in the state
folder."""

from __future__ import annotations

import hashlib
import logging
import os
import threading
import time
from collections import OrderedDict
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

_log = logging.getLogger(__name__)
KEPT_DAYS = 30
MAX_IN_MEMORY = 500
MAX_EVENTS = 200


class GivenEvent(BaseModel):
    """Memories given at one event, by id, and the keys of the quotations from them."""

    at: datetime
    event: str
    memories: list[str]
    quotations: list[str] = []


class SessionRecord(BaseModel):
    """One session of a client; ``changes`` are the hashes that undo its captures."""

    client: str
    session_id: str
    folder: str = ""
    project: str | None = None
    last_active: datetime = Field(default_factory=lambda: datetime.now(UTC))
    offset: int = 0
    note_path: str | None = None
    given: list[GivenEvent] = []
    files: list[str] = []
    changes: list[str] = []
    missed_start: bool = False  # it began while no engine ran, and got no memories
    notices: int = 0  # shown in this session
    unsummarised: list[str] = []  # lines captured since the last summary

    @property
    def given_ids(self) -> list[str]:
        """Ids of the memories given in this session, without duplicates, in order."""
        return list(dict.fromkeys(key for event in self.given for key in event.memories))

    @property
    def given_quotations(self) -> set[str]:
        """Keys of the quotations that this session was given."""
        return {key for event in self.given for key in event.quotations}


class SessionRecords:
    """Reads and writes the records. Thread-safe; hold `lock` to change a record."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._records: OrderedDict[str, SessionRecord] = OrderedDict()
        self._locks: dict[str, threading.RLock] = {}
        self._lock = threading.Lock()

    def lock(self, client: str, session_id: str) -> threading.RLock:
        """The lock to hold while a record is read, changed and saved."""
        with self._lock:
            return self._locks.setdefault(_key(client, session_id), threading.RLock())

    def get(self, client: str, session_id: str) -> SessionRecord:
        """The session's record, or a new one."""
        key = _key(client, session_id)
        with self._lock:
            record = self._records.get(key)
        if record is None:
            record = self._read(key) or SessionRecord(client=client, session_id=session_id)
        return record

    def save(self, record: SessionRecord) -> None:
        """Save a record; a failure to write it to disk is only logged."""
        key = _key(record.client, record.session_id)
        record.last_active = datetime.now(UTC)
        del record.given[:-MAX_EVENTS]
        with self._lock:
            self._records[key] = record
            self._records.move_to_end(key)
            while len(self._records) > MAX_IN_MEMORY:
                old, _ = self._records.popitem(last=False)
                self._locks.pop(old, None)
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            temporary = self._folder / f"{key}.{os.getpid()}.{threading.get_ident()}.tmp"
            temporary.write_text(record.model_dump_json(), encoding="utf-8")
            temporary.replace(self._folder / f"{key}.json")
        except OSError as error:
            _log.warning("a hook session cannot be recorded: %s", error.strerror)

    def recent(self, limit: int) -> list[SessionRecord]:
        """The sessions that were active last, the latest first."""
        try:
            files = sorted(self._folder.glob("*.json"), key=modified_at, reverse=True)[:limit]
        except OSError as error:
            _log.warning("the hook sessions cannot be listed: %s", error.strerror)
            return []
        records = [self._read(file.stem) for file in files]
        return [record for record in records if record is not None]

    def is_news(self, notice: str) -> bool:
        """Whether no session has shown this notice yet; marks it as shown."""
        shown_file = self._folder.parent / "told"
        key = hashlib.blake2b(notice.encode(), digest_size=12).hexdigest()
        with self._lock:
            try:
                shown_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                shown_keys = (
                    shown_file.read_text(encoding="ascii").split() if shown_file.is_file() else []
                )
                if key in shown_keys:
                    return False
                with shown_file.open("a", encoding="ascii") as file:
                    file.write(f"{key}\n")
            except OSError:
                return False  # better never shown than in every session
        return True

    def prune(self) -> None:
        """Delete the records of sessions that ended long ago."""
        oldest = time.time() - KEPT_DAYS * 86_400
        for file in self._folder.glob("*"):
            if modified_at(file) < oldest:
                file.unlink(missing_ok=True)

    def _read(self, key: str) -> SessionRecord | None:
        try:
            return SessionRecord.model_validate_json((self._folder / f"{key}.json").read_bytes())
        except (OSError, ValidationError):
            return None  # new, or damaged: the session is recorded from here on


def _key(client: str, session_id: str) -> str:
    return hashlib.blake2b(f"{client}\n{session_id}".encode(), digest_size=12).hexdigest()


def modified_at(file: Path) -> float:
    """The time of the last change, in seconds since 1970; 0 for a file that is gone."""
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
