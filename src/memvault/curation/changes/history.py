"""Every change of the vault that the journal tells of, newest first."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime

from memvault.curation.changes.journal_decoder import Stroke, planned, told
from memvault.model.change import Change, ChangeKind, Fact
from memvault.model.errors import AmbiguousTarget, MemvaultError, NoteNotFound
from memvault.vault.files import Vault
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.parse import content_hash
from memvault.vault.version_store import VersionStore

MOST_NAMED = 3  # things that a sentence names

_DONE = {
    ChangeKind.CREATED: "Stored {names}",
    ChangeKind.IMPORTED: "Imported {names}",
    ChangeKind.IMPORT_UPDATED: "Brought {names} up to date with its conversation",
    ChangeKind.PREFERENCE_SET: "Set the preference {names}",
    ChangeKind.MERGED: "Merged {names}",
    ChangeKind.ANNOTATED: "Added a remark to {names}",
    ChangeKind.BOOSTED: "Changed the importance of {names}",
    ChangeKind.LIFECYCLE_SET: "Changed the lifecycle of {names}",
    ChangeKind.VERIFIED: "Said whether {names} is right",
    ChangeKind.PROPERTY_SET: "Changed the properties of {names}",
    ChangeKind.FORGOTTEN: "Forgot {names}",
    ChangeKind.PURGED: "Deleted {names} for good",
    ChangeKind.RESTORED: "Restored {names}",
    ChangeKind.EDITED: "Edited {names}",
    ChangeKind.MANIFEST_APPLIED: "Applied the manifest to {names}",
    ChangeKind.COMPRESSED: "Wrote a brief from {names}",
    ChangeKind.CAPTURED: "Captured a session of {names}",
    ChangeKind.UNDONE: "Took back what was done to {names}",
}


def names_of(change: Change) -> str:
    """What a change is about: names where it has them, else paths."""
    named = [f"“{name}”" for name in change.names] or list(change.paths) or ["nothing"]
    shown = named[:MOST_NAMED]
    more = len(named) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def who(change: Change) -> str:
    """The client by name, the person, or memvault."""
    if change.actor.kind == "client":
        return change.actor.name or "a client"
    return "you" if change.actor.kind == "person" else "memvault"


def done(change: Change) -> str:
    """What was done, and to what."""
    if change.kind is ChangeKind.MERGED and len(change.names) > 1:
        others = change.model_copy(update={"names": change.names[1:]})
        return f"Merged {names_of(others)} into “{change.names[0]}”"
    return _DONE[change.kind].format(names=names_of(change))


def description(change: Change) -> str:
    """What was done, by whom and why, in one line."""
    why = f": {change.rationale.rstrip(' .')}" if change.rationale else ""
    since = ", and it was taken back since" if change.undone_by else ""
    return f"{done(change)}, by {who(change)}{since}{why}"


def explanation(changes: Sequence[Change], since: datetime) -> str:
    """What a person may be told of these changes, the newest first."""
    day = since.strftime("%d %B %Y, %H:%M UTC").lstrip("0")
    if not changes:
        return f"Nothing was forgotten, merged or set aside since {day}."
    told = [f"{description(each)}." for each in changes[:MOST_NAMED]]
    more = len(changes) - len(told)
    rest = f" {more} more such changes are in the log." if more else ""
    back = [each for each in changes if each.undone_by is None and each.undoable]
    can = " Whatever is marked as recoverable can be brought back." if back else ""
    return f"Since {day}: {' '.join(told)}{rest}{can}"


SHORTEST_HASH = 4  # digits by which a change may be called
FEW = 8  # new changes that are judged one by one


class History:
    """Reads the journal when it is asked, and then only what was added. Thread-safe."""

    def __init__(self, vault: Vault, journal: Journal, contents: VersionStore) -> None:
        self._vault = vault
        self._journal = journal
        self._contents = contents
        self._marks: dict[str, int] = {}
        self._begun: dict[str, Change] = {}
        self._over: dict[str, Stroke] = {}
        self._told: dict[str, Change] = {}
        self._changes: tuple[Change, ...] = ()  # newest first
        self._latest = datetime.min.replace(tzinfo=UTC)
        self._by_hash: dict[str, Change] = {}
        self._packs: dict[str, list[str]] | None = {}  # of a version: the changes that kept it
        self._lock = threading.RLock()

    def changes(
        self,
        *,
        client: str | None = None,
        day: date | None = None,
        node_id: str | None = None,
        path: str | None = None,
        kinds: Collection[ChangeKind] | None = None,
        since: datetime | None = None,
        before: str | None = None,
        limit: int | None = 50,
    ) -> list[Change]:
        """The newest changes that fit, newest first; all of them with a limit of None.

        Args:
            client: the name under which a client did it; "" is a person or memvault itself.
            day: in UTC.
            before: the reversal hash of the last change of the page before.

        Raises:
            NoteNotFound: ``before`` names no change.
            StorageError: the journal cannot be read.
        """
        found: list[Change] = []
        for change in self._behind(before):
            if since is not None and change.at < since:
                break
            fits = (
                (client is None or change.client == client)
                and (day is None or change.at.astimezone(UTC).date() == day)
                and (node_id is None or node_id in (*change.node_ids, *change.merged_from))
                and (path is None or path in change.paths)
                and (kinds is None or change.kind in kinds)
            )
            if fits:
                found.append(change)
                if len(found) == limit:
                    break
        return found

    def change(self, reversal_hash: str) -> Change:
        """The change of this hash, or of the beginning of it.

        Raises:
            NoteNotFound: there is none.
            AmbiguousTarget: several begin so.
        """
        asked = reversal_hash.strip().casefold()
        with self._lock:
            self._refresh()
            known = self._by_hash.get(asked)
            if known is not None:
                return known
            alike = [key for key in self._by_hash if key.startswith(asked)]
        if len(alike) == 1 and len(asked) >= SHORTEST_HASH:
            return self._by_hash[alike[0]]
        if alike and len(asked) >= SHORTEST_HASH:
            raise AmbiguousTarget(
                f"{len(alike)} changes begin with {asked!r}: give more of the hash",
                candidates=[{"reversal_hash": key} for key in alike[:10]],
            )
        raise NoteNotFound(
            f"No change has the reversal_hash {reversal_hash!r}: get_node_lineage and the history "
            "give them",
            target=reversal_hash,
        )

    def lineage(self, node_id: str, depth: int, path: str | None = None) -> Sequence[Change]:
        """The newest changes of a memory: by its id, and where its note is or ever was."""
        with self._lock:
            self._refresh()
            changes = self._changes
        paths = {path} if path is not None else set()
        found: list[Change] = []
        for change in changes:
            if node_id in (*change.node_ids, *change.merged_from) or paths & set(change.paths):
                found.append(change)
                paths |= {
                    file.path for file in change.files if file.moved_to and file.moved_to in paths
                }
                if len(found) == depth:
                    break
        return found

    def facts(self) -> list[tuple[Change, Fact]]:
        """What holds of concepts without notes, oldest first: what was not taken back."""
        with self._lock:
            self._refresh()
            changes = self._changes
        return [
            (change, fact)
            for change in reversed(changes)
            if change.undone_by is None
            for fact in change.facts
        ]

    def latest(self) -> datetime:
        """When the newest change was made, or begun and taken back."""
        with self._lock:
            self._refresh()
            return self._latest

    def begun(self) -> list[Change]:
        """Changes of which only the intent is known, oldest first."""
        with self._lock:
            self._refresh()
            return [change for key, change in self._begun.items() if key not in self._over]

    def content(self, wanted: str) -> bytes | None:
        """A version of a note, by its hash, as far as it is kept or stands in the vault."""
        with self._lock:
            self._refresh()
            if self._packs is None:
                self._packs = _packs(self._changes)
            packs = self._packs.get(wanted, [])
        for key in packs:
            kept = self._contents.get(key, wanted)
            if kept is not None and content_hash(kept) == wanted:
                return kept
        places = {
            place
            for key in packs
            for file in self._by_hash[key].files
            if wanted in (file.before, file.after)
            for place in file.paths
        }
        return next((data for data in map(self._read, sorted(places)) if _is(data, wanted)), None)

    def _read(self, path: str) -> bytes:
        try:
            return self._vault.read(path)
        except MemvaultError:
            return b""

    def _behind(self, before: str | None) -> Iterator[Change]:
        with self._lock:
            self._refresh()
            changes = self._changes
        start = changes.index(self.change(before)) + 1 if before is not None else 0
        yield from changes[start:]

    def _refresh(self) -> None:
        entries, self._marks = self._journal.entries_after(self._marks)
        if not entries:
            return
        new = [change for entry in entries for change in self._fold(entry)]
        if not new:
            return
        follows = bool(self._changes) and len(new) <= FEW
        if not follows or not all(self._put_in_front(change) for change in new):
            self._judge_all()
        self._packs = None

    def _fold(self, entry: JournalEntry) -> list[Change]:
        """Take an entry in; the change that it makes known, or withdraws."""
        self._latest = max(self._latest, entry.ts)
        key = str(entry.data.get("reversal_hash"))
        if entry.kind == Stroke.BEGUN:
            change = planned(entry)
            if change is None:
                return []
            self._begun[change.reversal_hash] = change
            is_done = self._over.get(change.reversal_hash) is Stroke.DONE
            return [change] if is_done else []
        if entry.kind in (Stroke.DONE, Stroke.WITHDRAWN):
            self._over[key] = Stroke(entry.kind)
            is_told = entry.kind == Stroke.DONE or key in self._by_hash
            return [self._begun[key]] if is_told and key in self._begun else []
        change = told(entry)
        if change is None:
            return []
        self._told[change.reversal_hash] = change
        return [change]

    def _put_in_front(self, change: Change) -> bool:
        """Add a change that is newer than all others; False where more than it and what it takes
        back has to be judged."""
        key = change.reversal_hash
        undone = [self._by_hash.get(each) for each in change.undoes]
        is_newest = change.at > self._changes[0].at
        if key in self._by_hash or not is_newest or any(not each or each.undoes for each in undone):
            return False
        self._by_hash[key] = change
        if undone:
            self._by_hash |= {
                each.reversal_hash: each.model_copy(update={"undone_by": key})
                for each in undone
                if each is not None
            }
            self._changes = tuple(self._by_hash[each.reversal_hash] for each in self._changes)
        self._changes = (change, *self._changes)
        return True

    def _judge_all(self) -> None:
        done = {
            key: change for key, change in self._begun.items() if self._over.get(key) is Stroke.DONE
        }
        self._changes = tuple(_judged({**self._told, **done}.values(), self._by_hash))
        self._by_hash = {change.reversal_hash: change for change in self._changes}


def _judged(changes: Collection[Change], known: Mapping[str, Change]) -> list[Change]:
    """Newest first, each with the change that took it back; one that was itself taken back takes
    back nothing. Those that are ``known`` so already are given as they are."""
    undone: dict[str, str] = {}
    found = []
    for change in sorted(changes, key=lambda each: (each.at, each.reversal_hash), reverse=True):
        undone_by = undone.get(change.reversal_hash)
        if undone_by is None:
            for key in change.undoes:
                undone.setdefault(key, change.reversal_hash)
        before = known.get(change.reversal_hash, change)
        is_so = before.undone_by == undone_by
        found.append(before if is_so else change.model_copy(update={"undone_by": undone_by}))
    return found


def _packs(changes: Collection[Change]) -> dict[str, list[str]]:
    packs: dict[str, list[str]] = defaultdict(list)
    for change in changes:
        for version in {each for file in change.files for each in (file.before, file.after)}:
            if version is not None:
                packs[version].append(change.reversal_hash)
    return packs


def _is(data: bytes, wanted: str) -> bool:
    return content_hash(data) == wanted
