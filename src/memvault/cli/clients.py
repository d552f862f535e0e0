"""``connect``: write memvault into an AI client's configuration."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tomllib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from memvault.cli.context import places_of
from memvault.cli.options import Places
from memvault.model.errors import StorageError


class Client(StrEnum):
    CLAUDE_DESKTOP = "claude-desktop"
    CLAUDE_CODE = "claude-code"
    GEMINI_CLI = "gemini-cli"
    CODEX = "codex"
    CURSOR = "cursor"
    VSCODE = "vscode"
    CHATGPT = "chatgpt"


@dataclass(frozen=True, slots=True)
class ClientFile:
    """``key`` is the table of servers; ``typed`` clients want each to say that it is stdio."""

    path: Path
    form: Literal["json", "toml"]
    key: str
    typed: bool = False

    def entry(self, command: list[str]) -> dict[str, Any]:
        entry: dict[str, Any] = {"type": "stdio"} if self.typed else {}
        return entry | {"command": command[0], "args": command[1:]}


def client_file(client: Client) -> ClientFile:
    """The client's configuration file of this user on this system; it need not exist."""
    home = Path.home()
    match client:
        case Client.CLAUDE_DESKTOP:
            path = _application_data() / "Claude" / "claude_desktop_config.json"
            return ClientFile(path, "json", "mcpServers")
        case Client.CLAUDE_CODE:
            folder = Path(os.environ.get("CLAUDE_CONFIG_DIR") or home)
            return ClientFile(folder / ".claude.json", "json", "mcpServers", typed=True)
        case Client.GEMINI_CLI:
            return ClientFile(home / ".gemini" / "settings.json", "json", "mcpServers")
        case Client.CODEX:
            folder = Path(os.environ.get("CODEX_HOME") or home / ".codex")
            return ClientFile(folder / "config.toml", "toml", "mcp_servers")
        case Client.CURSOR:
            return ClientFile(home / ".cursor" / "mcp.json", "json", "mcpServers")
        case Client.VSCODE:
            path = _application_data() / "Code" / "User" / "mcp.json"
            return ClientFile(path, "json", "servers", typed=True)
        case Client.CHATGPT:
            raise ValueError("ChatGPT keeps its connectors online")


def _application_data() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


class CannotMerge(Exception):
    """The text is malformed, or in a form that cannot be added to without risk; says why."""


def merge_json(text: str, key: str, name: str, entry: dict[str, Any]) -> str:
    """``{key: {name: entry}}`` put into a JSON object, its order and indentation kept.

    Raises:
        CannotMerge: the text is not plain JSON (comments included), or names a key twice.
    """
    if not text.strip():
        return json.dumps({key: {name: entry}}, indent=2, ensure_ascii=False) + "\n"
    try:
        whole = json.loads(text, object_pairs_hook=_without_twins)
    except ValueError as error:
        raise CannotMerge(str(error)) from error
    if not isinstance(whole, dict) or not isinstance(whole.get(key, {}), dict):
        raise CannotMerge(f"it is not an object with an object {key}")
    if whole.get(key, {}).get(name) == entry:
        return text
    whole.setdefault(key, {})[name] = entry
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    indent = found[1] if found else 2
    end = "\n" if text.endswith("\n") else ""
    return json.dumps(whole, indent=indent, ensure_ascii=False) + end


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("it names a key twice")
    return fields


def merge_toml(text: str, key: str, name: str, entry: dict[str, Any]) -> str:
    """A table ``[key.name]`` appended, or put where it stood; every other byte is kept.

    Raises:
        CannotMerge: the text is not TOML, or writes the table in another way.
    """
    before = _toml(text)
    if before.get(key, {}).get(name) == entry:
        return text
    table = toml_table(key, name, entry)
    header = re.compile(
        rf"^[ \t]*\[{re.escape(key)}\.(?:{re.escape(name)}|\"{re.escape(name)}\")\][^\n]*\n"
        r"(?:(?![ \t]*\[)[^\n]*(?:\n|\Z))*",
        re.MULTILINE,
    )
    if found := header.search(text):
        rest = text[found.end() :]
        merged = text[: found.start()] + table + ("\n" if rest else "") + rest
    else:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        merged = text + gap + table
    after = _toml(merged)
    if _without(before, key, name) != _without(after, key, name) or after[key][name] != entry:
        raise CannotMerge(f"it writes {key} in a way that cannot be added to")
    return merged


def toml_table(key: str, name: str, entry: dict[str, Any]) -> str:
    """The entry as TOML; its values are strings and lists of them, which JSON writes alike."""
    lines = [f"{field} = {json.dumps(value)}" for field, value in entry.items()]
    return "\n".join([f"[{key}.{name}]", *lines, ""])


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CannotMerge(str(error)) from error


def _without(values: dict[str, Any], key: str, name: str) -> dict[str, Any]:
    table = values.get(key, {})
    others = {each: value for each, value in table.items() if each != name}
    return {**values, key: others}


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
