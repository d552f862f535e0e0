"""An engine with two small tools, and the bridge to it: the processes without the library.

``tiny_engine.py serve STATE [IDLE_SECONDS]`` and ``tiny_engine.py bridge STATE [IDLE_SECONDS]``.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from pathlib import Path

from memvault.config.paths import StateFolder

REPO = Path(__file__).parents[2]


def command(mode: str, state: Path, idle_seconds: float | None = None) -> list[str]:
    idle = [] if idle_seconds is None else [str(idle_seconds)]
    return [sys.executable, str(Path(__file__)), mode, str(state), *idle]


def quick_command(state: Path, idle_seconds: float | None = None) -> list[str]:
    """As `command("serve", …)`; forks the engine where ``FORKED_ENGINES`` says who does that."""
    engine = command("serve", state, idle_seconds)
    if address := os.environ.get("FORKED_ENGINES"):
        fork = Path(__file__).with_name("fork_engine.py")
        return [sys.executable, "-I", "-S", str(fork), address, *engine[3:]]
    return engine


def environment() -> dict[str, str]:
    """Variables for a process of this tree, whose engines are forked if those of the module are."""
    folders = [REPO / "src", REPO]
    if "FORKED_ENGINES" in os.environ:
        folders.append(Path(__file__).with_name("forked_commands"))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}


class TinyBackend:
    def __init__(self, state: StateFolder) -> None:
        from mcp_server.metrics import Metrics

        self.metrics = Metrics()
        self._state = state

    def start(self, failed: object) -> None: ...

    def watch_clients(self, tracker: object) -> None: ...

    def health(self) -> dict[str, str]:
        return {"status": "ok"}

    def wind_down(self) -> None: ...

    def status(self) -> dict[str, object]:
        return {"notes": 3, "vault": Path("vault")}

    def doctor(self, *, fix: bool) -> list[dict[str, object]]:
        return [{"problem": "a stale index", "fixed": fix}]

    def write_manifest(self) -> dict[str, object]:
        return {"path": "manifest.md"}

    def rebuild(self, report: object) -> None:
        from indexer.progress import Progress

        assert callable(report)
        for done in range(4):
            report(Progress("indexing", done, 3))

    def close(self) -> None:
        (self._state.root / "closed").write_text(str(os.getpid()))


def serve(state: StateFolder, idle_seconds: float | None) -> None:
    from fastmcp import FastMCP
    from fastmcp.server.dependencies import get_context

    from mcp_server.engine.bridge import CALL_KEY, ONCE
    from mcp_server.engine.process import run_engine
    from mcp_server.middleware.client_identity import ToolSets, client_name
    from memvault.config.settings import EngineSettings

    logging.basicConfig(level=logging.INFO)
    mcp: FastMCP = FastMCP("tiny", middleware=[ToolSets("core")])

    @mcp.tool(annotations={"readOnlyHint": True}, tags={"core"})
    def who(pause: float = 0.0) -> int:
        """The engine's process id; a file tells that the pause began."""
        if pause:
            (state.root / "asked").touch()
        time.sleep(pause)
        return os.getpid()

    @mcp.tool(tags={"core"})
    def write(word: str, pause: float = 0.0) -> str:
        """Appends a word to a file."""
        with (state.root / "words").open("a") as file:
            file.write(word + "\n")
        time.sleep(pause)
        return word

    @mcp.tool(meta={ONCE: True}, tags={"core"})
    def keep(word: str, pause: float = 0.0) -> str:
        """Appends the word with the key of the call to a file."""
        request = get_context().request_context
        meta = None if request is None else request.meta
        with (state.root / "kept").open("a") as file:
            file.write(f"{word} {dict(meta or {}).get(CALL_KEY)}\n")
        (state.root / "asked").touch()
        time.sleep(pause)
        return word

    @mcp.tool
    def caller() -> str | None:
        return client_name()

    port = int(os.environ.get("TINY_WEB_PORT", "0"))
    public_url = f"http://127.0.0.1:{port}" if port else None
    settings = EngineSettings(
        idle_exit_seconds=idle_seconds or 600, port=port, public_url=public_url
    )
    run_engine(
        state,
        settings,
        lambda: (mcp, TinyBackend(state)),
        idle_exit=idle_seconds is not None,
    )


def serve_as(version: str, state: StateFolder) -> None:
    """The engine of another version of memvault."""
    from mcp_server.engine import process

    process.installed_version = lambda: version
    serve(state, None)


def main(arguments: list[str]) -> int:
    mode, state = arguments[0], StateFolder(Path(arguments[1]))
    idle_seconds = float(arguments[2]) if len(arguments) > 2 else None
    if mode == "bridge":
        from mcp_server.engine.bridge import run_bridge
        from mcp_server.engine.launcher import Launcher

        engine = quick_command(state.root, idle_seconds)
        run_bridge(Launcher(state, engine, timeout=30, tools=os.environ.get("TINY_TOOLS", "core")))
        return 0
    from memvault.model.errors import MemvaultError

    try:
        serve(state, idle_seconds)
    except MemvaultError as error:
        sys.stderr.write(f"{error.message}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
