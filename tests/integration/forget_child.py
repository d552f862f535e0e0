"""A process to be killed: it forgets and restores notes, as fast as it can."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path

from memvault.curation.targets import Target
from memvault.curation.trash.forget import Forgetter, Why
from memvault.curation.trash.forgotten import Forgotten
from memvault.model.errors import MemvaultError
from memvault.vault.files import Vault
from memvault.vault.frontmatter.properties import memory_of
from memvault.vault.journal import Journal
from memvault.vault.parse import parse_note

WHY = Why("a client", "They asked me to forget it.", "user_requested")


def forget_and_restore(root: Path, seed: int, told: Connection) -> None:
    """Run until killed; tell (done, path) of every change after it was made."""
    dice = random.Random(seed)
    vault = Vault(root)
    journal = Journal(vault)
    forgetter = Forgetter(vault, journal, Forgotten.read(journal))
    forgetter.mend()
    told.send(("started", ""))
    while True:
        stats = list(vault.walk())
        kept = forgetter.forgotten.kept()
        try:
            if kept and (not stats or dice.random() < 0.5):
                restored = forgetter.restore(dice.choice(kept).reversal_hash, WHY)
                told.send(("restored", restored.path))
            elif stats:
                path = dice.choice(stats).path
                note = parse_note(path, vault.read(path))
                memory = memory_of(note, fallback_time=datetime.now(UTC))
                forgetter.forget(Target(memory.title, memory), WHY)
                told.send(("forgotten", path))
        except MemvaultError as error:
            told.send(("failed", error.message))
