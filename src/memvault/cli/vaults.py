"""Commands that create a vault, write a note, import conversations, and export everything."""

from __future__ import annotations

import io
import os
import shutil
import stat
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import memvault
from memvault.cli.config_files import ConfigFile
from memvault.cli.config_text import TOML, CannotEdit, put_toml
from memvault.cli.options import Places, configured_vault, expanded, find_places
from memvault.cli.terminal import (
    AsJson,
    console,
    counted,
    counting,
    engine_of,
    follow_first_scan,
    places_of,
    print_hint,
    print_json,
    print_line,
    settings_of,
    vault_of,
)
from memvault.config.paths import user_config_file
from memvault.model.errors import InvalidParams, StorageError, reason_of

if TYPE_CHECKING:
    from memvault.curation.changes.curator import Curator
    from memvault.curation.operations.draft import Draft
    from memvault.vault.files import Vault


_FOLDERS = ("permanent", "projects", "sessions")
_MANY = 100  # imported notes; indexing more takes a while
_RATIONALE = "Written from the command line."


def add_commands(app: typer.Typer) -> None:
    app.command(rich_help_panel="Vault")(init)
    app.command("import", rich_help_panel="Vault")(import_)
    app.command(rich_help_panel="Vault")(export)
    app.command(rich_help_panel="Notes")(new)


def init(
    context: typer.Context,
    vault: Annotated[
        str | None, typer.Argument(metavar="VAULT", help="Vault folder (default: as --vault).")
    ] = None,
    *,
    notes_folder: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="The folder in the vault for the notes that memvault writes for AI clients "
            "(default: the top of the vault).",
        ),
    ] = None,
) -> None:
    """Create a vault with example notes and index it; if the folder has notes, none is added."""
    options = context.find_root().params
    places = find_places(options["vault"] if vault is None else vault, options["config"])
    if notes_folder is not None:
        _choose_folder(places, notes_folder)
    created = make_vault(places.vault, settings_of(places).notes.folder)
    print_line(f"Vault: {places.vault} ({created})")
    becomes_usual = vault is not None and _make_usual(places)
    is_usual = places.vault == find_places(None, None).vault
    option = "" if is_usual else f' --vault "{places.vault}"'
    with engine_of(places, wait=False) as engine:
        try:
            status = follow_first_scan(engine)
        except KeyboardInterrupt:
            print_hint(
                f"Indexing goes on in the background: memvault status{option}. "
                f"To end it: memvault stop{option}"
            )
            raise typer.Exit(130) from None
    console.print(f"{counted(status['notes'], 'note')} indexed.")
    if problems := len(status["problems"] or []):
        print_line(f"{counted(problems, 'problem')} found: memvault doctor" + option)
    print_line("Connect an AI client: memvault connect claude-desktop" + option)
    print_line("See and ask your notes in a browser: memvault open" + option)
    if becomes_usual:
        print_line(f"Commands use this vault from now on ({user_config_file()}).")
    elif not is_usual:
        print_line(
            "Every command needs this --vault, unless MEMVAULT_VAULT or `vault` in "
            f"{user_config_file()} names the folder."
        )


def _choose_folder(places: Places, folder: str) -> None:
    """Have new notes written in this folder of the vault.

    Raises:
        InvalidParams: it cannot be such a folder, or the configuration is invalid.
        StorageError: the configuration cannot be written.
    """
    from pydantic import ValidationError

    from mcp_server.engine.launcher import is_engine_running
    from memvault.config.settings import NotesSettings
    from memvault.curation.operations.destination import checked_folder, path_in_vault
    from memvault.vault.files import Vault
    from memvault.vault.note_folders import NoteFolders
    from memvault.vault.write import storage_errors, write_whole

    inside = path_in_vault(Vault(places.vault), str(expanded(Path(folder)))) if folder else ""
    try:
        chosen = NotesSettings(folder=inside).folder
    except ValidationError as error:
        reason = reason_of(error.errors()[0]["msg"])
        raise InvalidParams(f"The folder of notes {folder!r} {reason}.") from error
    checked_folder(Vault(places.vault, folders=NoteFolders(chosen)), chosen)
    if settings_of(places).notes.folder == chosen:
        return
    used, file = places.config_file, places.config or places.state.config_file
    try:
        text = put_toml(ConfigFile(used, TOML).text(), ("notes", "folder"), chosen)
    except CannotEdit as error:
        raise InvalidParams(
            f"{used} cannot be changed: {error}. Set folder in its table [notes] yourself."
        ) from error
    places.state.create()
    with storage_errors(str(file)):
        write_whole(file.resolve(), text.encode("utf-8"))
    print_line(f"The settings of this vault are in {file}")
    if is_engine_running(places.state):
        print_hint("memvault still runs with its earlier settings: run `memvault stop`.")


