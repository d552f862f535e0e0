"""Where each AI client keeps its MCP servers, and in what form."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal


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
