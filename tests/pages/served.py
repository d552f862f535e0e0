"""The pages as a browser meets them: a vault, its container, and the engine's own application."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from mcp_server.app import engine_app
from mcp_server.engine.startup import Startup
from mcp_server.runtime.activity_tracker import ActivityTracker
from mcp_server.runtime.container import Container
from mcp_server.security.access_policy import AccessPolicy
from mcp_server.server import build_server
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from tests.integration.caller import Caller
from tests.integration.small_vault import write_notes
from tests.waiting import PATIENCE_SECONDS, until


class Served:
    """A vault whose pages are served at ``url``."""

    def __init__(self, container: Container, url: str, caller: Caller) -> None:
        self.container = container
        self.url = url
        self.caller = caller

    @property
    def vault(self) -> Path:
        return Path(self.container.vault.root)

    def id_of(self, title: str) -> str:
        return self.caller.id_of(title)

    def path_of(self, title: str) -> Path:
        memory = next(m for m in self.container.live.catalogue.all() if m.title == title)
        return self.vault / memory.path

    def bytes_of(self, title: str) -> bytes:
        return self.path_of(title).read_bytes()

    def edit(self, path: str, text: str) -> None:
        """Save a note in an editor, with the watcher's work done."""
        (self.vault / path).parent.mkdir(parents=True, exist_ok=True)
        (self.vault / path).write_text(text, encoding="utf-8", newline="")
        self.container.indexing.index_written([path])

    def settled(self) -> None:
        """Wait until the tasks are those of the notes as they are."""
        assert self.container.curation.wait(PATIENCE_SECONDS)


@contextmanager
def served(home: Path, notes: Mapping[str, str]) -> Iterator[Served]:
    """The notes, indexed and served by the engine's application on a port of this machine."""
    vault = home / "My vault"
    write_notes(vault, notes)
    state = StateFolder.of_vault(vault, home / "state")
    with serving(vault, Settings(index=IndexSettings(ner="off")), state) as running:
        yield running


@contextmanager
def serving(vault: Path, settings: Settings, state: StateFolder) -> Iterator[Served]:
    """This vault, as `served`."""
    container = Container(vault, settings, state)
    container.indexing.scan()
    startup = Startup.of(container)
    server = build_server(startup)
    app = engine_app(
        server,
        startup,
        policy=AccessPolicy("127.0.0.1", "engine-token"),
        tracker=ActivityTracker(),
        stop=lambda: None,
    )
    running = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="on"))
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    thread = threading.Thread(target=running.run, args=[[listener]], daemon=True)
    thread.start()
    until(lambda: running.started)
    caller = Caller(container)
    container.curation.start()
    try:
        yield Served(container, url, caller)
    finally:
        startup.wind_down()
        running.should_exit = True
        thread.join(PATIENCE_SECONDS)
        container.close()
