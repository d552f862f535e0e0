"""Who wrote each sentence of a note, read from the journal.

The journal entry for a change holds the digests of the sentences that the change added. A sentence
that a client, an import or memvault added is theirs. So is a sentence of the person's that a client
moved, repeated or put into another frame, except where it still is as it was. All others are the
person's: text typed in an editor is in no entry, even if it replaces a client's text. A note that
the person has renamed is recognised by their own sentences in it, and one without any by the
others' sentences.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from memvault.curation.sentence_digests import VERIFIED_DIGESTS, Unit, units
from memvault.curation.sentence_origins import SentenceOrigins
from memvault.model.change import Actor, Change, ChangeKind, FileChange
from memvault.model.provenance import (
    PERSON,
    SPOKEN_BY_PERSON,
    Origin,
    OriginKind,
    OriginSpan,
    Provenance,
)
from memvault.vault.files import Vault
from memvault.vault.journal import Journal, JournalEntry

# Keys of an entry's data.
ADDED = "added"  # digests of the sentences that the change added
SPOKEN = "spoken"  # for an import: digests of the person's sentences in the conversation
WEB = "web"  # for a stored note: the client says that it fetched the content
SOURCE = "source"  # for an import: the provider

_FINGERPRINT_SHARE = 0.5  # of its `fingerprint` that a renamed note must have
# Of the others' sentences, for a note that had none of the person's.
_FOREIGN_SHARE = 0.5
# A copy of a note that is still there must have more: notes of one template share some.
_COPY_SHARE, _COPY_SENTENCES = 0.9, 3
_WRITTEN = frozenset({"created", "imported", "import_updated", "preference_set"})
_BEGUN = "change_begun"
# Changes that only restore sentences whose origin is known.
_REPEATING = frozenset({ChangeKind.UNDONE, ChangeKind.RESTORED, ChangeKind.RECONSTRUCTED})


def spoken_key(path: str) -> str:
    """The key in `Change.memo` for the person's sentences in the imported note at this path."""
    return f"{SPOKEN}:{path}"


@dataclass(frozen=True, slots=True)
class _Recognition:
    """The digests by which a renamed note is recognised: the person's sentences and the others'."""

    own: frozenset[str]
    foreign: frozenset[str]


