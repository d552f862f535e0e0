"""A hook refuses tool calls that delete what memvault cannot restore."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_server.hooks.client_formats import Reply, read_call, written_reply
from mcp_server.hooks.destructive_calls import destroyed_by_command, destroyed_by_tool
from tests.timing import seconds_of
from tests.unit.test_linear_time import SECONDS

REFUSED = [
    "rm -rf {vault}",
    "rm -r '{vault}/.memvault'",
    "rm -rf {vault}/.memvault/history",
    "rm {vault}/.memvault/history/*.zip",
    "rm -rf {vault}/*",
    "rm -rf {vault}/../Vault",
    "rm -rf ~/Notes",
    "rm -rf $HOME/Notes/Vault",
    'V="{vault}"; sudo rm -rf "$V"',
    "cd {vault} && rm -rf .memvault",
    "cd {vault}\ngit clean -fdx",
    "git -C {vault} clean --force -d",
    "ls; (cd {vault}; git clean -df .memvault)",
    "bash -lc 'rm -rf {vault}'",
    "find {vault} -type f -delete",
    "find {vault} -name '*.md' -delete",
    "find {vault} -iname '*.MD' -exec rm {{}} +",
    "find {vault}/.memvault -name '*.zip' -delete",
    "rm -rf build && memvault forget 'Old plan' --for-good -y",
    "/opt/bin/memvault --vault {vault} forget X --for-good",
    "python3 -m memvault forget X --for-good",
    "Remove-Item -Recurse -Force {vault}",
]
ALLOWED = [
    "rm -rf build",
    "rm '{vault}/Old plan.md'",
    "rm -rf {vault}/sessions/2026-03-01",
    "rm {vault}/*.tmp",
    "cd {vault} && git clean -ndx",
    "cd {vault} && git commit -am 'rm -rf {vault}'",
    "git clean -fdx",
    "echo rm -rf {vault}",
    "ls {vault}/.memvault",
    "find {vault} -name .DS_Store -delete",
    "find {vault} -name '*.md' -mtime +900 -delete",
    "find {vault} -name 'Old*.md' -delete",
    "memvault forget 'Old plan'",
    "grep -r 'forget X --for-good' docs",
    "cat <<EOF\nIt's a note about rm.\nEOF",
    "",
]


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    vault = tmp_path / "Notes" / "Vault"
    (vault / ".memvault" / "history").mkdir(parents=True)
    (tmp_path / "aurora").mkdir()
    return vault


@pytest.mark.parametrize("command", REFUSED)
def test_a_command_that_deletes_the_vault_or_its_history_is_recognised(
    vault: Path, tmp_path: Path, command: str
) -> None:
    assert destroyed_by_command(command.format(vault=vault), str(tmp_path / "aurora"), vault)


@pytest.mark.parametrize("command", ALLOWED)
def test_other_commands_are_not(vault: Path, tmp_path: Path, command: str) -> None:
    given = command.format(vault=vault)
    assert destroyed_by_command(given, str(tmp_path / "aurora"), vault) == ""


def test_only_forgetting_for_good_is_recognised_among_tools() -> None:
    tool = "mcp__memvault__forget_concept"
    assert destroyed_by_tool(tool, {"target": "X", "soft_delete": False})
    assert not destroyed_by_tool(tool, {"target": "X", "soft_delete": False, "preview": True})
    assert not destroyed_by_tool(tool, {"target": "X"})
    assert not destroyed_by_tool("mcp__memvault__merge_concepts", {"soft_delete": False})


def test_a_command_may_be_a_list_of_words_in_a_folder_of_its_own(vault: Path) -> None:
    words = {"command": ["rm", "-rf", ".memvault"], "workdir": str(vault)}
    given = {"session_id": "s-1", "cwd": "/", "tool_name": "shell", "tool_input": words}
    call = read_call("codex", "PreToolUse", json.dumps(given).encode())
    assert destroyed_by_command(call.command, call.shell_folder, vault)


@pytest.mark.parametrize(
    ("client", "event", "expected"),
    [
        ("claude-code", "PreToolUse", {"permissionDecision": "deny"}),
        ("codex", "PreToolUse", {"permissionDecision": "deny"}),
        ("vscode", "PreToolUse", {"permissionDecision": "deny"}),
        ("codex", "PermissionRequest", {"decision": {"behavior": "deny", "message": "No."}}),
        ("gemini-cli", "PreToolUse", {"decision": "deny", "reason": "No."}),
        ("cursor", "PreToolUse", {"permission": "deny", "agent_message": "No."}),
    ],
)
def test_each_client_gets_a_refusal_in_its_form(
    client: str, event: str, expected: dict[str, Any]
) -> None:
    written = json.loads(written_reply(client, event, Reply(denied="No.")))
    flat = written | written.get("hookSpecificOutput", {})
    assert expected.items() <= flat.items()


DOUBLED = "a=" + "x" * 99 + ";" + "a=$a$a$a$a$a$a$a$a;" * 12


@pytest.mark.parametrize(
    "command",
    ["a=b " * 100_000, "cd a; " * 30_000, "sudo -n " * 50_000, "rm $a " * 3_000, DOUBLED],
)
def test_a_command_of_any_length_is_read_at_once(vault: Path, tmp_path: Path, command: str) -> None:
    def read() -> None:
        destroyed_by_command(command, str(tmp_path), vault)

    assert seconds_of(read) < SECONDS


def test_variables_and_folders_are_followed_up_to_the_length_of_a_path(
    vault: Path, tmp_path: Path
) -> None:
    command = f"A={vault}; B=.memvault; cd {'a' * 5_000}; sudo -n rm -rf $A/$B"
    assert destroyed_by_command(command, str(tmp_path), vault)
