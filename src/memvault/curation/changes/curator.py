"""The one door through which memvault changes notes: planned, applied as one, taken back.

A change is written down before it is made: the versions of its files go into a pack in
``.memvault/history/``, the intent into the journal; then the files are changed, one by one, each
only if it still is what it was when the change was planned; then the journal says that it is done.
At its start the engine looks at what was begun and never done (`mending`).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from memvault.curation.changes.apply import carry_out, stands_as, take_back
from memvault.curation.changes.history import History
from memvault.curation.changes.journal_decoder import Stroke
from memvault.curation.changes.plan import Edit, Plan, reversal_hash
from memvault.curation.changes.recovery import finish_or_take_back
from memvault.curation.changes.staging import Staging
from memvault.curation.changes.undo import Conflict, Standing, Undoing
from memvault.curation.provenance import added
from memvault.curation.trash.forget import RETENTION, Why
from memvault.curation.trash.forgotten import Forgotten
from memvault.model.change import Actor, Change, ChangeKind, Fact, FactKind, FileChange
from memvault.model.errors import InvalidParams, MemvaultError, NoteConflict, StorageError
from memvault.model.graph import GraphNode, NodeKind
from memvault.model.memory import DEFAULT_IMPORTANCE, Tombstone
from memvault.vault.files import Vault
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.parse import content_hash
from memvault.vault.version_store import KEPT_BYTES, VersionStore

ATTEMPTS = 3  # at a change whose notes somebody saves in that very moment
MOST_NAMES = 20  # that a change of many is called by

logger = logging.getLogger(__name__)
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Undone:
    """``change`` is None in a preview, or where nothing could be taken back."""

    undone: tuple[Change, ...]
    conflicts: tuple[Conflict, ...]
    plan: Plan
    change: Change | None = None


@dataclass(frozen=True, slots=True)
class Performed(Generic[Result]):
    """``change`` is None where nothing was changed; ``result`` is what the operation says."""

    plan: Plan
    result: Result
    change: Change | None = None


class Curator:
    """Plans, applies and takes back changes, one at a time. The indexes are told by whoever calls.
    Thread-safe.

    Args:
        clock: the time, with a zone.
    """

    def __init__(
        self,
        vault: Vault,
        journal: Journal,
        forgotten: Forgotten,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._vault = vault
        self._journal = journal
        self.forgotten = forgotten
        self._contents = VersionStore(vault)
        self._clock = clock
        self._lock = threading.RLock()
        self.history = History(vault, journal, self._contents)
        self._joined: dict[str, GraphNode] | None = None

    def stage(self) -> Staging:
        """The vault as it is now, to try changes on."""
        return Staging(self._vault)

    def perform(
        self,
        stage: Callable[[Staging], Result],
        kind: ChangeKind,
        names: tuple[str, ...],
        node_ids: tuple[str, ...],
        why: Why,
        *,
        preview: bool = False,
    ) -> Performed[Result]:
        """Stage one operation and make it, unless it is a preview or changes nothing; where
        somebody saves a note of it meanwhile, once more.

        Raises:
            NoteConflict: the notes keep changing.
            Whatever ``stage`` and `apply` raise.
        """
        for attempt in range(1, ATTEMPTS + 1):
            staging = self.stage()
            result = stage(staging)
            plan = staging.plan(kind, names, node_ids)
            if preview or plan.changes_nothing:
                return Performed(plan, result)
            try:
                return Performed(plan, result, self.apply(plan, why))
            except NoteConflict:
                if attempt == ATTEMPTS:
                    raise
        raise AssertionError("unreachable")

    def apply(self, plan: Plan, why: Why) -> Change:
        """Make the change: all of it, or nothing, also after a crash.

        Raises:
            InvalidParams: it changes nothing.
            NoteConflict: a note is no longer as it was when this was planned; plan it again.
            StorageError, DiskFull: nothing was done.
        """
        if plan.changes_nothing:
            raise InvalidParams("Nothing to change: it is so already")
        with self._lock:
            self._check(plan)
            change = self._change(plan, why)
            self._contents.put(change.reversal_hash, _versions(plan))
            try:
                self._say(Stroke.BEGUN, change, why.actor)
                carry_out(self._vault, plan.edits)
            except MemvaultError:
                self._withdraw(change)
                raise
            try:
                self._say(Stroke.DONE, change, why.actor)
            except StorageError:
                take_back(self._vault, plan.edits)
                self._withdraw(change)
                raise
            self._drop_large(change, plan)
            return change

    def undo(self, reversal_hashes: Sequence[str], why: Why, *, preview: bool = False) -> Undone:
        """Take changes back, the newest first, as one change. One with a note that was changed
        afterwards is left as it is, whole, and told among the conflicts.

        Raises:
            NoteNotFound: there is no such change.
            InvalidParams: it was taken back already, or cannot be.
            NoteConflict, StorageError, DiskFull: nothing was done.
        """
        wanted = {each.reversal_hash: each for each in map(self.history.change, reversal_hashes)}
        for change in wanted.values():
            _check_undoable(change)
        newest_first = sorted(wanted.values(), key=lambda each: each.at, reverse=True)
        for attempt in range(1, ATTEMPTS + 1):
            undone = self._stage_undo(newest_first)
            if preview or not undone.undone:
                return undone
            try:
                change = self.apply(undone.plan, why)
            except NoteConflict:
                if attempt == ATTEMPTS:
                    raise
                continue
            return Undone(undone.undone, undone.conflicts, undone.plan, change)
        raise AssertionError("unreachable")

    def undoable(self, changes: Sequence[Change]) -> list[str]:
        """The hashes of those that a person means by "all that this client did": not what was
        taken back already, nor the taking back."""
        return [
            change.reversal_hash
            for change in changes
            if change.undoable and change.undone_by is None and change.kind is not ChangeKind.UNDONE
        ]

    @property
    def joined(self) -> Mapping[str, GraphNode]:
        """By the id of each node without a note that is no more, the one that it is now."""
        if self._joined is None:
            with self._lock:
                self._joined = _joined(fact for _, fact in self.history.facts())
        return self._joined

    def importance_of(self, node_ids: Sequence[str]) -> float:
        """What was said of a concept without a note; the default where nothing was."""
        said = [
            fact.value
            for _, fact in self.history.facts()
            if fact.kind is FactKind.IMPORTANCE and set(node_ids) & set(fact.node_ids)
        ]
        return said[-1] if said and said[-1] is not None else DEFAULT_IMPORTANCE

    def mend(self) -> list[Change]:
        """Finish or take back what a crash cut off; gives the changes that it touched."""
        with self._lock:
            begun = self.history.begun()
            for change in begun:
                self._mend(change)
            return begun

    def expunge(self, tombstone: Tombstone) -> None:
        """Keep no version of a note that is deleted for good."""
        if tombstone.path is None:
            return
        for change in self.history.changes(path=tombstone.path, limit=None):
            versions = {
                version
                for file in change.files
                if file.path == tombstone.path
                for version in (file.before, file.after)
                if version is not None
            }
            self._contents.drop(change.reversal_hash, versions)

    # -- doing it -------------------------------------------------------------------------------

    def _check(self, plan: Plan) -> None:
        for edit in plan.edits:
            if stands_as(self._vault, edit.path) != edit.before:
                raise NoteConflict(f"{edit.path} was changed meanwhile", path=edit.path)
            if edit.moved_to is not None and self._vault.stat(edit.moved_to) is not None:
                raise NoteConflict(f"{edit.moved_to} is taken by now", path=edit.moved_to)

    def _change(self, plan: Plan, why: Why) -> Change:
        # Which of two changes is the newer is told by their time, also when a clock is set back.
        now = max(self._clock(), self.history.latest() + timedelta(microseconds=1))
        files = tuple(_file_change(edit) for edit in plan.edits)
        said = [each.model_dump() for each in (*files, *plan.facts)]
        key = reversal_hash(plan.kind, now, "\n".join(plan.names), [said, plan.undoes])
        return Change(
            reversal_hash=key,
            kind=plan.kind,
            at=now,
            actor=why.actor,
            client=why.client if why.kind == "client" else "",
            rationale=why.rationale,
            reason=why.reason,
            node_ids=plan.node_ids,
            names=plan.names[:MOST_NAMES],
            files=files,
            facts=plan.facts,
            merged_from=plan.merged_from,
            undoes=plan.undoes,
            forgot=_tombstones(plan, why, now),
            restored=plan.restores,
        )

    def _say(self, stroke: Stroke, change: Change, actor: Actor) -> None:
        """Write it down. That it is done says also what was forgotten by it and what is there
        again, for `Forgotten`, which reads nothing else of it."""
        data: dict[str, object] = {"reversal_hash": change.reversal_hash}
        if stroke is Stroke.BEGUN:
            data["change"] = change.model_dump(mode="json", exclude_defaults=True)
        elif stroke is Stroke.DONE:
            data["forgot"] = [each.model_dump(mode="json") for each in change.forgot]
            data["restored"] = list(change.restored)
        entry = JournalEntry(ts=change.at, kind=stroke, actor=actor, data=data,
                             rationale=change.rationale)  # fmt: skip
        self._journal.append(entry)
        if stroke is Stroke.DONE:
            self.forgotten.take(entry)
            self._joined = None

    def _withdraw(self, change: Change) -> None:
        """Say that nothing was done; unsaid, the next start finds the same by the files."""
        try:
            self._say(Stroke.WITHDRAWN, change, Actor(kind="system", name="memvault"))
            self._contents.drop(change.reversal_hash, _all_versions(change))
        except StorageError as error:
            logger.warning("the journal cannot be written: %s", error.message)

    def _drop_large(self, change: Change, plan: Plan) -> None:
        large = [key for key, data in _versions(plan).items() if len(data) > KEPT_BYTES]
        if large:
            try:
                self._contents.drop(change.reversal_hash, large)
            except StorageError as error:
                logger.warning("%s", error.message)

    # -- after a crash --------------------------------------------------------------------------

    def _mend(self, change: Change) -> None:
        if finish_or_take_back(self._vault, self._contents, change):
            self._say(Stroke.DONE, change, change.actor)
        else:
            self._withdraw(change)

    # -- taking back ----------------------------------------------------------------------------

    def _stage_undo(self, newest_first: Sequence[Change]) -> Undone:
        oldest = newest_first[-1].at if newest_first else None
        standing = Standing(self.history.changes(since=oldest, limit=None))
        undoing = Undoing(self.stage(), self.history.content, self.forgotten, standing)
        undone: list[Change] = []
        conflicts: list[Conflict] = []
        for change in newest_first:
            found = undoing.take_back(change)
            conflicts.extend(found)
            if not found:
                undone.append(change)
        plan = undoing.staging.plan(
            ChangeKind.UNDONE,
            tuple(dict.fromkeys(name for change in undone for name in change.names)),
            tuple(dict.fromkeys(key for change in undone for key in change.node_ids)),
        )
        return Undone(tuple(undone), tuple(conflicts), plan)


def _joined(facts: Iterable[Fact]) -> dict[str, GraphNode]:
    """What was joined to what was joined since is what that is now."""
    nodes: dict[str, GraphNode] = {}
    for fact in facts:
        if fact.kind is not FactKind.JOINED or fact.into_id is None:
            continue
        node = GraphNode(fact.into_id, fact.into_kind or NodeKind.CONCEPT, fact.into or "")
        nodes.pop(node.id, None)  # the later word holds
        gone = {key for key in fact.node_ids if key != node.id}
        nodes = {key: node if each.id in gone else each for key, each in nodes.items()}
        nodes |= dict.fromkeys(gone, node)
    return nodes


def _check_undoable(change: Change) -> None:
    if change.undone_by is not None:
        raise InvalidParams(
            f"This was taken back already, by {change.undone_by}; undo that to have it again",
            undone_by=change.undone_by,
        )
    if not change.undoable:
        raise InvalidParams(
            "This cannot be taken back: it was deleted for good, or memvault kept no version of "
            "what it was before",
            reversal_hash=change.reversal_hash,
        )


def _file_change(edit: Edit) -> FileChange:
    return FileChange(
        path=edit.path,
        before=None if edit.before is None else content_hash(edit.before),
        after=None if edit.after is None else content_hash(edit.after),
        moved_to=edit.moved_to,
        added=() if edit.after is None else tuple(added(edit.before, edit.after)),
    )


def _versions(plan: Plan) -> dict[str, bytes]:
    """What is needed to take a plan back, by hash. A note that is only forgotten lies in the
    trash and is kept nowhere else, so that it can be deleted for good."""
    forgotten = {each.path for each in plan.forgets}
    return {
        content_hash(data): data
        for edit in plan.edits
        if not (edit.moved_to is not None and edit.path in forgotten)
        for data in (edit.before, edit.after)
        if data is not None
    }


def _all_versions(change: Change) -> set[str]:
    return {
        version for file in change.files for version in (file.before, file.after)
        if version is not None
    }  # fmt: skip


def _tombstones(plan: Plan, why: Why, now: datetime) -> tuple[Tombstone, ...]:
    moved = {edit.path: edit for edit in plan.edits if edit.moved_to is not None}
    found = []
    for each in plan.forgets:
        edit = moved.get(each.path or "")
        content = content_hash(edit.before) if edit and edit.before is not None else None
        found.append(
            Tombstone(
                reversal_hash=reversal_hash("forgotten", now, each.path or each.name, content),
                name=each.name,
                kind=each.kind,
                node_ids=each.node_ids,
                path=each.path,
                trash_path=edit.moved_to if edit else None,
                content_hash=content,
                hidden=each.hidden,
                forgotten_at=now,
                restorable_until=now + RETENTION if each.path else None,
                reason=why.reason,
                rationale=why.rationale,
                repeats=each.repeats,
            )
        )
    return tuple(found)
