"""The texts in quarantine, and those that the person released, as the journal records them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from memvault.model.change import SYSTEM, Actor
from memvault.model.errors import NoteNotFound, NoteQuarantined, StorageError
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.journal_reader import JournalReader

HELD, RELEASED = "quarantined", "quarantine_released"
GONE = "quarantine_gone"  # the note has no such text any more


@dataclass(frozen=True, slots=True)
class QuarantinedText:
    """A note that is in quarantine, entirely or in part.

    Attributes:
        key: identifies this text in this note, for its release.
        whole: whether the whole note is held and not indexed; else only these lines are left out.
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


def by_note(texts: Iterable[QuarantinedText]) -> list[QuarantinedText]:
    """The texts of each note as one, with the first one's key and all kinds and evidence."""
    notes: dict[str, QuarantinedText] = {}
    for text in texts:
        note = notes.setdefault(text.path, text)
        if note is not text:
            kinds = tuple(dict.fromkeys(note.kinds + text.kinds))
            evidence = tuple(dict.fromkeys(note.evidence + text.evidence))
            notes[text.path] = replace(note, kinds=kinds, evidence=evidence)
    return list(notes.values())


def quarantined_note(path: str, kinds: Iterable[str]) -> NoteQuarantined:
    """The error for a note that is held as a whole."""
    return NoteQuarantined(
        f"{path} is in quarantine: it contains what looks like orders to an AI model "
        f"({', '.join(kinds)}). The person can release it on the Curate page.",
        path=path,
    )


class Quarantine(JournalReader):
    """The texts that are held and released, according to the journal. Thread-safe."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal, (HELD, RELEASED, GONE))

    def _restart(self) -> bool:
        self._held: dict[str, QuarantinedText] = {}
        self._gone: set[str] = set()
        self._keys_at: dict[str, set[str]] = {}  # by the path of the note
        self._released: dict[str, None] = {}  # in the order of their release
        self._releases: Mapping[str, int] = {}
        return True

    def is_released(self, key: str) -> bool:
        with self._current():
            return key in self._released

    def releases(self) -> Mapping[str, int]:
        """How often texts of a note were released or held again, by its path and by its id."""
        with self._current():
            return self._releases

    def released_texts(self) -> list[QuarantinedText]:
        with self._current():
            return [self._held[key] for key in self._released if key in self._held]

    def held_texts(self) -> list[QuarantinedText]:
        """All held texts, newest first, including those of notes that no longer exist."""
        with self._current():
            texts = [
                text
                for key, text in self._held.items()
                if key not in self._released and key not in self._gone
            ]
        return sorted(texts, key=lambda text: text.at, reverse=True)

    def ever_held(self) -> tuple[list[QuarantinedText], int]:
        """All texts that were ever held, and how many of them are released."""
        with self._current():
            return list(self._held.values()), len(self._held.keys() & self._released)

    def last_released(self) -> QuarantinedText | None:
        """The text that the person released last, among those still released."""
        with self._current():
            return next((self._held.get(key) for key in reversed(self._released)), None)

    def hold(self, text: QuarantinedText) -> None:
        """Record that a text is held, unless that is recorded already.

        Raises:
            StorageError, DiskFull: the journal cannot be written.
        """
        with self._current():
            if text.key in self._held and text.key not in self._gone:
                return
            self._journal.append(
                JournalEntry(
                    ts=self._moment(),
                    kind=HELD,
                    actor=SYSTEM,
                    note_id=text.note_id or None,
                    path=text.path,
                    data={
                        "key": text.key, "origin": text.origin, "kinds": list(text.kinds),
                        "evidence": list(text.evidence), "whole": text.whole,
                    },
                )
            )  # fmt: skip
            self._refresh()

    def keep_only(self, path: str, keys: Collection[str]) -> None:
        """Record that the note at this path no longer has the texts with other keys.

        If the journal cannot be written, they stay until the note is read again.
        """
        if path not in self._keys_at:  # most notes; without a look at the journal
            return
        with suppress(StorageError), self._current():
            for key in self._keys_at.get(path, set()) - self._gone - set(keys):
                self._journal.append(
                    JournalEntry(
                        ts=self._moment(), kind=GONE, actor=SYSTEM, path=path,
                        note_id=self._held[key].note_id or None, data={"key": key},
                    )
                )  # fmt: skip

    def set_released(self, key: str, actor: Actor, *, released: bool) -> QuarantinedText:
        """Release a held text with all others of its note, or hold them again.

        Raises:
            NoteNotFound: nothing is held under this key.
            StorageError, DiskFull: the journal cannot be written.
        """
        first = self.release(key, actor, back=not released)
        for text in self.held_texts() if released else self.released_texts():
            if text.path == first.path:
                self.release(text.key, actor, back=not released)
        return first

    def release(self, key: str, actor: Actor, *, back: bool = False) -> QuarantinedText:
        """Release a held text for use in answers, or, with ``back``, hold it again.

        Raises:
            NoteNotFound: nothing is held under this key.
            StorageError, DiskFull: the journal cannot be written.
        """
        with self._current():
            text = self._held.get(key)
            if text is None:
                raise NoteNotFound(f"Nothing is in quarantine under {key!r}", key=key)
            self._journal.append(
                JournalEntry(
                    ts=self._moment(), kind=RELEASED, actor=actor, path=text.path,
                    note_id=text.note_id or None, data={"key": key, "back": back},
                )
            )  # fmt: skip
            return text

    def _take(self, entries: Sequence[JournalEntry]) -> None:
        released = [entry for entry in entries if entry.kind == RELEASED]
        keys = (key for entry in released for key in (entry.path, entry.note_id) if key)
        self._releases = Counter(self._releases) + Counter(keys)
        for entry in entries:
            key = str(entry.data.get("key", ""))
            if entry.kind == HELD:
                self._held[key] = _held(entry, key)
                self._gone.discard(key)
                self._keys_at.setdefault(self._held[key].path, set()).add(key)
            elif entry.kind == GONE:
                self._gone.add(key)
            else:
                self._released.pop(key, None)
                if not entry.data.get("back"):
                    self._released[key] = None


def _held(entry: JournalEntry, key: str) -> QuarantinedText:
    return QuarantinedText(
        key,
        entry.path or "",
        entry.note_id or "",
        str(entry.data.get("origin", "")),
        tuple(map(str, entry.listed("kinds"))),
        tuple(map(str, entry.listed("evidence"))),
        bool(entry.data.get("whole")),
        entry.ts,
    )
