"""Forgetting and restoring: notes go to the vault's trash, names leave the graph.

A note goes where Obsidian puts what it deletes: ``.trash/``, under its own name without its
folders, with " 1", " 2", … where that is taken. It can be restored byte for byte for 30 days. The
text of other notes never changes, but the graph omits what is forgotten, with its names.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memvault.curation.changes.forgotten import Forgotten
from memvault.curation.changes.history import History
from memvault.curation.changes.plan import Forgetting
from memvault.curation.changes.staging import TRASH, Staging
from memvault.curation.targets import Target, concept_ids, names_of_memory
from memvault.model.change import ChangeKind
from memvault.model.errors import AmbiguousTarget, NoteNotFound
from memvault.model.graph import NodeKind
from memvault.model.memory import Tombstone


@dataclass(frozen=True, slots=True)
class Restored:
    """``path`` is where the note is now, None for a concept."""

    tombstone: Tombstone
    path: str | None = None


def stage_forgetting(staging: Staging, target: Target, *, permanent: bool = False) -> Forgetting:
    """Move a note to the trash, or leave a concept without a note out of the graph.

    Args:
        permanent: the note is deleted from the trash as soon as it is there.

    Raises:
        NoteNotFound: the note is gone already.
    """
    if target.note is not None:
        staging.read(target.note.path)
    forgetting = Forgetting(
        name=target.name,
        kind=target.kind,
        node_ids=target.node_ids,
        hidden=tuple(sorted(hidden_by(target))),
        path=target.note.path if target.note else None,
        permanent=permanent,
    )
    staging.forget(forgetting)
    return forgetting


def stage_restoring(
    staging: Staging, forgotten: Forgotten, history: History, target: str, now: datetime
) -> Restored:
    """Restore the forgotten note or concept that a hash, id, path or name means. If another note
    has its path by now, it gets a number behind its name.

    Raises:
        NoteNotFound: no such note or concept can be restored.
        AmbiguousTarget: several can.
    """
    tombstone = _restorable(forgotten, target, now)
    path = None
    if tombstone.trash_path is not None:
        if not staging.exists(tombstone.trash_path):
            raise NoteNotFound(
                f"{tombstone.path} is no longer in {TRASH}: it was deleted or moved from there",
                path=tombstone.path,
            )
        path = staging.free_path(tombstone.path or "", first=2)
        staging.move(tombstone.trash_path, path)
    staging.note_restored(tombstone.reversal_hash)
    whole = history.find(tombstone.reversal_hash)
    if whole is not None and whole.kind is ChangeKind.FORGOTTEN and whole.undone_by is None:
        staging.note_undone(whole.reversal_hash)
    return Restored(tombstone, path)


def hidden_by(target: Target) -> frozenset[str]:
    """The nodes without a note that the graph omits while this is forgotten."""
    if target.note is not None:
        return concept_ids(names_of_memory(target.note))
    own = frozenset(target.node_ids)
    return own if target.kind == NodeKind.TAG else own | concept_ids([target.name])


def _restorable(forgotten: Forgotten, target: str, now: datetime) -> Tombstone:
    called = forgotten.called(target)
    found = [each for each in called if each.restorable(now)]
    if len(found) == 1:
        return found[0]
    if found:
        raise AmbiguousTarget(
            f"{len(found)} forgotten notes or concepts are named {target!r}: give the "
            "reversal_hash",
            candidates=[
                {
                    "reversal_hash": each.reversal_hash,
                    "name": each.name,
                    "path": each.path,
                    "forgotten_at": each.forgotten_at.isoformat(timespec="seconds"),
                }
                for each in found
            ],
        )
    if called or forgotten.was_purged(target):
        raise NoteNotFound(
            f"{target!r} was deleted for good: its 30 days are over, or it was to be permanent",
            target=target,
        )
    raise NoteNotFound(
        f"No forgotten note is named {target!r}: give its title, path, id or reversal_hash",
        target=target,
    )
