"""JSON of others that is nested too deeply is refused like any other text that is no JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_server.engine.launcher import read_address
from mcp_server.hooks.client_formats import read_call
from mcp_server.security.client_registry import ClientRegistry
from memvault.capture.hook_input import kept_input
from memvault.capture.transcripts import read_turns
from memvault.config.paths import StateFolder
from memvault.model.json_text import json_value

DEEP = "[" * 100_000


def test_a_value_is_read() -> None:
    assert json_value('{"kite": [1, "red"]}') == {"kite": [1, "red"]}


@pytest.mark.parametrize("text", [DEEP, DEEP + "]" * len(DEEP), '{"a":' * 100_000, "", b"\xff"])
def test_other_text_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError):
        json_value(text)


def test_an_engines_address_that_is_nested_deeply_is_none(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    state.engine_address.write_text(DEEP)
    assert read_address(state) is None


def test_no_client_is_approved_by_a_file_that_is_nested_deeply(tmp_path: Path) -> None:
    file = tmp_path / "clients.json"
    file.write_text(DEEP)
    assert not ClientRegistry(file).clients


def test_a_hooks_input_that_is_nested_deeply_names_no_session(tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        read_call("claude-code", "Stop", DEEP.encode())
    assert kept_input(DEEP.encode()) is None


def test_a_transcripts_line_that_is_nested_deeply_is_no_turn(tmp_path: Path) -> None:
    said = '{"type":"user","message":{"role":"user","content":"The kite is red."}}\n'
    file = tmp_path / "t.jsonl"
    file.write_text(f'{{"type":"user","message":{DEEP}\n{said}')
    assert [turn.text for turn, _ in read_turns(file)] == ["The kite is red."]
