"""Reads one note as the indexer needs it: parsed, with its provenance and the id that it claims."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from memvault.model.errors import MemvaultError, NoteQuarantined
from memvault.model.graph import uuid_of
from memvault.model.memory import Memory
from memvault.model.note import ParsedNote
from memvault.model.provenance import Provenance
from memvault.vault.files import Vault
from memvault.vault.frontmatter.dates import read_date
from memvault.vault.frontmatter.properties import memory_of
from memvault.vault.parse import name_of, parse_note
from memvault.vault.walk import NoteStat
from memvault.verification.claims.claim_sources import is_own_day

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NoteReading:
    """A note as it was on disk when it was read.

    Attributes:
        claimed_id: the id in its frontmatter, else that which follows from moves; None if that is
            simply the id of its path.
        own_id: its id if it claims none, or another note has it.
        data: its bytes.
    """

    note: ParsedNote
    stat: NoteStat
    claimed_id: str | None
    own_id: str
    provenance: Provenance = field(default_factory=Provenance)
    data: bytes = b""

    def memory(self, memory_id: str) -> Memory:
        mtime_ns = min(self.stat.mtime_ns, self.provenance.mtime_ns or self.stat.mtime_ns)
        saved = datetime.fromtimestamp(mtime_ns / 1e9, tz=UTC)
        memory = memory_of(self.note, fallback_time=saved, id=memory_id)
        if self.provenance == Provenance():
            return memory
        known = memory.model_copy(
            update={"provenance": self.provenance, "verified": self._is_verified(memory)}
        )
        return known.model_copy(update={"created_at": self._created(known, saved)})

    def _created(self, memory: Memory, saved: datetime) -> datetime:
        """When the note was created, without the days that a client set in the person's note."""
        if memory.verified or not self.provenance.is_mixed:
            return memory.created_at
        own_properties = {
            key: value
            for key, value in self.note.frontmatter.items()
            if (moment := read_date(value)) is None or is_own_day(moment.date(), memory)
        }
        note = replace(self.note, frontmatter=own_properties)
        return memory_of(note, fallback_time=saved, id=memory.id).created_at

    def _is_verified(self, memory: Memory) -> bool:
        """Whether the person verified the note.

        ``verified: true`` written by a client does not count.
        """
        if self.provenance.is_person or not memory.verified:
            return memory.verified
        own_lines = self.provenance.own_properties
        return self.provenance.verifiable and any(
            line.startswith(("verified ", "verified_by ")) for line in own_lines
        )


class UnreadableNote(MemvaultError):
    """The note exists but cannot be read."""


def read_note(vault: Vault, path: str, max_bytes: int) -> NoteReading | None:
    """Read and parse one note; None if it does not exist or is in quarantine.

    Raises:
        UnreadableNote: the operating system refuses to read the file, or memvault has a fault.
    """
    stat = vault.stat(path)
    if stat is None:
        return None
    try:
        examined = vault.examined(path)
    except NoteQuarantined:
        return None
    except (OSError, MemvaultError) as error:
        if vault.stat(path) is None:
            return None
        raise UnreadableNote(f"{path}: cannot be read: {error}") from error
    try:
        note = parse_note(path, examined.data, max_bytes=max_bytes)
    except Exception as error:  # a fault in one note must not stop the others
        logger.exception("The note %s cannot be parsed.", path)
        raise UnreadableNote(
            f"{path}: cannot be read because of a fault in memvault; engine.log has the details, "
            "please report them"
        ) from error
    provenance = examined.provenance
    is_persons_title = (
        provenance.own_heading(note.title)
        or provenance.of_property(f"title: {note.title}").is_person
    )
    if not is_persons_title:
        note = replace(note, title=name_of(path))
    claimed = uuid_of(str(note.frontmatter.get("id") or "").strip())
    claimed_id = claimed or examined.inherited_id or None
    return NoteReading(note, stat, claimed_id, examined.own_id, provenance, examined.data)
