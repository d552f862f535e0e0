"""Hides text of others that looks like orders to a model from all readers; deletes nothing.

The person's own words are never checked. A note that others wrote entirely is not indexed, or, if
it is long, its suspicious sections are left out; in a note that the person also wrote in, only the
lines of others are. The contents of the quarantine follow from the notes' texts, their provenance
and the releases in the journal.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import blake2b
from typing import NamedTuple

from memvault.curation.changes.plan import Attribution, Plan
from memvault.curation.held_sections import sections
from memvault.curation.moved_paths import MovedPaths
from memvault.curation.origins.provenance import Provenances
from memvault.curation.origins.reframing import reframed
from memvault.curation.origins.sentence_digests import units
from memvault.curation.quarantine import Quarantine, QuarantinedText, quarantined_note
from memvault.model.errors import NoteNotFound, NoteQuarantined, OutsideVault, StorageError
from memvault.model.note import LineRange
from memvault.model.provenance import Origin, OriginKind, OriginSpan, Provenance, own_lines
from memvault.vault.documents import PDF
from memvault.vault.files import Examined, Rename, Vault
from memvault.vault.frontmatter.fences import claimed_id, split_frontmatter
from memvault.vault.lines import bare_lines, ended_lines
from memvault.vault.walk import NoteStat
from memvault.verification.immunity import Assessment, Immunity

MAX_EVIDENCE = 5
MAX_ASSESSMENTS = 10_000  # that are cached
_PDF_FILE = Origin(kind=OriginKind.IMPORT, name="PDF file")


class _Suspicious(NamedTuple):
    """A text that looks like orders, with its lines; whether it is all of the note."""

    lines: Provenance
    text: str
    assessment: Assessment
    whole: bool


class GuardedVault(Vault):
    """A vault whose reads leave out the texts in quarantine; used by the index and all answers.

    Args:
        vault: the same folder.
    """

    def __init__(
        self,
        vault: Vault,
        provenances: Provenances,
        quarantine: Quarantine,
        immunity: Immunity,
        moved: MovedPaths,
    ) -> None:
        super().__init__(vault.root, vault.max_document_bytes, vault.folders)
        self.had_notes = lambda: vault.had_notes()  # noqa: PLW0108 - it is set later
        self._provenances = provenances
        self._quarantine = quarantine
        self._immunity = immunity
        self._moved = moved
        self._assessments: dict[str, Assessment] = {}
        self._hidden: dict[str, tuple[int, int, str]] = {}  # whole notes held: size, mtime, key

    def walk(self) -> Iterator[NoteStat]:
        """Like `Vault.walk`, without the notes that are known to be held as a whole."""
        for stat in super().walk():
            held_file = self._hidden.get(stat.path)
            is_held = held_file is not None and held_file[:2] == (stat.size, stat.mtime_ns)
            if held_file is None or not is_held or self._quarantine.is_released(held_file[2]):
                yield stat

    def read(self, path: str) -> bytes:
        """Like `Vault.read`, with the lines in quarantine left empty.

        Raises:
            NoteQuarantined: the whole note is in quarantine.
        """
        return self.examined(path).data

    def examined(self, path: str) -> Examined:
        data, ids = super().read(path), self._moved.ids_at(path)
        inherited = ids.inherited
        # What a client moved is still the person's text: it hides nothing and is not checked.
        note_id = claimed_id(data)
        provenance, written_by = self._provenances.both(path, note_id, data)
        saved, stat = self._moved.saved_first(path, note_id), self.stat(path)
        if saved is not None and stat is not None and saved < stat.mtime_ns:
            provenance = provenance.model_copy(update={"mtime_ns": saved})
        if mark := self._marks([path], [note_id], [inherited])[0]:
            provenance = provenance.model_copy(update={"stamp": provenance.stamp + mark})
        if written_by.is_person and path.lower().endswith(PDF):
            # The person keeps the PDF but hardly wrote it, so it is checked; otherwise trusted.
            lines = OriginSpan(1, data.count(b"\n") + 1, _PDF_FILE)
            written_by = Provenance(origin=_PDF_FILE, spans=(lines,))
        suspicious = self._suspicious(path, data, written_by)
        self._quarantine.keep_only(path, [_key(path, each.text) for each in suspicious])
        self._hidden.pop(path, None)
        shown = data
        for each in suspicious:
            if self._is_released(path, note_id, each.text):
                continue
            self._quarantine.hold(_quarantined(path, data, written_by, each))
            if each.whole:
                stat = self.stat(path)
                if stat is not None and super().read(path) == data:
                    self._hidden[path] = (stat.size, stat.mtime_ns, _key(path, each.text))
                raise quarantined_note(path, each.assessment.kinds)
            shown = own_lines(shown, each.lines)
        if claimed_id(shown) != note_id:  # as it is indexed, or each scan would index it again
            stamp = self.stamps([(path, claimed_id(shown) or inherited)])[0]
            provenance = provenance.model_copy(update={"stamp": stamp})
        return Examined(shown, provenance, inherited, ids.own)

    def _suspicious(self, path: str, data: bytes, written_by: Provenance) -> list[_Suspicious]:
        """The suspicious texts of others in a note: all that they wrote there, or the sections of a
        long note that is entirely theirs."""
        if written_by.is_person:
            return []
        checked, whole = _checked(data, written_by), not written_by.is_mixed
        if not self._is_adversarial(path, checked, written_by):
            return []
        text = _foreign(data, written_by)  # by which the person has released notes
        parts: list[_Suspicious] = []
        if whole and not self._is_released(path, claimed_id(data), text):
            parts = self._suspicious_sections(path, data, written_by)
        if parts:
            return parts
        return [_Suspicious(written_by, text, self._assessment(path, checked, written_by), whole)]

    def _suspicious_sections(
        self, path: str, data: bytes, written_by: Provenance
    ) -> list[_Suspicious]:
        """The sections without which a note of others is not suspicious; empty if there are none.

        A section is suspicious by itself, or holds what makes the rest of the note suspicious.
        """
        unsuspicious = dict(sections(data))
        found: dict[LineRange, _Suspicious] = {}
        rest = data
        touched = {
            lines: self._checked(text)
            for lines, text in unsuspicious.items()
            if self._immunity.is_adversarial(text)
        }
        while True:
            for lines, assessment in touched.items():
                of_others = Provenance(spans=(OriginSpan(*lines, written_by.origin),))
                section = unsuspicious.pop(lines)
                found[lines] = _Suspicious(of_others, section, assessment, whole=False)
                rest = own_lines(rest, of_others)
            remaining = _checked_lines(rest, written_by)
            text = "\n".join(remaining.values())
            if not self._is_adversarial(path, text, written_by):
                return [found[lines] for lines in sorted(found)]
            assessment = self._assessment(path, text, written_by)
            suspicious = _lines_of_evidence(assessment, remaining)
            touched = {
                lines: assessment
                for lines in unsuspicious
                if any(lines.first <= number <= lines.last for number in suspicious)
            }
            if not touched:
                return []

    def own_id(self, path: str) -> str:
        return self._moved.ids_at(path).own

    def record_renames(self, renames: Collection[Rename]) -> None:
        self._moved.record_renames(renames)

    def check_edits(self, plan: Plan, why: Attribution) -> None:
        """Refuse a client's change that would hide the person's words in quarantine.

        That is a change that rewrites or reframes a sentence of the person and adds text to be
        quarantined.

        Raises:
            NoteQuarantined: nothing was changed.
        """
        for edit in plan.edits if why.by_client else ():
            if edit.before is None or edit.after is None:
                continue
            provenance = self._provenances.of(edit.path, claimed_id(edit.before), edit.before)
            before, after = list(units(edit.before)), list(units(edit.after))
            old_sentences = {unit.written for unit in before}
            remaining = {unit.written for unit in after}
            rewrites = any(
                unit.written not in remaining
                and (provenance.is_person or provenance.is_own_sentence(unit.words))
                for unit in before
                if unit.is_body
            )
            rewrites = rewrites or bool(reframed(edit.before, edit.after).digests)
            added_text = "\n".join(unit.text for unit in after if unit.written not in old_sentences)
            if rewrites and added_text and self._immunity.check(added_text).adversarial:
                raise NoteQuarantined(
                    f"What would replace the person's words in {edit.path} looks like orders to an "
                    "AI model. Nothing was changed.",
                    path=edit.path,
                )

    def stamps(self, notes: Iterable[tuple[str, str]]) -> list[str]:
        inherited_ids = self._moved.inherited_ids()
        paths, stated, inherited_here = [], [], []
        for path, note_id in notes:
            inherited = inherited_ids.get(path, "")
            paths.append(path)
            stated.append("" if note_id == inherited else note_id)
            inherited_here.append(inherited)
        stamps = self._provenances.stamps(zip(paths, stated, strict=True))
        marks = self._marks(paths, stated, inherited_here)
        return [stamp + mark for stamp, mark in zip(stamps, marks, strict=True)]

    def _marks(
        self, paths: Sequence[str], stated: Sequence[str], inherited: Sequence[str]
    ) -> list[str]:
        """The parts of notes' stamps that do not follow from their authors: the inherited id, and
        how often texts of the note were released or held again, here or where it was before.

        Args:
            stated: the id in the frontmatter of each note; "" if it has none.
        """
        releases = self._quarantine.releases()
        former = self._moved.former_of(paths) if releases else [()] * len(paths)
        counts = [
            sum(releases.get(key, 0) for key in (*notes, *before))
            for *notes, before in zip(paths, stated, former, strict=True)
        ]
        return [
            (f"@{note_id}" if note_id else "") + (f"!{count}" if count else "")
            for note_id, count in zip(inherited, counts, strict=True)
        ]

    def unhidden(self) -> set[str]:
        held = list(self._hidden.items())
        return {path for path, (*_, key) in held if self._quarantine.is_released(key)}

    def held_texts(self) -> list[QuarantinedText]:
        """The held texts of notes that exist."""
        return [text for text in self._quarantine.held_texts() if self.stat(text.path) is not None]

    def held_at(self, path: str) -> QuarantinedText | None:
        """The held text of the note at this path, the last one of several."""
        with suppress(NoteQuarantined, StorageError, OutsideVault, NoteNotFound):
            self.examined(path)
        return next((text for text in self._quarantine.held_texts() if text.path == path), None)

    def _is_released(self, path: str, note_id: str, text: str) -> bool:
        """Whether the person released this text, here or where the note was before."""
        released = self._quarantine.released_texts() if note_id else ()
        same_note = (each.path for each in released if each.note_id == note_id)
        paths = (path, *self._moved.former(path), *same_note)
        return any(self._quarantine.is_released(_key(former_path, text)) for former_path in paths)

    def _is_adversarial(self, path: str, text: str, provenance: Provenance) -> bool:
        return self._immunity.is_adversarial(text, *_title_and_folder(path, provenance))

    def _assessment(self, path: str, text: str, provenance: Provenance) -> Assessment:
        return self._checked(text, *_title_and_folder(path, provenance))

    def _checked(self, text: str, title: str = "", folder: str = "") -> Assessment:
        """The assessment of a text in which orders to a model were found."""
        key = f"{folder}\0{title}\0{text}"
        assessment = self._assessments.get(key)
        if assessment is None:
            if len(self._assessments) > MAX_ASSESSMENTS:
                self._assessments.clear()
            assessment = self._immunity.check(text, title, {"folder": folder})
            self._assessments[key] = assessment
        return assessment


def _title_and_folder(path: str, provenance: Provenance) -> tuple[str, str]:
    """What of the path is checked with a text: nothing if the note is the person's, too."""
    if provenance.is_mixed:
        return "", ""
    folder, _, name = path.rpartition("/")
    return name.removesuffix(".md"), folder


