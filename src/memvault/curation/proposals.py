"""What clients propose and only the person decides: that a memory is right, lasts for good, is
deleted for good, or that a note of theirs moves."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from memvault.model.change import Actor, TaskAction
from memvault.model.errors import NoteNotFound
from memvault.model.memory import Lifecycle, Memory, Tombstone
from memvault.vault.frontmatter.properties import read_date
from memvault.vault.journal import Journal, JournalEntry

PROPOSED, DECIDED = "proposed", "proposal_decided"
# Of an entry's data.
PROPOSAL, WAS_VERIFIED, FORGOTTEN, CALL = "proposal", "was_verified", "forgotten", "call"


class ProposalKind(StrEnum):
    VERIFIED = "verified"  # the person is said to have confirmed it
    WRONG = "wrong"  # the person is said to have called it wrong
    PERMANENT = "permanent"
    DELETED = "deleted"  # for good; it is in the trash
    MOVED = "moved"  # to another project or folder


@dataclass(frozen=True, slots=True)
class Proposal:
    """``was_verified``: the memory was verified when it was made, perhaps too long ago.
    ``forgotten`` is the tombstone of what is to be deleted, ``call`` the tool that would move."""

    key: str
    kind: ProposalKind
    note_id: str
    path: str
    client: str
    rationale: str
    at: datetime
    was_verified: bool = False
    forgotten: str = ""
    call: TaskAction | None = None


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
        data = {PROPOSAL: kind, WAS_VERIFIED: memory.verified}
        return self._propose(memory.id, memory.path, actor, rationale, data)

    def propose_deletion(self, forgotten: Tombstone, actor: Actor, rationale: str) -> Proposal:
        """Record that a client wants something in the trash deleted for good."""
        data = {PROPOSAL: ProposalKind.DELETED, FORGOTTEN: forgotten.reversal_hash}
        place = forgotten.path or forgotten.name
        return self._propose(forgotten.node_ids[0], place, actor, rationale, data)

    def propose_move(
        self, call: TaskAction, memory: Memory, actor: Actor, rationale: str
    ) -> Proposal:
        """Record that a client wants a note of the person's in another project or folder."""
        data = {PROPOSAL: ProposalKind.MOVED, CALL: call.model_dump(mode="json")}
        return self._propose(memory.id, memory.path, actor, rationale, data)

    def _propose(
        self, note_id: str, path: str, actor: Actor, rationale: str, data: dict[str, Any]
    ) -> Proposal:
        with self._lock:
            self._refresh()
            key = _key(note_id, data)
            if key not in self._open:
                self._journal.append(
                    JournalEntry(
                        ts=datetime.now(UTC), kind=PROPOSED, actor=actor, note_id=note_id,
                        path=path, rationale=rationale, data=data,
                    )
                )  # fmt: skip
                self._refresh()
            return self._open[key]

    def waiting(
        self, memory_of: Callable[[str], Memory | None], kept: Collection[Tombstone]
    ) -> list[Proposal]:
        """Those that wait for the person, the newest first.

        Args:
            kept: what is in the trash.
        """
        with self._lock:
            self._refresh()
            found = list(self._open.values())
        hashes = {each.reversal_hash for each in kept}
        open_ = [
            each
            for each in found
            if (
                each.forgotten in hashes
                if each.forgotten
                else not _is_settled(each, memory_of(each.note_id))
            )
        ]
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
                key = _key(entry.note_id, entry.data)
                kind = ProposalKind(str(entry.data.get(PROPOSAL)))
                self._open[key] = Proposal(
                    key, kind, entry.note_id, entry.path or "", entry.actor.name,
                    entry.rationale or "", entry.ts, bool(entry.data.get(WAS_VERIFIED)),
                    str(entry.data.get(FORGOTTEN, "")),
                    TaskAction(**entry.data[CALL]) if CALL in entry.data else None,
                )  # fmt: skip


def _key(note_id: str, data: Mapping[str, Any]) -> str:
    wanted = json.dumps(data[CALL], sort_keys=True) if CALL in data else ""
    return f"{data.get(PROPOSAL)} {data.get(FORGOTTEN) or note_id} {wanted}".rstrip()


def _is_settled(proposal: Proposal, memory: Memory | None) -> bool:
    if memory is None:
        return True
    if proposal.kind is ProposalKind.VERIFIED:
        return _verified_since(memory, proposal)
    if proposal.kind is ProposalKind.PERMANENT:
        return memory.lifecycle is Lifecycle.PERMANENT
    if proposal.kind is ProposalKind.MOVED:
        return memory.path != proposal.path
    return False


def _verified_since(memory: Memory, proposal: Proposal) -> bool:
    """Whether the person verified the memory after the proposal, perhaps again."""
    if not proposal.was_verified:
        return memory.verified
    on = read_date(memory.metadata.get("verified_on"))
    return memory.verified and on is not None and on.date() >= proposal.at.date()