def _make_usual(places: Places) -> bool:
    """Name this vault in the person's configuration, if commands would find none without
    ``--vault``; returns whether that was done."""
    usual = find_places(None, None)
    is_named = os.environ.get("MEMVAULT_VAULT") or configured_vault(None)
    if places.config or is_named or usual.vault.is_dir():
        return False
    with suppress(CannotEdit, StorageError):  # it is a convenience
        return ConfigFile(user_config_file(), TOML).put([(["vault"], str(places.vault))])
    return False


def make_vault(vault: Path, notes_folder: str = "") -> str:
    """Make the folder a vault; returns a short description of the changes.

    Example notes are added only to a folder without notes; one with notes stays as it is.

    Raises:
        InvalidParams: the path is a file.
        StorageError: the folder cannot be written.
    """
    if vault.exists() and not vault.is_dir():
        raise InvalidParams(f"{vault} is a file; name a folder.")
    try:
        vault.mkdir(parents=True, exist_ok=True)
        if _has_notes(vault):
            if notes_folder:
                return f"your notes are unchanged; new ones go to {notes_folder}/"
            spelled = {entry.name.casefold(): entry.name for entry in vault.iterdir()}
            *names, last = [f"{spelled.get(name, name)}/" for name in _FOLDERS]
            return (
                f"your notes are unchanged; AI clients write into {', '.join(names)} and {last}; "
                "--notes-folder AI has them write into AI/ instead"
            )
        return f"{_copy_template(vault)} files added"
    except OSError as error:
        raise StorageError(
            f"{vault} cannot be written: {error.strerror}. Name another folder, or correct its "
            "permissions."
        ) from error


def _has_notes(vault: Path) -> bool:
    notes = (note.relative_to(vault) for note in vault.rglob("*.md"))
    return any(not any(part.startswith(".") for part in note.parts) for note in notes)


def _copy_template(vault: Path) -> int:
    """Copy the template's files that the vault lacks; returns their number."""
    template, added = _template(), 0
    for source in sorted(path for path in template.rglob("*") if path.is_file()):
        target = vault / source.relative_to(template)
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            added += 1
    return added


def _template() -> Path:
    """The template vault: inside the package in a wheel, at the top of a checkout."""
    package = Path(memvault.__file__).parent
    for folder in (package / "vault_template", package.parents[1] / "vault_template"):
        if folder.is_dir():
            return folder
    raise StorageError("The template vault is missing; reinstall memvault.")


def new(
    context: typer.Context,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="The title of the note.")],
    *,
    text: Annotated[
        str | None, typer.Option(help="The text; without it, standard input is read.")
    ] = None,
    project: Annotated[str | None, typer.Option(help="The project that it belongs to.")] = None,
    type_: Annotated[
        str | None,
        typer.Option("--type", help="Its type: fact, decision, preference, person, event, idea, …"),
    ] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", help="A tag; repeatable.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a note of your own: into permanent/, or into the folder of its project."""
    from memvault.curation.operations.draft import Draft

    places = places_of(context)
    stdin = sys.stdin or io.StringIO()  # a program may start memvault without one
    if text is None and stdin.isatty():
        console.print(
            "Write the text, then press Ctrl-D on an empty line (Windows: Ctrl-Z, Enter)."
        )
    content = stdin.read() if text is None else text
    if not content.strip():
        raise InvalidParams("The note has no text; nothing was saved.")
    draft = Draft.checked(
        title=title,
        content=content,
        rationale=_RATIONALE,
        project=project,
        type=type_,
        tags=tags or [],
        lifecycle=None if project else "permanent",
    )
    vault = vault_of(places)
    path = _write_note(_curator_of(places, vault), draft)
    if as_json:
        print_json({"path": path})
        return
    print_line(f"Saved {places.vault / path}")
    if same := _same_named(vault, path):
        print_hint(
            f"{same} has this name, too, so links by name may lead to either. To rename the new "
            f'note: memvault move "{path}" "{PurePosixPath(path).parent}/NEW NAME.md"'
        )


def _same_named(vault: Vault, path: str) -> str | None:
    """The path of another note whose file has this name, without regard to case."""
    name = PurePosixPath(path).name.casefold()
    others = (note.path for note in vault.walk() if note.path != path)
    return next((each for each in others if PurePosixPath(each).name.casefold() == name), None)


def _curator_of(places: Places, vault: Vault) -> Curator:
    """Changes notes without an engine, in the journal of this computer."""
    from memvault.curation.changes.curator import Curator
    from memvault.vault.journal import Journal

    return Curator(vault, Journal(vault, writer=places.state.device))


def _write_note(curator: Curator, draft: Draft) -> str:
    """Write a note as the person's own words; returns its path in the vault."""
    from memvault.curation.operations.remember import remember

    return remember(curator, draft, kind="person").result.path


