"""Commands that show, check and rebuild what is indexed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.text import Text

from memvault.cli.terminal import (
    AsJson,
    console,
    engine_of,
    follow,
    places_of,
    print_json,
    print_line,
    print_table,
    progress_in_words,
)

_MAX_PROBLEMS = 5
_FAILING_SECONDS = 5.0  # within which an engine that cannot start says why
_EMBEDDED = dict.fromkeys(("vectors", "graph", "keyvalue"), "embedded")
# The rows of `status`, in order; --json has more.
_ALWAYS = {
    "vault": "vault",
    "notes": "notes",
    "last_scan": "last compared with the files",
    "problems": "problems",
    "page": "page",
    "mcp": "MCP",
    "engine": "engine",
    "state": "state folder",
    "embedding": "search model",
}
_IF_ANY = {  # only while they say something
    "indexing": "indexing",
    "loading": "still loading",
    "not_answering": "stores that do not answer",
    "without_room": "stores that are full",
    "entities_waiting": "notes in which names are still to be found",
    "behind_seconds": "seconds behind the files",
    "in_quarantine": "notes in quarantine, whole or in part",
    "stores": "stores",
    "watching": "watching for changes",
}


def add_commands(app: typer.Typer) -> None:
    for command in (status, doctor, rebuild):
        app.command(rich_help_panel="Engine")(command)


def status(context: typer.Context, as_json: AsJson = False) -> None:
    """Show what is indexed, how up to date it is, and problems; more with --json."""
    places = places_of(context)
    with engine_of(places, at_most=_FAILING_SECONDS) as engine:
        address, answer = engine.address, engine.status()
    fields = {
        "engine": f"process {address.pid}, version {address.version}, since "
        + time.strftime("%Y-%m-%d %H:%M", time.localtime(address.started)),
        "page": f"http://{address.netloc}/",
        "mcp": f"http://{address.netloc}/mcp",
        "state": str(places.state.root),
        **answer,
    }
    if as_json:
        print_json(fields)
        return
    fields |= how_far(answer) | {"vault": str(places.vault)}
    if scanned := answer.get("last_scan"):
        fields["last_scan"] = f"{datetime.fromisoformat(scanned).astimezone():%Y-%m-%d %H:%M}"
    problems = fields.get("problems") or []
    if len(problems) > _MAX_PROBLEMS:
        more = f"and {len(problems) - _MAX_PROBLEMS:,} more: memvault doctor"
        fields["problems"] = [*problems[:_MAX_PROBLEMS], more]
    usual = {"stores": _EMBEDDED, "watching": "events"}
    fields = {key: value for key, value in fields.items() if value != usual.get(key, ...)}
    rows = [(label, _in_words(fields[key])) for key, label in _ALWAYS.items() if key in fields]
    rows += [(label, _in_words(fields[key])) for key, label in _IF_ANY.items() if fields.get(key)]
    print_table(rows, ("dim",))


def how_far(status: dict[str, Any]) -> dict[str, str]:
    """The parts of an engine's status that change while it starts or indexes, in words."""
    words = {} if status["notes"] is not None else {"notes": "loading"}
    if indexing := status["indexing"]:
        words["indexing"] = progress_in_words(indexing)
    return words


def _in_words(value: Any) -> str:
    match value:
        case dict():
            return ", ".join(f"{key} {_in_words(item)}" for key, item in value.items())
        case list():
            separator = "\n" if console.is_terminal else "; "
            return separator.join(_in_words(item) for item in value) or "none"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
    return "none" if value is None else str(value)


def doctor(
    context: typer.Context,
    fix: Annotated[bool, typer.Option("--fix", help="Repair the indexes; notes stay.")] = False,
    as_json: AsJson = False,
) -> None:
    """List problems of the indexes and the notes, with what to do. Exit code 1 on an error."""
    with engine_of(places_of(context)) as engine, console.status("Checking …"):
        findings = engine.doctor(fix=fix)
    if as_json:
        print_json(findings)
    elif not findings:
        console.print("No problems found.")
    else:
        print_table(_findings(findings))
    if any(finding["severity"] == "error" for finding in findings):
        raise typer.Exit(1)


def _findings(findings: Sequence[dict[str, Any]]) -> Iterator[tuple[Text, Text]]:
    """The rows of a table; advice that several findings share is printed once, below them."""
    alike: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for finding in findings:
        alike.setdefault((finding["severity"], finding["advice"]), []).append(finding)
    for (severity, advice), group in alike.items():
        mark = Text("error", "red") if severity == "error" else Text("note", "yellow")
        for finding in group:
            place = f"{finding['path']}: " if finding.get("path") else ""
            line = Text.assemble((place, "cyan"), finding["what"])
            yield mark, line if len(group) > 1 else line.append(f" - {advice}")
        if len(group) > 1:
            yield Text(""), Text(f"For each of these {len(group):,}: {advice}.")


def rebuild(context: typer.Context) -> None:
    """Rebuild all indexes from the vault; the old ones answer until the new ones are ready."""
    with engine_of(places_of(context)) as engine:
        began = time.monotonic()
        follow(engine.rebuild())
        notes = engine.status()["notes"]
    print_line(f"Rebuilt from {notes:,} notes in {time.monotonic() - began:.1f} s.")
