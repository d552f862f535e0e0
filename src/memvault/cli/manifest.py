"""``memvault manifest``: write the list of concepts, or read it back."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from memvault.cli.context import AsJson, console, engine_of, places_of, print_json

_VERBS = {"delete": "forget", "merge": "merge", "annotate": "add to"}


def add_commands(app: typer.Typer) -> None:
    app.command()(manifest)


def manifest(
    context: typer.Context,
    apply: Annotated[
        bool, typer.Option("--apply", help="Read it back: show what would change, then do it.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it without being asked.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write manifest.md, every concept by name; what you wrote in it stays.

    Delete lines or add directives in it, then --apply.
    """
    places = places_of(context)
    if apply:
        _apply(context, yes=yes, as_json=as_json)
        return
    with engine_of(places) as engine:
        written = engine.write_manifest()
    if as_json:
        print_json(written)
        return
    place = places.vault / str(written["path"])
    console.print(Text(f"{place}: {written['concepts']:,} concepts."), soft_wrap=True)
    if written["waiting"]:
        lines = "line that you deleted waits" if written["waiting"] == 1 else "deleted lines wait"
        console.print(f"{written['waiting']:,} {lines}: memvault manifest --apply")


def _apply(context: typer.Context, *, yes: bool, as_json: bool) -> None:
    with engine_of(places_of(context)) as engine:
        answer = engine.call_tool("reload_manifest", {"preview": True})
        if not as_json:
            _print_preview(answer)
        wanted = bool(answer["changes_total"]) and not answer["errors"]
        if wanted and (yes or (not as_json and typer.confirm("Do this?"))):
            answer = engine.call_tool("reload_manifest", {"preview": False, "confirm": True})
            if not as_json:
                _print_outcome(answer)
        elif wanted and not as_json:
            console.print("Nothing was changed.")
    if as_json:
        print_json(answer)
    if answer["errors"]:
        raise typer.Exit(1)


def _print_preview(answer: dict[str, Any]) -> None:
    for change in answer["changes_detected"]:
        _print_change(change)
    left = answer["changes_total"] - len(answer["changes_detected"])
    if left > 0:
        console.print(f"… and {left:,} more.")
    for error in answer["errors"]:
        console.print(Text(f"{answer['path']}, {error}", style="red"), soft_wrap=True)
    if answer["errors"]:
        console.print("Nothing was changed.")
    elif not answer["changes_total"]:
        console.print("The manifest asks for no change.")
    elif asks := answer.get("confirm_needed"):
        console.print(Text(str(asks).partition(". Confirm")[0] + ".", style="yellow"))


def _print_change(change: dict[str, Any]) -> None:
    first, *others = change["target_concepts"]
    joined = f"{', '.join(others)} into {first}" if others else first
    console.print(Text.assemble((_VERBS[change["action"]], "bold"), " ", joined), soft_wrap=True)
    if says := change.get("says"):
        console.print(Text(f"  {says}", style="dim"), soft_wrap=True)
    for note in change["notes"]:
        where = "" if "lines" in note else " → trash"
        console.print(Text.assemble("  ", (note["path"], "cyan"), where), soft_wrap=True)
        for line in note.get("lines", ()):
            for mark, key, style in (("-", "before", "red"), ("+", "after", "green")):
                if str(line.get(key, "")).strip():
                    shown = f"    {line['line']:>4} {mark} {line[key]}"
                    console.print(Text(shown, style=style), soft_wrap=True)


def _print_outcome(answer: dict[str, Any]) -> None:
    for error in answer["errors"]:
        console.print(Text(str(error), style="red"), soft_wrap=True)
    if answer["applied"]:
        taken = f"memvault undo {answer['reversal_hash']}"
        console.print(Text(f"Done. To take it back: {taken}"), soft_wrap=True)
