"""Who wrote each sentence of a note, read from the journal.

The journal entry for a change holds the digests of the sentences that the change added. A sentence
that a client, an import or memvault added is theirs. So is a sentence of the person's that a client
moved, repeated or put into another frame, except where it still is as it was. All others are the
person's: text typed in an editor is in no entry, even if it replaces a client's text. A note that
the person has renamed is recognised by their own sentences in it, and one without any by the
others' sentences; the journal then records the rename, since later edits may leave no sign of it.
A note in the form that memvault stores for a client is that client's even if no entry says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memvault.curation.origins.note_provenance import note_provenance
from memvault.curation.origins.renamed_notes import RenamedNotes
from memvault.curation.origins.sentence_digests import (
    VERIFIED_DIGESTS,
    SentenceUnit,
    longest_digests,
    marks_verified,
    units,
)
from memvault.curation.origins.sentence_origins import SentenceOrigins
from memvault.curation.origins.stated_origin import is_recorded, stated_origin
from memvault.model.change import SYSTEM, Change, ChangeKind, FileChange
from memvault.model.errors import StorageError
from memvault.model.provenance import (
    PERSON,
    SPOKEN_BY_PERSON,
    Origin,
    OriginKind,
    Provenance,
)
from memvault.vault.file_names import original_of_copy
from memvault.vault.files import Vault
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.journal_reader import JournalReader

# Keys of a change's memo.
WEB = "web"  # for a stored note: the client says that it fetched the content
SOURCE = "source"  # for an import: the provider

_BEGUN = "change_begun"
# The person renamed or copied the note, or rewrote most sentences by which it is recognised.
_RECOGNISED = "note_recognised"
# Changes that only restore sentences whose origin is known.
_REPEATING = frozenset({ChangeKind.UNDONE, ChangeKind.RESTORED, ChangeKind.RECONSTRUCTED})


def spoken_key(path: str) -> str:
    """The key in `Change.memo` for the person's sentences in the imported note at this path."""
    return f"spoken:{path}"


