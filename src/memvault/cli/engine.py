"""The long-running commands: ``serve``, ``mcp`` and ``watch``."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Callable
from enum import StrEnum
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from memvault.cli.bridge import run_bridge_command
from memvault.cli.context import console, places_of, settings_of
from memvault.cli.options import Places
from memvault.model.errors import InvalidParams

if TYPE_CHECKING:
    from fastmcp import FastMCP

    from mcp_server.engine.launcher import EngineAddress
    from mcp_server.engine.startup import Opening
    from mcp_server.runtime.container import Services
    from memvault.config.settings import Settings


class ToolSet(StrEnum):
    CORE = "core"
    FULL = "full"


Tools = Annotated[ToolSet, typer.Option(help="The tools that clients are shown.")]


def add_commands(app: typer.Typer) -> None:
    app.command()(serve)
    app.command()(mcp)
    app.command()(watch)


def serve(
    context: typer.Context,
    idle_exit: Annotated[
        bool,
        typer.Option("--idle-exit", help="End some time after the last client left."),
    ] = False,
    tools: Tools = ToolSet.CORE,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch/--no-watch",
            help="Whether to index what changes; without, `memvault watch` does, on any machine.",
        ),
    ] = True,
) -> None:
    """Run the engine in the foreground: the watcher, the page at /, and MCP over HTTP at /mcp."""
    from mcp_server.engine.process import run_engine

    places = places_of(context)
    settings = settings_of(places)
    if not watch:
        _ensure_servers(settings, "`memvault serve --no-watch`")
    _log_to_stderr()

    def ready(address: EngineAddress) -> None:
        if sys.stdout.isatty():
            console.print(Text.assemble(("Page ", "dim"), f"http://{address.netloc}/"))
            console.print(Text.assemble(("MCP  ", "dim"), f"http://{address.netloc}/mcp"))
            console.print(Text(f"Serving {places.vault}. Ctrl-C stops.", style="dim"))

    run_engine(
        places.state,
        settings.engine,
        lambda: _assemble(places, settings, tools, watch),
        idle_exit=idle_exit,
        on_ready=ready,
    )


def _assemble(
    places: Places, settings: Settings, tools: ToolSet, watch: bool
) -> tuple[FastMCP, Opening]:
    """The server, and the services that open behind it: questions are answered as soon as they
    are open, from what is indexed so far."""
    from mcp_server.engine.startup import Opening
    from mcp_server.server import build_server

    def open_all(tell: Callable[[str], None]) -> Services:
        from mcp_server.runtime.container import (
            open_services,  # seconds, in which tools are listed already
        )

        return open_services(places.vault, settings, places.state, tell)

    opening = Opening(open_all, watch=watch)
    return build_server(opening, tools=tools.value), opening


def mcp(context: typer.Context, tools: Tools = ToolSet.CORE) -> None:
    """The bridge that AI clients start over stdio; it finds or starts the engine.

    `memvault connect` writes it into a client's configuration.
    """
    options = context.find_root().params
    arguments = [f"--{name}={options[name]}" for name in ("vault", "config") if options[name]]
    raise typer.Exit(run_bridge_command([*arguments, "mcp", f"--tools={tools.value}"]) or 0)


def watch(
    context: typer.Context,
    check: Annotated[
        bool, typer.Option("--check", help="Only tell whether a process indexes now.")
    ] = False,
) -> None:
    """The indexer alone, for server stores: MCP is answered on another machine.

    Of several, one indexes; the others stand by, and one takes over when it ends.
    """
    places = places_of(context)
    settings = settings_of(places)
    _ensure_servers(settings, "`memvault watch`")
    if check:
        return _tell_whether_indexed(places, settings)
    _log_to_stderr()
    return _watch_until_stopped(places, settings)


def _ensure_servers(settings: Settings, command: str) -> None:
    if "embedded" in {settings.vectors, settings.graph, settings.keyvalue}:
        raise InvalidParams(
            f"{command} is for server stores, but some stores here are embedded, which one "
            "process alone can open. Use `memvault serve`, which watches too."
        )


def _tell_whether_indexed(places: Places, settings: Settings) -> None:
    from contextlib import closing

    from indexer.leader_lease import is_anyone_indexing
    from memvault.stores.open import open_keyvalue

    with closing(open_keyvalue(settings, places.state.indexes / "none")) as store:
        indexed = is_anyone_indexing(store)
    console.print("A process indexes this vault." if indexed else "No process indexes this vault.")
    raise typer.Exit(0 if indexed else 1)


def _watch_until_stopped(places: Places, settings: Settings) -> None:
    from indexer.progress import Progress
    from mcp_server.runtime.container import open_services
    from memvault.cli.progress import bar

    stop = threading.Event()

    def end(_signum: int, _frame: FrameType | None) -> None:
        stop.set()

    services = open_services(places.vault, settings, places.state)
    try:
        with bar() as progress:
            task = progress.add_task("indexing", total=None)

            def report(now: Progress) -> None:
                progress.update(
                    task, description=now.stage, completed=now.done, total=now.total or None
                )

            services.start(report=report)
        for signum in (signal.SIGINT, signal.SIGTERM):
            signal.signal(signum, end)
        console.print(f"Watching {places.vault}. Ctrl-C stops.")
        while not stop.wait(0.5):  # a wait without end would keep Windows from seeing Ctrl-C
            pass
    finally:
        services.close()


def _log_to_stderr() -> None:
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    for name in ("memvault", "indexer", "mcp_server"):
        logging.getLogger(name).setLevel(logging.INFO)
