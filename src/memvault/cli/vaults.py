"""Make a vault, bring conversations in, take everything out."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.text import Text

import memvault
from memvault.cli.context import AsJson, console, engine_of, places_of, print_json
from memvault.cli.options import Places, find_places
from memvault.cli.progress import bar, follow_first_scan
from memvault.model.errors import InvalidParams, StorageError

if TYPE_CHECKING:
    from memvault.curation.operations.importing import ImportReport
    from memvault.vault.files import Vault


_FOLDERS = ("permanent", "projects", "sessions")


class Provider(StrEnum):
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    MEMVAULT = "memvault"


def add_commands(app: typer.Typer) -> None:
    app.command()(init)
    app.command("import")(import_)
    app.command()(export)


def init(
    context: typer.Context,
    vault: Annotated[
        str | None, typer.Argument(metavar="[VAULT]", help="Where; else as --vault says.")
    ] = None,
) -> None:
    """Make a new vault from the template; in a folder with notes, add only missing folders."""
    options = context.find_root().params
    places = find_places(vault or options["vault"], options["config"])
    made = make_vault(places.vault)
    console.print(Text(f"Vault: {places.vault} ({made})"), soft_wrap=True)
    with engine_of(places, wait=False) as engine:
        status = follow_first_scan(engine)
    console.print(f"{status['notes']:,} notes indexed.")
    hint = "Connect an AI client: memvault connect claude-desktop" + _vault_hint(places)
    console.print(Text(hint), soft_wrap=True)


def _vault_hint(places: Places) -> str:
    usual = find_places(None, None).vault
    return "" if places.vault == usual else f' --vault "{places.vault}"'


def make_vault(vault: Path) -> str:
    """Make the folder a vault, and say in a few words what was done.

    The example notes are for an empty folder only: made-up people have no place among a person's
    own notes, which gain no more than the folders that memvault writes to.

    Raises:
        InvalidParams: there is a file in its place.
        StorageError: it cannot be written.
    """
    if vault.exists() and not vault.is_dir():
        raise InvalidParams(f"{vault} is a file; name a folder.")
    try:
        vault.mkdir(parents=True, exist_ok=True)
        if _has_notes(vault):
            for name in _FOLDERS:
                (vault / name).mkdir(exist_ok=True)
            return f"your notes are as they were; new ones go to {', '.join(_FOLDERS)}"
        return f"{_copy_template(vault)} files added"
    except OSError as error:
        raise StorageError(f"The vault cannot be written: {error.strerror}.") from error


def _has_notes(vault: Path) -> bool:
    notes = (note.relative_to(vault) for note in vault.rglob("*.md"))
    return any(not any(part.startswith(".") for part in note.parts) for note in notes)


def _copy_template(vault: Path) -> int:
    """Copy what the vault lacks; gives the number of files."""
    template, added = _template(), 0
    for source in sorted(path for path in template.rglob("*") if path.is_file()):
        target = vault / source.relative_to(template)
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            added += 1
    return added


def _template() -> Path:
    """Beside the package in a wheel, at the top of a checkout."""
    package = Path(memvault.__file__).parent
    for folder in (package / "vault_template", package.parents[1] / "vault_template"):
        if folder.is_dir():
            return folder
    raise StorageError("The template vault is missing; install memvault again.")


def import_(
    context: typer.Context,
    provider: Annotated[Provider, typer.Argument(help="Whose export it is.")],
    file: Annotated[
        Path,
        typer.Argument(
            help="conversations.json, its zip, or the unpacked folder; of memvault, what "
            "`memvault export FILE.json` wrote."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Bring conversations in as session notes, one each, or an export of memvault back as it was;
    importing twice adds nothing."""
    from memvault.vault.files import Vault

    vault, source = Vault(places_of(context).vault), file.expanduser()
    if provider is Provider.MEMVAULT:
        _restore(vault, source, as_json=as_json)
    elif provider is Provider.CHATGPT:
        _import_conversations(vault, source, "chatgpt", as_json=as_json)
    else:
        _import_conversations(vault, source, "claude", as_json=as_json)


def _restore(vault: Vault, file: Path, *, as_json: bool) -> None:
    from memvault.vault.export import restore_export

    with bar() as progress:
        task = progress.add_task("restoring", total=None)
        report = restore_export(
            file, vault, progress=lambda done: progress.update(task, completed=done)
        )
    if as_json:
        print_json(asdict(report))
        return
    console.print(f"{len(report.written):,} written, {report.unchanged:,} already there.")
    for path in report.left_alone:
        console.print(Text(f"left as it is: {path} (the vault has another)", "yellow"))


def _import_conversations(
    vault: Vault, file: Path, provider: Literal["chatgpt", "claude"], *, as_json: bool
) -> None:
    from memvault.curation.operations.importing import import_conversations
    from memvault.vault.journal import Journal

    with bar() as progress:
        task = progress.add_task("importing", total=None)
        report = import_conversations(
            vault,
            Journal(vault),
            file,
            provider,
            progress=lambda done: progress.update(task, completed=done),
        )
    if as_json:
        print_json(_report_fields(report))
        return
    console.print(
        f"{len(report.added):,} added, {len(report.updated):,} updated, "
        f"{report.unchanged:,} already there."
    )
    for left in report.left_alone:
        console.print(Text(f"left as it is: {left.path or left.title} ({left.reason})", "yellow"))
    for skipped in report.skipped:
        console.print(Text(f"skipped: {skipped.name} ({skipped.reason})", "yellow"))


def _report_fields(report: ImportReport) -> dict[str, object]:
    return {
        "added": report.added,
        "updated": report.updated,
        "unchanged": report.unchanged,
        "left_alone": [
            {"title": left.title, "path": left.path, "reason": left.reason}
            for left in report.left_alone
        ],
        "skipped": [{"name": each.name, "reason": each.reason} for each in report.skipped],
    }


def export(
    context: typer.Context,
    target: Annotated[
        Path, typer.Argument(metavar="DIR|FILE.json", help="A new folder, or one JSON file.")
    ],
) -> None:
    """Take everything out: all notes and the journal, as a folder or as one JSON file."""
    from memvault.vault.export import export_folder, export_json
    from memvault.vault.files import Vault

    vault = Vault(places_of(context).vault)
    destination = target.expanduser()
    write = export_json if destination.suffix.lower() == ".json" else export_folder
    with bar() as progress:
        task = progress.add_task("exporting", total=None)
        count = write(
            vault, destination, progress=lambda done: progress.update(task, completed=done)
        )
    console.print(Text(f"{count:,} files exported to {destination}"))
