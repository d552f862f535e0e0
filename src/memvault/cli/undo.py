"""``memvault undo``: take a change back, or all of a client or a day."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer
from rich.text import Text

from memvault.cli.context import AsJson, console, engine_of, places_of, print_json
from memvault.model.errors import InvalidParams

_WHY = "Taken back from the command line."


def add_commands(app: typer.Typer) -> None:
    app.command()(undo)


def undo(
    context: typer.Context,
    *,
    change: Annotated[
        str | None, typer.Argument(help="Its hash, as the history shows it; the start will do.")
    ] = None,
    client: Annotated[str | None, typer.Option(help="All that this client changed.")] = None,
    day: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="All of this day (UTC).")
    ] = None,
    preview: Annotated[bool, typer.Option("--preview", help="Only show what would be.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it without being asked.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take changes back, to the byte. A note that was edited since stays as it is.

    What several changes would do is shown first. An undo can be undone by its own hash.
    """
    if (change is None) == (client is None and day is None):
        raise InvalidParams("Name a change by its hash, or give --client, --day or both")
    chosen = {"change": change, "client": client, "day": day.date().isoformat() if day else None}
    arguments = {key: value for key, value in chosen.items() if value is not None}
    asks = change is None and not (yes or as_json)
    with engine_of(places_of(context)) as engine:
        answer = _called(engine, arguments, preview=preview or asks)
        if not as_json:
            _print(answer)
        if asks and not preview and answer["undone"] and typer.confirm("Do this?"):
            answer = _called(engine, arguments, preview=False)
    if as_json:
        print_json(answer)
    elif taken := answer.get("reversal_hash"):
        console.print(Text(f"Done. To have it again: memvault undo {taken}"), soft_wrap=True)
    else:
        console.print("Nothing was changed.")
    if answer["conflicts"] and not answer["undone"]:
        raise typer.Exit(1)


def _called(engine: Any, arguments: dict[str, Any], *, preview: bool) -> dict[str, Any]:
    asked = {**arguments, "rationale": _WHY, "preview": preview}
    return dict(engine.call_tool("undo_change", asked))


def _print(answer: dict[str, Any]) -> None:
    for each in answer["undone"]:
        console.print(
            Text.assemble((each["reversal_hash"][:8], "cyan"), "  ", each["description"]),
            soft_wrap=True,
        )
    _print_lines(answer.get("lines") or ())
    for conflict in answer["conflicts"]:
        says = f"{conflict['path']}: {conflict['reason']} ({conflict['reversal_hash'][:8]})"
        console.print(Text(says, style="yellow"), soft_wrap=True)
        _print_lines(conflict.get("lines") or ())


def _print_lines(lines: Any) -> None:
    for line in lines:
        for mark, key, style in (("-", "before", "red"), ("+", "after", "green")):
            if str(line.get(key, "")).strip():
                shown = f"    {line['path']}:{line['line']} {mark} {line[key]}"
                console.print(Text(shown, style=style), soft_wrap=True)
