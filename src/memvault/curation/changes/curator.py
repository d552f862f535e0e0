"""The only way in which memvault changes notes: plan, stage, apply, journal, undo.

A change is recorded before it is made. The replaced versions go to ``.memvault/history/`` and the
intent to the journal. Then the files are changed one by one, each only if it was not changed since
the plan was made. Then the journal records the outcome. After a crash the next start completes or
reverts the change, whichever the files allow.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar

from memvault.curation.changes import file_edits
from memvault.curation.changes.change_entries import JournalPhase
from memvault.curation.changes.change_folders import new_folders, remove_empty_folders
from memvault.curation.changes.change_lock import ChangeLock
from memvault.curation.changes.change_recorder import ChangeRecorder, file_change
from memvault.curation.changes.crash_recovery import recover
from memvault.curation.changes.current_places import CurrentPlaces
from memvault.curation.changes.forgetting import check_permanent, check_restoring
from memvault.curation.changes.history import History, merged_concepts
from memvault.curation.changes.plan import Attribution, Plan, reversal_hash
from memvault.curation.changes.staging import Staging
from memvault.curation.changes.tombstones import Tombstones, tombstones_of
from memvault.curation.changes.trash import Trash
from memvault.curation.changes.undo import UndoResult, UndoStaging, to_undo, undone_before
from memvault.curation.moved_paths import MovedPaths
from memvault.curation.proposals import NeededApproval
from memvault.model.change import Change, ChangeKind
from memvault.model.errors import InvalidParams, MemvaultError, NoteConflict, StorageError
from memvault.model.graph import GraphNode
from memvault.model.memory import Tombstone
from memvault.vault.files import Vault
from memvault.vault.frontmatter.fences import claimed_id
from memvault.vault.journal import Journal
from memvault.vault.version_store import KEPT_BYTES, VersionStore

ATTEMPTS = 3  # for a change whose notes somebody saves at the same time
MAX_NAMES = 20  # names that are recorded for a change
START_SECONDS = 2.0  # that recovery waits for a change of another process

logger = logging.getLogger(__name__)
Result = TypeVar("Result")
Described = tuple[Result, tuple[str, ...], tuple[str, ...]]  # with names and node ids


@dataclass(frozen=True, slots=True)
class ChangeResult(Generic[Result]):
    """The result of a change; ``change`` is None if nothing was changed.

    ``result`` is what the staged operation returned; ``approval`` is the one for which the change
    waits.
    """

    plan: Plan
    result: Result
    change: Change | None = None
    approval: NeededApproval | None = None


Planned = TypeVar("Planned", ChangeResult[Any], UndoResult)


class Curator:
    """Plans, applies and undoes changes, one at a time across all processes. Thread-safe.

    The caller updates the indexes.

    Args:
        clock: the time, with a zone.
        deleted: called for each note that is deleted for good.
        refuse: raises for a change that must not be made.
        approval: the approval for which a planned change must wait; None if it needs none.
        path_of_note: the path at which the note with an id was last seen, or None.
        misled: see `UndoStaging`.
        on_change: called after each change.
    """

    def __init__(
        self,
        vault: Vault,
        journal: Journal,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        deleted: Callable[[Tombstone], None] = lambda _: None,
        refuse: Callable[[Plan, Attribution], None] = lambda plan, why: None,
        approval: Callable[[Plan, Attribution], NeededApproval | None] = lambda plan, why: None,
        path_of_note: Callable[[str], str | None] = lambda note_id: None,
        misled: Callable[[Staging], str | None] = lambda staging: None,
        on_change: Callable[[Change], None] = lambda change: None,
    ) -> None:
        self.vault = vault
        self.tombstones = Tombstones(journal)
        self._versions = VersionStore(vault)
        self._clock = clock
        self._deleted = deleted
        self._refuse = refuse
        self.needed_approval = approval
        self._misled = misled
        self._on_change = on_change
        self._lock = ChangeLock(vault)
        self.history = History(vault, journal, self._versions)
        self.moved = MovedPaths(journal)
        self._places = CurrentPlaces(self.history, self.moved, path_of_note)
        self._trash = Trash(
            vault, journal, self.tombstones, self.history, self._versions, clock=clock
        )
        self._recorder = ChangeRecorder(journal, self._versions)
        self._merged_concepts: dict[str, GraphNode] | None = None
        self._interrupted = False  # a change could be neither completed nor reverted

    def now(self) -> datetime:
        return self._clock()

    def stage(self, as_before: Change | None = None) -> Staging:
        """An overlay over the vault as it is now, or with the files of a change as before it."""
        if as_before is None:
            return Staging(self.vault)
        earlier: dict[str, bytes | None] = {}
        content = self.history.contents_before(as_before)
        for file in as_before.files:
            earlier |= dict.fromkeys(file.paths)
            earlier[file.path] = content(file.before) if file.before else None
        return Staging(self.vault, earlier)

    def change_of_call(self, kind: ChangeKind, why: Attribution) -> Change | None:
        """The change of this kind that the same call made already; None if it made none.

        If the engine dies before it answers a call, the bridge sends the call again.
        """
        change = self.history.made_by(why.call)
        is_same = change is not None and change.kind is kind and change.actor.name == why.name
        return change if is_same else None

    def perform(
        self,
        stage: Callable[[Staging], Result],
        kind: ChangeKind,
        names: tuple[str, ...],
        node_ids: tuple[str, ...],
        why: Attribution,
        *,
        preview: bool = False,
    ) -> ChangeResult[Result]:
        """Stage one operation and apply it, unless it is a preview or changes nothing.

        If somebody saves one of its notes at the same time, the operation is staged again.

        Raises:
            NoteConflict: the notes keep changing.
            Whatever ``stage`` and `apply` raise.
        """
        return self.perform_described(
            lambda staging: (stage(staging), names, node_ids), kind, why, preview=preview
        )

    def perform_described(
        self,
        stage: Callable[[Staging], Described[Result]],
        kind: ChangeKind,
        why: Attribution,
        *,
        preview: bool = False,
        alone: bool = False,
    ) -> ChangeResult[Result]:
        """Like `perform`, but ``stage`` also returns the names and node ids.

        A call that made its change already gets that change.

        Args:
            alone: nothing else changes the vault during staging; for an operation that depends on
                which notes exist.
        """

        def planned(as_before: Change | None = None) -> ChangeResult[Result]:
            staging = self.stage(as_before)
            result, names, node_ids = stage(staging)
            return ChangeResult(staging.plan(kind, names, node_ids), result)

        earlier = self.change_of_call(kind, why)
        if earlier is not None:
            return replace(planned(earlier), change=None if preview else earlier)
        return self._perform(planned, why, preview=preview, alone=alone)

    def _perform(
        self, planned: Callable[[], Planned], why: Attribution, *, preview: bool, alone: bool
    ) -> Planned:
        """What is planned, and made unless it is a preview, changes nothing or must wait."""
        for attempt in range(1, ATTEMPTS + 1):
            # Only the first attempt is planned while others change notes.
            with self._lock.alone() if alone or attempt > 1 else nullcontext():
                result = planned()
                if result.plan.changes_nothing:
                    return result
                approval = self.needed_approval(result.plan, why)
                if preview or approval is not None:
                    return replace(result, approval=approval)
                try:
                    return replace(result, change=self.apply(result.plan, why))
                except NoteConflict:
                    if attempt == ATTEMPTS:
                        raise
        raise AssertionError("unreachable")

    def apply(self, plan: Plan, why: Attribution) -> Change:
        """Make a change completely or not at all, even if the process is killed.

        Raises:
            InvalidParams: it changes nothing, deletes a note for good without the person's request,
                or is a client's change that brings back a note that the person removed.
            NoteConflict: a note was changed since the plan was made; plan it again.
            RateLimited: a client changes too much (`ClientLimits`).
            StorageError, DiskFull: nothing was done.
        """
        if plan.changes_nothing:
            raise InvalidParams("No change: it already has this value")
        check_permanent(any(forgetting.permanent for forgetting in plan.forgets), why.reason)
        check_restoring(plan, why, self.history)
        with self._lock.alone():
            if self._interrupted:
                self._recover_interrupted()
            self._check(plan, why)
            self._refuse(plan, why)
            change = self._change(plan, why)
            for version in plan.archives:
                self._versions.archive(version)
            self._versions.put(change.reversal_hash, plan.versions)
            self._make(plan, change)
            self._drop_large(change, plan)
        for tombstone in change.forgot:
            if tombstone.permanent:
                self._delete_for_good(tombstone)
        self._on_change(change)
        return change

    def undo(
        self, reversal_hashes: Sequence[str], why: Attribution, *, preview: bool = False
    ) -> UndoResult:
        """Undo changes, the newest first, as one change.

        A change with a note that was changed afterwards is left out and listed as a conflict.

        Raises:
            NoteNotFound: there is no such change.
            InvalidParams: a change is undone already, or cannot be undone.
            NoteConflict, StorageError, DiskFull: nothing was done.
        """
        earlier = self.change_of_call(ChangeKind.UNDONE, why)
        if earlier is not None and not preview:
            return undone_before(earlier, self.history)
        newest_first = to_undo(reversal_hashes, self.history)

        def planned() -> UndoResult:
            return UndoStaging(
                newest_first, self.stage(), self.history, self.tombstones, self._places,
                misled=self._misled, for_client=why.by_client,
            ).staged()  # fmt: skip

        undone = self._perform(planned, why, preview=preview, alone=False)
        if undone.change is not None:
            remove_empty_folders(self.vault, self.history, undone.undone)
        return undone

    @property
    def merged_concepts(self) -> Mapping[str, GraphNode]:
        """The current concept for the id of each concept that was merged into another."""
        if self._merged_concepts is None:
            with self._lock.threads:
                self._merged_concepts = merged_concepts(fact for _, fact in self.history.facts())
        return self._merged_concepts

    def recover(self) -> list[Change]:
        """Complete or take back the changes that a crash interrupted; returns those changes.

        Does nothing while another process changes the vault: a change that seems interrupted may
        belong to that process.
        """
        if not self.history.begun():
            return []
        try:
            with self._lock.alone(START_SECONDS):
                return self._recover_interrupted()
        except StorageError as error:
            logger.warning("interrupted changes are not recovered yet: %s", error.message)
            self._interrupted = True
            return []

    def _recover_interrupted(self) -> list[Change]:
        begun = self.history.begun()
        self._interrupted, self._merged_concepts = False, None
        self._interrupted = not recover(begun, self.vault, self._versions, self._recorder)
        return begun

    def purge(self) -> list[Tombstone]:
        """Delete the forgotten notes whose 30 days are over.

        Deletes only files that a tombstone names and that still hold the forgotten bytes.
        """
        now = self._clock()
        purged = []
        for tombstone in self.tombstones.kept():
            if tombstone.restorable(now):
                continue
            try:
                self._delete_for_good(tombstone)
            except MemvaultError as error:
                logger.warning("%s stays in the trash for now: %s", tombstone.path, error.message)
                continue
            purged.append(tombstone)
        return purged

    def _delete_for_good(self, tombstone: Tombstone) -> None:
        with self._lock.threads:
            self._trash.delete(tombstone)
        self._deleted(tombstone)

    def _check(self, plan: Plan, why: Attribution) -> None:
        for edit in plan.edits:
            if why.seen and edit.before is not None:
                key = claimed_id(edit.before) or self.moved.id_at(edit.path)
                file_edits.check_seen(why.seen.get(key), edit.path, edit.before)
            if file_edits.current_bytes(self.vault, edit.path) != edit.before:
                raise file_edits.changed_meanwhile(edit.path)
            if edit.moved_to is not None and self.vault.stat(edit.moved_to) is not None:
                raise NoteConflict(f"{edit.moved_to} exists by now; try again", path=edit.moved_to)

    def _change(self, plan: Plan, why: Attribution) -> Change:
        now = self._clock()
        order = max(now, self.history.latest() + timedelta(microseconds=1))
        changed = tuple(
            file_change(
                edit,
                plan.edits,
                by_client=why.by_client,
                kind=plan.kind,
                mtime_ns=stat.mtime_ns if (stat := self.vault.stat(edit.path)) else None,
            )
            for edit in plan.edits
        )
        details = [detail.model_dump() for detail in (*changed, *plan.facts)]
        key = reversal_hash(plan.kind, order, "\n".join(plan.names), [details, plan.undoes])
        return Change(
            reversal_hash=key,
            kind=plan.kind,
            at=now,
            actor=why.actor,
            client=why.name if why.by_client else "",
            rationale=why.rationale,
            reason=why.reason,
            node_ids=plan.node_ids,
            names=plan.names[:MAX_NAMES],
            files=changed,
            facts=plan.facts,
            merged_from=plan.merged_from,
            undoes=plan.undoes,
            forgot=tombstones_of(plan, why, order, key),
            restored=plan.restores,
            folders=new_folders(self.vault, plan),
            memo=dict(plan.memo),
            undoable=not any(forgetting.permanent for forgetting in plan.forgets),
            call=why.call,
            position=order if order != now else None,
        )

    def _make(self, plan: Plan, change: Change) -> None:
        edits_made = 0
        try:
            self._recorder.record(JournalPhase.BEGUN, change)
            for edit in plan.edits:
                file_edits.make_edit(self.vault, edit)
                edits_made += 1
            self._recorder.record(JournalPhase.DONE, change)
            self._merged_concepts = None
        except MemvaultError:
            versions = plan.versions
            if file_edits.revert_edits(self.vault, change.files[:edits_made], versions.get):
                self._recorder.withdraw(change)
            else:
                self._interrupted = True  # tried again before the next change
            raise

    def _drop_large(self, change: Change, plan: Plan) -> None:
        if change.actor.kind == "client":
            return  # every change of a client must stay undoable
        large = [key for key, data in plan.versions.items() if len(data) > KEPT_BYTES]
        if large:
            try:
                self._versions.drop(change.reversal_hash, large)
            except StorageError as error:
                logger.warning("%s", error.message)
