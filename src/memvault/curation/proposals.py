"""Proposals of clients that only the person decides.

A client may propose that a memory is correct, wrong or permanent, that one of the person's notes is
moved, forgotten or merged, or that one of their changes is undone. So that no client buries the
person in proposals, only some of each client may wait.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from memvault.model.change import Actor, TaskAction
from memvault.model.errors import NoteNotFound, RateLimited
from memvault.model.memory import Lifecycle, Memory
from memvault.vault.frontmatter.dates import read_date
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.journal_reader import JournalReader

PROPOSED, DECIDED = "proposed", "proposal_decided"
MAX_WAITING, MAX_WAITING_TOGETHER = 100, 300  # proposals of one client, and of all clients
# Of an entry's data.
PROPOSAL, WAS_VERIFIED, CALL = "proposal", "was_verified", "call"


class ProposalKind(StrEnum):
    VERIFIED = "verified"  # the client says that the person confirmed it
    WRONG = "wrong"  # the client says that the person called it wrong
    PERMANENT = "permanent"
    MOVED = "moved"  # to another project or folder
    FORGOTTEN = "forgotten"  # to the trash, or deleted for good
    MERGED = "merged"
    UNDONE = "undone"
    MANIFEST = "manifest"  # edited so that notes of theirs are forgotten or merged


_KINDS = frozenset(map(str, ProposalKind))  # other versions may have recorded other kinds


@dataclass(frozen=True, slots=True)
class NeededApproval:
    """The approval of the person that a client's change needs.

    Attributes:
        note_id, path: the note for which it is needed.
        reason: why only the person ("they") decides.
    """

    kind: ProposalKind
    note_id: str
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A client's proposal.

    Attributes:
        was_verified: the memory was already verified when the proposal was made.
        call: the client's tool call, if it is a proposed call.
    """

    key: str
    kind: ProposalKind
    note_id: str
    path: str
    client: str
    rationale: str
    at: datetime
    was_verified: bool = False
    call: TaskAction | None = None


class Proposals(JournalReader):
    """The proposals of one vault, kept in the journal. Thread-safe.

    Args:
        memory_of: gives a current note by its id.
        is_undone: whether a change is undone, by its hash.
    """

    def __init__(
        self,
        journal: Journal,
        memory_of: Callable[[str], Memory | None],
        is_undone: Callable[[str], bool],
    ) -> None:
        super().__init__(journal, (PROPOSED, DECIDED))
        self._memory_of = memory_of
        self._is_undone = is_undone

    def _restart(self) -> bool:
        self._open: dict[str, Proposal] = {}
        return True

    def propose(self, kind: ProposalKind, memory: Memory, actor: Actor, rationale: str) -> None:
        """Record a client's claim; repeating an open claim changes nothing.

        Raises:
            RateLimited: too many proposals of the client, or of all clients, wait already.
            StorageError, DiskFull: it cannot be recorded.
        """
        data = {PROPOSAL: kind, WAS_VERIFIED: memory.verified}
        self._propose(memory.id, memory.path, actor, rationale, data)

    def propose_call(
        self, needed: NeededApproval, call: TaskAction, actor: Actor, rationale: str
    ) -> None:
        """Record a client's call that waits for the person's approval. Raises as `propose`."""
        data = {PROPOSAL: needed.kind, CALL: call.model_dump(mode="json")}
        self._propose(needed.note_id, needed.path, actor, rationale, data)

    def _propose(
        self, note_id: str, path: str, actor: Actor, rationale: str, data: dict[str, Any]
    ) -> None:
        with self._current():
            if _key(note_id, data) not in self._open:
                self._check_waiting(actor.name)
                self._journal.append(
                    JournalEntry(
                        ts=self._moment(), kind=PROPOSED, actor=actor, note_id=note_id,
                        path=path, rationale=rationale, data=data,
                    )
                )  # fmt: skip

    def _check_waiting(self, client: str) -> None:
        for proposals in (self._open.values, self.waiting):  # the latter reads their notes
            clients = [proposal.client for proposal in proposals()]
            own = clients.count(client)
            if own < MAX_WAITING and len(clients) < MAX_WAITING_TOGETHER:
                return
        raise RateLimited(
            f"{len(clients)} proposals of AI clients wait for the person, {own} of them yours; "
            f"{MAX_WAITING} of one client and {MAX_WAITING_TOGETHER} of all are the limit. "
            "Nothing was proposed. Ask the person to decide those on the Curate page first."
        )

    def waiting(self) -> list[Proposal]:
        """The proposals that the person has not decided, newest first."""
        with self._current():
            open_proposals = list(self._open.values())
        waiting = [
            proposal
            for proposal in open_proposals
            if not _is_settled(proposal, self._memory_of(proposal.note_id), self._is_undone)
        ]
        return sorted(waiting, key=lambda proposal: proposal.at, reverse=True)

    def is_waiting(self, kind: ProposalKind, note_ids: Collection[str]) -> bool:
        """Whether the person still has to decide on such a change of one of these notes."""
        return any(each.kind is kind and each.note_id in note_ids for each in self.waiting())

    def get(self, key: str) -> Proposal:
        """The open proposal with this key.

        Raises:
            NoteNotFound: there is none.
        """
        with self._current():
            if key not in self._open:
                raise NoteNotFound("That proposal was decided already", key=key)
            return self._open[key]

    def decide(self, key: str, actor: Actor) -> Proposal:
        """Close a proposal, accepted or not.

        Raises:
            NoteNotFound: there is none.
            StorageError, DiskFull: it cannot be recorded.
        """
        with self._current():
            proposal = self.get(key)
            self._journal.append(
                JournalEntry(
                    ts=self._moment(), kind=DECIDED, actor=actor,
                    note_id=proposal.note_id, path=proposal.path, data={"key": key},
                )
            )  # fmt: skip
            self._refresh()
            return proposal

    def _take(self, entries: Sequence[JournalEntry]) -> None:
        for entry in entries:
            if entry.kind == DECIDED:
                self._open.pop(str(entry.data.get("key", "")), None)
            elif entry.note_id and entry.data.get(PROPOSAL) in _KINDS:
                key = _key(entry.note_id, entry.data)
                kind = ProposalKind(str(entry.data.get(PROPOSAL)))
                self._open[key] = Proposal(
                    key, kind, entry.note_id, entry.path or "", entry.actor.name,
                    entry.rationale or "", entry.ts, bool(entry.data.get(WAS_VERIFIED)),
                    TaskAction(**entry.data[CALL]) if CALL in entry.data else None,
                )  # fmt: skip


def _key(note_id: str, data: Mapping[str, Any]) -> str:
    call = json.dumps(data[CALL], sort_keys=True) if CALL in data else ""
    return f"{data.get(PROPOSAL)} {note_id} {call}".rstrip()


def _is_settled(
    proposal: Proposal, memory: Memory | None, is_undone: Callable[[str], bool]
) -> bool:
    if proposal.kind is ProposalKind.UNDONE and proposal.call is not None:
        return all(map(is_undone, proposal.call.arguments["changes"]))
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
    """Whether the person verified the memory, for the first time or again, after the proposal."""
    if not proposal.was_verified:
        return memory.verified
    day = read_date(memory.metadata.get("verified_on"))
    return memory.verified and day is not None and day.date() >= proposal.at.date()
