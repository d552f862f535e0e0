"""Reads a person's edits of a manifest by comparing three versions.

These are the manifest as it was written, as it is edited, and the vault now. A concept is forgotten
only if the first lists it, the second does not, and it still exists; newer concepts are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from memvault.curation.manifest.concepts import (
    Concept,
    WrittenConcept,
    concept_key,
    withheld_concepts,
)
from memvault.curation.targets import Target
from memvault.model.errors import MemvaultError
from memvault.model.graph import NodeKind
from memvault.vault.manifest import Fault, LineKind, ManifestLine, faults

MAX_NAMED = 5  # paths that a message lists

TargetsOf = Callable[[str], Sequence[Target]]


class ManifestAction(StrEnum):
    DELETE = "delete"
    MERGE = "merge"
    ANNOTATE = "annotate"


@dataclass(frozen=True, slots=True)
class RequestedEdit:
    """One change that a person's edit of the manifest requests.

    Attributes:
        line: its line in the manifest, counted from 1; None for a deleted line.
        targets: the notes or concepts to forget, to merge or to annotate.
        into: for a merge, the note or concept that stays.
        text: for an annotation, its text.
        says: a remark for the person, shown with the lines that change.
    """

    action: ManifestAction
    concepts: tuple[str, ...]
    targets: tuple[Target, ...]
    line: int | None = None
    into: Target | None = None
    text: str = ""
    says: str = ""

    @property
    def node_ids(self) -> tuple[str, ...]:
        survivor_ids = self.into.node_ids if self.into else ()
        return tuple(
            dict.fromkeys((*survivor_ids, *(key for t in self.targets for key in t.node_ids)))
        )


@dataclass(frozen=True, slots=True)
class ManifestEdits:
    """The edits of a manifest.

    ``faults`` prevent applying; ``known`` are the keys of all concepts, as written and now.
    """

    edits: tuple[RequestedEdit, ...] = ()
    faults: tuple[Fault, ...] = ()
    known: frozenset[str] = field(default_factory=frozenset)

    @property
    def forgotten_notes(self) -> int:
        return sum(target.note is not None for edit in self._deletions for target in edit.targets)

    @property
    def forgotten_concepts(self) -> int:
        return len(self._deletions)

    @property
    def _deletions(self) -> list[RequestedEdit]:
        return [edit for edit in self.edits if edit.action is ManifestAction.DELETE]


def read_edits(
    lines: Sequence[ManifestLine],
    written: Mapping[str, WrittenConcept] | None,
    concepts: Mapping[str, Concept],
    targets_of: TargetsOf,
) -> ManifestEdits:
    """The changes that the lines of a manifest request.

    Args:
        written: the list that the last line names, None if it is not kept.
        concepts: the current concepts of the vault.
        targets_of: gives the notes with a name, path or id, or the concept if it has no note;
            raises if there is none.
    """
    wrong = faults(lines)
    if not wrong and written is None:
        end = next(number for number, line in enumerate(lines, 1) if line.kind is LineKind.END)
        wrong = [Fault(end, "what this manifest held when it was written is not known here; "
                            "`memvault manifest` writes a new one")]  # fmt: skip
    if wrong or written is None:
        return ManifestEdits(faults=tuple(wrong))
    return _Comparison(lines, written, concepts, targets_of).reading()


class _Comparison:
    def __init__(
        self,
        lines: Sequence[ManifestLine],
        written: Mapping[str, WrittenConcept],
        concepts: Mapping[str, Concept],
        targets_of: TargetsOf,
    ) -> None:
        self._lines = list(enumerate(lines, 1))
        self._written = written
        self._concepts = concepts
        self._targets_of = targets_of
        self._faults: list[Fault] = []
        self._into: dict[str, tuple[Target, str]] = {}  # merged id → target that stays, its name
        self._stays: set[str] = set()
        self._deleted: dict[str, WrittenConcept] = {}

    def reading(self) -> ManifestEdits:
        self._compare_list()
        merges = [
            self._merge(number, line) for number, line in self._lines if line.kind is LineKind.MERGE
        ]
        notes = [
            self._note(number, line) for number, line in self._lines if line.kind is LineKind.NOTE
        ]
        deletions = [self._deletion(key, written) for key, written in self._deleted.items()]
        requested = (edit for edit in (*notes, *merges, *deletions) if edit is not None)
        edits = tuple(requested)
        self._check_survivors(edits)
        wrong = tuple(sorted(self._faults, key=lambda fault: fault.line))
        return ManifestEdits(edits, wrong, frozenset(self._written.keys() | self._concepts.keys()))

    def _compare_list(self) -> None:
        """Find deleted lines, and lines whose names no concept has."""
        listed: set[str] = set()
        heading = 1
        for number, line in self._lines:
            if line.kind is LineKind.ACTIVE:
                heading = number
            if line.kind is not LineKind.CONCEPT:
                continue
            key = concept_key(line.name)
            listed.add(key)
            if not line.nested and key not in self._concepts and key not in self._written:
                self._wrong(number, f"nothing is named {line.name!r}. A concept is renamed in its "
                                    "note; a remark goes on a line without a dash")  # fmt: skip
        self._deleted = withheld_concepts(self._written, listed)
        if len(self._written) > 1 and len(self._deleted) == len(self._written):
            self._wrong(heading, "no concept is left in the list, which looks like an accident: "
                                 "keep one line, or forget them in turn")  # fmt: skip

    def _deletion(self, key: str, written: WrittenConcept) -> RequestedEdit | None:
        """The deletion of a concept.

        None if the concept no longer exists, is merged, or has gained or lost its notes since.
        """
        concept = self._concepts.get(key)
        if concept is None or concept.has_notes != written.has_notes:
            return None
        targets = self._resolve(None, concept.name)
        new_paths: list[str] = []
        if written.has_notes:
            new_paths = [t.note.path for t in targets if t.note and t.note.id not in written.ids]
            targets = [t for t in targets if t.note and t.note.id in written.ids]
        targets = [t for t in targets if not self._into.keys() & set(t.node_ids)]
        if not targets:
            return None
        says = [_remark_on(concept.name, targets)]
        if new_paths:
            says.append(f"{_listed(new_paths)} came since the manifest was written, and stays")
        remarks = ". ".join(part for part in says if part)
        return RequestedEdit(ManifestAction.DELETE, (concept.name,), tuple(targets), says=remarks)

    def _merge(self, number: int, line: ManifestLine) -> RequestedEdit | None:
        survivors, *sources_by_name = (self._resolve(number, name) for name in line.names)
        if not survivors or not all(sources_by_name):
            return None
        if len(survivors) > 1:
            says = _remark_on(line.names[0], survivors)
            self._wrong(number, f"{says}: name the one to keep by its path")
            return None
        into = survivors[0]
        survivor_ids = set(into.node_ids)
        by_id = {target.node_ids: target for targets in sources_by_name for target in targets}
        sources = [target for key, target in by_id.items() if not survivor_ids & set(key)]
        if not sources:
            self._wrong(number, "these are one already")
            return None
        merged_ids = {key for target in (into, *sources) for key in target.node_ids}
        if merged_ids & (self._into.keys() | self._stays):
            self._wrong(number, "another merge has one of these already: put them all into one")
            return None
        self._stays |= survivor_ids
        for target in sources:
            self._into |= dict.fromkeys(target.node_ids, (into, line.names[0]))
        says = "; ".join(filter(None, (
            _remark_on(name, targets)
            for name, targets in zip(line.names, (survivors, *sources_by_name), strict=True)
        )))  # fmt: skip
        return RequestedEdit(
            ManifestAction.MERGE, line.names, tuple(sources), number, into, says=says
        )

    def _note(self, number: int, line: ManifestLine) -> RequestedEdit | None:
        targets = self._resolve(number, line.name)
        if not targets:
            return None
        says = _remark_on(line.name, targets)
        if len(targets) > 1:
            self._wrong(number, f"{says}: name one by its path")
            return None
        target = targets[0]
        if target.kind == NodeKind.TAG and target.note is None:
            self._wrong(number, f"{line.name} is a tag, which has no note that could say so")
            return None
        merged = self._into.get(target.node_ids[0])
        if merged is not None:
            target, survivor_name = merged
            says = f"{line.name} is merged into {survivor_name}, which gets the line"
        elif target.note is None:
            says = f"{says}: a note is made for it"
        return RequestedEdit(
            ManifestAction.ANNOTATE, (line.name,), (target,), number, text=line.text, says=says
        )

    def _check_survivors(self, edits: Sequence[RequestedEdit]) -> None:
        """Report merges into, and annotations of, notes that are forgotten."""
        forgotten_ids = {
            key for edit in edits if edit.action is ManifestAction.DELETE for key in edit.node_ids
        }
        for edit in edits:
            survivor = edit.into or edit.targets[0]
            if (
                edit.action is not ManifestAction.DELETE
                and edit.line
                and forgotten_ids & set(survivor.node_ids)
            ):
                self._wrong(edit.line, f"{survivor.name} is no longer in the list, so it would be "
                                       "forgotten: put its line back")  # fmt: skip

    def _resolve(self, number: int | None, name: str) -> list[Target]:
        """The targets of a name; an empty list, and a fault, if there are none."""
        try:
            return list(self._targets_of(name))
        except MemvaultError as error:
            if number is not None:
                self._wrong(number, error.message)
            return []

    def _wrong(self, line: int, message: str) -> None:
        self._faults.append(Fault(line, message))


def _remark_on(name: str, targets: Sequence[Target]) -> str:
    """A remark if a concept is not exactly one note."""
    paths = [target.note.path for target in targets if target.note is not None]
    if len(paths) > 1:
        return f"{name} is the name of {len(paths)} notes: {_listed(paths)}"
    if not paths:
        return f"{name} has no note"
    return ""


def _listed(paths: Sequence[str]) -> str:
    remainder = f" and {len(paths) - MAX_NAMED} more" if len(paths) > MAX_NAMED else ""
    return ", ".join(paths[:MAX_NAMED]) + remainder
