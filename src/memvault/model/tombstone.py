"""What is left of a note or a concept that was forgotten (core REQ-CORE-013)."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict


class Tombstone(BaseModel):
    """One thing forgotten: a note that lies in the vault's trash, or a concept without a note.

    Attributes:
        reversal_hash: names this change, so that it can be taken back.
        node_ids: the memory's id, or the ids of the nodes that the concept had in the graph.
        kind: the memory's type, or the concept's kind.
        path, trash_path, content_hash: where the note was, where it is now, and its bytes'
            blake2b-128; None for a concept, which is only named in other notes.
        hidden: ids of the nodes without a note that the graph leaves out while this holds.
        restorable_until: when the note is deleted for good; None for a concept, of which nothing
            is kept that could be deleted.
        permanent: not to be restored at all.
        repeats: where this thing was forgotten before, restored, and that was taken back: the
            reversal hash by which it was forgotten first.
    """

    model_config = ConfigDict(frozen=True)

    reversal_hash: str
    name: str
    kind: str
    node_ids: tuple[str, ...]
    path: str | None = None
    trash_path: str | None = None
    content_hash: str | None = None
    hidden: tuple[str, ...] = ()
    forgotten_at: datetime
    restorable_until: datetime | None = None
    permanent: bool = False
    repeats: str | None = None
    reason: str | None = None
    rationale: str

    def restorable(self, now: datetime) -> bool:
        """Whether it may still be brought back at this moment."""
        in_time = self.restorable_until is None or now < self.restorable_until
        return in_time and not self.permanent
