"""Decides which changes of clients wait for the person's approval.

A client does not move, forget or merge a note of the person's, give it another project, make a note
permanent by moving it, or undo a change of the person or of another client. That a memory is
permanent, verified or wrong, it can only claim. What AI agents obey, it does not write at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from memvault.curation.changes.change_recorder import RELINKING
from memvault.curation.changes.forgetting import is_stored_only_by, untouched_by_person
from memvault.curation.changes.history import History
from memvault.curation.changes.plan import Attribution, Edit, Plan
from memvault.curation.changes.staging import is_in_trash
from memvault.curation.operations.edit import NoteEdit
from memvault.curation.operations.properties import spelling
from memvault.curation.origins.stated_origin import stated_origin
from memvault.curation.proposals import NeededApproval, ProposalKind
from memvault.model.change import Change, ChangeKind
from memvault.model.errors import InvalidParams
from memvault.model.memory import Lifecycle, Memory
from memvault.search.scope import MemoryLookup
from memvault.vault.file_names import is_agent_file
from memvault.vault.files import Vault
from memvault.vault.frontmatter.fences import claimed_id
from memvault.vault.frontmatter.properties import memory_of
from memvault.vault.parse import content_hash, frontmatter_of, parse_note

_OWN = {
    ProposalKind.MOVED: "{} is their own note, which only they move",
    ProposalKind.FORGOTTEN: "{} is their own note, which only they forget",
    ProposalKind.MERGED: "{} is their own note, which only they merge into another",
    ProposalKind.MANIFEST: "{} is their own note, which only they forget or merge",
}
_PERMANENT = "{} would become permanent there, which only they decide"
_OF_OTHERS = (
    "{} is not your note alone, so only they delete it for good; with soft_delete=true it goes to "
    "the trash now"
)
_UNDONE = "they changed {} themselves, which only they undo"
_UNDONE_OF_CLIENT = "{} was changed by another client, whose changes only they undo"

# Changes that move notes to another path or project, with the kind of their proposals.
_MOVING = {
    ChangeKind.FORGOTTEN: ProposalKind.FORGOTTEN,
    ChangeKind.MOVED: ProposalKind.MOVED,
    ChangeKind.ARCHIVED: ProposalKind.MOVED,
    ChangeKind.LIFECYCLE_SET: ProposalKind.MOVED,
    ChangeKind.EDITED: ProposalKind.MOVED,
    ChangeKind.MERGED: ProposalKind.MERGED,
    ChangeKind.MANIFEST_APPLIED: ProposalKind.MANIFEST,
}


class Approvals:
    """Finds the approvals that clients' changes need. Thread-safe.

    Args:
        memories: gives the current notes.
    """

    def __init__(
        self, vault: Vault, history: History, memories: Callable[[], MemoryLookup]
    ) -> None:
        self._vault = vault
        self._history = history
        self._memories = memories

    def needed(self, plan: Plan, why: Attribution) -> NeededApproval | None:
        """The approval that a planned change needs; None if it needs none.

        Raises InvalidParams: a client would write a note that AI agents obey, or change whether a
            note states that others wrote it.
        """
        if not why.by_client:
            return None
        if plan.kind is ChangeKind.UNDONE:
            return _to_undo(map(self._history.change, plan.undoes), why)
        _check_agent_files(plan)
        _check_stated_origins(plan)
        if plan.kind not in _MOVING:
            return None
        edits = sorted(plan.edits, key=lambda edit: edit.path)
        moves = [edit for edit in edits if edit.moved_to or _sets_project(edit, plan.kind)]
        return next(filter(None, (self._to_move(edit, plan, why) for edit in moves)), None)

    def _to_move(self, edit: Edit, plan: Plan, why: Attribution) -> NeededApproval | None:
        note = self._memories().by_path(edit.path)
        if note is None:
            return None
        kind = _MOVING[plan.kind]
        version = content_hash(self._vault.stored(note.path))
        if not untouched_by_person(self._history.all(), note.path, version):
            reason = _OWN[kind]
        elif plan.kind is ChangeKind.MOVED and _becomes_permanent(note, edit):
            reason = _PERMANENT
        elif _is_deleted(edit, plan) and not is_stored_only_by(self._history, note, why.name):
            reason = _OF_OTHERS
        else:
            return None
        return NeededApproval(kind, note.id, note.path, reason.format(note.path))


def claim_of_lifecycle(lifecycle: Lifecycle | None, why: Attribution) -> ProposalKind | None:
    """The claim that setting this lifecycle is; None if it can be set without the person."""
    return ProposalKind.PERMANENT if why.by_client and lifecycle is Lifecycle.PERMANENT else None


def claim_of_verdict(why: Attribution, *, verified: bool) -> ProposalKind | None:
    """The claim that marking a memory as verified or wrong is; None if the person marks it."""
    if not why.by_client:
        return None
    return ProposalKind.VERIFIED if verified else ProposalKind.WRONG


def check_edit(edit: NoteEdit, why: Attribution) -> None:
    """Raise InvalidParams if a client's edit sets the lifecycle in a note's properties."""
    if why.by_client and edit.sets("lifecycle"):
        raise InvalidParams(
            "edit_memory does not change the lifecycle: the person sets it in the note's "
            "properties, or you with set_lifecycle (--tools full)"
        )


def _check_agent_files(plan: Plan) -> None:
    """Raise InvalidParams if a plan writes a note that AI agents obey, unless it updates links."""
    for edit in plan.edits:
        path = edit.moved_to or edit.path
        writes = edit.arrives or (edit.after is not None and plan.kind not in RELINKING)
        if writes and is_agent_file(path) and not is_in_trash(path):
            raise InvalidParams(
                f"AI agents obey {path}, so only the person writes it. Nothing was changed. Use "
                "another note.",
                path=path,
            )


def _check_stated_origins(plan: Plan) -> None:
    """Raise InvalidParams if a plan changes whether a note states that others wrote it, which
    counts where the note's history is missing."""
    for edit in plan.edits:
        versions = [each for each in (edit.before, edit.after) if each and claimed_id(each)]
        if len({stated_origin(each) is None for each in versions}) > 1:
            raise InvalidParams(
                f"The properties of {edit.path} say whether an AI client wrote it, so only the "
                "person adds or removes `source`, `rationale`, `conversation` or `imported` there. "
                "Nothing was changed.",
                path=edit.path,
            )