def _lines_of_evidence(assessment: Assessment, lines: dict[int, str]) -> list[int]:
    """The numbers of the lines of a text that hold evidence in it."""
    numbers, text = list(lines), "\n".join(lines.values())
    return [
        number
        for each in assessment.evidence
        if each.place == "text"
        for number in numbers[text.count("\n", 0, each.start) : text.count("\n", 0, each.end) + 1]
    ]


def _key(path: str, text: str) -> str:
    """The key of a text of the note at this path in the quarantine."""
    return blake2b(f"{path}\0{text}".encode(), digest_size=8).hexdigest()


def _checked(data: bytes, provenance: Provenance) -> str:
    return "\n".join(_checked_lines(data, provenance).values())


def _foreign(data: bytes, provenance: Provenance) -> str:
    return "\n".join(_foreign_lines(data, provenance).values())


def _checked_lines(data: bytes, provenance: Provenance) -> dict[int, str]:
    """The lines that others wrote; of a note that is entirely theirs also those without words, as
    these begin and end comments and code."""
    if not provenance.is_mixed:
        text = data.decode("utf-8", "replace")
        before = len(bare_lines(text.removesuffix(split_frontmatter(text)[1]))) - 1
        lines = enumerate(bare_lines(text)[before:], before + 1)
        body = (OriginSpan(n, n, provenance.origin) for n, line in lines if line.strip())
        properties = (
            span._replace(last=min(span.last, before))
            for span in provenance.spans
            if span.first <= before
        )
        provenance = provenance.model_copy(update={"spans": (*properties, *body)})
    return _foreign_lines(data, provenance)


