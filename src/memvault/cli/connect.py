"""``connect`` and ``disconnect``: add memvault to an AI client's configuration, or remove it."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcp_server.engine import ToolSet
from memvault.cli.config_files import ConfigFile
from memvault.cli.config_text import JSON, TOML, CannotEdit, put_toml
from memvault.cli.options import Places, find_places, take_global_options
from memvault.cli.terminal import places_of
from memvault.model.errors import InvalidParams, StorageError

if TYPE_CHECKING:
    from memvault.cli.plugin_files import Plugin

_DEFAULT_NAME = "memvault"


class Client(StrEnum):
    CLAUDE_DESKTOP = "claude-desktop"
    CLAUDE_CODE = "claude-code"
    GEMINI_CLI = "gemini-cli"
    CODEX = "codex"
    CURSOR = "cursor"
    VSCODE = "vscode"
    WINDSURF = "windsurf"
    ZED = "zed"
    LM_STUDIO = "lm-studio"
    CHATGPT = "chatgpt"

    @property
    def label(self) -> str:
        return _LABELS[self]


_LABELS = {
    Client.CLAUDE_DESKTOP: "Claude Desktop",
    Client.CLAUDE_CODE: "Claude Code",
    Client.GEMINI_CLI: "Gemini CLI",
    Client.CODEX: "Codex",
    Client.CURSOR: "Cursor",
    Client.VSCODE: "VS Code",
    Client.WINDSURF: "Windsurf",
    Client.ZED: "Zed",
    Client.LM_STUDIO: "LM Studio",
    Client.CHATGPT: "ChatGPT",
}


_KEYS = {Client.CODEX: "mcp_servers", Client.VSCODE: "servers", Client.ZED: "context_servers"}


@dataclass(frozen=True, slots=True)
class Registry:
    """A client's list of servers: under ``key`` in ``file``.

    In a list with ``typed`` entries, each entry must name its transport.
    """

    file: ConfigFile
    key: str
    typed: bool = False

    def servers(self) -> dict[str, Any]:
        """Every entry by name."""
        value = self.file.get([self.key])
        return value if isinstance(value, dict) else {}

    def entry(self, command: list[str]) -> dict[str, Any]:
        """A new entry that starts this command."""
        entry: dict[str, Any] = {"type": "stdio"} if self.typed else {}
        return entry | {"command": command[0], "args": command[1:]}

    def snippet(self, name: str, entry: dict[str, Any]) -> str:
        """The text that a person would add by hand."""
        if self.file.format is TOML:
            return put_toml("", [self.key, name], entry)
        return json.dumps({self.key: {name: entry}}, indent=2, ensure_ascii=False)


def registry_of(client: Client) -> Registry:
    """The client's configuration of this user on this system; the file need not exist.

    Raises ValueError: ChatGPT, which keeps its connectors online.
    """
    if client is Client.CHATGPT:
        raise ValueError("ChatGPT keeps its connectors online")
    home, data = Path.home(), _application_data()
    path = {
        Client.CLAUDE_DESKTOP: data / "Claude" / "claude_desktop_config.json",
        Client.CLAUDE_CODE: Path(os.environ.get("CLAUDE_CONFIG_DIR") or home) / ".claude.json",
        Client.GEMINI_CLI: home / ".gemini" / "settings.json",
        Client.CODEX: Path(os.environ.get("CODEX_HOME") or home / ".codex") / "config.toml",
        Client.CURSOR: home / ".cursor" / "mcp.json",
        Client.VSCODE: data / "Code" / "User" / "mcp.json",
        Client.WINDSURF: home / ".codeium" / "windsurf" / "mcp_config.json",
        Client.ZED: _zed_folder() / "settings.json",
        Client.LM_STUDIO: _lm_studio_folder() / "mcp.json",
    }[client]
    file = ConfigFile(path, TOML if path.suffix == ".toml" else JSON)
    is_typed = client in (Client.CLAUDE_CODE, Client.VSCODE)
    return Registry(file, _KEYS.get(client, "mcpServers"), typed=is_typed)


def _application_data() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


def _zed_folder() -> Path:
    if sys.platform == "win32":
        return _application_data() / "Zed"
    if sys.platform == "darwin":
        return Path.home() / ".config" / "zed"
    return _application_data() / "zed"


def _lm_studio_folder() -> Path:
    """The folder that LM Studio names in a file, as it may be moved; else its usual one."""
    with suppress(OSError, UnicodeDecodeError):
        pointer = (Path.home() / ".lmstudio-home-pointer").read_text(encoding="utf-8").strip()
        if Path(pointer).is_absolute():
            return Path(pointer)
    return Path.home() / ".lmstudio"


_CHATGPT = """\
ChatGPT runs in the cloud, so it needs a tunnel: a public https address that leads to this machine.

 1. Open a tunnel to port 8420 and note its address, for example:
      cloudflared tunnel --url http://127.0.0.1:8420
 2. Start the engine with that address, and leave it running:
      MEMVAULT_ENGINE__PORT=8420 memvault --vault "{vault}" serve --public-url https://ADDRESS
 3. In ChatGPT: Settings, Apps & Connectors, Advanced settings, switch on developer mode. Then
    create a connector with the address https://ADDRESS/mcp and OAuth as authentication.
 4. ChatGPT opens a page with a number. Approve that number on this machine:
      memvault clients approve NUMBER
 5. Ask ChatGPT to search your memory.

