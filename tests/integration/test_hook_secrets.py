"""Secrets in what clients send to hooks reach neither the vault nor the state folder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_server.runtime.container import Container
from memvault.capture.hook_input import kept_input
from memvault.config.hook_files import HookFiles
from tests.integration.small_vault import unindexed
from tests.unit.test_secrets import PLANTED
from tests.waiting import until

# What is said around each secret, so that a note is written, and must hold it.
SESSIONS = 5  # that the kinds of secrets are shared out among
AROUND = "We decided that deployment {} runs on Thursdays because the office is full then."


def planted() -> dict[str, str]:
    """A message by kind: a decision, and the secret."""
    return {
        kind: f"{AROUND.format(n)}\n{sentence.format(secret)}"
        for n, (kind, (secret, sentence)) in enumerate(PLANTED.items())
    }


def entries(message: str) -> Iterator[dict[str, object]]:
    """A message as each side says it, and as a tool's input and output."""
    yield {"type": "user", "message": {"role": "user", "content": message}}
    blocks = [
        {"type": "text", "text": f"You said: {message}"},
        {"type": "tool_use", "name": "Bash", "input": {"command": message}},
    ]
    yield {"type": "assistant", "message": {"role": "assistant", "content": blocks}}
    result = [{"type": "tool_result", "tool_use_id": "t", "content": message}]
    yield {"type": "user", "message": {"role": "user", "content": result}}


@pytest.fixture
def container(tmp_path: Path) -> Iterator[Container]:
    container = unindexed(tmp_path, {})
    container.start(watch=False)
    yield container
    container.close()


def stands_in(secret: str, data: bytes) -> bool:
    """As a word of its own: the digits of a PIN also occur in ids."""
    word = secret.encode()
    if word not in data:  # hundreds of megabytes are looked through
        return False
    return re.search(rb"(?<!\w)" + re.escape(word) + rb"(?!\w)", data) is not None


def files_with(folder: Path) -> dict[str, list[str]]:
    """Kinds of secrets by the file that holds one."""
    found: dict[str, list[str]] = {}
    for path in folder.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        kinds = [
            kind
            for kind, (secret, _) in PLANTED.items()
            if any(stands_in(line, data) for line in secret.splitlines() if line[0] != "-")
        ]
        if kinds:
            found[str(path.relative_to(folder))] = kinds
    return found


def test_no_planted_secret_reaches_the_vault_or_the_state_folder(
    container: Container, tmp_path: Path
) -> None:
    messages = list(planted().values())
    for n in range(SESSIONS):
        message = "\n\n".join(messages[n::SESSIONS])
        transcript = tmp_path / "transcripts" / f"{n}.jsonl"
        transcript.parent.mkdir(exist_ok=True)
        lines = (f"{json.dumps(entry)}\n" for entry in entries(message))
        transcript.write_text("".join(lines), encoding="utf-8")
        base = {"session_id": f"s-{n}", "cwd": "/srv/aurora", "transcript_path": str(transcript)}
        command = {"tool_name": "Bash", "tool_input": {"command": f"rm x; {message}"}}
        for event, more in {
            "SessionStart": {"source": "startup"},
            "UserPromptSubmit": {"prompt": message},
            "PreToolUse": command,
            "PostToolUse": {**command, "tool_response": {"stdout": message}},
            "PermissionRequest": command,
            "Notification": {"message": message},
            "PreCompact": {"custom_instructions": message},
            "Stop": {"last_assistant_message": message},
            "SubagentStop": {
                "agent_type": "search-agent",
                "agent_transcript_path": str(transcript),
                "last_assistant_message": f"Kinds of secrets: {message}",
            },
            "SessionEnd": {"reason": "exit"},
        }.items():
            container.hooks.answer("claude-code", event, json.dumps({**base, **more}).encode())
    until(lambda: not list(Path(container.hooks.files.pending).glob("*.hook")), seconds=120)
    notes = "".join(path.read_text() for path in (tmp_path / "vault").rglob("sessions/*/*.md"))
    assert [n for n in range(len(PLANTED)) if AROUND.format(n) not in notes] == []
    container.close()
    assert files_with(tmp_path / "vault") == {}
    assert files_with(tmp_path / "state") == {}


def test_what_waits_for_an_engine_holds_no_secrets(tmp_path: Path) -> None:
    files = HookFiles(str(tmp_path))
    for n, message in enumerate(planted().values()):
        given = {"session_id": f"s-{n}", "last_assistant_message": message, "prompt": message}
        kept = kept_input(json.dumps(given).encode())
        assert kept is not None
        files.keep("codex", "Stop", kept)
    waiting = list(Path(files.pending).glob("*.hook"))
    assert len(waiting) == len(PLANTED)
    assert all(b"We decided that deployment" in path.read_bytes() for path in waiting)
    assert files_with(tmp_path) == {}


def test_what_is_no_hooks_input_is_not_kept() -> None:
    for data in (b"", b"garbage", b"\xff\x00", b"[1]", b"[" * 100_000):
        assert kept_input(data) is None


def test_private_words_in_a_last_message_are_not_kept() -> None:
    given = {"session_id": "s", "last_assistant_message": "Done. <private>my salary</private> Bye."}
    kept = kept_input(json.dumps(given).encode())
    assert kept is not None and b"salary" not in kept and b"Done." in kept