def _foreign_lines(data: bytes, provenance: Provenance) -> dict[int, str]:
    """The lines that others wrote by their numbers, frontmatter included.

    Without the keys that memvault writes, and without the person's sentences that memvault quotes
    in its own lines.
    """
    lines = bare_lines(data.decode("utf-8", "replace"))
    quoted = dict(provenance.own_parts)
    for span in provenance.spans if quoted else ():
        for number in range(span.first, span.last + 1):
            if span.origin.kind is OriginKind.MEMVAULT and number in quoted:
                lines[number - 1] = lines[number - 1].replace(quoted[number], "", 1)
    head = len(ended_lines(split_frontmatter("\n".join(lines))[0])) + 1
    numbers = [number for span in provenance.spans for number in range(span.first, span.last + 1)]
    return {
        number: lines[number - 1]
        for number in numbers
        if number > head or not _OWN_PROPERTIES.fullmatch(lines[number - 1])
    }


# Lines of the frontmatter that memvault itself writes.
_OWN_PROPERTIES = re.compile(
    r"id: [0-9a-f-]{36}|(?:created|date|verified_on): [0-9T:.Z+-]{10,32}|verified: (?:true|false)|"
    r"(?:lifecycle|importance|modality|source): [\w-]{1,24}",
    re.ASCII,
)


def _quarantined(
    path: str, data: bytes, provenance: Provenance, found: _Suspicious
) -> QuarantinedText:
    origin = provenance.spans[0].origin
    return QuarantinedText(
        _key(path, found.text),
        path,
        claimed_id(data),
        f"{origin.kind} {origin.name}".strip(),
        found.assessment.kinds,
        tuple(excerpt.excerpt for excerpt in found.assessment.evidence[:MAX_EVIDENCE]),
        found.whole,
        datetime.now(UTC),
    )