Only clients that you approve can read your notes; `memvault clients` lists them. Claude on the web
connects in the same way. More, with a second tunnel: docs/clients-on-the-web.md"""

ClientArgument = Annotated[Client, typer.Argument(metavar="CLIENT", help="The AI client.")]
NameOption = Annotated[
    str,
    typer.Option(metavar="NAME", help="The server's name in the client, for a second vault."),
]


def add_commands(app: typer.Typer) -> None:
    for command in (connect, disconnect):
        app.command(rich_help_panel="AI clients")(command)


def connect(
    context: typer.Context,
    client: ClientArgument,
    *,
    tools: Annotated[
        ToolSet | None, typer.Option(help="The tools that the client is offered.")
    ] = None,
    name: NameOption = _DEFAULT_NAME,
    hooks: Annotated[
        bool,
        typer.Option("--hooks", help="Also install hooks, skills, agents and commands."),
    ] = False,
    print_only: Annotated[
        bool, typer.Option("--print", help="Show what would be added; write nothing.")
    ] = False,
) -> None:
    """Add memvault to an AI client's configuration, which is backed up first.

    A second run updates the command and the vault, and keeps what you added to the entry.
    """
    places = places_of(context)
    if client is Client.CHATGPT:
        typer.echo(_CHATGPT.format(vault=places.vault))
        return
    _check_name(name)
    registry = registry_of(client)
    plugin = _plugin(client, name, places) if hooks else None
    if print_only:
        command = [*_launch_command(), *_start_of(places, tools).arguments()]
        snippet = registry.snippet(name, registry.entry(command))
        typer.echo(f"In {registry.file.path}:\n\n{snippet}")
        if plugin is not None:
            typer.echo(f"\nFiles:\n\n{plugin.shown()}")
        return
    if _put_entry(client, registry, name, places, tools):
        typer.echo(f"Added memvault to {client.label} ({registry.file.path}). Restart it.")
    else:
        typer.echo(f"{client.label} is already configured ({registry.file.path}).")
    if plugin is not None:
        changed = plugin.install()
        installed = "Installed hooks, skills, agents and commands."
        typer.echo(installed if changed else "The hooks are already installed.")
        if client is Client.CODEX and changed:
            typer.echo("Codex asks you to trust the hooks when it starts; /hooks shows them.")


def disconnect(
    client: ClientArgument,
    name: NameOption = _DEFAULT_NAME,
) -> None:
    """Remove memvault from an AI client's configuration.

    Unless the file was edited since, it is then as it was before `connect`, to the byte.
    """
    if client is Client.CHATGPT:
        typer.echo("Delete the connector in ChatGPT's settings, under Connectors.")
        return
    registry = registry_of(client)
    try:
        removed = registry.file.cut([[registry.key, name]])
        still_connected = [
            server for server, entry in registry.servers().items() if _is_ours(entry)
        ]
    except CannotEdit as error:
        raise StorageError(
            f"{registry.file.path} was not changed, because it cannot be edited safely: {error}. "
            f"Remove {name} by hand."
        ) from error
    if removed:
        typer.echo(f"Removed {name} from {client.label} ({registry.file.path}). Restart it.")
    else:
        typer.echo(f"{client.label} has no server named {name} ({registry.file.path}).")
    if name == _DEFAULT_NAME and (plugin := _plugin(client, name, None)) and plugin.remove():
        typer.echo("Removed hooks, skills, agents and commands.")
    for server_name in still_connected:
        typer.echo(f"Still connected: memvault disconnect {client.value} --name {server_name}")
    if not removed and name != _DEFAULT_NAME:
        raise typer.Exit(1)


def clients_with_hooks() -> list[str]:
    """The labels of clients with memvault's hooks, for any vault."""
    plugins = {client.label: _plugin(client, _DEFAULT_NAME, None) for client in Client}
    return [label for label, plugin in plugins.items() if plugin and plugin.is_installed()]


