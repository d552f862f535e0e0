"""The changes of the vault that the journal records, newest first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime

from memvault.curation.changes.change_entries import DEVICE, PURGED, JournalPhase, deletion
from memvault.model.change import Change, ChangeKind, Fact, FactKind, FileChange
from memvault.model.errors import AmbiguousTarget, MemvaultError, NoteNotFound
from memvault.model.graph import GraphNode, NodeKind
from memvault.model.memory import DEFAULT_IMPORTANCE
from memvault.vault.files import Vault
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.journal_reader import JournalReader
from memvault.vault.parse import content_hash
from memvault.vault.version_store import VersionStore

SHORTEST_HASH = 4  # first digits that suffice to find a hash
MAX_LINKED_SINGLY = 8  # new changes that are linked one by one


class History(JournalReader):
    """Reads the journal on each call, but only the new entries. Thread-safe."""

    def __init__(self, vault: Vault, journal: Journal, versions: VersionStore) -> None:
        super().__init__(journal)
        self._vault = vault
        self._versions = versions
        self._intended: dict[str, Change] = {}
        self._elsewhere: set[str] = set()  # hashes of changes that other computers make
        self._done: set[str] = set()  # hashes of changes of which any entry says that they are done
        self._withdrawn: set[str] = set()
        self._deletions: dict[str, Change] = {}  # of notes from the trash, for good
        self._changes: tuple[Change, ...] = ()  # newest first
        self._latest_order = datetime.min.replace(tzinfo=UTC)
        self._by_hash: dict[str, Change] = {}
        self._calls: dict[str, str] = {}  # by the key of a call: the hash of its change
        # By version hash: the changes that kept it, each with its file; None to be made.
        self._kept: dict[str, list[tuple[str, FileChange]]] | None = {}

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
        limit: int | None = None,
    ) -> list[Change]:
        """The changes that match every filter, newest first; at most ``limit`` of them.

        Args:
            client: the client's name; "" means a person or memvault itself.
            day: in this computer's time zone.
            before: the reversal hash of the last change on the previous page.

        Raises:
            NoteNotFound: ``before`` names no change.
            StorageError: the journal cannot be read.
        """
        matching: list[Change] = []
        for change in self._older_than(before):
            if since is not None and change.order < since:
                break  # so are all others; their times are not later than their order
            is_match = (
                (since is None or change.at >= since)
                and (client is None or change.client == client)
                and (day is None or change.at.astimezone().date() == day)
                and (node_id is None or node_id in (*change.node_ids, *change.merged_from))
                and (path is None or path in change.paths)
                and (kinds is None or change.kind in kinds)
            )
            if is_match:
                matching.append(change)
                if len(matching) == limit:
                    break
        return matching

    def all(self) -> tuple[Change, ...]:
        """Every change, newest first; the same object until the history changes."""
        with self._current():
            return self._changes

    def change(self, reversal_hash: str) -> Change:
        """The change with this hash; its first digits suffice.

        Raises:
            NoteNotFound: there is none.
            AmbiguousTarget: several hashes begin with these digits.
        """
        prefix = reversal_hash.strip().casefold()
        with self._current():
            exact = self._by_hash.get(prefix)
            if exact is not None:
                return exact
            matching = [key for key in self._by_hash if key.startswith(prefix)]
        if len(matching) == 1 and len(prefix) >= SHORTEST_HASH:
            return self._by_hash[matching[0]]
        if matching and len(prefix) >= SHORTEST_HASH:
            raise AmbiguousTarget(
                f"{len(matching)} changes begin with {prefix!r}: give more digits",
                candidates=[{"reversal_hash": key} for key in matching[:10]],
            )
        raise NoteNotFound(
            f"No change has the hash {reversal_hash!r}. It is the `reversal_hash` in the answer to "
            "the change; `memvault log` lists all of them",
            target=reversal_hash,
        )

    def find(self, reversal_hash: str) -> Change | None:
        """The change with exactly this hash, or None."""
        with self._current():
            return self._by_hash.get(reversal_hash)

    def is_undone(self, reversal_hash: str) -> bool:
        """Whether the change with exactly this hash is undone, or unknown."""
        change = self.find(reversal_hash)
        return change is None or change.undone_by is not None

    def made_by(self, call: str) -> Change | None:
        """The change that the call with this key made; None if it made none."""
        with self._current():
            return self._by_hash.get(self._calls.get(call, "")) if call else None

    def lineage(self, node_id: str, depth: int, path: str | None = None) -> Sequence[Change]:
        """The newest changes of a memory, found by its id and by all paths of its note."""
        paths = {path} if path is not None else set()
        lineage: list[Change] = []
        for change in self.all():
            if node_id in (*change.node_ids, *change.merged_from) or paths & set(change.paths):
                lineage.append(change)
                paths |= {
                    file.path for file in change.files if file.moved_to and file.moved_to in paths
                }
                if len(lineage) == depth:
                    break
        return lineage

    def facts(self) -> list[tuple[Change, Fact]]:
        """The facts about concepts without notes, oldest first, without the undone ones."""
        return [
            (change, fact)
            for change in reversed(self.all())
            if change.undone_by is None
            for fact in change.facts
        ]

    def importance_of(self, node_ids: Collection[str]) -> float:
        """The importance that was set for a concept without a note, else the default."""
        values = [
            fact.value
            for _, fact in self.facts()
            if fact.kind is FactKind.IMPORTANCE and not set(node_ids).isdisjoint(fact.node_ids)
        ]
        return values[-1] if values and values[-1] is not None else DEFAULT_IMPORTANCE

    def latest(self) -> datetime:
        """The `order` of the newest change, also of one that was withdrawn."""
        with self._current():
            return self._latest_order

    def begun(self) -> list[Change]:
        """The changes of this computer for which only the intent is recorded, oldest first.

        Another computer may be making its change now, and a sync tool brings the outcome late.
        """
        with self._current():
            settled = self._elsewhere | self._done | self._withdrawn
            return [change for key, change in self._intended.items() if key not in settled]

    def content(self, version: str) -> bytes | None:
        """A version of a note by its hash, if it is kept or is a current file of the vault."""
        with self._current():
            if self._kept is None:
                self._kept = _kept(self._changes)
            kept_by = self._kept.get(version, [])
        for key in dict.fromkeys(key for key, _ in kept_by):
            kept = self._versions.get(key, version)
            if kept is not None and content_hash(kept) == version:
                return kept
        places = {place for _, file in kept_by for place in file.paths}
        current = map(self._read, sorted(places))
        return next((data for data in current if content_hash(data) == version), None)

    def contents_before(self, change: Change) -> Callable[[str], bytes | None]:
        """`content` for the versions that a change replaced, which it reads at once."""
        read = self._versions.reader(change.reversal_hash)

        def content(version: str) -> bytes | None:
            kept = read(version)
            is_whole = kept is not None and content_hash(kept) == version
            return kept if is_whole else self.content(version)

        return content

    def keeps_merged(self, change: Change) -> bool:
        """Whether every note that a change merged into another one is kept; True if none was."""
        if not change.merged_from:
            return True
        content = self.contents_before(change)
        merged = (file.before for file in change.files if file.before and file.moved_to)
        return all(content(version) is not None for version in merged)

    def _read(self, path: str) -> bytes:
        try:
            return self._vault.read(path)
        except MemvaultError:
            return b""

    def _older_than(self, before: str | None) -> Iterator[Change]:
        changes = self.all()
        start = changes.index(self.change(before)) + 1 if before is not None else 0
        yield from changes[start:]

    def _take(self, entries: Sequence[JournalEntry]) -> None:
        new = [change for entry in entries for change in self._fold(entry)]
        if not new:
            return
        follows = bool(self._changes) and len(new) <= MAX_LINKED_SINGLY
        if not follows or not all(self._put_in_front(change) for change in new):
            self._link_all()
        self._kept = None

    def _fold(self, entry: JournalEntry) -> list[Change]:
        """Apply an entry; returns the change that it completes."""
        self._latest_order = max(self._latest_order, entry.ts)
        key = str(entry.data.get("reversal_hash"))
        if entry.kind == JournalPhase.BEGUN:
            change = entry.change
            if change is None:
                return []
            self._intended[change.reversal_hash] = change
            if entry.data.get(DEVICE, self._journal.writer) != self._journal.writer:
                self._elsewhere.add(change.reversal_hash)
            if change.call:
                self._calls[change.call] = change.reversal_hash
            return [change] if change.reversal_hash in self._done else []
        if entry.kind == JournalPhase.WITHDRAWN:
            self._withdrawn.add(key)
            return []
        if entry.kind == JournalPhase.DONE:
            self._done.add(key)
            return [self._intended[key]] if key in self._intended else []
        if entry.kind != PURGED:
            return []
        change = deletion(entry)
        self._deletions[change.reversal_hash] = change
        return [change]

    def _put_in_front(self, change: Change) -> bool:
        """Add a change that is newer than all others.

        Returns False if changes other than this one and those that it undoes must be linked again.
        """
        key = change.reversal_hash
        undone = [self._by_hash.get(undone_key) for undone_key in change.undoes]
        is_newest = change.order > self._changes[0].order
        are_linked = all(earlier is not None and not earlier.undoes for earlier in undone)
        if key in self._by_hash or not is_newest or not are_linked:
            return False
        self._by_hash[key] = change
        if undone:
            self._by_hash |= {
                undone_change.reversal_hash: undone_change.model_copy(update={"undone_by": key})
                for undone_change in undone
                if undone_change is not None
            }
            self._changes = tuple(self._by_hash[earlier.reversal_hash] for earlier in self._changes)
        self._changes = (change, *self._changes)
        return True

    def _link_all(self) -> None:
        done = {key: change for key, change in self._intended.items() if key in self._done}
        self._changes = tuple(_linked({**self._deletions, **done}.values(), self._by_hash))
        self._by_hash = {change.reversal_hash: change for change in self._changes}


def _linked(changes: Collection[Change], former: Mapping[str, Change]) -> list[Change]:
    """The changes, newest first, each linked to the change that undid it.

    A change that was itself undone undoes nothing. A ``former`` change is reused if its link is
    still correct.
    """
    undone: dict[str, str] = {}
    linked = []
    for change in sorted(
        changes, key=lambda change: (change.order, change.reversal_hash), reverse=True
    ):
        undone_by = undone.get(change.reversal_hash)
        if undone_by is None:
            for key in change.undoes:
                undone.setdefault(key, change.reversal_hash)
        known_change = former.get(change.reversal_hash, change)
        is_linked = known_change.undone_by == undone_by
        linked.append(
            known_change if is_linked else change.model_copy(update={"undone_by": undone_by})
        )
    return linked


def _kept(changes: Iterable[Change]) -> dict[str, list[tuple[str, FileChange]]]:
    kept: dict[str, list[tuple[str, FileChange]]] = defaultdict(list)
    for change in changes:
        for file in change.files:
            for version in {file.before, file.after}:
                if version is not None:
                    kept[version].append((change.reversal_hash, file))
    return kept


def merged_concepts(facts: Iterable[Fact]) -> dict[str, GraphNode]:
    """The current concept for the id of each merged concept.

    Follows chains of merges: A into B, B into C means A into C.
    """
    nodes: dict[str, GraphNode] = {}
    for fact in facts:
        if fact.kind is not FactKind.JOINED or fact.into_id is None:
            continue
        node = GraphNode(fact.into_id, fact.into_kind or NodeKind.CONCEPT, fact.into or "")
        nodes.pop(node.id, None)  # the later fact wins
        merged_ids = {key for key in fact.node_ids if key != node.id}
        nodes = {
            key: node if survivor.id in merged_ids else survivor for key, survivor in nodes.items()
        }
        nodes |= dict.fromkeys(merged_ids, node)
    return nodes
