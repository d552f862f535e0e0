"""`memvault connect --hooks`: everything goes in at once, and comes out again to the byte."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.resources import files as package_files
from pathlib import Path

import pytest

from memvault.cli.app import run
from memvault.cli.options import find_places
from memvault.cli.plugin_files import MARK
from memvault.config.hook_files import LIMITS, HookFiles

CLIENTS = ["claude-code", "codex", "gemini-cli", "cursor", "vscode"]
SKILLS = {
    "memory-inject", "context-search", "goal-discover",
    "memory-consolidate", "memory-introspect", "learning-trajectory",
}  # fmt: skip
AGENTS = {
    "embedding-specialist", "search-agent", "comparison-agent",
    "goal-agent", "distillation-agent", "dream-agent",
}  # fmt: skip
KINDS = ("skills", "agents", "commands")
COMMANDS = {"remember", "recall", "forget", "curate"}
# What people may have there already, in their own way of writing it.
PRESENT = {
    ".claude.json": '{"theme": "dark"}',
    ".claude/skills/mine/SKILL.md": "---\nname: mine\ndescription: Mine\n---\n",
    ".codex/config.toml": 'model = "gpt-5" # the good one\n',
    ".codex/hooks.json": '{\n\t"hooks": {\n\t\t"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]\n\t}\n}',
    ".codex/skills/mine/SKILL.md": "---\nname: mine\ndescription: Mine\n---\n",
    ".gemini/settings.json": '{\n  // mine\n  "ui": {}\n}\n',
    ".gemini/extensions/other/gemini-extension.json": '{"name": "other", "version": "1"}',
    ".cursor/hooks.json": '{"version": 1, "hooks": {"stop": [{"command": "./audit.sh"}]}}\n',
    ".cursor/mcp.json": "{}",
    ".copilot/hooks/other.json": '{"version": 1, "hooks": {}}',
}


@pytest.fixture
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMVAULT_VAULT", str(home / "My Vault"))
    (home / "My Vault").mkdir()
    return home


@pytest.fixture
def used_home(home: Path) -> Path:
    for path, text in PRESENT.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_bytes(text.encode())
    return home


def tree(home: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in home.rglob("*")
        if path.is_file() and ".before-memvault" not in path.name
    }


def commands_in(home: Path, client: str) -> list[str]:
    """Every hook command of ours that the client would run."""
    whole = "\n".join(data.decode() for data in tree(home).values())
    found = re.findall(r'"command": "((?:[^"\\]|\\.)*)"', whole)
    decoded = [json.loads(f'"{each}"') for each in found]
    return [each for each in decoded if " hook " in each and f"--client={client}" in each]


@pytest.mark.parametrize("client", CLIENTS)
def test_connecting_twice_changes_nothing_and_disconnecting_restores_every_byte(
    client: str, used_home: Path
) -> None:
    before = tree(used_home)
    assert run(["connect", client, "--hooks"]) == 0
    connected = tree(used_home)
    assert connected != before
    assert run(["connect", client, "--hooks"]) == 0
    assert tree(used_home) == connected
    assert run(["disconnect", client]) == 0
    assert tree(used_home) == before


@pytest.mark.parametrize("client", CLIENTS)
def test_a_home_without_configurations_is_empty_again(client: str, home: Path) -> None:
    assert run(["connect", client, "--hooks"]) == 0
    assert run(["disconnect", client]) == 0
    assert tree(home) == {}


@pytest.mark.parametrize("client", CLIENTS)
def test_every_skill_agent_and_command_is_installed(client: str, home: Path) -> None:
    assert run(["connect", client, "--hooks"]) == 0
    names = set(tree(home))
    assert {Path(name).parent.name for name in names if name.endswith("SKILL.md")} >= SKILLS
    stems = {Path(name).name.split(".")[0] for name in names}
    folders = {Path(name).parent.name for name in names}
    assert stems >= AGENTS and stems | folders >= COMMANDS
    for name in names:
        if name.endswith(".toml"):
            tomllib.loads((home / name).read_text())
        if name.endswith(".json"):
            json.loads((home / name).read_text())


@pytest.mark.parametrize("client", CLIENTS)
def test_hook_commands_name_event_client_state_and_vault(client: str, home: Path) -> None:
    assert run(["connect", client, "--hooks"]) == 0
    commands = commands_in(home, client)
    events = {command.split(" hook ")[1].split()[0] for command in commands}
    assert {"SessionStart", "PreToolUse", "PreCompact", "Stop"} <= events <= set(LIMITS)
    for command in commands:
        assert "--vault=" in command and "My Vault" in command and "--state=" in command
        assert "'" in command or '"' in command  # the blank in the path is quoted


def test_claude_code_gets_all_ten_events_with_their_limits(home: Path) -> None:
    assert run(["connect", "claude-code", "--hooks"]) == 0
    path = home / ".claude/skills/memvault/hooks/hooks.json"
    groups = json.loads(path.read_text())["hooks"]
    assert {event: group[0]["hooks"][0]["timeout"] for event, group in groups.items()} == LIMITS


@pytest.mark.parametrize(
    ("client", "path"),
    [
        ("codex", ".codex/skills/remember/SKILL.md"),
        ("cursor", ".cursor/commands/recall.md"),
        ("vscode", ".copilot/agents/search-agent.agent.md"),
        ("claude-code", ".claude/skills/memvault/agents/goal-agent.md"),
    ],
)
def test_a_file_of_the_persons_is_never_overwritten(
    client: str, path: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / path).parent.mkdir(parents=True)
    (home / path).write_text("My own words.\n")
    assert run(["connect", client, "--hooks"]) == 1
    assert "is not memvault's" in capsys.readouterr().err
    assert run(["disconnect", client]) == 0
    assert (home / path).read_text() == "My own words.\n"


def test_print_shows_and_writes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for client in CLIENTS:
        assert run(["connect", client, "--hooks", "--print"]) == 0
    assert tree(home) == {}
    shown = capsys.readouterr().out
    assert "hooks.json" in shown and "SKILL.md" in shown and " hook SessionStart" in shown


def test_only_one_vault_has_hooks_and_a_client_without_them_says_so(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["connect", "claude-code", "--hooks", "--name", "work"]) == 2
    assert run(["connect", "claude-desktop", "--hooks"]) == 2
    assert "has no hooks" in capsys.readouterr().err
    assert tree(home) == {}


def test_hooks_that_no_client_has_are_not_on(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def states() -> set[str]:
        assert run(["hooks", "status", "--json"]) == 0
        return {each["state"] for each in json.loads(capsys.readouterr().out)["events"]}

    assert states() == {"not installed"}
    assert run(["hooks", "status"]) == run(["hooks", "log"]) == 0
    assert capsys.readouterr().out.count("memvault connect CLIENT --hooks") == 2
    assert run(["connect", "cursor", "--hooks"]) == 0
    capsys.readouterr()
    assert states() == {"on"}
    assert run(["hooks", "status"]) == 0
    assert "installed in Cursor." in capsys.readouterr().out


def test_the_log_of_the_hooks_is_shown_as_text_and_as_json(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = find_places(None, None).state.root
    HookFiles(str(state)).log("cursor", "Stop", "kept for the engine")
    assert run(["hooks", "log"]) == 0
    line = capsys.readouterr().out.strip()
    assert line.endswith(" cursor Stop kept for the engine")
    assert run(["hooks", "log", "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert " ".join(entry.values()) == line and entry["outcome"] == "kept for the engine"


def test_a_hook_can_be_switched_off_and_on(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["connect", "claude-code", "--hooks"]) == 0
    capsys.readouterr()
    assert run(["hooks", "off", "Stop"]) == 0
    assert run(["hooks", "status", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out.partition("\n")[2])
    states = {each["event"]: each["state"] for each in shown["events"]}
    assert states.pop("Stop") == "off" and set(states.values()) == {"on"}
    assert run(["hooks", "on"]) == 0
    assert run(["hooks", "off", "NoSuchEvent"]) == 2


def test_a_vault_that_never_was_is_a_mistake_and_one_that_is_away_is_none(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vault = home / "Vault"
    for command in (["hooks", "off"], ["hooks", "log"], ["stop"]):
        assert run([*command, "--vault", str(vault)]) == 2
        assert f"There is no vault at {vault}" in capsys.readouterr().err
    assert not (home / "state").exists()
    vault.mkdir()
    assert run(["hooks", "off", "--vault", str(vault)]) == 0
    vault.rmdir()
    assert run(["hooks", "on", "--vault", str(vault)]) == run(["stop", "--vault", str(vault)]) == 0


def test_no_text_of_the_plugin_carries_the_mark_that_installing_adds() -> None:
    folder = package_files("memvault.plugin")
    texts = [file.read_text("utf-8") for kind in KINDS for file in (folder / kind).iterdir()]
    assert len(texts) == 16 and not any(MARK in text for text in texts)
