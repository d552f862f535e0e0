"""Functions that commands share: find the vault, connect to the engine, print output.

On a terminal, output is wrapped to its width. Piped, each line is whole and columns are separated
by tabs.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer
from rich.console import Console
from rich.padding import Padding
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from memvault.cli.options import Places, find_places, require_vault
from memvault.model.errors import EngineUnavailable, InvalidParams

# Modules that only some commands need are imported when they run, so that `--help` is fast.
if TYPE_CHECKING:
    from mcp_server.engine.client import EngineClient
    from memvault.config.settings import Settings
    from memvault.vault.files import Vault

_POLL_SECONDS = 0.2
_LINE_SECONDS = 5.0  # between two lines of progress in a pipe
_SCAN_MUST_BEGIN_SECONDS = 30.0
_LEAST_LAST_COLUMN = 20  # characters

console = Console(highlight=False)
# Without tabs and line breaks, and with those that set the direction of text.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r(?!\n)")
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
NoteArgument = Annotated[
    str, typer.Argument(metavar="NOTE", help="Title, alias, file name, path or id of a note.")
]


def places_of(context: typer.Context, *, must_exist: bool = True) -> Places:
    """The vault and state folder that the command line, environment or configuration name.

    Without ``must_exist``, a vault that memvault has state of may be gone; one that memvault never
    saw is a mistake all the same.
    """
    options = context.find_root().params
    places = find_places(options["vault"], options["config"])
    if must_exist or not places.state.root.is_dir():
        require_vault(places)
    return places


def settings_of(places: Places) -> Settings:
    from memvault.config.settings import load_settings

    return load_settings(places.config_file)


def vault_of(places: Places) -> Vault:
    """The vault's notes, for commands that need no engine."""
    from memvault.vault.files import Vault
    from memvault.vault.note_folders import NoteFolders

    return Vault(places.vault, folders=NoteFolders(settings_of(places).notes.folder))


@contextmanager
def engine_of(
    places: Places, *, wait: bool = True, at_most: float | None = None
) -> Iterator[EngineClient]:
    """A client of the vault's engine, which is started if needed; shows long steps on a terminal.

    Without ``wait``, or after ``at_most`` so many seconds, its indexes may still be opening.
    """
    from mcp_server.engine.client import connect_to_engine
    from mcp_server.engine.launcher import Launcher, engine_command

    if places.config is not None:  # else an engine that runs checks its own file
        _check_configuration(places)
    launcher = Launcher(places.state, engine_command(places.vault, places.config))
    with console.status("Starting the engine …") as waiting:

        def show(doing: str) -> None:
            waiting.update(f"memvault is {doing} …")

        with ExitStack() as stack:
            try:
                connection = connect_to_engine(
                    launcher, places.state, show if wait else None, at_most
                )
                engine = stack.enter_context(connection)
            except EngineUnavailable:
                _check_configuration(places)
                raise
            waiting.stop()
            yield engine


def _check_configuration(places: Places) -> None:
    """Raise InvalidParams, with the file's path, if the configuration is invalid."""
    try:
        settings_of(places)
    except InvalidParams as error:
        file = places.config_file
        where = f" in {file}" if file.is_file() and _is_environment_valid() else ""
        raise InvalidParams(f"{error.message}. Correct it{where}, then try again.") from error


def _is_environment_valid() -> bool:
    from memvault.config.settings import load_settings

    try:
        load_settings(None)
    except InvalidParams:
        return False
    return True


def tool_answer(
    context: typer.Context, tool: str, arguments: dict[str, Any], *, brief: bool = False
) -> dict[str, Any]:
    with engine_of(places_of(context)) as engine:
        return dict(engine.call_tool(tool, arguments, brief=brief))


def read_day(text: str) -> datetime:
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"give the day as YYYY-MM-DD, not {text!r}.") from error
    return datetime(day.year, day.month, day.day)


def counted(count: int, noun: str) -> str:
    """ "1 note", "2,000 notes"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def harmless(text: str) -> str:
    """The text without control characters: a terminal would obey those of a note or a client."""
    return _CONTROLS.sub("\ufffd", text)


def _harmless_text(*parts: str | tuple[str, str] | Text) -> Text:
    text = Text.assemble(*parts)
    text.plain = harmless(text.plain)
    return text


def print_json(value: Any) -> None:
    """Print one JSON document, without colours and wrapping."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_line(*parts: str | tuple[str, str] | Text) -> None:
    """Print one line without wrapping, because a wrapped path cannot be clicked or copied."""
    line = _harmless_text(*parts)
    if console.is_terminal:
        console.print(line, soft_wrap=True)
    else:
        typer.echo(line.plain)  # Rich would expand tabs


def print_hint(text: str) -> None:
    """Print a line about the output: below it on a terminal, to stderr where it is piped."""
    if console.is_terminal:
        print_line(text)
    else:
        typer.echo(harmless(text), err=True)


