"""Forgetting and taking it back: notes go to the vault's trash, names leave the graph.

A note goes where Obsidian puts what is deleted: ``.trash/``, under its own name without its
folders, with " 1", " 2", … where that is taken. The journal keeps the path and the hash of the
bytes, so it can come back as it was for thirty days. Text in other notes is never touched: what
they say stays, but the graph no longer holds what was forgotten, nor the names by which it went.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from typing import Any, Literal

from memvault.curation.changes.plan import reversal_hash
from memvault.curation.operations.forgetting import hidden_by
from memvault.curation.targets import Target
from memvault.curation.trash.forgotten import Forgotten, Step
from memvault.model.errors import (
    AmbiguousTarget,
    InvalidParams,
    MemvaultError,
    NoteNotFound,
    StorageError,
)
from memvault.model.memory import Memory, Tombstone
from memvault.vault.files import Vault
from memvault.vault.journal import Actor, Journal, JournalEntry
from memvault.vault.parse import content_hash

TRASH = ".trash"
RETENTION = timedelta(days=30)
USER_REQUESTED = "user_requested"
MAX_SAME_NAME = 10_000

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Why:
    """Who asks for a change, and what for; ``reason`` is a word, ``rationale`` a sentence.

    ``client`` is the name of the client, or of the person or the part of memvault that acts.
    """

    client: str
    rationale: str
    reason: str | None = None
    kind: Literal["client", "person", "system"] = "client"
    session: str = ""

    @property
    def actor(self) -> Actor:
        return Actor(kind=self.kind, name=self.client, session=self.session)


@dataclass(frozen=True, slots=True)
class Restored:
    """What came back; ``path`` is where a note stands now."""

    tombstone: Tombstone
    path: str | None = None


class Forgetter:
    """Forgets, restores and purges, one at a time. The indexes are told by whoever calls.

    Args:
        clock: the time, with a zone.
        deleted: told of a note that is deleted for good.
    """

    def __init__(
        self,
        vault: Vault,
        journal: Journal,
        forgotten: Forgotten,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        deleted: Callable[[Tombstone], None] = lambda _: None,
    ) -> None:
        self.forgotten = forgotten
        self._vault = vault
        self._journal = journal
        self._clock = clock
        self._deleted = deleted
        self._lock = threading.RLock()

    def forget(self, target: Target, why: Why, *, permanent: bool = False) -> Tombstone:
        """Forget one note or one concept.

        Raises:
            InvalidParams: permanently, without the person having asked for it.
            NoteNotFound: the note is gone already.
            StorageError, DiskFull: nothing was done.
        """
        check_permanent(permanent, why.reason)
        with self._lock:
            if target.note is not None:
                return self._forget_note(target.note, why, permanent)
            return self._forget_name(target, why, permanent)

    def restore(self, target: str, why: Why) -> Restored:
        """Bring back what a hash, id, path or name stands for, as it was. A note comes back beside
        one that stands at its path by now, with a number behind its name.

        Raises:
            NoteNotFound: nothing of it can be restored.
            AmbiguousTarget: several things can.
            StorageError, DiskFull: nothing was done.
        """
        with self._lock:
            tombstone = self._restorable(target)
            path = self._take_back(tombstone, why) if tombstone.trash_path else None
            try:
                self._write(Step.RESTORED, tombstone, why, path=path)
            except StorageError:
                if path is not None:
                    self._vault.move(path, tombstone.trash_path or "")
                    self._withdraw(Step.RESTORING_WITHDRAWN, tombstone, why)
                raise
            return Restored(tombstone, path)

    def purge(self) -> list[Tombstone]:
        """Delete the notes whose thirty days are over. Only a file that a tombstone names, and
        that holds the very bytes that were forgotten, is deleted."""
        now = self._clock()
        with self._lock:
            due = [each for each in self.forgotten.kept() if not each.restorable(now)]
            return [each for each in due if self._purge_one(each)]

    def mend(self) -> list[Tombstone]:
        """Finish or undo what a crash cut off; gives what was touched.

        A note that still stands was not forgotten, one whose bytes lie in the trash was. Restoring
        likewise.
        """
        with self._lock:
            begun, restoring = self.forgotten.begun(), self.forgotten.being_restored()
            for tombstone in begun:
                self._mend_forgetting(tombstone)
            for tombstone, path in restoring:
                self._mend_restoring(tombstone, path)
            return [*begun, *(tombstone for tombstone, _ in restoring)]

    # -- forgetting -----------------------------------------------------------------------------

    def _forget_name(self, target: Target, why: Why, permanent: bool) -> Tombstone:
        now = self._clock()
        tombstone = Tombstone(
            reversal_hash=reversal_hash(Step.FORGOTTEN, now, target.name, sorted(target.node_ids)),
            name=target.name,
            kind=target.kind,
            node_ids=target.node_ids,
            hidden=tuple(sorted(hidden_by(target))),
            forgotten_at=now,
            permanent=permanent,
            reason=why.reason,
            rationale=why.rationale,
        )
        self._write(Step.FORGOTTEN, tombstone, why)
        if permanent:
            self._write(Step.PURGED, tombstone, why)
        return tombstone

    def _forget_note(self, memory: Memory, why: Why, permanent: bool) -> Tombstone:
        now = self._clock()
        content = content_hash(self._vault.read(memory.path))
        tombstone = Tombstone(
            reversal_hash=reversal_hash(Step.FORGOTTEN, now, memory.path, content),
            name=memory.title,
            kind=memory.type,
            node_ids=(memory.id,),
            path=memory.path,
            content_hash=content,
            hidden=tuple(sorted(hidden_by(Target(memory.title, memory)))),
            forgotten_at=now,
            restorable_until=now if permanent else now + RETENTION,
            permanent=permanent,
            reason=why.reason,
            rationale=why.rationale,
        )
        tombstone = self._put_away(tombstone, memory.path, why)
        if permanent:
            self._purge_one(tombstone)
        return tombstone

    def _put_away(self, tombstone: Tombstone, path: str, why: Why) -> Tombstone:
        """Intent, move, deed. The name in the trash is the first that is free."""
        for trash_path in _trash_paths(path):
            if self._vault.stat(trash_path) is not None:
                continue
            meant = tombstone.model_copy(update={"trash_path": trash_path})
            self._write(Step.FORGETTING, meant, why)
            try:
                moved = self._vault.move(path, trash_path)
            except MemvaultError:
                self._withdraw(Step.FORGETTING_WITHDRAWN, meant, why)
                raise
            if not moved:  # someone took the name a moment ago
                self._withdraw(Step.FORGETTING_WITHDRAWN, meant, why)
                continue
            return self._done(meant, path, why)
        raise StorageError(f"there are too many notes named like {path} in {TRASH}; empty it")

    def _done(self, tombstone: Tombstone, path: str, why: Why) -> Tombstone:
        """Say that the note is in the trash; if that cannot be said, it is not."""
        trash_path = tombstone.trash_path or ""
        try:
            # Someone may have saved the note up to the moment it moved.
            content = content_hash(self._vault.read(trash_path))
            tombstone = tombstone.model_copy(update={"content_hash": content})
            self._write(Step.FORGOTTEN, tombstone, why)
        except StorageError:
            self._vault.move(trash_path, path)
            self._withdraw(Step.FORGETTING_WITHDRAWN, tombstone, why)
            raise
        return tombstone

    # -- restoring ------------------------------------------------------------------------------

    def _restorable(self, target: str) -> Tombstone:
        now = self._clock()
        found = [each for each in self.forgotten.called(target) if each.restorable(now)]
        if len(found) == 1:
            return found[0]
        if found:
            raise AmbiguousTarget(
                f"{len(found)} forgotten things are called {target!r}: give the reversal_hash",
                candidates=[
                    {
                        "reversal_hash": each.reversal_hash,
                        "name": each.name,
                        "path": each.path,
                        "forgotten_at": each.forgotten_at.isoformat(timespec="seconds"),
                    }
                    for each in found
                ],
            )
        if self.forgotten.called(target) or self.forgotten.was_purged(target):
            raise NoteNotFound(f"{target!r} was deleted for good: its 30 days are over or it was "
                               "to be permanent", target=target)  # fmt: skip
        raise NoteNotFound(
            f"Nothing forgotten is called {target!r}: give its title, path, id or reversal_hash",
            target=target,
        )

    def _take_back(self, tombstone: Tombstone, why: Why) -> str:
        trash_path = tombstone.trash_path or ""
        if self._vault.stat(trash_path) is None:
            raise NoteNotFound(
                f"{tombstone.path} is no longer in {TRASH}: someone emptied or moved it",
                path=tombstone.path,
            )
        for path in _numbered(tombstone.path or "", first=2):
            if self._vault.stat(path) is not None:
                continue
            self._write(Step.RESTORING, tombstone, why, path=path)
            try:
                moved = self._vault.move(trash_path, path)
            except MemvaultError:
                self._withdraw(Step.RESTORING_WITHDRAWN, tombstone, why)
                raise
            if moved:
                return path
            self._withdraw(Step.RESTORING_WITHDRAWN, tombstone, why)
        raise StorageError(f"there are too many notes named like {tombstone.path}")

    # -- afterwards -----------------------------------------------------------------------------

    def _purge_one(self, tombstone: Tombstone) -> bool:
        trash_path = tombstone.trash_path
        try:
            if trash_path and self._hash_at(trash_path) == tombstone.content_hash:
                self._vault.delete(trash_path)
            self._write(Step.PURGED, tombstone, None)
        except MemvaultError as error:
            if tombstone.permanent and self._vault.stat(trash_path or "") is not None:
                raise
            logger.warning("%s stays in the trash for now: %s", trash_path, error.message)
            return False
        self._deleted(tombstone)
        return True

    def _mend_forgetting(self, tombstone: Tombstone) -> None:
        path, trash_path = tombstone.path or "", tombstone.trash_path or ""
        if self._hash_at(trash_path) == tombstone.content_hash:
            self._withdraw(Step.FORGOTTEN, tombstone, None)
        else:
            self._drop_reserved(trash_path, path)
            self._withdraw(Step.FORGETTING_WITHDRAWN, tombstone, None)

    def _mend_restoring(self, tombstone: Tombstone, path: str) -> None:
        trash_path = tombstone.trash_path or ""
        if self._vault.stat(trash_path) is None and self._vault.stat(path) is not None:
            self._withdraw(Step.RESTORED, tombstone, None, path=path)
        else:
            self._drop_reserved(path, trash_path)
            self._withdraw(Step.RESTORING_WITHDRAWN, tombstone, None)

    def _drop_reserved(self, path: str, other: str) -> None:
        """A name that was reserved for a move which did not come is an empty file."""
        reserved = self._vault.stat(path)
        if reserved is not None and not reserved.size and self._vault.stat(other) is not None:
            try:
                self._vault.delete(path)
            except MemvaultError as error:
                logger.warning("an empty file stays behind: %s", error.message)

    def _hash_at(self, path: str) -> str | None:
        try:
            return content_hash(self._vault.read(path))
        except MemvaultError:
            return None

    def _withdraw(
        self, step: Step, tombstone: Tombstone, why: Why | None, path: str | None = None
    ) -> None:
        """Write an entry without which the next start finds the same by looking at the files."""
        try:
            self._write(step, tombstone, why, path=path)
        except StorageError as error:
            logger.warning("the journal cannot be written: %s", error.message)

    def _write(
        self, step: Step, tombstone: Tombstone, why: Why | None, *, path: str | None = None
    ) -> None:
        whole = step in (Step.FORGETTING, Step.FORGOTTEN)
        data: dict[str, Any] = {
            "reversal_hash": tombstone.reversal_hash,
            "trash_path": tombstone.trash_path,
        }
        entry = JournalEntry(
            ts=self._clock(),
            kind=step,
            actor=why.actor if why else Actor(kind="system", name="memvault"),
            note_id=tombstone.node_ids[0],
            path=path or tombstone.path,
            rationale=why.rationale if why else None,
            before=tombstone.content_hash,
            data=tombstone.model_dump(mode="json") if whole else data,
        )
        self._journal.append(entry)
        self.forgotten.take(entry)


def check_permanent(permanent: bool, reason: str | None) -> None:
    """Raises InvalidParams as core EC-CORE-012 words it."""
    if permanent and reason != USER_REQUESTED:
        raise InvalidParams(
            "Permanent deletion requires reason='user_requested'", parameter="reason", reason=reason
        )


def _trash_paths(path: str) -> Iterator[str]:
    return (f"{TRASH}/{PurePosixPath(each).name}" for each in _numbered(path, first=1))


def _numbered(path: str, first: int) -> Iterator[str]:
    """The path, then the same with a number behind the name."""
    stem, dot, suffix = path.rpartition(".")
    yield path
    for number in range(first, MAX_SAME_NAME):
        yield f"{stem} {number}{dot}{suffix}"
