"""A process to be killed: it forgets and restores notes, as fast as it can."""

from __future__ import annotations

import random
from multiprocessing.connection import Connection
from pathlib import Path

from memvault.model.errors import MemvaultError
from tests.desk import Desk


def forget_and_restore(root: Path, seed: int, sent: Connection) -> None:
    """Run until killed; send (kind, path) of every change after it was made."""
    dice = random.Random(seed)
    desk = Desk(root)
    sent.send(("started", ""))
    while True:
        notes = list(desk.vault.walk())
        kept = desk.kept()
        try:
            if kept and (not notes or dice.random() < 0.5):
                restored = desk.restore(dice.choice(kept).reversal_hash)
                sent.send(("restored", restored.path))
            elif notes:
                path = dice.choice(notes).path
                desk.forget(path)
                sent.send(("forgotten", path))
        except MemvaultError as error:
            sent.send(("failed", error.message))
