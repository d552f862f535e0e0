"""``reconstruct``: brings back the full texts of faded notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer

from memvault.cli.terminal import (
    AsJson,
    counted,
    engine_of,
    places_of,
    print_hint,
    print_json,
    print_line,
)
from memvault.model.errors import MemvaultError

CallTool = Callable[[str, dict[str, Any]], dict[str, Any]]
PAGE = 100  # notes that one call lists
_WHY = "Brought back from the command line."


def reconstruct(
    context: typer.Context,
    note: Annotated[
        str,
        typer.Argument(
            metavar="NOTE",
            help="Title, alias, file name, path or id of a note; or a folder, which ends in / "
            "(/ is the whole vault).",
        ),
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Bring back the archived full text of a note that faded to its summary or keys.

    Of a folder, of all its faded notes. What you wrote into a note since then stays in it.
    """
    with engine_of(places_of(context)) as engine:
        if not note.endswith(("/", "\\")):
            answer = engine.call_tool("reconstruct_memory", {"target": note, "rationale": _WHY})
            if as_json:
                print_json(answer)
            else:
                print_line(f"{answer['path']} has its full text again.")
                print_line(f"To undo: memvault undo {answer['reversal_hash']}")
            return
        answers, problems = full_texts(engine.call_tool, note.strip("/\\"))
    if as_json:
        print_json(answers)
    elif answers:
        has = "has its full text" if len(answers) == 1 else "have their full texts"
        print_line(f"{counted(len(answers), 'note')} {has} again.")
        print_hint(
            "They fade again after a month without use, unless the configuration has enabled = "
            "false below [fading]. To undo: memvault log"
        )
    elif not problems:
        print_hint("No faded notes found.")
    for problem in problems:
        print_hint(problem)
    if problems:
        raise typer.Exit(1)


def full_texts(call: CallTool, folder: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Bring back the full texts of all faded notes below a folder, "" for the vault: the answers,
    and what could not be brought back and why."""
    answers, problems = [], []
    for path in list(_faded_paths(call, folder)):
        try:
            answers.append(call("reconstruct_memory", {"target": path, "rationale": _WHY}))
        except MemvaultError as error:
            problems.append(error.message)
    return answers, problems


def _faded_paths(call: CallTool, folder: str) -> Iterator[str]:
    arguments: dict[str, Any] = {"limit": PAGE} | ({"folder": folder} if folder else {})
    while True:
        page = call("list_memories", arguments)
        yield from (note["path"] for note in page["memories"] if note.get("faded"))
        if not page.get("cursor"):
            return
        arguments["cursor"] = page["cursor"]