def import_(
    context: typer.Context,
    program: Annotated[
        Literal["chatgpt", "claude", "gemini", "memvault"],
        typer.Argument(metavar="PROGRAM", help="The program that wrote the export."),
    ],
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="The export: zip, unpacked folder or JSON file. For memvault, a file from "
            "`memvault export FILE.json`.",
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Import conversations, one note each, or restore an export of memvault.

    A second import of the same export adds nothing.
    """
    places, source = places_of(context), expanded(file)
    vault = vault_of(places)
    _check_ordinary(source)
    if program == "memvault":
        _restore(vault, source, as_json=as_json)
    else:
        fading = settings_of(places).fading
        summary_days = fading.summary_days if fading.enabled else 0
        curator = _curator_of(places, vault)
        _import_conversations(curator, source, program, summary_days, as_json=as_json)


def _check_ordinary(file: Path) -> None:
    """Check that reading ends. Raises InvalidParams: it is a pipe or a device."""
    try:
        mode = file.stat().st_mode
    except (OSError, ValueError):
        return  # the reader reports why it cannot be read
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise InvalidParams(f"{file} is neither a file nor a folder; save its content to a file.")


def _restore(vault: Vault, file: Path, *, as_json: bool) -> None:
    from memvault.vault.export import is_of_journal, restore_export

    with counting("restoring") as progress:
        report = restore_export(file, vault, progress=progress)
    if as_json:
        print_json(asdict(report))
        return
    console.print(f"{len(report.written):,} written, {report.unchanged:,} unchanged.")
    for path in report.left_alone:
        has = "a history of its own" if is_of_journal(path) else "another version"
        print_line((f"not restored: {path} (the vault has {has})", "yellow"))


def _import_conversations(
    curator: Curator,
    file: Path,
    provider: Literal["chatgpt", "claude", "gemini"],
    summary_days: float,
    *,
    as_json: bool,
) -> None:
    """Import, and print what was done.

    Args:
        summary_days: days until a session fades; 0: none does.
    """
    from memvault.curation.operations.importing import import_conversations

    with counting("importing") as progress:
        report = import_conversations(curator, file, provider, progress=progress)
    if as_json:
        print_json(asdict(report))
        return
    console.print(
        f"{len(report.added):,} added, {len(report.updated):,} updated, "
        f"{report.unchanged:,} unchanged."
    )
    if len(report.added) + len(report.updated) > _MANY:
        print_line("They are found as they are indexed: `memvault status` shows the progress.")
    if report.added and summary_days:
        print_hint(
            f"Long conversations that nobody uses for {summary_days:g} days fade to a summary; the "
            "full texts are archived. To keep them whole: enabled = false below [fading] in "
            "memvault.toml."
        )
    for left in report.left_alone:
        print_line((f"not updated: {left.path or left.title} ({left.reason})", "yellow"))
    for skipped in report.skipped:
        print_line((f"skipped: {skipped.name} ({skipped.reason})", "yellow"))


def export(
    context: typer.Context,
    target: Annotated[
        Path, typer.Argument(metavar="DIR|FILE.json", help="A new folder, or a JSON file.")
    ],
) -> None:
    """Export notes, attachments and the journal, as a folder or as one JSON file."""
    from memvault.vault.export import export_folder, export_json

    vault = vault_of(places_of(context))
    destination = expanded(target)
    write = export_json if destination.suffix.lower() == ".json" else export_folder
    with counting("exporting") as progress:
        count = write(vault, destination, progress=progress)
    print_line(f"{counted(count, 'file')} exported to {destination}")
