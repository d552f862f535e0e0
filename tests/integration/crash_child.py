"""A process to be killed: it edits notes, stores memories and indexes, as fast as it can."""

from __future__ import annotations

import itertools
import threading
from multiprocessing.connection import Connection
from pathlib import Path

from mcp_server.engine.process import run_engine
from mcp_server.engine.startup import Startup
from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from memvault.config.paths import StateFolder
from memvault.config.settings import EngineSettings, IndexSettings, Settings
from memvault.curation.operations.draft import Draft
from memvault.curation.operations.merge import MergeIndex
from memvault.curation.operations.remember import remember

BODY = "Line of a memory that is written whole or not at all.\n"


def live(vault: Path, state_root: Path, run: int, acknowledged: Connection) -> None:
    """Run until killed; send (path, marker) of every memory after it was stored and indexed."""
    settings = Settings(index=IndexSettings(debounce_seconds=0.02, ner="off"))
    container = Container(vault, settings, StateFolder(state_root))
    acknowledged.send(("started", ""))
    threading.Thread(target=_edit, args=(vault, run), daemon=True).start()
    container.start()
    for number in itertools.count():
        marker = f"run{run}n{number}"
        draft = Draft.checked(
            content=f"# Memory {marker}\n\n{BODY * 40}\n{marker} ends here.\n",
            rationale="Kept to see whether it survives.",
            project=f"p{number % 3}",
        )
        index = MergeIndex(container.live.catalogue, container.live.indexer.links, lambda _: set())
        stored = remember(container.curator, draft, index=index)
        path = stored.result.path
        container.live.indexer.index([path])
        acknowledged.send((path, marker))


def serve(vault: Path, state_root: Path, run: int) -> None:
    """The engine itself, for real clients, until killed."""
    settings = Settings(index=IndexSettings(debounce_seconds=0.02, ner="off"))
    state = StateFolder(state_root)
    startup = Startup(lambda _: Container(vault, settings, state))
    threading.Thread(target=_edit, args=(vault, run), daemon=True).start()
    run_engine(state, EngineSettings(), lambda: (build_server(startup), startup))


def _edit(vault: Path, run: int) -> None:
    """A person at work beside: notes are written, changed and deleted."""
    for number in itertools.count():
        note = vault / f"notes/Note {number % 7}.md"
        note.parent.mkdir(exist_ok=True)
        note.write_text(
            f"# Note {number % 7}\n\nVersion {run}.{number}, see [[Note {number % 5}]].\n"
        )
        if number % 11 == 0:
            note.unlink()
        threading.Event().wait(0.03)
