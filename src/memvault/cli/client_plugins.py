"""The hooks, skills, agents and commands that each client gets, for ``connect --hooks``.

Claude Code and Gemini CLI accept a separate folder as a plugin. The others keep hooks, skills and
agents in folders that other programs also use.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

from mcp_server.hooks.clients import GEMINI_EVENTS
from memvault import __version__
from memvault.cli.config_files import ConfigFile
from memvault.cli.config_text import JSON
from memvault.cli.plugin_files import MARK, Plugin
from memvault.config.hook_files import LIMITS
from memvault.vault.frontmatter.fences import split_frontmatter

_TEXTS = package_files("memvault") / "plugin"
_PLUGIN = "memvault"
_DESCRIPTION = "Your Obsidian vault as memory: recalled and captured unasked."
_EDITS = "Edit|Write|MultiEdit|NotebookEdit|apply_patch"
_MATCHERS = {
    "PreToolUse": f"{_EDITS}|Bash|mcp__.*forget_concept",
    "PostToolUse": _EDITS,
    "PermissionRequest": "mcp__.*(forget_concept|merge_concepts|reload_manifest|trigger_dream)",
}
_GEMINI_MATCHERS = {
    "PreToolUse": "write_file|replace|run_shell_command|.*forget_concept",
    "PostToolUse": "write_file|replace",
}
_CODEX_EVENTS = [event for event in LIMITS if event != "Notification"]
_CODEX_MATCHERS = {**_MATCHERS, "SessionStart": "startup|resume|clear|compact"}
_CODEX_SESSION_END_SECONDS = 3  # Codex reduces a longer limit, with a warning at each start
_CURSOR_EVENTS = {
    "SessionStart": "sessionStart",
    "PreToolUse": "preToolUse",
    "PostToolUse": "postToolUse",
    "PreCompact": "preCompact",
    "Stop": "stop",
    "SubagentStop": "subagentStop",
    "SessionEnd": "sessionEnd",
}
_CURSOR_MATCHERS = {
    "PreToolUse": "Write|Delete|Shell|.*forget_concept",
    "PostToolUse": "Write|Delete",
}
_VSCODE_EVENTS = [
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse",
    "PreCompact", "SubagentStop", "Stop",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hook:
    """The command ``memvault hook`` of a client, without its event."""

    launch: tuple[str, ...]
    client: str
    vault: str
    state: str
    config: str | None = None

    def command(self, event: str) -> str:
        """The command for an event, as one line for the client's shell."""
        config = [f"--config={self.config}"] if self.config else []
        words = [
            *self.launch, "hook", event, f"--client={self.client}",
            f"--state={self.state}", f"--vault={self.vault}", *config,
        ]  # fmt: skip
        return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def plugin_for(hook: Hook, user_data: Path) -> Plugin | None:
    """The client's plugin; None for a client without hooks.

    Args:
        user_data: where VS Code keeps a user's files.
    """
    home = Path.home()
    match hook.client:
        case "claude-code":
            base = Path(os.environ.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "skills"
            return _claude_plugin(hook, base)
        case "gemini-cli":
            return _gemini_extension(hook, home / ".gemini" / "extensions")
        case "codex":
            return _codex_files(hook, Path(os.environ.get("CODEX_HOME") or home / ".codex"))
        case "cursor":
            return _cursor_files(hook, home / ".cursor")
        case "vscode":
            return _vscode_files(hook, home / ".copilot", user_data)
    return None


def _claude_plugin(hook: Hook, skills: Path) -> Plugin:
    """A plugin in the folder of skills, which Claude Code loads as ``memvault@skills-dir``."""
    root = skills / _PLUGIN
    manifest = {
        "name": _PLUGIN,
        "version": __version__,
        "description": _DESCRIPTION,
        "author": {"name": "memvault"},
        "license": "Apache-2.0",
    }
    files = {
        root / ".claude-plugin" / "plugin.json": _json(manifest),
        root / "hooks" / "hooks.json": _json(
            {"description": MARK, "hooks": _groups(hook, {e: e for e in LIMITS}, _MATCHERS)}
        ),
        root / "README.md": _marked((_TEXTS / "README.md").read_text(encoding="utf-8")),
    }
    files |= _skills(root) | _placed(root, "agents") | _placed(root, "commands")
    return Plugin((skills,), files)


def _gemini_extension(hook: Hook, extensions: Path) -> Plugin:
    root = extensions / _PLUGIN
    manifest = {"name": _PLUGIN, "version": __version__, "description": _DESCRIPTION}
    groups = _groups(hook, GEMINI_EVENTS, _GEMINI_MATCHERS, milliseconds=True)
    files = {
        root / "gemini-extension.json": _json(manifest),
        root / "hooks" / "hooks.json": _json({"hooks": groups}),
    }
    files |= _skills(root) | _placed(root, "agents")
    for name, text in _texts("commands"):
        fields, body = _split(text)
        prompt = body.replace("$ARGUMENTS", "{{args}}").strip()
        toml = _toml(description=fields["description"], prompt=prompt)
        files[root / "commands" / f"{name}.toml"] = toml
    return Plugin((extensions,), files)


def _codex_files(hook: Hook, root: Path) -> Plugin:
    """The files for Codex, which has no custom commands any more: ``$remember`` is a skill."""
    files = _skills(root)
    for name, text in _texts("commands"):
        fields, body = _split(text)
        prompt = body.replace("$ARGUMENTS", "what the person names with this skill")
        skill = f"---\nname: {name}\ndescription: {fields['description']}\n---\n\n{prompt}"
        files[root / "skills" / name / "SKILL.md"] = _marked(skill)
    for name, text in _texts("agents"):
        fields, body = _split(text)
        files[root / "agents" / f"{name}.toml"] = _toml(
            name=name, description=fields["description"], developer_instructions=body.strip()
        )
    groups = _groups(hook, {event: event for event in _CODEX_EVENTS}, _CODEX_MATCHERS)
    groups["SessionEnd"][0]["hooks"][0]["timeout"] = _CODEX_SESSION_END_SECONDS
    hooks = {event: group[0] for event, group in groups.items()}
    return Plugin((root,), files, ConfigFile(root / "hooks.json", JSON), hooks)


def _cursor_files(hook: Hook, root: Path) -> Plugin:
    def plain(text: str) -> str:  # Cursor appends the text after the command's name
        return _split(text)[1].replace("$ARGUMENTS", "what follows the command")

    files = _skills(root) | _placed(root, "agents") | _placed(root, "commands", change=plain)
    hooks = {}
    for event, client_event in _CURSOR_EVENTS.items():
        entry: dict[str, Any] = {"command": hook.command(event), "timeout": int(LIMITS[event])}
        if event in _CURSOR_MATCHERS:
            entry["matcher"] = _CURSOR_MATCHERS[event]
        hooks[client_event] = entry
    return Plugin((root,), files, ConfigFile(root / "hooks.json", JSON), hooks)


def _vscode_files(hook: Hook, root: Path, user_data: Path) -> Plugin:
    entries = {
        event: [{"type": "command", "command": hook.command(event), "timeout": int(LIMITS[event])}]
        for event in _VSCODE_EVENTS
    }
    files = {root / "hooks" / "memvault.json": _json({"version": 1, "hooks": entries})}
    files |= _skills(root) | _placed(root, "agents", "{}.agent.md")
    for name, text in _texts("commands"):
        body = text.replace("$ARGUMENTS", "${input:what}")
        files[user_data / "prompts" / f"{name}.prompt.md"] = _marked(body)
    return Plugin((root, user_data), files)


def _groups(
    hook: Hook,
    events: Mapping[str, str],
    matchers: Mapping[str, str],
    *,
    milliseconds: bool = False,
) -> dict[str, Any]:
    """Hook groups by the client's own event name, in the format that began with Claude Code."""
    groups: dict[str, Any] = {}
    for event, client_event in events.items():
        limit = int(LIMITS[event] * (1_000 if milliseconds else 1))
        entry: dict[str, Any] = {
            "type": "command",
            "command": hook.command(event),
            "timeout": limit,
        }
        if milliseconds:  # Gemini CLI shows hooks by name
            entry = {"name": f"memvault-{event}", **entry}
        matcher = {"matcher": matchers[event]} if event in matchers else {}
        groups[client_event] = [{**matcher, "hooks": [entry]}]
    return groups


def _skills(root: Path) -> dict[Path, bytes]:
    return _placed(root, "skills", "{}/SKILL.md")


def _placed(
    root: Path, kind: str, pattern: str = "{}.md", change: Callable[[str], str] = str
) -> dict[Path, bytes]:
    """The skills, agents or commands as files of a client that reads Markdown."""
    return {
        root / kind / pattern.format(name): _marked(change(text)) for name, text in _texts(kind)
    }


def _texts(kind: str) -> Iterator[tuple[str, str]]:
    """Names and texts of the skills, agents or commands in this package."""
    for file in sorted((_TEXTS / kind).iterdir(), key=lambda file: file.name):
        if file.name.endswith(".md"):
            yield file.name.removesuffix(".md"), file.read_text(encoding="utf-8")


def _split(text: str) -> tuple[dict[str, str], str]:
    """Frontmatter fields of one line each, and the body."""
    properties, body = split_frontmatter(text)
    pairs = (line.split(": ", 1) for line in properties.splitlines() if ": " in line)
    return dict(pairs), body.lstrip("\n")


def _marked(text: str) -> bytes:
    return f"{text.rstrip()}\n\n<!-- {MARK} -->\n".encode()


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _toml(**values: str) -> bytes:
    """Strings as TOML, whose strings are written as in JSON."""
    lines = [f"{key} = {json.dumps(text, ensure_ascii=False)}" for key, text in values.items()]
    return "\n".join([f"# {MARK}", *lines, ""]).encode()