class Provenances(JournalReader):
    """The provenance of each note; each call first reads new journal entries. Thread-safe."""

    def __init__(self, journal: Journal, vault: Vault) -> None:
        self._vault = vault
        super().__init__(journal, (_BEGUN, _RECOGNISED))

    def _restart(self) -> bool:
        self._renamed = RenamedNotes(self._vault)
        self._records: dict[str, SentenceOrigins] = defaultdict(SentenceOrigins)
        self._adopters: dict[str, list[SentenceOrigins]] = {}  # by the verifying change
        self._reframed_by: dict[str, list[SentenceOrigins]] = {}  # by the reframing change
        self._undoings: dict[str, Change] = {}
        return True

    def of(self, path: str, note_id: str, data: bytes) -> Provenance:
        """The provenance of a note: who wrote which of its sentences.

        Args:
            note_id: the id in its frontmatter; "" if it has none.
            data: its bytes.
        """
        return self.both(path, note_id, data)[0]

    def both(self, path: str, note_id: str, data: bytes) -> tuple[Provenance, Provenance]:
        """The provenance of a note, and that by who first wrote each sentence.

        In the second, what a client put into another frame is still the person's.
        """
        with self._current():
            records = self._records_of(path, note_id)
            stated = stated_origin(data) if note_id else None
            if not records and not self._renamed and stated is None:
                return Provenance(), Provenance()
            sentences = list(units(data))
            if former := self._former_paths(sentences, records):
                self._record(path, {"from": former})
                records = self._records_of(path, note_id)
            if not records and stated is None:
                return Provenance(), Provenance()
            stamp = _stamp(records)
            if not any(map(marks_verified, sentences)):
                records = [record.without_adoptions() for record in records]
            if stated is not None and not is_recorded(sentences, records):
                records = [*records, SentenceOrigins(whole=stated)]
            judged = [(unit, _origin(unit, records)) for unit in sentences]
            if not note_id:
                self._record_rewriting(path, judged)
            is_late = any(
                record.is_late(unit)
                for unit, origin in judged
                if not origin.is_person
                for record in records
            )
            has_reframed = any(record.is_reframed(unit) for record in records for unit in sentences)
            first_written = [
                (unit, _origin(unit, records, reframed=False)) for unit in sentences if has_reframed
            ]
        provenance = note_provenance(judged, stamp, verifiable=not is_late)
        if not has_reframed:
            return provenance, provenance
        provenance = provenance.model_copy(update={"has_reframed": True})
        return provenance, note_provenance(first_written, stamp, verifiable=not is_late)

    def stamps(self, notes: Iterable[tuple[str, str]]) -> list[str]:
        """For each note, a text that changes whenever the journal has a new entry about it."""
        with self._current():
            return [_stamp(self._records_of(path, note_id)) for path, note_id in notes]

    def _records_of(self, path: str, note_id: str) -> list[SentenceOrigins]:
        keys = _keys(path, note_id)
        if (original := original_of_copy(path)) != path:  # a sync tool's, of one version of it
            keys.append(f"path:{original}")
        return [record for key in keys if (record := self._records.get(key))]

    def _former_paths(
        self, sentences: Iterable[SentenceUnit], records: Iterable[SentenceOrigins]
    ) -> list[str]:
        """The former paths of a note at which others wrote sentences that no record has."""
        digests = {digest for unit in sentences for digest in unit.digests}
        unknown = digests.difference(*(record.digests for record in records))
        return [
            path
            for path in self._renamed.former_paths(digests)
            if not unknown.isdisjoint(self._records[f"path:{path}"].foreign_digests)
        ]

    def _record_rewriting(self, path: str, judged: Sequence[tuple[SentenceUnit, Origin]]) -> None:
        """Record the person's sentences in a note with others', if they replaced many of them."""
        own = longest_digests(unit for unit, origin in judged if unit.is_body and origin.is_person)
        is_mixed = any(not origin.is_person for _, origin in judged)
        if is_mixed and self._renamed.has_other_sentences(path, own):
            self._record(path, {"own": own})

    def _record(self, path: str, data: dict[str, Any]) -> None:
        """Record how a note of the person's is recognised: a later edit may leave no sign of it."""
        entry = JournalEntry(
            ts=self._moment(), kind=_RECOGNISED, actor=SYSTEM, path=path, data=data
        )
        try:
            self._journal.append(entry)
        except StorageError:  # a read-only vault
            self._apply_recognised(entry)
        else:
            self._refresh()

    def _take(self, entries: Sequence[JournalEntry]) -> None:
        for entry in entries:
            if entry.kind == _RECOGNISED:
                self._apply_recognised(entry)
            elif entry.change is not None:
                self._apply_change(entry.change)

    def _apply_recognised(self, entry: JournalEntry) -> None:
        path, own = entry.path or "", entry.data.get("own")
        for former in entry.data.get("from", ()):
            if record := self._records.get(f"path:{former}"):
                self._inherit(path, record)
                self._renamed.copy(former, path)
        if own:
            foreign = self._records[f"path:{path}"].foreign_digests
            self._renamed.remember(path, frozenset(own), frozenset(foreign))

    def _apply_change(self, change: Change) -> None:
        origin = origin_of_change(change)
        is_redone = change.kind is ChangeKind.UNDONE and self._apply_undo(change)
        keys = [f"path:{file.path}" for file in change.files]
        keys += [f"id:{node_id}" for node_id in change.merged_from]
        source_records = [record for key in keys if (record := self._records.get(key))]
        if change.kind is ChangeKind.MERGED and origin.is_person:
            # Merging states properties in sentences and headings of its own.
            are_own = not any(record.foreign_digests for record in source_records)
            origin = PERSON if are_own else Origin(kind=OriginKind.MEMVAULT)
        ids = _note_ids(change)
        for file in change.files:
            self._follow_file(file)
            repeats = change.kind in _REPEATING and not is_redone
            if repeats or not (file.added or file.carried or file.reframed or file.relinked):
                continue
            if change.kind is ChangeKind.VERIFIED and origin.is_person:
                self._adopt(file, change)
                continue
            by_origin = self._digests_by_origin(file, change, origin, source_records)
            for key in _keys(file.place, file.note_id or ids.get(file.path, "")):
                self._record_change(self._records[key], file, change, origin, by_origin)
            self._remember_sentences(file, self._records[f"path:{file.place}"])

    def _digests_by_origin(
        self,
        file: FileChange,
        change: Change,
        origin: Origin,
        source_records: Sequence[SentenceOrigins],
    ) -> Mapping[Origin, Sequence[str]]:
        """The sentences that a change wrote into a file, by who wrote them first.

        Args:
            origin: the origin of the change.
            source_records: of the files that the change may have copied sentences from.
        """
        by_origin: dict[Origin, list[str]] = defaultdict(list)
        by_origin[origin].extend(file.added)
        for digest in file.carried:
            by_origin[_origin_of_digest(digest, source_records)].append(digest)
        keys = _keys(file.place, file.note_id or "") if file.relinked else []
        note_records = [record for key in keys if (record := self._records.get(key))]
        for digest, earlier in file.relinked.items():
            by_origin[_origin_of_digest(earlier, note_records)].append(digest)
        if spoken := change.memo.get(spoken_key(file.path), "").split():
            by_origin[origin.model_copy(update={"session": SPOKEN_BY_PERSON})] = spoken
        return by_origin

    def _record_change(
        self,
        record: SentenceOrigins,
        file: FileChange,
        change: Change,
        origin: Origin,
        by_origin: Mapping[Origin, Sequence[str]],
    ) -> None:
        is_new_text = change.kind is not ChangeKind.FADED
        new_digests = {*file.added, *file.carried}
        for written_by, digests in by_origin.items():
            record.add(digests, written_by)
            if file.was_verified and is_new_text and not written_by.is_person:
                record.late.update(new_digests.intersection(digests))
        if file.reframed and record.has_own(file.causes) and not origin.is_person:
            record.reframe(file, change.reversal_hash, origin)
            self._reframed_by.setdefault(change.reversal_hash, []).append(record)

    def _follow_file(self, file: FileChange) -> None:
        """Keep what is known of a moved file under its new path, too.

        An old version of it may come back under the old path.
        """
        if file.after is None or file.moved_to is not None:
            self._renamed.forget(file.path, file.moved_to)
        if file.moved_to is not None and (former := self._records.get(f"path:{file.path}")):
            self._inherit(file.moved_to, former)

    def _inherit(self, path: str, former: SentenceOrigins) -> None:
        """Copy what is known of the path at which the note was before."""
        record = self._records[f"path:{path}"]
        record.inherit(former)
        records_of_changes = [self._adopters[key] for key in former.adoptions]
        records_of_changes += [self._reframed_by[key] for key in former.reframing_changes]
        for records in records_of_changes:
            if not any(other is record for other in records):
                records.append(record)

    def _remember_sentences(self, file: FileChange, record: SentenceOrigins) -> None:
        """Remember the sentences of others in the note, and the person's among the earlier ones.

        A note without the person's sentences is recognised by its id, if it has one.
        """
        own_digests = frozenset(
            digest for digest in file.beside if record.of_digest(digest).is_person
        )
        foreign_digests = frozenset(record.foreign_digests)
        if foreign_digests and (own_digests or file.note_id == ""):
            self._renamed.remember(file.place, own_digests, foreign_digests)

    def _adopt(self, file: FileChange, change: Change) -> None:
        """Where the person marked a note as right, its words are theirs from then on."""
        if VERIFIED_DIGESTS.isdisjoint(file.added):
            return  # marked as wrong
        key = change.reversal_hash
        ids = [f"id:{node_id}" for node_id in change.node_ids]
        for note in (f"path:{file.path}", *ids):
            if note in self._records or note in ids:  # by its id also where its history is missing
                self._records[note].adopt(key)
                self._adopters.setdefault(key, []).append(self._records[note])

    def _apply_undo(self, change: Change) -> bool:
        """Update the verifications and reframings that this undo undoes or redoes.

        Returns whether a client redoes a change that the person undid: then the restored sentences
        are the client's.
        """
        self._undoings[change.reversal_hash] = change
        redone = [undo for key in change.undoes if (undo := self._undoings.get(key))]
        self._set_adoptions_valid(change.undoes, valid=False)
        self._set_reframings_valid(change.undoes, valid=False)
        by_person = change.actor.kind == "person"
        for undo in redone:
            self._set_reframings_valid(undo.undoes, valid=True)
            if by_person or undo.actor.kind != "person":
                self._set_adoptions_valid(undo.undoes, valid=True)
        return not by_person and any(undo.actor.kind == "person" for undo in redone)

    def _set_adoptions_valid(self, keys: Iterable[str], *, valid: bool) -> None:
        for key in keys:
            for record in self._adopters.get(key, ()):
                record.set_valid(key, valid=valid)

    def _set_reframings_valid(self, changes: Iterable[str], *, valid: bool) -> None:
        for change in changes:
            for record in self._reframed_by.get(change, ()):
                record.set_reframing_valid(change, valid=valid)