class Provenances:
    """The provenance of each note; each call first reads new journal entries. Thread-safe."""

    def __init__(self, journal: Journal, vault: Vault) -> None:
        self._journal = journal
        self._vault = vault
        # Path of a note with foreign sentences → how it is recognised after a rename.
        self._recognitions: dict[str, _Recognition] = {}
        # Digest of a foreign sentence → paths of these notes that have it.
        self._places: dict[str, set[str]] = defaultdict(set)
        self._marks: dict[str, int] = {}
        # Path or id of a note → when it was saved before memvault first changed it, in ns.
        self._saved: dict[str, int] = {}
        self._claims: dict[str, SentenceOrigins] = defaultdict(SentenceOrigins)
        self._adopters: dict[str, list[SentenceOrigins]] = {}  # by the verifying change
        self._reframed: dict[str, list[SentenceOrigins]] = {}  # by the reframing change
        self._undoings: dict[str, Change] = {}
        self._lock = threading.Lock()

    def of(self, path: str, note_id: str, data: bytes) -> Provenance:
        """The provenance of a note: who wrote which of its sentences.

        Args:
            note_id: the id in its frontmatter; "" if it has none.
            data: its bytes.
        """
        return self.both(path, note_id, data)[0]

    def saved_first(self, path: str, note_id: str) -> int | None:
        """When the note was saved before memvault first changed it, in ns; None if it did not."""
        with self._lock:
            self._refresh()
            known = (self._saved.get(key) for key in _keys(path, note_id))
            return min((saved for saved in known if saved is not None), default=None)

    def both(self, path: str, note_id: str, data: bytes) -> tuple[Provenance, Provenance]:
        """The provenance of a note, and that by who first wrote each sentence.

        In the second, what a client put into another frame is still the person's.
        """
        with self._lock:
            self._refresh()
            known = [c for key in _keys(path, note_id) if (c := self._claims.get(key))]
            stamp = _stamp(known)
            if not known and not self._places:
                return Provenance(), Provenance()
            found = list(units(data))
            known += self._claims_of_former_path(found, known)
            if not known:
                return Provenance(), Provenance()
            judged = [(unit, _origin(unit, known)) for unit in found]
            is_late = any(
                claims.is_late(unit)
                for unit, origin in judged
                if not origin.is_person
                for claims in known
            )
            has_reframed = any(claims.is_reframed(unit) for claims in known for unit in found)
            written = [(u, _origin(u, known, reframed=False)) for u in found if has_reframed]
        provenance = _provenance(judged, stamp, verifiable=not is_late)
        if not has_reframed:
            return provenance, provenance
        provenance = provenance.model_copy(update={"has_reframed": True})
        return provenance, _provenance(written, stamp, verifiable=not is_late)

    def stamp(self, path: str, note_id: str) -> str:
        """A text that changes whenever the journal has a new entry about this note."""
        return self.stamps([(path, note_id)])[0]

    def stamps(self, notes: Iterable[tuple[str, str]]) -> list[str]:
        """The `stamp` of each of these notes; looks at the journal once."""
        with self._lock:
            self._refresh()
            return [
                _stamp([c for key in _keys(path, note_id) if (c := self._claims.get(key))])
                for path, note_id in notes
            ]

    def _claims_of_former_path(
        self, found: Iterable[Unit], known: Sequence[SentenceOrigins]
    ) -> list[SentenceOrigins]:
        """The claims of the path from which this note was renamed or copied.

        Foreign sentences and most of the person's sentences of that path occur in this note. If the
        path had none of the person's, most of the foreign ones.
        """
        digests = {digest for unit in found for digest in unit.digests}
        paths = {path for digest in digests for path in self._places.get(digest, ())}
        claims = {
            path: self._claims.get(f"path:{path}")
            for path in paths
            if self._is_recognised(path, digests)
        }
        return [former for former in claims.values() if former is not None and former not in known]

    def _is_recognised(self, path: str, digests: set[str]) -> bool:
        known = self._recognitions.get(path)
        if known is None:
            return False
        own = known.own
        if self._vault.stat(path) is not None:
            return len(own) >= _COPY_SENTENCES and len(own & digests) >= _COPY_SHARE * len(own)
        if own:
            return len(own & digests) >= _FINGERPRINT_SHARE * len(own)
        foreign = len(known.foreign & digests)
        return not path.startswith(".") and foreign >= _FOREIGN_SHARE * len(known.foreign)

    def _refresh(self) -> None:
        entries, self._marks = self._journal.entries_after(self._marks)
        for entry in entries:
            if entry.kind in _WRITTEN:
                self._apply_written_entry(entry)
            elif entry.kind == _BEGUN:
                self._apply_change(entry)

    def _apply_written_entry(self, entry: JournalEntry) -> None:
        digests = entry.data.get(ADDED)
        origin = origin_of(entry.kind, entry.actor, entry.data)
        for key in _keys(entry.path or "", entry.note_id or ""):
            self._claims[key].add(digests, origin)
            if spoken := entry.data.get(SPOKEN):
                speaker = origin.model_copy(update={"session": SPOKEN_BY_PERSON})
                self._claims[key].add(spoken, speaker)

    def _apply_change(self, entry: JournalEntry) -> None:
        try:
            change = Change.model_validate(entry.data.get("change"))
        except ValidationError:
            return
        origin = origin_of(change.kind, change.actor, change.memo)
        is_redone = change.kind is ChangeKind.UNDONE and self._apply_undo(change)
        keys = [f"path:{file.path}" for file in change.files]
        keys += [f"id:{node_id}" for node_id in change.merged_from]
        sources = [found for key in keys if (found := self._claims.get(key))]
        ids = _note_ids(change)
        for file in change.files:
            self._follow_file(file)
            self._remember_time(file)
            repeats = change.kind in _REPEATING and not is_redone
            if repeats or not (file.added or file.carried or file.reframed or file.relinked):
                continue
            if change.kind is ChangeKind.VERIFIED and origin.is_person:
                self._adopt(file, change)
                continue
            by_origin: dict[Origin, list[str]] = defaultdict(list)
            by_origin[origin].extend(file.added)
            for digest in file.carried:
                by_origin[_origin_of_digest(digest, sources)].append(digest)
            keys = _keys(file.place, file.note_id or "") if file.relinked else []
            own = [found for key in keys if (found := self._claims.get(key))]
            for digest, earlier in file.relinked.items():
                by_origin[_origin_of_digest(earlier, own)].append(digest)
            if spoken := change.memo.get(spoken_key(file.path), "").split():
                by_origin[origin.model_copy(update={"session": SPOKEN_BY_PERSON})] = spoken
            for key in _keys(file.place, file.note_id or ids.get(file.path, "")):
                claims = self._claims[key]
                says_more = change.kind is not ChangeKind.FADED
                if file.was_verified and says_more and not origin.is_person:
                    claims.late.update(file.added)
                for written_by, digests in by_origin.items():
                    claims.add(digests, written_by)
                is_reframed = file.reframed and claims.has_own(file.causes)
                if is_reframed and not origin.is_person:
                    claims.reframe(file, change.reversal_hash, origin)
                    self._reframed.setdefault(change.reversal_hash, []).append(claims)
            self._remember_sentences(file, self._claims[f"path:{file.place}"])

    def _remember_time(self, file: FileChange) -> None:
        """Keep the earliest time at which a note was saved, also under its new path."""
        if file.mtime_ns is not None:
            for key in _keys(file.path, file.note_id or ""):
                self._saved.setdefault(key, file.mtime_ns)
        if file.moved_to is not None and (saved := self._saved.get(f"path:{file.path}")):
            self._saved[f"path:{file.moved_to}"] = saved
        if file.after is None:
            self._saved.pop(f"path:{file.path}", None)

    def _follow_file(self, file: FileChange) -> None:
        """Move what is known of a file that the change moved; forget a deleted one."""
        is_gone = file.after is None or file.moved_to is not None
        known = self._recognitions.pop(file.path, None) if is_gone else None
        if file.moved_to is not None and (gone := self._claims.pop(f"path:{file.path}", None)):
            self._claims[f"path:{file.moved_to}"] = gone
            if known is not None:
                self._recognise(file.moved_to, known)

    def _remember_sentences(self, file: FileChange, claims: SentenceOrigins) -> None:
        """Remember the sentences of others in the note, and the person's among the earlier ones.

        A note without the person's sentences is recognised by its id, if it has one.
        """
        own = frozenset(digest for digest in file.beside if claims.of_digest(digest).is_person)
        others = frozenset(claims.foreign_digests)
        if others and (own or file.note_id == ""):
            self._recognise(file.place, _Recognition(own, others))

    def _recognise(self, path: str, known: _Recognition) -> None:
        self._recognitions[path] = known
        for digest in known.foreign:
            self._places[digest].add(path)

    def _adopt(self, file: FileChange, change: Change) -> None:
        """Where the person marked a note as right, its words are theirs from then on."""
        if VERIFIED_DIGESTS.isdisjoint(file.added):
            return  # marked as wrong
        key = change.reversal_hash
        for note in (f"path:{file.path}", *(f"id:{node_id}" for node_id in change.node_ids)):
            if note in self._claims:
                self._claims[note].adopt(key)
                self._adopters.setdefault(key, []).append(self._claims[note])

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
            for claims in self._adopters.get(key, ()):
                claims.set_valid(key, valid=valid)

    def _set_reframings_valid(self, changes: Iterable[str], *, valid: bool) -> None:
        for change in changes:
            for claims in self._reframed.get(change, ()):
                claims.set_reframing_valid(change, valid=valid)


