"""``memvault hooks``: shows clients' hooks and their log, and switches them off and on."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from memvault.cli.connect import clients_with_hooks
from memvault.cli.hook import run_hook_process
from memvault.cli.terminal import (
    AsJson,
    counted,
    places_of,
    print_json,
    print_line,
    print_table,
)
from memvault.config.hook_files import LIMITS, MAX_TIMEOUTS, HookFiles
from memvault.model.errors import InvalidParams

_LINES = 20
_COLUMNS = ("time", "client", "event", "outcome")
_NOT_INSTALLED = "No client has hooks. To install them: memvault connect CLIENT --hooks"
EventArgument = Annotated[
    str, typer.Argument(metavar="EVENT", help="One event, such as UserPromptSubmit; else all.")
]

app = typer.Typer(
    help="Show the hooks of AI clients and their log; switch hooks off and on.",
    no_args_is_help=True,
)


def add_commands(program: typer.Typer) -> None:
    program.command(hidden=True)(hook)  # for clients
    program.add_typer(app, name="hooks", rich_help_panel="AI clients")


def hook(
    context: typer.Context,
    event: Annotated[str, typer.Argument(metavar="EVENT", help=f"One of {', '.join(LIMITS)}.")],
    client: Annotated[str, typer.Option(help="The client that calls.")] = "claude-code",
) -> None:
    """Answer a client's hook: its JSON on stdin, what it should print on stdout.

    `memvault connect CLIENT --hooks` writes this command into the client's configuration.
    """
    parameters = context.find_root().params
    options = [f"--{name}={parameters[name]}" for name in ("vault", "config") if parameters[name]]
    run_hook_process(["hook", event, f"--client={client}", *options])


def _files(context: typer.Context) -> HookFiles:
    return HookFiles(str(places_of(context, must_exist=False).state.root))


@app.command()
def status(context: typer.Context, as_json: AsJson = False) -> None:
    """Show which clients have hooks, which events are on, and when each ran last."""
    files = _files(context)
    last = {line["event"]: line for line in _logged(files)}
    clients = clients_with_hooks()
    rows = [
        {
            "event": event,
            "state": "off" if files.is_off(event) else "on" if clients else "not installed",
            "timeouts_in_a_row": _size(files.timeouts(event)),
            "limit_seconds": limit,
            "last": "{time} {client}: {outcome}".format(**last[event]) if event in last else None,
        }
        for event, limit in LIMITS.items()
    ]
    waiting = len(list(Path(files.pending).glob("*.hook")))
    if as_json:
        print_json({"clients": clients, "events": rows, "captures_waiting": waiting})
        return
    print_line(f"Hooks are installed in {', '.join(clients)}." if clients else _NOT_INSTALLED)
    print_table([_row(row) for row in rows], ("cyan",))
    if waiting:
        print_line(f"Waiting for the engine: {counted(waiting, 'capture')}.")


def _row(event: dict[str, Any]) -> tuple[str, str, str]:
    timeouts = event["timeouts_in_a_row"]
    late = f", {timeouts} of {MAX_TIMEOUTS} time-outs in a row" if timeouts else ""
    return event["event"], f"{event['state']}{late}", event["last"] or "never ran"


@app.command()
def log(
    context: typer.Context,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many.")] = _LINES,
    as_json: AsJson = False,
) -> None:
    """Show the last lines of the hooks' log."""
    logged = _logged(_files(context))[-lines:]
    if as_json:
        print_json(logged)
        return
    for line in logged:
        typer.echo(" ".join(line.values()))
    if not logged:
        typer.echo("No hook has run yet." if clients_with_hooks() else _NOT_INSTALLED)


@app.command()
def off(context: typer.Context, event: EventArgument = "all") -> None:
    """Switch one event's hook off, or all of them: clients then run without memories."""
    files = _files(context)
    switch = Path(files.switch(_checked(event)))
    switch.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    switch.write_text(f"{time.strftime('%Y-%m-%d')} by `memvault hooks off`\n", encoding="utf-8")
    typer.echo(f"Switched off: {event}. Switch on with: memvault hooks on {event}")


@app.command()
def on(context: typer.Context, event: EventArgument = "all") -> None:
    """Switch one event's hook on again, or all of them."""
    files = _files(context)
    events = ["all", *LIMITS] if _checked(event) == "all" else [event]
    for name in events:
        Path(files.switch(name)).unlink(missing_ok=True)
        Path(files.timeouts(name)).unlink(missing_ok=True)
    typer.echo(f"Switched on: {event}.")
    if event != "all" and Path(files.switch("all")).exists():
        typer.echo("All hooks are still off: memvault hooks on")


def _checked(event: str) -> str:
    if event != "all" and event not in LIMITS:
        raise InvalidParams(f"No event {event}. There are: {', '.join(LIMITS)}.")
    return event


def _logged(files: HookFiles) -> list[dict[str, str]]:
    """The lines of the log, oldest first, with time, client, event and outcome."""
    entries: list[dict[str, str]] = []
    for name in (files.log_file + ".1", files.log_file):
        file = Path(name)
        if file.is_file():
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
            entries += [dict(zip(_COLUMNS, line.split(" ", 3), strict=False)) for line in lines]
    return [entry for entry in entries if len(entry) == len(_COLUMNS)]


def _size(path: str) -> int:
    file = Path(path)
    return file.stat().st_size if file.is_file() else 0
