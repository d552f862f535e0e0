"""``memvault hooks``: the state and the log of clients' hooks, and switching them off and on."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from memvault.cli.hook import run_hook_command
from memvault.cli.terminal import AsJson, places_of, print_json
from memvault.config.hook_files import LIMITS, MOST_TIMEOUTS, HookFiles
from memvault.model.errors import InvalidParams

_LINES = 20
EventArgument = Annotated[
    str, typer.Argument(metavar="EVENT", help="One event, such as UserPromptSubmit; else all.")
]

app = typer.Typer(help="Hooks of AI clients: state, log, off and on.", no_args_is_help=True)


def add_commands(program: typer.Typer) -> None:
    program.command()(hook)
    program.add_typer(app, name="hooks")


def hook(
    context: typer.Context,
    event: Annotated[str, typer.Argument(metavar="EVENT", help=f"One of {', '.join(LIMITS)}.")],
    client: Annotated[str, typer.Option(help="The client that calls.")] = "claude-code",
) -> None:
    """Answer a client's hook: its JSON on stdin, what it should print on stdout.

    `memvault connect CLIENT --hooks` writes this command into the client's configuration.
    """
    given = context.find_root().params
    options = [f"--{name}={given[name]}" for name in ("vault", "config") if given[name]]
    raise typer.Exit(run_hook_command(["hook", event, f"--client={client}", *options]))


def _files(context: typer.Context) -> HookFiles:
    return HookFiles(str(places_of(context, must_exist=False).state.root))


@app.command()
def status(context: typer.Context, as_json: AsJson = False) -> None:
    """Show which events are on, when each ran last, and how many captures are waiting."""
    files = _files(context)
    last = _last_lines(files)
    rows = [
        {
            "event": event,
            "state": "off" if files.is_off(event) else "on",
            "timeouts_in_a_row": _size(files.timeouts(event)),
            "limit_seconds": limit,
            "last": last.get(event),
        }
        for event, limit in LIMITS.items()
    ]
    waiting = len(list(Path(files.pending).glob("*.hook")))
    if as_json:
        print_json({"events": rows, "captures_waiting": waiting})
        return
    for row in rows:
        timeouts = row["timeouts_in_a_row"]
        late = f", {timeouts} of {MOST_TIMEOUTS} time-outs in a row" if timeouts else ""
        typer.echo(f"{row['event']:<18}{row['state']}{late}\t{row['last'] or 'never ran'}")
    if waiting:
        typer.echo(f"{waiting} captures are waiting for the engine.")


@app.command()
def log(
    context: typer.Context,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many.")] = _LINES,
) -> None:
    """Show the last lines of the hooks' log."""
    logged = _lines(_files(context))[-lines:]
    for line in logged or ["No hook has run yet. To install them: memvault connect CLIENT --hooks"]:
        typer.echo(line)


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
    for each in events:
        Path(files.switch(each)).unlink(missing_ok=True)
        Path(files.timeouts(each)).unlink(missing_ok=True)
    typer.echo(f"Switched on: {event}.")
    if event != "all" and Path(files.switch("all")).exists():
        typer.echo("All hooks are still off: memvault hooks on")


def _checked(event: str) -> str:
    if event != "all" and event not in LIMITS:
        raise InvalidParams(f"No event {event}. There are: {', '.join(LIMITS)}.")
    return event


def _lines(files: HookFiles) -> list[str]:
    found: list[str] = []
    for name in (files.log_file + ".1", files.log_file):
        file = Path(name)
        if file.is_file():
            found += file.read_text(encoding="utf-8", errors="replace").splitlines()
    return found


def _last_lines(files: HookFiles) -> dict[str, str]:
    """The last line of the log about each event."""
    last: dict[str, str] = {}
    for line in _lines(files):
        words = line.split(" ", 3)
        if len(words) == 4:
            last[words[2]] = f"{words[0]} {words[1]}: {words[3]}"
    return last


def _size(path: str) -> int:
    file = Path(path)
    return file.stat().st_size if file.is_file() else 0