def origin_of_change(change: Change) -> Origin:
    """The origin of the sentences that a change adds."""
    kind, actor = change.kind, change.actor
    if kind in (ChangeKind.IMPORTED, ChangeKind.IMPORT_UPDATED):
        return Origin(kind=OriginKind.IMPORT, name=change.memo.get(SOURCE, ""))
    if kind is ChangeKind.CAPTURED:
        return Origin(kind=OriginKind.CLIENT, name=actor.name)
    if actor.kind == "client":
        origin = OriginKind.WEB if change.memo.get(WEB) else OriginKind.CLIENT
        return Origin(kind=origin, name=actor.name, session=actor.session)
    if actor.kind == "system" or kind in (ChangeKind.COMPRESSED, ChangeKind.DREAMED):
        return Origin(kind=OriginKind.MEMVAULT)
    return PERSON


def _keys(path: str, note_id: str) -> list[str]:
    return [f"path:{path}", f"id:{note_id}"] if note_id else [f"path:{path}"]


def _note_ids(change: Change) -> dict[str, str]:
    """The ids of the notes that a change wrote, by path; empty unless it wrote one for each id."""
    paths = [file.path for file in change.files if file.added]
    is_one_each = len(paths) == len(change.node_ids)
    return dict(zip(paths, change.node_ids, strict=True)) if is_one_each else {}


def _origin(
    unit: SentenceUnit, known: Iterable[SentenceOrigins], *, reframed: bool = True
) -> Origin:
    """The origin of a sentence: the person, unless a claim of the note names somebody else."""
    origins = (record.of(unit, reframed=reframed) for record in known)
    return next((origin for origin in origins if not origin.is_person), PERSON)


def _origin_of_digest(digest: str, known: Iterable[SentenceOrigins]) -> Origin:
    origins = (record.of_digest(digest) for record in known)
    return next((origin for origin in origins if not origin.is_person), PERSON)


def _stamp(records: Iterable[SentenceOrigins]) -> str:
    return ".".join(f"{record.stamp:x}" for record in records)
