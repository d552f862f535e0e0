"""What clients propose and only the person decides: that a memory is right, or lasts for good."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from memvault.model.change import Actor
from memvault.model.errors import NoteNotFound
from memvault.model.memory import Lifecycle, Memory
from memvault.vault.frontmatter.properties import read_date
from memvault.vault.journal import Journal, JournalEntry

PROPOSED, DECIDED = "proposed", "proposal_decided"
WAS_VERIFIED = "was_verified"


class ProposalKind(StrEnum):
    VERIFIED = "verified"  # the person is said to have confirmed it
    WRONG = "wrong"  # the person is said to have called it wrong
    PERMANENT = "permanent"


@dataclass(frozen=True, slots=True)
class Proposal:
    """``was_verified``: the memory was verified when it was made, perhaps too long ago."""

    key: str
    kind: ProposalKind
    note_id: str
    path: str
    client: str
    rationale: str
    at: datetime
    was_verified: bool = False


class Proposals:
    """Kept in the journal. Thread-safe."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._marks: dict[str, int] = {}
        self._open: dict[str, Proposal] = {}
        self._lock = threading.RLock()

    def propose(self, kind: ProposalKind, memory: Memory, actor: Actor, rationale: str) -> Proposal:
        """Record a client's claim; the same claim again changes nothing.

        Raises:
            StorageError, DiskFull: it cannot be recorded.
        """
        with self._lock:
            self._refresh()
            key = f"{kind} {memory.id}"
            if key not in self._open:
                self._journal.append(
                    JournalEntry(
                        ts=datetime.now(UTC), kind=PROPOSED, actor=actor, note_id=memory.id,
                        path=memory.path, rationale=rationale,
                        data={"proposal": kind, WAS_VERIFIED: memory.verified},
                    )
                )  # fmt: skip
                self._refresh()
            return self._open[key]

    def waiting(self, memory_of: Callable[[str], Memory | None]) -> list[Proposal]:
        """Those that wait for the person, the newest first."""
        with self._lock:
            self._refresh()
            found = list(self._open.values())
        open_ = [each for each in found if not _is_settled(each, memory_of(each.note_id))]
        return sorted(open_, key=lambda each: each.at, reverse=True)

    def decide(self, key: str, actor: Actor) -> Proposal:
        """Close a proposal, accepted or not.

        Raises:
            NoteNotFound: there is none.
            StorageError, DiskFull: it cannot be recorded.
        """
        with self._lock:
            self._refresh()
            proposal = self._open.get(key)
            if proposal is None:
                raise NoteNotFound("That proposal was decided already", key=key)
            self._journal.append(
                JournalEntry(
                    ts=datetime.now(UTC), kind=DECIDED, actor=actor, note_id=proposal.note_id,
                    path=proposal.path, data={"key": key},
                )
            )  # fmt: skip
            self._refresh()
            return proposal

    def _refresh(self) -> None:
        entries, self._marks = self._journal.entries_after(self._marks)
        for entry in entries:
            if entry.kind == DECIDED:
                self._open.pop(str(entry.data.get("key", "")), None)
            elif entry.kind == PROPOSED and entry.note_id:
                kind = ProposalKind(str(entry.data.get("proposal")))
                key = f"{kind} {entry.note_id}"
                self._open[key] = Proposal(
                    key, kind, entry.note_id, entry.path or "", entry.actor.name,
                    entry.rationale or "", entry.ts, bool(entry.data.get(WAS_VERIFIED)),
                )  # fmt: skip


def _is_settled(proposal: Proposal, memory: Memory | None) -> bool:
    if memory is None:
        return True
    if proposal.kind is ProposalKind.VERIFIED:
        return _verified_since(memory, proposal)
    if proposal.kind is ProposalKind.PERMANENT:
        return memory.lifecycle is Lifecycle.PERMANENT
    return False


def _verified_since(memory: Memory, proposal: Proposal) -> bool:
    """Whether the person verified the memory after the proposal, perhaps again."""
    if not proposal.was_verified:
        return memory.verified
    on = read_date(memory.metadata.get("verified_on"))
    return memory.verified and on is not None and on.date() >= proposal.at.date()