def _becomes_permanent(note: Memory, edit: Edit) -> bool:
    moved = parse_note(edit.moved_to or "", edit.after or edit.before or b"")
    after = memory_of(moved, fallback_time=note.created_at).lifecycle
    return after is Lifecycle.PERMANENT and note.lifecycle is not after


def _is_deleted(edit: Edit, plan: Plan) -> bool:
    """Whether a plan deletes the note of an edit for good."""
    return any(forgets.permanent and forgets.path == edit.path for forgets in plan.forgets)


def _sets_project(edit: Edit, kind: ChangeKind) -> bool:
    """Whether an edit sets or removes the property ``project``."""
    return kind is ChangeKind.EDITED and _project_in(edit.before) != _project_in(edit.after)


def _project_in(data: bytes | None) -> Any:
    values = frontmatter_of(data or b"")
    return values.get(spelling(values, "project"))


def _to_undo(changes: Iterable[Change], why: Attribution) -> NeededApproval | None:
    of_others = [change for change in changes if not _is_own(change, why)]
    of_person = [change for change in of_others if change.actor.kind == "person"]
    if not of_others:
        return None
    change = (of_person or of_others)[0]
    path = (*change.paths, *change.names, "a note")[0]
    reason = (_UNDONE if of_person else _UNDONE_OF_CLIENT).format(path)
    note_id = (*change.node_ids, change.reversal_hash)[0]
    return NeededApproval(ProposalKind.UNDONE, note_id, path, reason)


def _is_own(change: Change, why: Attribution) -> bool:
    """Whether memvault or this client made a change."""
    actor = change.actor
    return actor.kind == "system" or (actor.kind, actor.name) == ("client", why.name)
