"""Every kind of change, and what a kill in the middle of one leaves."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from memvault.curation.changes.plan import Attribution
from memvault.curation.operations.draft import Draft
from memvault.curation.operations.edit import EditOperation, NoteEdit, stage_edit
from memvault.curation.operations.fade import (
    FadedText,
    last_fading,
    stage_fading,
    stage_reconstruction,
)
from memvault.curation.operations.importing import import_conversations
from memvault.curation.operations.preferences import set_preference
from memvault.curation.operations.remember import remember
from memvault.model.change import ChangeKind
from memvault.vault import journal_files, write
from memvault.vault.note_folders import PREFERENCES_NOTE
from tests.desk import MORNING, WHY, Desk

ASKED = Attribution("a client", "They asked me to delete it.", "user_requested")
PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(20)).decode()
TALK = "sessions/Talk.md"
EXPORT = ".conversations.json"


def talk(number: int, *texts: str) -> dict[str, Any]:
    return {
        "uuid": f"u-{number}",
        "name": f"Talk {number}",
        "created_at": "2026-03-01T10:00:00Z",
        "chat_messages": [{"sender": "human", "text": text} for text in texts],
    }


def import_talks(desk: Desk, *talks: dict[str, Any]) -> None:
    (desk.root / EXPORT).write_text(json.dumps(talks), encoding="utf-8")
    import_conversations(desk.curator, desk.root / EXPORT, "claude")


def fade(desk: Desk) -> None:
    memory = desk.memory(TALK)
    faded = FadedText(memory, "keys", "Ada\n", memory.content_hash, MORNING)
    desk.do(ChangeKind.FADED, desk.target(TALK), lambda staging: stage_fading(staging, faded, None))


def prepare(desk: Desk) -> None:
    """The vault that every change begins with."""
    desk.write("Plan.md", "# Plan\n\nA plan.\n")
    desk.write("Old.md", "# Old\n\nForgotten once.\n")
    desk.write("Goal.md", "# Goal\n\nOurs.\n")
    desk.write(TALK, "# Talk\n\n" + "Ada spoke of seeds.\n" * 20)
    desk.forget("Old.md")
    import_talks(desk, talk(1, "Hello"))


CHANGES: dict[str, Callable[[Desk], object]] = {
    "store": lambda desk: remember(
        desk.curator, Draft.checked(content="Seeds keep in jars.", rationale="Asked to keep it.")
    ),
    "store a picture": lambda desk: remember(
        desk.curator,
        Draft.checked(content_base64=PICTURE, modality="image", rationale="A sketch of the shelf."),
    ),
    "first preference": lambda desk: set_preference(desk.curator, "Tone", "dry", WHY),
    "preference": lambda desk: set_preference(desk.curator, "Tone", "warm", WHY),
    "import": lambda desk: import_talks(desk, talk(1, "Hello", "And now?"), talk(2, "Hi")),
    "forget": lambda desk: desk.forget("Plan.md"),
    "forget for good": lambda desk: desk.forget("Plan.md", ASKED, permanent=True),
    "restore": lambda desk: desk.restore("Old"),
    "fade": fade,
    "bring back": lambda desk: desk.do(
        ChangeKind.RECONSTRUCTED,
        desk.target(TALK),
        lambda staging: stage_reconstruction(
            staging,
            desk.target(TALK),
            last_fading(desk.curator.history, desk.memory(TALK)),
            desk.curator.history.content,
        ),
    ),
    "move": lambda desk: desk.move("seeds/Log.md", "jars"),
    "edit": lambda desk: desk.do(
        ChangeKind.EDITED,
        desk.target("Plan.md"),
        lambda staging: stage_edit(
            staging, desk.target("Plan.md"), NoteEdit(EditOperation.APPEND, "Sown in May.")
        ),
    ),
    "merge": lambda desk: desk.merge("seeds/Log.md", into="Goal.md"),
    "move a folder": lambda desk: desk.move_folder("seeds/", "store/"),
    "undo a move": lambda desk: desk.curator.undo(
        [desk.curator.history.changes()[0].reversal_hash], WHY
    ),
    "undo": lambda desk: desk.curator.undo([desk.curator.history.changes()[0].reversal_hash], WHY),
}


def compress(desk: Desk) -> None:
    for saved in desk.journal.compress(MORNING + timedelta(days=40)):
        assert saved > 0


def prepared(desk: Desk, change: str) -> None:
    """The vault just before a change."""
    prepare(desk)
    if change == "preference":
        desk.write(PREFERENCES_NOTE, "- Tone: dry\n- Units: metric\n")
    if change == "bring back":
        fade(desk)
    if "move" in change or change == "merge":
        desk.write("seeds/Log.md", "# Log\n\nHere: [[seeds/Log]].\n")
        desk.write("seeds/deep/Jar.md", "In [[seeds/Log]].\n")
        desk.write("Index.md", "See [[seeds/Log|the log]].\n")
        desk.write("Board.canvas", '{"nodes":[{"type":"file","file":"seeds/Log.md"}]}')
    if change == "undo a move":
        desk.move("seeds/Log.md", "jars")
    if change == "undo":
        desk.merge("Plan.md", into="Goal.md")


@contextmanager
def stepping(step: Callable[[], None]) -> Iterator[None]:
    """Call ``step`` before every call that makes something last: a new file, a flush, a line of
    the journal, a new name."""
    places: list[tuple[Any, str]] = [
        (os, "fsync"), (os, "link"), (os, "unlink"), (tempfile, "mkstemp"),
        (journal_files, "_write_or_truncate"), (write, "atomic_swap"), (write, "rename_if_free"),
    ]  # fmt: skip
    originals = [(owner, name, getattr(owner, name)) for owner, name in places]

    def stepped(call: Callable[..., Any]) -> Callable[..., Any]:
        def then(*arguments: Any, **named: Any) -> Any:
            step()
            return call(*arguments, **named)

        return then

    for owner, name, call in originals:
        setattr(owner, name, stepped(call))
    try:
        yield
    finally:
        for owner, name, call in originals:
            setattr(owner, name, call)


def left_by_kills(root: Path, copies: Path, change: Callable[[], object]) -> Iterator[Path]:
    """Make a change of the vault at ``root``; gives copies of it as a kill before each step of the
    change leaves it, then the vault itself."""
    numbers = itertools.count()

    def copy() -> None:
        shutil.copytree(root, copies / str(next(numbers)))

    with stepping(copy):
        change()
    yield from (copies / str(number) for number in range(next(numbers)))
    yield root
