"""Generations of indexes: a rebuild fills a new folder beside the live one, then is swapped in.

``indexes/current`` names the live folder. It is replaced atomically, so a crash at any moment
leaves either the old or the new generation live; folders that it does not name are rubbish.
"""

from __future__ import annotations

import os
import shutil
import uuid
from contextlib import suppress
from pathlib import Path

from memvault.config.paths import StateFolder

POINTER = "current"
DAMAGED = "damaged"  # the last generation that could not be opened, for who wants to look


def live_folder(state: StateFolder) -> Path:
    """The folder of the live generation, made if there is none yet."""
    pointer = state.indexes / POINTER
    if pointer.is_file():
        folder = state.indexes / pointer.read_text(encoding="utf-8").strip()
        if folder.is_dir():
            return folder
    folder = new_folder(state)
    make_live(state, folder)
    return folder


def new_folder(state: StateFolder) -> Path:
    folder = state.indexes / uuid.uuid4().hex[:12]
    folder.mkdir(parents=True, mode=0o700)
    return folder


def make_live(state: StateFolder, folder: Path) -> None:
    """Name this folder as the live generation, durably."""
    temporary = state.indexes / f".{POINTER}-{uuid.uuid4().hex[:8]}"
    with temporary.open("w", encoding="utf-8") as file:
        file.write(folder.name)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(state.indexes / POINTER)


def put_aside(state: StateFolder, folder: Path) -> None:
    """Keep a damaged generation out of the way, in place of one kept earlier."""
    (state.indexes / POINTER).unlink(missing_ok=True)
    kept = state.indexes / DAMAGED
    shutil.rmtree(kept, ignore_errors=True)
    # Where a file in it is still held open (Windows), it stays, and is removed as stale later.
    with suppress(OSError):
        folder.rename(kept)


def remove_stale(state: StateFolder) -> None:
    """Delete generations that are not live (left by a rebuild that was cut off)."""
    live = live_folder(state)
    for entry in state.indexes.iterdir():
        if entry.name in (POINTER, DAMAGED) or entry == live:
            continue
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
