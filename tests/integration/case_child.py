"""A process that changes only the case of a note's name, and kills itself on the way."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from memvault.curation.changes.undo import undoable
from tests.desk import WHY, Desk
from tests.ignoring_case import ignoring_case
from tests.integration.change_child import stepping


def rename_and_die(root: Path, number: int) -> None:
    """Rename ada.md to Ada.md, or take that back, and be killed before the step of this number."""
    steps = iter(range(number))

    def step() -> None:
        if next(steps, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    with ignoring_case(in_one_step=False), stepping(step):
        desk = Desk(root)
        made = undoable(desk.curator.history.changes())
        if made:
            desk.curator.undo(made, WHY)
        else:
            desk.move("ada.md", "Ada.md")
