"""A process that merges many notes, or takes that back, and kills itself on the way."""

from __future__ import annotations

import itertools
import os
import signal
from pathlib import Path

from memvault.curation.changes.undo import undoable
from tests.desk import WHY, Desk

INTO = "Survivor.md"


def merge_and_die(root: Path, step: int) -> None:
    """Be killed before the disk is flushed for the ``step``-th time; every write, rename and entry
    of the journal lies between two such."""
    desk = Desk(root)
    flushes, flush = itertools.count(), os.fsync

    def flush_or_die(handle: int) -> None:
        if next(flushes) == step:
            os.kill(os.getpid(), signal.SIGKILL)
        flush(handle)

    os.fsync = flush_or_die
    merge_or_undo(desk)


def merge_or_undo(desk: Desk) -> None:
    """Merge the notes of a folder into one note, or take that back."""
    known, target = desk.known(), desk.target(INTO)
    sources = sorted(stat.path for stat in desk.vault.walk() if stat.path.startswith("old/"))
    if standing := undoable(desk.curator.history.changes()):
        desk.curator.undo(standing, WHY)
    else:
        desk.merge_known(known, [desk.target(path) for path in sources], target)
