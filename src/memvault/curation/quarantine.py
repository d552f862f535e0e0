"""Quarantine: keeps others' text that looks like orders to a model out of answers; deletes nothing.

The person's own words are never checked. A note that others wrote entirely is not indexed; in a
note that the person also wrote in, only the lines of others are left out. The contents of the
quarantine follow from the notes' texts, their provenance and the releases in the journal.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b

from memvault.curation.changes.plan import Attribution, Plan
from memvault.curation.provenance import Provenances
from memvault.curation.sentence_digests import units
from memvault.model.change import SYSTEM, Actor
from memvault.model.errors import NoteNotFound, NoteQuarantined, OutsideVault, StorageError
from memvault.model.provenance import Origin, OriginKind, OriginSpan, Provenance, own_lines
from memvault.vault.compose import bare_lines, ended_lines
from memvault.vault.documents import PDF
from memvault.vault.files import Examined, NoteStat, Vault
from memvault.vault.frontmatter.fences import claimed_id, split_frontmatter
from memvault.vault.journal import Journal, JournalEntry
from memvault.verification.immunity import Finding, Immunity

HELD, RELEASED = "quarantined", "quarantine_released"
MAX_EVIDENCE = 5


@dataclass(frozen=True, slots=True)
class QuarantinedText:
    """A note that is in quarantine, entirely or in part.

    Attributes:
        key: identifies this text in this note, for its release.
        whole: whether the whole note is held and not indexed; else only some lines are left out.
        evidence: the suspicious excerpts.
    """

    key: str
    path: str
    note_id: str
    origin: str
    kinds: tuple[str, ...]
    evidence: tuple[str, ...]
    whole: bool
    at: datetime


class Quarantine:
    """The texts that are held and released, according to the journal. Thread-safe."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._marks: dict[str, int] = {}
        self._held: dict[str, QuarantinedText] = {}
        self._released: dict[str, None] = {}  # in the order of their release
        self._lock = threading.RLock()

    def is_released(self, key: str) -> bool:
        with self._lock:
            self._refresh()
            return key in self._released

    def held(self) -> list[QuarantinedText]:
        """All held texts, newest first, including those of notes that no longer exist."""
        with self._lock:
            self._refresh()
            found = [each for key, each in self._held.items() if key not in self._released]
        return sorted(found, key=lambda each: each.at, reverse=True)

    def caught(self) -> tuple[list[QuarantinedText], int]:
        """All texts that were ever held, and how many of them are released."""
        with self._lock:
            self._refresh()
            return list(self._held.values()), len(self._held.keys() & self._released)

    def last_released(self) -> QuarantinedText | None:
        """The text that the person released last, among those still released."""
        with self._lock:
            self._refresh()
            return next((self._held.get(key) for key in reversed(self._released)), None)

    def hold(self, held: QuarantinedText) -> None:
        """Record that a text is held, unless that is recorded already.

        Raises:
            StorageError, DiskFull: the journal cannot be written.
        """
        with self._lock:
            self._refresh()
            if held.key in self._held:
                return
            self._journal.append(
                JournalEntry(
                    ts=held.at,
                    kind=HELD,
                    actor=SYSTEM,
                    note_id=held.note_id or None,
                    path=held.path,
                    data={
                        "key": held.key, "origin": held.origin, "kinds": list(held.kinds),
                        "evidence": list(held.evidence), "whole": held.whole,
                    },
                )
            )  # fmt: skip

    def release(self, key: str, actor: Actor, *, back: bool = False) -> QuarantinedText:
        """Release a held text for use in answers, or, with ``back``, hold it again.

        Raises:
            NoteNotFound: nothing is held under this key.
            StorageError, DiskFull: the journal cannot be written.
        """
        with self._lock:
            self._refresh()
            held = self._held.get(key)
            if held is None:
                raise NoteNotFound(f"Nothing is in quarantine under {key!r}", key=key)
            self._journal.append(
                JournalEntry(
                    ts=datetime.now(UTC), kind=RELEASED, actor=actor, path=held.path,
                    note_id=held.note_id or None, data={"key": key, "back": back},
                )
            )  # fmt: skip
            return held

    def _refresh(self) -> None:
        entries, self._marks = self._journal.entries_after(self._marks)
        for entry in entries:
            key = str(entry.data.get("key", ""))
            if entry.kind == HELD:
                self._held[key] = _held(entry, key)
            elif entry.kind == RELEASED:
                self._released.pop(key, None)
                if not entry.data.get("back"):
                    self._released[key] = None


def _held(entry: JournalEntry, key: str) -> QuarantinedText:
    return QuarantinedText(
        key,
        entry.path or "",
        entry.note_id or "",
        str(entry.data.get("origin", "")),
        tuple(map(str, entry.data.get("kinds", ()))),
        tuple(map(str, entry.data.get("evidence", ()))),
        bool(entry.data.get("whole")),
        entry.ts,
    )


_PDF_FILE = Origin(kind=OriginKind.IMPORT, name="PDF file")


