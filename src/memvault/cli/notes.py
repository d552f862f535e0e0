"""``move``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from memvault.cli.terminal import (
    AsJson,
    console,
    engine_of,
    places_of,
    print_json,
    print_line,
    print_lines_changed,
)

def add_commands(app: typer.Typer) -> None:
    app.command()(move)


def move(
    context: typer.Context,
    note: Annotated[
        str, typer.Argument(metavar="NOTE", help="Title, alias, file name, path or id of a note.")
    ],
    destination: Annotated[
        str,
        typer.Argument(
            metavar="DESTINATION",
            help="A folder of the vault, / for its own, or a path that ends in .md.",
        ),
    ],
    *,
    preview: Annotated[
        bool, typer.Option("--preview", help="Show what would change; change nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Move a note to another folder, or rename its file; links to it are kept."""
    arguments = {
        "target": note, "destination": destination, "preview": preview,
        "rationale": "Moved from the command line.",
    }  # fmt: skip
    with engine_of(places_of(context)) as engine:
        answer = dict(engine.call_tool("move_memory", arguments))
    if as_json:
        print_json(answer)
        return
    print_line(f"{answer['moved_from']} → {answer['path']}")
    print_lines_changed(answer.get("lines") or ())
    changed = len(answer["notes_changed"])
    if changed and not preview:
        print_line(f"Links rewritten in {changed:,} {'note' if changed == 1 else 'notes'}.")
    if key := answer.get("reversal_hash"):
        print_line(f"To undo: memvault undo {key}")
    elif answer["moved_from"] == answer["path"]:
        console.print("Nothing was changed.")
