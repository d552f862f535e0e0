"""Translates each client's hook input and output to and from memvault's own form.

Checked against Claude Code 2.1, Codex 0.169 and Gemini CLI 0.61, run offline; Cursor and VS Code
follow their documentation.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memvault.capture.edited_files import edited_files, patched_files
from memvault.capture.hook_input import AGENT_KEYS, MESSAGE_KEYS, SESSION_KEYS, START_KEYS
from memvault.capture.transcripts import spoken
from memvault.model.json_text import json_value
from memvault.model.unicode_forms import without_invisible

# The names that Gemini CLI has for events.
GEMINI_EVENTS: Mapping[str, str] = {
    "SessionStart": "SessionStart",
    "UserPromptSubmit": "BeforeAgent",
    "PreToolUse": "BeforeTool",
    "PostToolUse": "AfterTool",
    "PreCompact": "PreCompress",
    "Stop": "AfterAgent",
    "SessionEnd": "SessionEnd",
    "Notification": "Notification",
}
# The events after which a client accepts text for its model.
_TAKES_CONTEXT: Mapping[str, frozenset[str]] = {
    "claude-code": frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"}),
    "codex": frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"}),
    "gemini-cli": frozenset({"SessionStart", "UserPromptSubmit", "PostToolUse"}),
    "vscode": frozenset({"SessionStart", "PreToolUse", "PostToolUse"}),
    "cursor": frozenset({"SessionStart", "PostToolUse"}),
}
CLIENTS = frozenset(_TAKES_CONTEXT)
MAX_NAME_CHARS = 4_096  # of a path or a session's id; no system has longer paths
# Parts of the client names in MCP handshakes.
_MCP_NAMES = {"vscode": ("visual studio code", "vscode"), "gemini-cli": ("gemini",)}
_SHELLS = frozenset(
    {"bash", "shell", "run_shell_command", "run_in_terminal", "runinterminal", "powershell"}
)
_REMOVES = re.compile(
    r"(?:^|[;&|]\s*|\bsudo\s+)(?:git\s+)?(?:rm|mv|rmdir|unlink|shred|truncate|del)\b"
)


@dataclass(frozen=True, slots=True)
class HookCall:
    """One call of a hook; ``source`` says how a session starts."""

    client: str
    event: str
    session_id: str
    folder: str = ""
    transcript: str = ""
    prompt: str = ""
    source: str = ""
    tool: str = ""
    tool_input: Mapping[str, Any] = field(default_factory=dict)
    agent: str = ""
    message: str = ""

    @property
    def command(self) -> str:
        """The command that the tool call runs in a shell; "" for another tool."""
        if self.tool.lower() not in _SHELLS:
            return ""
        command = self.tool_input.get("command", self.tool_input.get("cmd", ""))
        if isinstance(command, list):  # the words of one command
            return shlex.join(map(str, command))
        return command if isinstance(command, str) else ""

    @property
    def shell_folder(self) -> str:
        """The folder in which the command runs."""
        given_folders = (
            self.tool_input.get(key) for key in ("cwd", "workdir", "directory", "dir_path")
        )
        subfolder = next((name for name in given_folders if isinstance(name, str) and name), "")
        return str(Path(self.folder) / subfolder)

    @property
    def touched(self) -> tuple[str, ...]:
        """The paths that the tool call edits or removes, or the shell command that names them."""
        if self.tool.lower() in _SHELLS:
            removes = _REMOVES.search(self.command)
            return tuple(patched_files(self.command)) or ((self.command,) if removes else ())
        return edited_files(self.tool, self.tool_input)


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of a hook.

    Attributes:
        context: text for the model.
        notice: one line for the person.
        denied: why an operation is refused.
    """

    context: str = ""
    notice: str = ""
    denied: str = ""


def is_same_client(client: str, name: str) -> bool:
    """Whether a hook's client is the client of this name over MCP."""
    return any(known_name in name.casefold() for known_name in _MCP_NAMES.get(client, (client,)))


def read_call(client: str, event: str, data: bytes) -> HookCall:
    """The call in memvault's form.

    Raises:
        ValueError: the client is unknown, or the input is not a JSON object with a session. A path
            or id that is too long counts as missing.
    """
    if client not in CLIENTS:
        raise ValueError(f"unknown client {client}")
    fields = json_value(data)
    if not isinstance(fields, dict):
        raise ValueError("the input is not a JSON object")

    def text(*keys: str) -> str:
        values = (fields.get(key) for key in keys)
        return next((value for value in values if isinstance(value, str) and value), "")

    def name(*keys: str) -> str:
        return _short(text(*keys))

    session_id = name(*SESSION_KEYS)
    if not session_id:
        raise ValueError("the input names no session")
    roots = fields.get("workspace_roots")
    first_root = roots[0] if isinstance(roots, list) and roots else ""
    tool_input = fields.get("tool_input")
    transcript = name("agent_transcript_path") if event == "SubagentStop" else ""
    return HookCall(
        client=client,
        event=event,
        session_id=session_id,
        folder=name("cwd") or (_short(first_root) if isinstance(first_root, str) else ""),
        transcript=transcript or name("transcript_path"),
        prompt=spoken(text("prompt")),
        source=text(*START_KEYS),
        tool=text("tool_name"),
        tool_input=tool_input if isinstance(tool_input, dict) else {},
        agent=text(*AGENT_KEYS),
        message=spoken(text(*MESSAGE_KEYS)),
    )


def _short(text: str) -> str:
    """The text if a path or an id may be so long; else empty."""
    return text if len(text) <= MAX_NAME_CHARS else ""


def written_reply(client: str, event: str, reply: Reply) -> bytes:
    """The reply in the client's format; empty if there is nothing that this client can use."""
    if reply.denied:
        return _json(_denial(client, event, reply.denied))
    if client == "cursor":
        takes = reply.context and event in _TAKES_CONTEXT[client]
        return _json({"additional_context": reply.context}) if takes else b""
    output: dict[str, Any] = {}
    if reply.context and event in _TAKES_CONTEXT[client]:
        own_name = GEMINI_EVENTS[event] if client == "gemini-cli" else event
        specific = {"hookEventName": own_name, "additionalContext": reply.context}
        output["hookSpecificOutput"] = specific
    elif reply.context and event in ("UserPromptSubmit", "PreToolUse"):
        output["systemMessage"] = reply.context  # the person sees it, since the model cannot
    if reply.notice:
        message = output.get("systemMessage")
        output["systemMessage"] = f"{message}\n{reply.notice}" if message else reply.notice
    return _json(output) if output else b""


def _denial(client: str, event: str, reason: str) -> dict[str, Any]:
    """A refusal of the tool call, in the client's format."""
    if client == "cursor":
        return {"permission": "deny", "user_message": reason, "agent_message": reason}
    if client == "gemini-cli":
        return {"decision": "deny", "reason": reason}
    if event == "PermissionRequest":
        refusal: dict[str, Any] = {"decision": {"behavior": "deny", "message": reason}}
    else:
        refusal = {"permissionDecision": "deny", "permissionDecisionReason": reason}
    return {"hookSpecificOutput": {"hookEventName": event, **refusal}}


def _json(value: Mapping[str, Any]) -> bytes:
    return without_invisible(json.dumps(value, ensure_ascii=False)).encode()
