"""`memvault connect`: other people's configuration files, of which nothing may be lost."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.cli.app import run
from memvault.cli.clients import CannotMerge, Client, client_file, merge_json, merge_toml

ENTRY: dict[str, Any] = {"command": "/opt/memvault", "args": ["mcp", "--vault", 'C:\\Notes "x"']}
FILES = [client for client in Client if client is not Client.CHATGPT]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("APPDATA", str(tmp_path / "AppData"))
    monkeypatch.setenv("MEMVAULT_STATE", str(tmp_path / "state"))
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "MEMVAULT_VAULT"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "Vault").mkdir()
    monkeypatch.setenv("MEMVAULT_VAULT", str(tmp_path / "Vault"))
    return tmp_path


def entry_in(client: Client) -> dict[str, Any]:
    file = client_file(client)
    text = file.path.read_text(encoding="utf-8")
    values = tomllib.loads(text) if file.form == "toml" else json.loads(text)
    return dict(values[file.key]["memvault"])


@pytest.mark.parametrize("client", FILES)
def test_a_client_without_a_configuration_gets_one(client: Client, home: Path) -> None:
    assert run(["connect", client.value]) == 0
    entry = entry_in(client)
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-3:] == ["mcp", "--vault", str(home / "Vault")]


@pytest.mark.parametrize("client", FILES)
def test_connecting_twice_changes_nothing_the_second_time(client: Client, home: Path) -> None:
    run(["connect", client.value])
    place = client_file(client).path
    first = place.read_bytes()
    assert run(["connect", client.value]) == 0
    assert place.read_bytes() == first
    assert [entry.name for entry in place.parent.iterdir() if "before" in entry.name] == []


def test_what_was_there_stays_in_its_order_and_is_backed_up(home: Path) -> None:
    place = client_file(Client.CURSOR).path
    place.parent.mkdir()
    before = '{\n    "z": 1,\n    "mcpServers": {"other": {"command": "é"}},\n    "a": [2]\n}'
    place.write_text(before, encoding="utf-8")
    assert run(["connect", "cursor"]) == 0
    after = json.loads(place.read_text(encoding="utf-8"))
    assert list(after) == ["z", "mcpServers", "a"]
    assert list(after["mcpServers"]) == ["other", "memvault"]
    assert '\n    "z"' in place.read_text(encoding="utf-8")
    assert (place.parent / "mcp.json.before-memvault").read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("cursor", '{"mcpServers": {},}'),
        ("vscode", '{\n  // mine\n  "servers": {}\n}'),
        ("claude-desktop", '{"mcpServers": []}'),
        ("gemini-cli", '{"a": 1, "a": 2}'),
        ("codex", "model = "),
        ("codex", 'mcp_servers = { other = { command = "x" } }\n'),
    ],
)
def test_a_file_that_cannot_be_merged_safely_is_left_alone_and_the_snippet_shown(
    client: str, text: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = client_file(Client(client)).path
    place.parent.mkdir(parents=True)
    place.write_text(text)
    assert run(["connect", client]) == 1
    assert place.read_text() == text
    assert "Add this by hand" in capsys.readouterr().err
    assert len(list(place.parent.iterdir())) == 1


def test_print_writes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["connect", "claude-desktop", "--print"]) == 0
    assert '"mcpServers"' in capsys.readouterr().out
    assert not client_file(Client.CLAUDE_DESKTOP).path.exists()


def test_chatgpt_is_told_the_steps(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["connect", "chatgpt"]) == 0
    assert "tunnel" in capsys.readouterr().out


def test_a_linked_configuration_stays_a_link(home: Path) -> None:
    place = client_file(Client.CURSOR).path
    place.parent.mkdir()
    kept = home / "dotfiles.json"
    kept.write_text("{}")
    try:
        place.symlink_to(kept)
    except OSError:
        pytest.skip("links are not allowed here")
    assert run(["connect", "cursor"]) == 0
    assert place.is_symlink()
    assert "memvault" in kept.read_text()


@settings(max_examples=60, deadline=None)
@given(others=st.dictionaries(st.text(max_size=5).filter("servers".__ne__), json_values))
def test_any_json_keeps_everything_else(others: dict[str, Any]) -> None:
    merged = json.loads(merge_json(json.dumps(others), "servers", "memvault", ENTRY))
    assert merged.pop("servers") == {"memvault": ENTRY}
    assert list(merged.items()) == list(others.items())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "model = 'o'  # mine",
        '# head\r\n[mcp_servers.other]\r\ncommand = "x"\r\n',
        '[mcp_servers.memvault]\ncommand = "old"\nargs = []\n\n[tail]\na = 1 # kept\n',
        '[mcp_servers.memvault]\ncommand = "old"',
    ],
)
def test_toml_keeps_every_other_byte(text: str) -> None:
    merged = merge_toml(text, "mcp_servers", "memvault", ENTRY)
    assert tomllib.loads(merged)["mcp_servers"]["memvault"] == ENTRY
    for line in text.splitlines():
        if "old" not in line and line != "args = []":
            assert line in merged
    assert merge_toml(merged, "mcp_servers", "memvault", ENTRY) == merged


def test_a_table_of_ours_with_subtables_is_not_broken() -> None:
    text = '[mcp_servers.memvault]\ncommand = "old"\n[mcp_servers.memvault.env]\nA = "1"\n'
    with pytest.raises(CannotMerge):
        merge_toml(text, "mcp_servers", "memvault", ENTRY)
