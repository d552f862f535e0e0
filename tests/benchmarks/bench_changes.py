"""How long the write engine takes for one change, without tools and indexes.

``python -m tests.benchmarks.bench_changes [--dir DIR]``; a folder on the disk of the vault, since
flushing takes most of the time.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from memvault.curation.operations.draft import Draft
from memvault.curation.operations.importing import import_conversations
from memvault.curation.operations.preferences import set_preference
from memvault.curation.operations.remember import remember
from tests.benchmarks.figures import Figure, median, percentile, show
from tests.desk import WHY, Desk

STORED, SET, FORGOTTEN, IMPORTED = 200, 60, 40, 300


def measured(name: str, times: int, change: Callable[[int], object]) -> Figure:
    spent = []
    for number in range(times):
        began = time.perf_counter()
        change(number)
        spent.append((time.perf_counter() - began) * 1000)
    note = f"p95 {percentile(spent, 0.95):.0f}"
    return Figure(f"{name}, median", median(spent), "ms", note=note)


def store(desk: Desk, number: int) -> None:
    draft = Draft.checked(
        content=f"Line {number} of a memory. " * 20,
        title=f"Memory {number}",
        rationale="Kept to be measured.",
        client="a client",
    )
    remember(desk.curator, draft)


def import_many(desk: Desk, folder: Path) -> None:
    talks = [
        {
            "uuid": f"u-{number}",
            "name": f"Talk {number}",
            "created_at": "2026-03-01T10:00:00Z",
            "chat_messages": [{"sender": "human", "text": "Hello " * 50}],
        }
        for number in range(IMPORTED)
    ]
    (folder / "conversations.json").write_text(json.dumps(talks), encoding="utf-8")
    import_conversations(desk.curator, folder / "conversations.json", "claude")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", type=Path, default=None)
    home = parser.parse_args().dir
    with tempfile.TemporaryDirectory(dir=home) as vault, tempfile.TemporaryDirectory() as export:
        desk = Desk(Path(vault))
        figures = [
            measured("store", STORED, lambda number: store(desk, number)),
            measured(
                "set a preference", SET,
                lambda number: set_preference(desk.curator, "Tone", f"dry {number}", WHY),
            ),
            measured(
                "forget and restore", FORGOTTEN,
                lambda _: desk.restore(desk.forget("permanent/preferences.md").reversal_hash),
            ),
            measured(f"import {IMPORTED} conversations", 1, lambda _: import_many(desk, Path(export))),
        ]  # fmt: skip
    show("changes", figures)


if __name__ == "__main__":
    main()