def _plugin(client: Client, name: str, places: Places | None) -> Plugin | None:
    """The client's plugin; to remove it, ``places`` does not matter.

    Raises:
        InvalidParams: the client has no hooks, or this is a second vault.
    """
    from memvault.cli.client_plugins import Hook, plugin_for  # other commands start without it

    if name != _DEFAULT_NAME:
        raise InvalidParams("Hooks serve one vault. Connect the others without --hooks.")
    vault, state = ("", "") if places is None else (str(places.vault), str(places.state.root))
    config = str(places.config.absolute()) if places is not None and places.config else None
    hook = Hook(tuple(_launch_command()), client.value, vault, state, config)
    plugin = plugin_for(hook, _application_data() / "Code" / "User")
    if plugin is None and places is not None:
        raise InvalidParams(f"{client.label} has no hooks. Connect it without --hooks.")
    return plugin


def _check_name(name: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", name):
        raise InvalidParams("A name has 1 to 40 letters, digits, hyphens or underscores.")


def _launch_command() -> list[str]:
    """The start of our command, with absolute paths: desktop programs lack the shell's PATH."""
    script = Path(sys.executable).with_name("memvault.exe" if os.name == "nt" else "memvault")
    return [str(script)] if script.is_file() else [sys.executable, "-m", "memvault.cli"]


@dataclass(frozen=True, slots=True)
class _Start:
    """The arguments with which an entry starts the bridge: vault, configuration file, the rest."""

    vault: str | None
    config: str | None
    rest: tuple[str, ...]

    def arguments(self) -> list[str]:
        vault = ["--vault", self.vault] if self.vault else []
        config = ["--config", self.config] if self.config else []
        return ["mcp", *vault, *config, *self.rest]

    def over(self, before: _Start) -> _Start:
        """These arguments, with those that only the existing entry has."""
        rest = _without_tools(before.rest) if self.rest else before.rest
        return _Start(self.vault, self.config or before.config, (*rest, *self.rest))


def _without_tools(arguments: Iterable[str]) -> Iterator[str]:
    waiting = iter(arguments)
    for argument in waiting:
        if argument == "--tools":
            next(waiting, None)
        elif not argument.startswith("--tools="):
            yield argument


def _start_of(places: Places, tools: ToolSet | None) -> _Start:
    config = str(places.config.absolute()) if places.config else None
    return _Start(str(places.vault), config, ("--tools", tools) if tools else ())


def _start_in(entry: Any) -> _Start:
    """
    Raises:
        CannotEdit: the entry does not start the bridge.
    """
    arguments = entry.get("args") if isinstance(entry, dict) else None
    if not isinstance(arguments, list) or not all(
        isinstance(argument, str) for argument in arguments
    ):
        raise CannotEdit("its entry has no list of arguments")
    options = take_global_options(arguments)
    if "mcp" not in options.rest:
        raise CannotEdit("its entry does not start `memvault mcp`")
    rest = options.rest[options.rest.index("mcp") + 1 :]
    return _Start(options.vault, options.config, (*rest, *(["--debug"] * options.debug)))


def _is_ours(entry: Any) -> bool:
    try:
        _start_in(entry)
    except CannotEdit:
        return False
    return "memvault" in json.dumps([entry.get("command"), entry["args"]])


def _refuse_other_vault(client: Client, name: str, before: _Start, start: _Start) -> None:
    def real(vault: str | None) -> str:
        return os.path.realpath(find_places(vault, None).vault)

    if real(before.vault) != real(start.vault):
        raise InvalidParams(
            f"In {client.label}, {name} is the vault {real(before.vault)}. To add this vault next "
            f"to it: memvault connect {client.value} --name ANOTHER-NAME. To replace it, first: "
            f"memvault disconnect {client.value}"
        )


def _put_entry(
    client: Client, registry: Registry, name: str, places: Places, tools: ToolSet | None
) -> bool:
    """Add or update the client's entry; returns False if it is already current.

    Raises:
        InvalidParams: the name belongs to another vault.
        StorageError: the file is malformed or cannot be written; it is as it was.
    """
    launch, start = _launch_command(), _start_of(places, tools)
    entry = registry.entry([*launch, *start.arguments()])
    steps = [registry.key, name]
    try:
        present = registry.servers().get(name)
        if present is None:
            return registry.file.put([(steps, entry)])
        before = _start_in(present)
        _refuse_other_vault(client, name, before, start)
        after = start.over(before)
        args = [*launch[1:], *after.arguments()] if after != before else present["args"]
        return registry.file.put([([*steps, "command"], launch[0]), ([*steps, "args"], args)])
    except CannotEdit as error:
        raise StorageError(
            f"{registry.file.path} was not changed, because it cannot be edited safely: {error}. "
            f"Add this by hand:\n\n{registry.snippet(name, entry)}"
        ) from error
