"""A note as the catalogue has it."""

from __future__ import annotations

from datetime import datetime

from indexer.catalogue import FORMAT, NoteRecord
from memvault.model.memory import Memory


def indexed_note(
    memory: Memory,
    saved: datetime,
    problem: str | None = None,
    warnings: tuple[str, ...] = (),
) -> NoteRecord:
    return NoteRecord(
        memory=memory,
        size=0,
        mtime_ns=round(saved.timestamp()) * 10**9,
        frontmatter_problem=problem,
        warnings=warnings,
        format=FORMAT,
    )
