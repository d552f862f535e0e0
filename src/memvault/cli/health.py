"""``status``, ``doctor`` and ``rebuild``."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from memvault.cli.context import AsJson, console, engine_of, places_of, print_json
from memvault.cli.progress import follow


def add_commands(app: typer.Typer) -> None:
    app.command()(status)
    app.command()(doctor)
    app.command()(rebuild)


def status(context: typer.Context, as_json: AsJson = False) -> None:
    """What is indexed, by which stores, how fresh."""
    with engine_of(places_of(context), wait=False) as engine:
        address, answer = engine.address, engine.status()
    shown = {
        "engine": f"process {address.pid}, version {address.version}, since "
        + time.strftime("%Y-%m-%d %H:%M", time.localtime(address.started)),
        "page": f"http://{address.netloc}/",
        "mcp": f"http://{address.netloc}/mcp",
        **answer,
    }
    if as_json:
        print_json(shown)
        return
    if scanned := answer.get("last_scan"):
        shown["last_scan"] = f"{datetime.fromisoformat(scanned).astimezone():%Y-%m-%d %H:%M}"
    table = Table.grid(padding=(0, 2))
    for key, value in shown.items():
        table.add_row(Text(key.replace("_", " "), style="dim"), Text(_worded(value)))
    console.print(table)


def _worded(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_worded(each)}" for key, each in value.items())
    if isinstance(value, list):
        return "\n".join(_worded(each) for each in value) or "none"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "none" if value is None else str(value)


def doctor(
    context: typer.Context,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what can be mended safely.")] = False,
    as_json: AsJson = False,
) -> None:
    """What is wrong with the indexes or the notes, and how to mend it. Fails on an error."""
    with engine_of(places_of(context)) as engine, console.status("Examining …"):
        findings = engine.doctor(fix=fix)
    if as_json:
        print_json(findings)
    elif not findings:
        console.print("Everything is as it should be.")
    else:
        for finding in findings:
            console.print(_finding(finding))
    if any(finding["severity"] == "error" for finding in findings):
        raise typer.Exit(1)


def _finding(finding: dict[str, Any]) -> Text:
    is_error = finding["severity"] == "error"
    mark = ("error", "red") if is_error else ("note ", "yellow")
    place = f"{finding['path']}: " if finding.get("path") else ""
    return Text.assemble(mark, "  ", (place, "cyan"), finding["what"], " - ", finding["advice"])


def rebuild(context: typer.Context) -> None:
    """Make every index anew from the vault, while the old ones go on answering."""
    with engine_of(places_of(context)) as engine:
        began = time.monotonic()
        follow(engine.rebuild())
        notes = engine.status()["notes"]
    console.print(f"Rebuilt from {notes:,} notes in {time.monotonic() - began:.1f} s.")
