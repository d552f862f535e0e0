"""Writes ``manifest.md``, previews a person's edits of it, and applies them as one change."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from memvault.curation.changes.curator import ChangeResult, Curator, Described
from memvault.curation.changes.file_edits import make_edit
from memvault.curation.changes.forgetting import stage_forgetting
from memvault.curation.changes.plan import Attribution, Edit, LineChange
from memvault.curation.changes.staging import Staging
from memvault.curation.indexed_changes import IndexedVault
from memvault.curation.manifest.concepts import (
    Concept,
    ConceptResolver,
    WrittenConcept,
    concept_key,
    concepts_of,
    load_concepts,
    save_concepts,
    state_name,
    withheld_concepts,
)
from memvault.curation.manifest.reading import (
    ManifestAction,
    ManifestEdits,
    RequestedEdit,
    read_edits,
)
from memvault.curation.manifest.writing import write_manifest
from memvault.curation.operations.annotate import stage_annotation
from memvault.curation.operations.merge import stage_merge
from memvault.curation.proposals import NeededApproval
from memvault.model.change import ChangeKind
from memvault.model.errors import (
    InvalidParams,
    MemvaultError,
    NoteConflict,
    NoteNotFound,
    StorageError,
)
from memvault.model.memory import Memory
from memvault.model.moments import day_of
from memvault.vault.ignore import MANIFEST, UNKNOWN
from memvault.vault.manifest import Fault, LineKind, ManifestLine, faults, read_lines
from memvault.vault.parse import content_hash

MAX_UNCONFIRMED = 10  # concepts that are forgotten without confirmation
MAX_UNCONFIRMED_SHARE = 0.05  # of all notes, forgotten without confirmation; one note always is
ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class TouchedNote:
    """A note that a change touches; ``lines`` is empty for a note that moves to the trash."""

    path: str
    lines: tuple[LineChange, ...] = ()


@dataclass(frozen=True, slots=True)
class ManifestPreview:
    """The changes that applying a manifest would make, or the reasons why it cannot be applied.

    Attributes:
        touched: for each change, the notes that it touches.
        confirmation_reason: why a confirmation is needed, None if it is not.
    """

    edits: tuple[RequestedEdit, ...] = ()
    touched: tuple[tuple[TouchedNote, ...], ...] = ()
    faults: tuple[Fault, ...] = ()
    confirmation_reason: str | None = None

    @property
    def trashed(self) -> list[Memory]:
        """The notes that would move to the trash."""
        survivors = {edit.into.node_ids for edit in self.edits if edit.into is not None}
        targets = [
            target
            for edit in self.edits
            if edit.action is not ManifestAction.ANNOTATE
            for target in edit.targets
        ]
        return [
            target.note
            for target in targets
            if target.note is not None and target.node_ids not in survivors
        ]

    @property
    def digest(self) -> str:
        """The same for the same edits only."""
        edits = [[edit.action, edit.node_ids, edit.text] for edit in self.edits]
        return content_hash(json.dumps(edits).encode())


@dataclass(frozen=True, slots=True)
class WrittenManifest:
    """A manifest that was written; ``waiting`` counts the deleted lines not applied yet."""

    path: str
    concepts: int
    waiting: int


class ManifestRefused(InvalidParams):
    """The manifest cannot be applied; ``data['lines']`` are the lines with the errors."""


class ManifestKeeper:
    """Writes, previews and applies the manifest of one vault. Thread-safe if its arguments are.

    Args:
        indexed: gives the indexed vault.
        index_written: indexes the notes at these paths before it returns.
    """

    def __init__(
        self,
        curator: Curator,
        indexed: Callable[[], IndexedVault],
        index_written: Callable[[Sequence[str]], None],
    ) -> None:
        self._curator = curator
        self._vault = curator.vault
        self._indexed = indexed
        self._index_written = index_written

    def concepts(self) -> dict[str, Concept]:
        """The concepts that a manifest would list now, by key.

        Raises:
            StoreUnavailable, GraphQueryError: the graph does not answer.
        """
        indexed = self._indexed()
        return concepts_of(indexed.notes.memories.all(), indexed.edges)

    def write(self) -> WrittenManifest:
        """Update the manifest from the vault, or create it.

        Edits that a person has not applied stay.

        Raises:
            NoteConflict: the manifest keeps changing.
            StoreUnavailable, GraphQueryError: the graph does not answer.
            OutsideVault, DiskFull, StorageError: the manifest is unchanged.
        """
        if self._vault.ignore_rules.are_unknown:  # a list without them would drop their lines
            raise StorageError(UNKNOWN)
        concepts = self.concepts()
        for _ in range(ATTEMPTS):
            before = self._bytes()
            text, waiting = self._written(before, concepts)
            data = text.encode("utf-8", "surrogateescape")
            written = WrittenManifest(MANIFEST, len(concepts), waiting)
            if data == before:
                return written
            with suppress(NoteConflict):  # somebody saved it in the meantime
                make_edit(self._vault, Edit(MANIFEST, before, data))
                return written
        raise NoteConflict(
            f"{MANIFEST} keeps changing; try again when nobody edits it", path=MANIFEST
        )

    def text(self) -> str:
        """The current manifest, or, if there is none, the one that `write` would create."""
        before = self._bytes()
        if before is not None:
            return before.decode("utf-8", "replace")
        concepts = self.concepts()
        return write_manifest("", concepts, state_name(concepts.values()))

    def preview(self) -> ManifestPreview:
        """The changes that a person's edits would make, note by note and line by line.

        Raises:
            NoteNotFound: there is no manifest.
            StoreUnavailable, GraphQueryError: the graph does not answer.
        """
        written = self._bytes()
        if written is None:
            raise NoteNotFound(
                f"there is no {MANIFEST} yet: `memvault manifest` writes it, and the person edits "
                "it before it is applied",
                path=MANIFEST,
            )
        reading = self._read_edits(read_lines(_text(written)), self.concepts())
        if reading.faults:
            return ManifestPreview(reading.edits, faults=reading.faults)
        wrong: list[Fault] = []
        touched = [self._touched(edit, wrong) for edit in reading.edits]
        return ManifestPreview(
            reading.edits,
            tuple(touched),
            tuple(wrong),
            None if wrong else self._confirmation_reason(reading),
        )

    def needed_approval(
        self, edits: Sequence[RequestedEdit], why: Attribution
    ) -> NeededApproval | None:
        """The approval for which these edits would wait; None if they need none, or fail."""
        staging = self._curator.stage()
        try:
            for edit in edits:
                self._stage(staging, edit)
        except MemvaultError:
            return None
        plan = staging.plan(ChangeKind.MANIFEST_APPLIED, (), ())
        return self._curator.needed_approval(plan, why)

    def apply(
        self, why: Attribution, *, confirm: bool = False, digest: str | None = None
    ) -> ChangeResult[None]:
        """Apply a person's edits as one change, which also updates the manifest, and index it.

        There is no change without edits, or if it waits for an approval.

        Args:
            digest: of the edits that the person agreed to, as `ManifestPreview.digest`.

        Raises:
            ManifestRefused: it cannot be read, or a confirmation is needed.
            NoteNotFound: there is no manifest.
            NoteConflict: one of its notes keeps changing, or the manifest has other edits by now.
            StoreUnavailable, GraphQueryError, DiskFull, StorageError: nothing was done.
        """
        if digest is not None and self.preview().digest != digest:
            raise NoteConflict(
                f"{MANIFEST} was edited since; apply it with `memvault manifest --apply`",
                path=MANIFEST,
            )
        concepts = self.concepts()

        def stage(staging: Staging) -> Described[None]:
            return None, *self._stage_all(staging, concepts, confirm)

        done = self._curator.perform_described(stage, ChangeKind.MANIFEST_APPLIED, why)
        if done.change is not None:
            self._index_written(list(filter(self._vault.is_note, done.change.paths)))
        return done

    # -- writing --------------------------------------------------------------------------------

    def _written(self, before: bytes | None, concepts: Mapping[str, Concept]) -> tuple[str, int]:
        """The text to write, and the number of deleted lines that are not applied yet."""
        text = _text(before or b"")
        lines = read_lines(text)
        state = _state_of(lines)
        former = load_concepts(self._vault, state) if state else None
        waiting: dict[str, WrittenConcept] = {}
        if former is not None and not faults(lines):
            waiting = withheld_concepts(former, _listed(lines))
            waiting = {key: concept for key, concept in waiting.items() if key in concepts}
        listed: dict[str, Concept | WrittenConcept] = {**concepts, **waiting}
        name = save_concepts(self._vault, listed.values(), [state] if state else [])
        written = write_manifest(
            text, concepts, name, withheld=waiting, is_gone=lambda key: key in (former or {})
        )
        return written, len(waiting)

    def _bytes(self) -> bytes | None:
        try:
            return self._vault.read(MANIFEST)
        except NoteNotFound:
            return None

    # -- reading back ---------------------------------------------------------------------------

    def _read_edits(
        self, lines: Sequence[ManifestLine], concepts: Mapping[str, Concept]
    ) -> ManifestEdits:
        state = _state_of(lines)
        written = load_concepts(self._vault, state) if state else None
        return read_edits(
            lines, written, concepts, ConceptResolver(self._indexed(), concepts).targets
        )

    def _touched(self, edit: RequestedEdit, wrong: list[Fault]) -> tuple[TouchedNote, ...]:
        """The notes that one change touches; an error is added to ``wrong``."""
        if edit.action is ManifestAction.DELETE:
            paths = [target.note.path for target in edit.targets if target.note is not None]
            return tuple(TouchedNote(path) for path in paths)
        staging = self._curator.stage()
        try:
            self._stage(staging, edit)
        except MemvaultError as error:
            wrong.append(Fault(edit.line or 1, error.message))
            return ()
        plan = staging.plan(ChangeKind.MANIFEST_APPLIED, edit.concepts, edit.node_ids)
        lines: dict[str, list[LineChange]] = {path: [] for path in plan.paths}
        for change in plan.lines_changed():
            lines[change.path].append(change)
        return tuple(TouchedNote(path, tuple(line_changes)) for path, line_changes in lines.items())

    def _confirmation_reason(self, reading: ManifestEdits) -> str | None:
        concepts, notes = reading.forgotten_concepts, reading.forgotten_notes
        all_notes = sum(1 for _ in self._indexed().notes.memories.all())
        share = notes / all_notes if all_notes else 0.0
        if concepts <= MAX_UNCONFIRMED and (notes <= 1 or share <= MAX_UNCONFIRMED_SHARE):
            return None
        return (
            f"This forgets {concepts} concepts, and {notes} of {all_notes} notes go to the trash. "
            "Confirm to apply it"
        )

    # -- applying -------------------------------------------------------------------------------

    def _stage_all(
        self, staging: Staging, concepts: Mapping[str, Concept], confirm: bool
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Stage all edits; returns the names and node ids that they change."""
        lines = read_lines(_text(staging.read(MANIFEST)))
        reading = self._read_edits(lines, concepts)
        _check(reading.faults)
        if not reading.edits:
            return (), ()
        reason = self._confirmation_reason(reading)
        if reason is not None and not confirm:
            raise ManifestRefused(f"{reason} (confirm=true)", lines=[])
        for edit in reading.edits:
            try:
                self._stage(staging, edit)
            except NoteConflict:
                raise
            except MemvaultError as error:
                _check([Fault(edit.line or 1, error.message)])
        self._stage_manifest(staging, lines, reading)
        names = tuple(dict.fromkeys(name for edit in reading.edits for name in edit.concepts))
        return names, tuple(dict.fromkeys(key for edit in reading.edits for key in edit.node_ids))

    def _stage(self, staging: Staging, edit: RequestedEdit) -> None:
        if edit.action is ManifestAction.ANNOTATE:
            stage_annotation(staging, edit.targets[0], edit.text, day_of(self._curator.now()))
        elif edit.into is not None:
            stage_merge(staging, self._indexed().notes, edit.targets, edit.into)
        else:
            for target in edit.targets:
                stage_forgetting(staging, target)

    def _stage_manifest(
        self, staging: Staging, lines: Sequence[ManifestLine], reading: ManifestEdits
    ) -> None:
        """Update the manifest in the same change, so that no crash lets it be applied twice."""
        removed: dict[str, str | None] = {}
        for edit in reading.edits:
            into = edit.into.node_ids[0] if edit.into else None
            if edit.action is not ManifestAction.ANNOTATE:
                removed |= {key: into for target in edit.targets for key in target.node_ids}
        indexed = self._indexed()
        remaining = concepts_of(indexed.notes.memories.all(), indexed.edges, removed)
        state = _state_of(lines)
        name = save_concepts(self._vault, remaining.values(), [state])
        text = write_manifest(
            _text(staging.read(MANIFEST)),
            remaining,
            name,
            is_gone=lambda key: key in reading.known,
            done_lines={edit.line for edit in reading.edits if edit.line is not None},
        )
        staging.write(MANIFEST, text.encode("utf-8", "surrogateescape"))


def _check(edit_faults: Sequence[Fault]) -> None:
    if edit_faults:
        raise ManifestRefused(
            "; ".join(map(str, edit_faults)), lines=[fault.line for fault in edit_faults]
        )


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _state_of(lines: Sequence[ManifestLine]) -> str:
    return next((line.name for line in lines if line.kind is LineKind.END), "")


def _listed(lines: Sequence[ManifestLine]) -> set[str]:
    return {concept_key(line.name) for line in lines if line.kind is LineKind.CONCEPT}
