"""``connect``: write memvault into an AI client's configuration."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from memvault.cli.client_files import Client, ClientFile, client_file
from memvault.cli.client_merge import CannotMerge, merge_json, merge_toml, toml_table
from memvault.cli.context import places_of
from memvault.cli.places import Places
from memvault.model.errors import StorageError

_SERVER = "memvault"
_CHATGPT = """\
ChatGPT runs in the cloud and reaches only servers with a public https address, so it needs a
tunnel to this machine. Anyone with that address and the secret can read your notes.

 1. Start the engine on a port of its own, with a secret that every request must bring:
      MEMVAULT_ENGINE__PORT=8420 MEMVAULT_ENGINE__TOKEN=<secret> memvault --vault "{vault}" serve
 2. Open a tunnel to it that rewrites the Host header, which the engine checks, for example:
      cloudflared tunnel --url http://127.0.0.1:8420 --http-host-header 127.0.0.1:8420
 3. In ChatGPT's settings, under connectors, switch on developer mode and create a connector for
    the tunnel's address followed by /mcp, with the header "Authorization: Bearer <secret>". If
    it offers no field for a header, have the tunnel's provider sign people in and add it.
 4. Ask ChatGPT to search your memory."""


def add_commands(app: typer.Typer) -> None:
    app.command()(connect)


def connect(
    context: typer.Context,
    client: Annotated[Client, typer.Argument(help="The AI client to connect.")],
    print_only: Annotated[
        bool, typer.Option("--print", help="Show what would be added; write nothing.")
    ] = False,
) -> None:
    """Add memvault to an AI client's configuration, which is backed up first."""
    places = places_of(context)
    if client is Client.CHATGPT:
        typer.echo(_CHATGPT.format(vault=places.vault))
        return
    file = client_file(client)
    command = _bridge_command(places)
    if print_only:
        typer.echo(f"In {file.path}:\n\n{_snippet(file, command)}")
        return
    if _write(file, command):
        typer.echo(f"{client.value} now knows memvault ({file.path}). Restart it to connect.")
    else:
        typer.echo(f"{client.value} knew memvault already ({file.path}).")


def _bridge_command(places: Places) -> list[str]:
    """By absolute paths: desktop programs do not see the shell's PATH."""
    script = Path(sys.executable).with_name("memvault.exe" if os.name == "nt" else "memvault")
    start = [str(script)] if script.is_file() else [sys.executable, "-m", "memvault.cli"]
    config = ["--config", str(places.config.absolute())] if places.config else []
    return [*start, "mcp", "--vault", str(places.vault), *config]


def _snippet(file: ClientFile, command: list[str]) -> str:
    entry = file.entry(command)
    if file.form == "toml":
        return toml_table(file.key, _SERVER, entry)
    return json.dumps({file.key: {_SERVER: entry}}, indent=2, ensure_ascii=False)


def _write(file: ClientFile, command: list[str]) -> bool:
    """False when there is nothing to change.

    Raises:
        StorageError: the file is malformed or cannot be written; it is as it was.
    """
    place = Path(os.path.realpath(file.path))  # people link these files to where they keep them
    merge = merge_toml if file.form == "toml" else merge_json
    try:
        before = place.read_bytes().decode("utf-8") if place.exists() else ""
        after = merge(before, file.key, _SERVER, file.entry(command))
        if after == before:
            return False
        _replace(place, after.encode(), backup=bool(before))
    except (CannotMerge, UnicodeDecodeError) as error:
        raise StorageError(
            f"{file.path} is left as it is, since it cannot be merged into safely: {error}. "
            f"Add this by hand:\n\n{_snippet(file, command)}"
        ) from error
    except OSError as error:
        raise StorageError(f"{file.path} cannot be written: {error.strerror}.") from error
    return True


def _replace(place: Path, data: bytes, *, backup: bool) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = place.with_name(f"{place.name}.{os.getpid()}.tmp")
    try:
        if backup:
            shutil.copy2(place, _free_backup_name(place))
            shutil.copy2(place, temporary)  # keeps the mode: such files may hold secrets
        else:
            temporary.touch(mode=0o600)
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(place)
    finally:
        temporary.unlink(missing_ok=True)


def _free_backup_name(place: Path) -> Path:
    """``NAME.before-memvault``, numbered when there are some: a backup never goes under."""
    stem = f"{place.name}.before-memvault"
    taken = {entry.name for entry in place.parent.iterdir()}
    names = (stem if n == 1 else f"{stem}-{n}" for n in range(1, len(taken) + 2))
    return place.with_name(next(name for name in names if name not in taken))
