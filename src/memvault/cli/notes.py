"""``list`` and ``move``."""

from __future__ import annotations

from datetime import datetime, time
from typing import Annotated, Any

import typer

from memvault.cli.terminal import (
    AsJson,
    console,
    counted,
    print_hint,
    print_json,
    print_line,
    print_lines_changed,
    print_table,
    print_text,
    read_day,
    tool_answer,
)
from memvault.model.errors import InvalidParams

_DAY: dict[str, Any] = {"parser": read_day, "metavar": "YYYY-MM-DD"}
_LIFECYCLES = ("permanent", "temporary", "ephemeral")
Day = datetime | None


def add_commands(app: typer.Typer) -> None:
    app.command("list", rich_help_panel="Notes")(list_notes)
    app.command(rich_help_panel="Notes")(move)


def list_notes(
    context: typer.Context,
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="Only notes in this folder and below it.")
    ] = "",
    *,
    project: Annotated[str | None, typer.Option(help="Only notes of this project.")] = None,
    kind: Annotated[str | None, typer.Option("--type", help="Only notes of this type.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="At least one of these tags.")] = None,
    lifecycle: Annotated[
        str | None, typer.Option(help="permanent, temporary or ephemeral.")
    ] = None,
    properties: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="KEY=VALUE", help="A property; KEY= for any value."),
    ] = None,
    created_after: Annotated[Day, typer.Option(**_DAY)] = None,
    created_before: Annotated[Day, typer.Option(**_DAY)] = None,
    changed_after: Annotated[Day, typer.Option(**_DAY)] = None,
    changed_before: Annotated[Day, typer.Option(**_DAY)] = None,
    most: Annotated[int, typer.Option("-n", "--number", min=1, max=100, help="How many.")] = 20,
    cursor: Annotated[str | None, typer.Option(help="Continue the list that printed this.")] = None,
    folders: Annotated[bool, typer.Option("--folders", help="Count the notes by folder.")] = False,
    as_json: AsJson = False,
) -> None:
    """List notes, the newest first; all given conditions must hold."""
    if lifecycle is not None and lifecycle not in _LIFECYCLES:
        raise InvalidParams(f"A lifecycle is {', '.join(_LIFECYCLES[:2])} or {_LIFECYCLES[2]}.")
    days = {
        "created_after": created_after, "created_before": created_before,
        "changed_after": changed_after, "changed_before": changed_before,
    }  # fmt: skip
    wanted: dict[str, Any] = {
        "folder": folder, "project": project, "type": kind, "tags": tag, "lifecycle": lifecycle,
        "properties": dict(map(_property, properties or ())), "limit": most, "cursor": cursor,
        **{name: day.astimezone().isoformat() for name, day in days.items() if day is not None},
    }  # fmt: skip
    arguments = {name: value for name, value in wanted.items() if value}
    answer = tool_answer(context, "list_memories", arguments)
    if as_json:
        print_json(answer)
    elif folders:
        rows = [(each["path"], each["notes"]) for each in answer["folders"]]
        if direct := answer["total"] - sum(count for _, count in rows):
            rows.insert(0, (f"(in {folder})" if folder else "(in no folder)", direct))
        print_table([(path, f"{count:,}") for path, count in rows], ("cyan",))
    else:
        print_table([_row(note) for note in answer["memories"]], ("cyan", "dim", "dim"))
        _print_rest(answer)


def _property(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise InvalidParams(f"Give a property as KEY=VALUE, not {text!r}.")
    return key.strip(), value.strip()


def _row(note: dict[str, Any]) -> tuple[str, str, str, str]:
    return note["path"], _day(note["created_at"]), note["type"], note["title"]


def _day(created_at: str) -> str:
    """The day in local time; of a day without a time, which is midnight UTC, that day."""
    moment = datetime.fromisoformat(created_at)
    is_day = moment.time() == time.min
    return (moment if is_day else moment.astimezone()).date().isoformat()


def _print_rest(answer: dict[str, Any]) -> None:
    shown, total = len(answer["memories"]), answer["total"]
    if not total:
        print_hint("No notes found.")
    elif cursor := answer.get("cursor"):
        print_hint(
            f"{shown:,} of {total:,} notes. The next ones: --cursor {cursor}. More at once: -n, "
            "up to 100."
        )


def move(
    context: typer.Context,
    note: Annotated[
        str,
        typer.Argument(
            metavar="NOTE",
            help="Title, alias, file name, path or id of a note; or a folder, which ends in /.",
        ),
    ],
    destination: Annotated[
        str,
        typer.Argument(
            metavar="DESTINATION",
            help="Of a note: the folder to move it into (/ is the vault itself), or its new path, "
            "which ends in .md. Of a folder: its new path, or the folder to move it into, if that "
            "exists or ends in /.",
        ),
    ],
    *,
    preview: Annotated[
        bool, typer.Option("--preview", help="Show what would change; change nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Move a note to another folder, or rename its file; links to it are kept.

    A folder moves with all its notes; other files stay in it.
    """
    is_folder = note.endswith(("/", "\\"))
    arguments = {
        "folder" if is_folder else "target": note, "destination": destination, "preview": preview,
        "rationale": "Moved from the command line.",
    }  # fmt: skip
    answer = tool_answer(context, "move_folder" if is_folder else "move_memory", arguments)
    if as_json:
        print_json(answer)
        return
    notes = f": {counted(len(answer['moved']), 'note')}" if is_folder else ""
    print_line(f"{answer['moved_from']} → {answer['path']}{notes}")
    print_lines_changed(answer.get("lines") or ())
    changed = len(answer["notes_changed"])
    if changed and not preview:
        print_line(f"Links rewritten in {counted(changed, 'note')}.")
    if notice := answer.get("notice"):
        print_text(str(notice), style="yellow")
    if key := answer.get("reversal_hash"):
        print_line(f"To undo: memvault undo {key}")
    elif preview or answer["moved_from"] == answer["path"]:
        console.print("Nothing was changed.")