def origin_of(kind: str, actor: Actor, data: Mapping[str, Any]) -> Origin:
    """The origin of the sentences that a journal entry of this kind adds."""
    if kind in ("imported", "import_updated"):
        return Origin(kind=OriginKind.IMPORT, name=str(data.get("source", "")))
    if kind == ChangeKind.CAPTURED:
        return Origin(kind=OriginKind.CLIENT, name=actor.name)
    if actor.kind == "client":
        origin = OriginKind.WEB if data.get(WEB) else OriginKind.CLIENT
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


def _origin(unit: Unit, known: Iterable[SentenceOrigins], *, reframed: bool = True) -> Origin:
    """The origin of a sentence: the person, unless a claim of the note names somebody else."""
    origins = (claims.of(unit, reframed=reframed) for claims in known)
    return next((origin for origin in origins if not origin.is_person), PERSON)


def _origin_of_digest(digest: str, known: Iterable[SentenceOrigins]) -> Origin:
    origins = (claims.of_digest(digest) for claims in known)
    return next((origin for origin in origins if not origin.is_person), PERSON)


def _stamp(known: Iterable[SentenceOrigins]) -> str:
    return ".".join(str(claims.entries) for claims in known)


def _provenance(judged: list[tuple[Unit, Origin]], stamp: str, *, verifiable: bool) -> Provenance:
    lines: dict[int, Origin] = {}
    share: dict[Origin, int] = defaultdict(int)
    own: list[str] = []
    spoken: list[str] = []
    properties: list[str] = []
    foreign = {unit.words for unit, origin in judged if not origin.is_person}
    for unit, origin in judged:
        if not origin.is_person:
            known = lines.get(unit.line)
            if known is None or origin.trust < known.trust:
                lines[unit.line] = origin
        if unit.is_body:
            share[origin] += len(unit.words)
            if origin.is_person and unit.words not in foreign:
                own.append(unit.words)
            elif origin.is_spoken:
                spoken.append(unit.words)
        elif origin.is_person:
            properties.append(unit.words)
    if not lines:
        return Provenance(stamp=stamp)
    return Provenance(
        origin=max(share, key=lambda origin: share[origin], default=PERSON),
        spans=tuple(_spans(lines)),
        own=" ".join(own),
        spoken=" ".join(spoken),
        own_properties=tuple(properties),
        own_parts=tuple(_own_parts(judged, lines)),
        verifiable=verifiable,
        stamp=stamp,
    )


def _own_parts(
    judged: Iterable[tuple[Unit, Origin]], lines: Mapping[int, Origin]
) -> Iterator[tuple[int, str]]:
    parts: dict[int, str] = defaultdict(str)
    for unit, origin in judged:
        if unit.is_body and unit.line in lines and origin.is_person:
            parts[unit.line] += unit.text
    return ((line, text.rstrip()) for line, text in parts.items())


def _spans(lines: Mapping[int, Origin]) -> Iterator[OriginSpan]:
    """The spans of neighbouring lines with the same origin."""
    first = last = 0
    origin = PERSON
    for line in sorted(lines):
        if first and line == last + 1 and lines[line] == origin:
            last = line
            continue
        if first:
            yield OriginSpan(first, last, origin)
        first = last = line
        origin = lines[line]
    if first:
        yield OriginSpan(first, last, origin)