class GuardedVault(Vault):
    """A vault whose reads leave out the texts in quarantine; used by the index and all answers.

    Args:
        vault: the same folder.
    """

    def __init__(
        self, vault: Vault, provenances: Provenances, quarantine: Quarantine, immunity: Immunity
    ) -> None:
        super().__init__(vault.root, vault.max_document_bytes)
        self.had_notes = lambda: vault.had_notes()  # noqa: PLW0108 - it is told later
        self._provenances = provenances
        self._quarantine = quarantine
        self._immunity = immunity
        self._findings: dict[str, Finding] = {}
        self._hidden: dict[str, tuple[int, int, str]] = {}  # whole notes held: size, mtime, key

    def walk(self) -> Iterator[NoteStat]:
        """Like `Vault.walk`, without the notes that are known to be held as a whole."""
        for stat in super().walk():
            known = self._hidden.get(stat.path)
            is_held = known is not None and known[:2] == (stat.size, stat.mtime_ns)
            if known is None or not is_held or self._quarantine.is_released(known[2]):
                yield stat

    def read(self, path: str) -> bytes:
        """Like `Vault.read`, with the lines in quarantine left empty.

        Raises:
            NoteQuarantined: the whole note is in quarantine.
        """
        return self.examined(path).data

    def examined(self, path: str) -> Examined:
        data = super().read(path)
        provenance = self._provenances.of(path, claimed_id(data), data)
        written_by = provenance
        if provenance.is_person:
            if not path.lower().endswith(PDF):
                return Examined(data, provenance)
            # The person keeps the PDF but hardly wrote it, so it is checked; otherwise trusted.
            lines = OriginSpan(1, data.count(b"\n") + 1, _PDF_FILE)
            written_by = Provenance(origin=_PDF_FILE, spans=(lines,))
        text = _foreign(data, written_by)
        key = blake2b(f"{path}\0{text}".encode(), digest_size=8).hexdigest()
        finding = self._finding(path, text, written_by)
        if not finding.adversarial or self._quarantine.is_released(key):
            self._hidden.pop(path, None)
            return Examined(data, provenance)
        whole = not provenance.is_mixed
        self._quarantine.hold(_new(key, path, data, written_by, finding, whole=whole))
        if whole:
            stat = self.stat(path)
            if stat is not None and super().read(path) == data:
                self._hidden[path] = (stat.size, stat.mtime_ns, key)
            raise NoteQuarantined(
                f"{path} is in quarantine: it contains what looks like orders to an AI model "
                f"({', '.join(finding.kinds)}). The person can release it on the Curate page.",
                path=path,
            )
        return Examined(own_lines(data, provenance), provenance)

    def check_edits(self, plan: Plan, why: Attribution) -> None:
        """Refuse a client's change that would hide the person's words in quarantine.

        That is a change that rewrites a sentence of the person and adds text to be quarantined.

        Raises:
            NoteQuarantined: nothing was changed.
        """
        for edit in plan.edits if why.kind == "client" else ():
            if edit.before is None or edit.after is None:
                continue
            provenance = self._provenances.of(edit.path, claimed_id(edit.before), edit.before)
            before, after = list(units(edit.before)), list(units(edit.after))
            known = {unit.written for unit in before}
            kept = {unit.written for unit in after}
            own = f" {provenance.own} "
            rewrites = any(
                unit.written not in kept and (provenance.is_person or f" {unit.words} " in own)
                for unit in before
                if unit.is_body
            )
            new = "\n".join(unit.text for unit in after if unit.written not in known)
            if rewrites and new and self._immunity.check(new).adversarial:
                raise NoteQuarantined(
                    f"What would replace the person's words in {edit.path} looks like orders to an "
                    "AI model. Nothing was changed.",
                    path=edit.path,
                )

    def stamp(self, path: str, note_id: str) -> str:
        return self._provenances.stamp(path, note_id)

    def stamps(self, notes: Iterable[tuple[str, str]]) -> list[str]:
        return self._provenances.stamps(notes)

    def held(self) -> list[QuarantinedText]:
        """The held texts of notes that exist."""
        return [each for each in self._quarantine.held() if self.stat(each.path) is not None]

    def held_at(self, path: str) -> QuarantinedText | None:
        """The held text of the note at this path, as the note is now."""
        with suppress(NoteQuarantined, StorageError, OutsideVault, NoteNotFound):
            self.examined(path)
        return next((each for each in self._quarantine.held() if each.path == path), None)

    def _finding(self, path: str, text: str, provenance: Provenance) -> Finding:
        title = path.rpartition("/")[2].removesuffix(".md") if not provenance.is_mixed else ""
        key = f"{title}\0{text}"
        found = self._findings.get(key)
        if found is None:
            if len(self._findings) > 10_000:
                self._findings.clear()
            found = self._findings[key] = self._immunity.check(text, title)
        return found


def _foreign(data: bytes, provenance: Provenance) -> str:
    """The lines that others wrote, frontmatter included.

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
    return "\n".join(
        lines[number - 1]
        for number in numbers
        if number > head or not _STAMPS.fullmatch(lines[number - 1])
    )


# Lines of the frontmatter that memvault itself writes.
_STAMPS = re.compile(
    r"id: [0-9a-f-]{36}|(?:created|date|verified_on): [0-9T:.Z+-]{10,32}|verified: (?:true|false)|"
    r"(?:lifecycle|importance|modality|source): [\w-]{1,24}",
    re.ASCII,
)


def _new(
    key: str, path: str, data: bytes, provenance: Provenance, finding: Finding, *, whole: bool
) -> QuarantinedText:
    origin = provenance.spans[0].origin
    return QuarantinedText(
        key,
        path,
        claimed_id(data),
        f"{origin.kind} {origin.name}".strip(),
        finding.kinds,
        tuple(each.excerpt for each in finding.evidence[:MAX_EVIDENCE]),
        whole,
        datetime.now(UTC),
    )
