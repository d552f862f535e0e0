"""Commands that run and stop the engine, its bridge and its indexer."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from mcp_server.engine import ToolSet
from memvault.cli.bridge import run_bridge_command
from memvault.cli.options import Places
from memvault.cli.terminal import bar, console, places_of, settings_of
from memvault.model.errors import EngineUnavailable, InvalidParams, MemvaultError

if TYPE_CHECKING:
    from fastmcp import FastMCP

    from indexer.doctor import Problem
    from mcp_server.engine.launcher import EngineAddress
    from mcp_server.engine.startup import Startup
    from mcp_server.runtime.container import Container
    from memvault.config.settings import Settings


Tools = Annotated[ToolSet, typer.Option(help="The tools that clients are offered.")]

_STOP_SECONDS = 70.0  # the engine itself exits by force after 60


def add_commands(app: typer.Typer) -> None:
    for command in (serve, mcp, watch, stop):
        app.command(rich_help_panel="Engine")(command)


def serve(
    context: typer.Context,
    idle_exit: Annotated[
        bool,
        typer.Option("--idle-exit", help="Stop some time after the last client has left."),
    ] = False,
    tools: Tools = "core",
    watch: Annotated[
        bool,
        typer.Option(
            "--watch/--no-watch",
            help="Index changed notes; --no-watch leaves that to `memvault watch` elsewhere.",
        ),
    ] = True,
    public_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The https address of a tunnel; AI clients on the web sign in there.",
        ),
    ] = None,
) -> None:
    """Run the engine in the foreground: the indexer, the page at / and MCP over HTTP at /mcp."""
    from mcp_server.engine.process import run_engine

    places = places_of(context)
    settings = settings_of(places)
    if not watch:
        _ensure_servers(settings, "`memvault serve --no-watch`")
    engine_settings = settings.engine.at(public_url) if public_url else settings.engine
    _log_to_stderr()

    def ready(address: EngineAddress) -> None:
        if sys.stdout.isatty():
            console.print(Text.assemble(("Page ", "dim"), f"http://{address.netloc}/"))
            console.print(Text.assemble(("MCP  ", "dim"), f"http://{address.netloc}/mcp"))
            if engine_settings.public_url:
                console.print(Text.assemble(("Web  ", "dim"), f"{engine_settings.public_url}/mcp"))
            console.print(Text(f"Serving {places.vault}. Ctrl-C stops.", style="dim"))

    run_engine(
        places.state,
        engine_settings,
        lambda: _assemble(places, settings, tools, watch),
        idle_exit=idle_exit,
        on_ready=ready,
    )


def _assemble(
    places: Places, settings: Settings, tools: ToolSet, watch: bool
) -> tuple[FastMCP, Startup]:
    """The server and its startup, which opens the container in the background."""
    from mcp_server.engine.startup import Startup
    from mcp_server.server import build_server

    def open_all(report: Callable[[str], None]) -> Container:
        # This takes seconds; clients can list the tools meanwhile.
        from mcp_server.runtime.container import Container

        return Container(places.vault, settings, places.state, report)

    startup = Startup(
        open_all,
        watch=watch,
        configuration_problem=lambda: _configuration_problem(places, settings),
    )
    return build_server(startup, tools=tools), startup


def _configuration_problem(places: Places, settings: Settings) -> Problem | None:
    """The problem if the configuration no longer gives the settings that the engine uses."""
    from indexer.doctor import Problem

    try:
        if settings_of(places) == settings:
            return None
    except InvalidParams as error:
        return Problem(
            "error",
            error.message,
            f"correct it in {places.config_file}; memvault uses the settings that it started with, "
            "and cannot start again until then",
        )
    return Problem(
        "note",
        "the configuration changed since memvault started",
        "run `memvault stop`; the next start uses the new settings",
    )


def mcp(context: typer.Context, tools: Tools = "core") -> None:
    """Run the bridge that AI clients start over stdio; it finds the engine or starts it.

    `memvault connect` adds this command to a client's configuration.
    """
    options = context.find_root().params
    arguments = [f"--{name}={options[name]}" for name in ("vault", "config") if options[name]]
    raise typer.Exit(run_bridge_command([*arguments, "mcp", f"--tools={tools}"]) or 0)


def watch(
    context: typer.Context,
    check: Annotated[
        bool, typer.Option("--check", help="Report whether an indexer is running.")
    ] = False,
) -> None:
    """Run only the indexer, for server stores; another machine answers clients.

    Of several indexers one works; the others wait, and one takes over when it stops.
    """
    places = places_of(context)
    settings = settings_of(places)
    _ensure_servers(settings, "`memvault watch`")
    if check:
        return _report_whether_indexed(places, settings)
    _log_to_stderr()
    return _watch_until_stopped(places, settings)


def _ensure_servers(settings: Settings, command: str) -> None:
    if "embedded" in {settings.vectors, settings.graph, settings.keyvalue}:
        raise InvalidParams(
            f"{command} needs server stores, but some stores are embedded, and only one process "
            "can open those. Use `memvault serve`, which also indexes."
        )


def _report_whether_indexed(places: Places, settings: Settings) -> None:
    from contextlib import closing

    from indexer.replica import is_anyone_indexing
    from memvault.stores.open import open_keyvalue

    with closing(open_keyvalue(settings, places.state.indexes / "none")) as store:
        indexed = is_anyone_indexing(store)
    console.print("An indexer is running." if indexed else "No indexer is running.")
    raise typer.Exit(0 if indexed else 1)


def _watch_until_stopped(places: Places, settings: Settings) -> None:
    from indexer.progress import Progress
    from mcp_server.runtime.container import Container

    stop = threading.Event()

    def end(_signum: int, _frame: FrameType | None) -> None:
        stop.set()

    container = Container(places.vault, settings, places.state)
    try:
        with bar() as progress:
            task = progress.add_task("indexing", total=None)

            def report(now: Progress) -> None:
                progress.update(
                    task, description=now.stage, completed=now.done, total=now.total or None
                )

            container.start(report=report)
        for signum in (signal.SIGINT, signal.SIGTERM):
            signal.signal(signum, end)
        console.print(f"Watching {places.vault}. Ctrl-C stops.")
        while not stop.wait(0.5):  # on Windows, an endless wait would block Ctrl-C
            pass
    finally:
        container.close()


def _log_to_stderr() -> None:
    import fastmcp  # noqa: F401 - configures its logger, whose handlers are used below

    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    for name in ("memvault", "indexer", "mcp_server"):
        logging.getLogger(name).setLevel(logging.INFO)
    logging.getLogger("mcp.server.streamable_http").addFilter(_is_of_engine)
    for handler in logging.getLogger("fastmcp").handlers:
        handler.addFilter(_is_of_engine)


def _is_of_engine(record: logging.LogRecord) -> bool:
    """False for errors that are not the engine's.

    A client left before its request was read, or gets an error that says what to correct.
    """
    from mcp import MCPError
    from starlette.requests import ClientDisconnect

    error = record.exc_info[1] if record.exc_info else None
    return not any(
        isinstance(each, ClientDisconnect | MCPError | MemvaultError)
        for each in (error, getattr(error, "__cause__", None))
    )


def stop(context: typer.Context) -> None:
    """Stop the engine. AI clients that run start it again when they next need it."""
    import psutil

    from mcp_server.engine.launcher import ask, is_engine_running, read_address

    places = places_of(context, must_exist=False)
    if not is_engine_running(places.state):
        console.print("No engine is running.")
        return
    address = read_address(places.state)
    if address is None:
        raise EngineUnavailable("The engine is just starting; try again in some seconds.")
    try:
        ask(address, "POST", "/admin/shutdown")
    except EngineUnavailable as error:
        raise EngineUnavailable(
            f"The engine (process {address.pid}) does not answer. End that process; no note is "
            "lost."
        ) from error
    with console.status("Stopping the engine …"):
        try:
            psutil.Process(address.pid).wait(_STOP_SECONDS)
        except psutil.NoSuchProcess:
            pass  # it has stopped already
        except psutil.TimeoutExpired as error:
            raise EngineUnavailable(
                f"The engine (process {address.pid}) has not stopped; see engine.log in its state "
                "folder."
            ) from error
    console.print("The engine has stopped.")