def open_in_browser(page: str) -> None:
    """Print the address of a page and open it; say what to do where no browser may open.

    Over ssh, a browser would open on the wrong computer, or a text browser in this terminal.
    """
    import webbrowser

    print_line(page)
    netloc = urlsplit(page).netloc
    windows = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")  # editors forward pages by the last one
    if "SSH_CONNECTION" in os.environ and not any(map(os.environ.get, windows)):
        print_hint(
            "This is a session over ssh. On the computer in front of you, run "
            f"`ssh -N -L {netloc.rpartition(':')[2]}:{netloc} HOST`, with the HOST of this "
            "session, and then open the address there."
        )
        return
    try:
        webbrowser.get()
    except webbrowser.Error:
        print_hint("If no browser opens, open this address in one on this computer.")
    typer.launch(page)


def print_text(text: str, *, indent: int = 0, style: str = "") -> None:
    """Print a paragraph: wrapped at words on a terminal, as one line elsewhere."""
    if console.is_terminal:
        console.print(Padding(_harmless_text((text, style)), (0, 0, 0, indent), expand=False))
    else:
        print_line(" " * indent + text)


def print_table(rows: Iterable[Sequence[str | Text]], styles: Sequence[str] = ()) -> None:
    """Print rows: in columns on a terminal, the last one wrapped; tab-separated elsewhere.

    On a terminal too narrow for the columns, each row is one line that the terminal wraps: a path
    that is cut cannot be used.
    """
    if not console.is_terminal:
        for row in rows:
            print_line("\t".join(str(cell) for cell in row))
        return
    table = Table.grid(padding=(0, 2))
    cells = [[_harmless_text(cell) for cell in row] for row in rows]
    count = max(map(len, cells), default=0)
    all_styles = [*styles, *[""] * count]
    widths = [
        max(_width(row[column]) for row in cells if column < len(row)) + 2
        for column in range(count - 1)
    ]
    if sum(widths) + _LEAST_LAST_COLUMN > console.width:
        for row in cells:
            for cell, style in zip(row, all_styles, strict=False):
                cell.stylize(style)
            console.print(Text("  ").join(row), soft_wrap=True)
        return
    for column in range(count):
        is_last = column == count - 1
        table.add_column(style=all_styles[column], no_wrap=not is_last, overflow="fold")
    for row in cells:
        table.add_row(*row)
    console.print(table)


def _width(cell: Text) -> int:
    return max(line.cell_len for line in cell.split(allow_blank=True))


def print_lines_changed(lines: Sequence[dict[str, Any]], path: str | None = None) -> None:
    """Print each line before and after a change; without ``path``, also its path."""
    for line in lines:
        place = f"{line['line']:>4}" if path is not None else f"{line['path']}:{line['line']}"
        for mark, key, style in (("-", "before", "red"), ("+", "after", "green")):
            if str(line.get(key, "")).strip():
                print_line((f"    {place} {mark} {line[key]}", style))


# Progress


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed * 60:,.0f} notes/min", style="dim")


@contextmanager
def counting(stage: str) -> Iterator[Callable[[int], None]]:
    """A bar of this stage; the function that it yields shows how many are done."""
    with bar() as progress:
        task = progress.add_task(stage, total=None)
        yield lambda done: progress.update(task, completed=done)


def bar() -> Progress:
    """A progress bar that disappears when done; disabled if stdout is not a terminal."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def progress_in_words(report: dict[str, Any]) -> str:
    """``{stage, done, total}`` as "indexing (12 of 700)", with the large note that takes long."""
    counts = f" ({report['done']:,} of {report['total']:,})" if report["total"] else ""
    return f"{_stage_in_words(report)}{counts}"


def _stage_in_words(report: dict[str, Any]) -> str:
    large_note = str(report.get("large_note") or "").rpartition("/")[2]
    return f"{report['stage']} {large_note}, a large note" if large_note else report["stage"]


def follow(reports: Iterable[dict[str, Any]]) -> None:
    """Show each ``{stage, done, total}``; each stage restarts the bar.

    If stdout is not a terminal, print a line to stderr every few seconds, except repeated ones.
    """
    with bar() as progress:
        stage, task = "", progress.add_task("starting", total=None)
        last_line, last_time = "", time.monotonic()
        for report in reports:
            if progress.disable and time.monotonic() - last_time > _LINE_SECONDS:
                line, last_time = progress_in_words(report), time.monotonic()
                if line != last_line:
                    typer.echo(line, err=True)
                last_line = line
            if report["stage"] != stage:
                stage = str(report["stage"])
                progress.reset(task, description=stage)
            progress.update(
                task,
                description=_stage_in_words(report),
                completed=report["done"],
                total=report["total"] or None,
            )


def follow_first_scan(engine: EngineClient) -> dict[str, Any]:
    """Wait until the engine has scanned every note once; returns its status.

    Raises:
        EngineUnavailable: the engine or its scan stopped.
    """
    status: dict[str, Any] = {}

    def reports() -> Iterable[dict[str, Any]]:
        nonlocal status
        last_seen = time.monotonic()
        while not (status := engine.status())["last_scan"]:
            if status["indexing"] is not None:
                last_seen = time.monotonic()
                yield status["indexing"]
            elif time.monotonic() - last_seen > _SCAN_MUST_BEGIN_SECONDS:
                raise EngineUnavailable(
                    "The engine runs but does not index. `memvault doctor` may name the reason; "
                    "engine.log in its state folder does."
                )
            time.sleep(_POLL_SECONDS)

    follow(reports())
    return status
