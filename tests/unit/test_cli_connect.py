"""`memvault connect` and `disconnect`: other programs' configuration files lose no byte."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.cli.app import run
from memvault.cli.config_text import (
    CannotEdit,
    cut_json,
    cut_toml,
    put_json,
    put_toml,
    read_json,
)
from memvault.cli.connect import Client, registry_of

ENTRY: dict[str, Any] = {"command": "/opt/memvault", "args": ["mcp", "--vault", 'C:\\Notes "x"']}
FILES = [client for client in Client if client is not Client.CHATGPT]


@pytest.fixture
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (home / "Vault").mkdir()
    (home / "Work").mkdir()
    monkeypatch.setenv("MEMVAULT_VAULT", str(home / "Vault"))
    return home


def place_of(client: Client) -> Path:
    return registry_of(client).file.path


def entry_in(client: Client, name: str = "memvault") -> dict[str, Any]:
    return dict(registry_of(client).servers()[name])


@pytest.mark.parametrize("client", FILES)
def test_a_client_without_a_configuration_gets_one(client: Client, home: Path) -> None:
    assert run(["connect", client.value]) == 0
    entry = entry_in(client)
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-3:] == ["mcp", "--vault", str(home / "Vault")]


@pytest.mark.parametrize("client", FILES)
def test_connecting_twice_changes_nothing_the_second_time(client: Client, home: Path) -> None:
    run(["connect", client.value])
    place = place_of(client)
    first = place.read_bytes()
    assert run(["connect", client.value]) == 0
    assert place.read_bytes() == first
    assert [entry.name for entry in place.parent.iterdir() if "before" in entry.name] == []


@pytest.mark.parametrize("client", FILES)
def test_disconnecting_removes_the_file_that_connecting_made(client: Client, home: Path) -> None:
    run(["connect", client.value])
    assert run(["disconnect", client.value]) == 0
    assert not place_of(client).exists()


@pytest.mark.parametrize(
    ("client", "before"),
    [
        ("cursor", b'{"mcpServers": {}}'),
        ("cursor", b'{ "mcpServers" : {\n\n} , "a": [1,  2] }\r\n'),
        ("cursor", b""),
        ("vscode", b'\xef\xbb\xbf{\r\n\t// mine\r\n\t"servers": {"x": {},}, // all\r\n}'),
        ("zed", b'// Zed settings\n{\n  "vim_mode": true,\n  "context_servers": {},\n}\n'),
        ("gemini-cli", '{\n "theme": "é\\u00e9", "n": 1e3\n}'.encode()),
        ("codex", b'model = "o"  # mine\r\n\r\n[mcp_servers.other]\r\ncommand = "x"'),
        ("codex", b"mcp_servers = { other = { command = 'x' } }\n"),
    ],
)
def test_connecting_and_disconnecting_leaves_the_file_as_it_was(
    client: str, before: bytes, home: Path
) -> None:
    place = place_of(Client(client))
    place.parent.mkdir(parents=True)
    place.write_bytes(before)
    assert run(["connect", client]) == 0
    assert b"Vault" in place.read_bytes()
    assert run(["connect", client, "--tools", "full"]) == 0
    assert run(["disconnect", client]) == 0
    assert place.read_bytes() == before


def test_lm_studio_is_configured_where_it_says_that_it_was_moved(home: Path) -> None:
    moved = home / "Models" / "lm-studio"
    (home / ".lmstudio-home-pointer").write_text(f"{moved}\n")
    assert run(["connect", "lm-studio"]) == 0
    assert set(read_json((moved / "mcp.json").read_text())["mcpServers"]) == {"memvault"}
    (home / ".lmstudio-home-pointer").write_text("")
    assert place_of(Client.LM_STUDIO) == home / ".lmstudio" / "mcp.json"


def test_disconnecting_keeps_what_was_edited_since(home: Path) -> None:
    place = place_of(Client.CURSOR)
    place.parent.mkdir()
    place.write_text('{\n  "a": 1\n}\n')
    run(["connect", "cursor"])
    place.write_text(place.read_text().replace('"a": 1', '"a": 2, "b":  3'))
    assert run(["disconnect", "cursor"]) == 0
    assert place.read_text() == '{\n  "a": 2, "b":  3,\n  "mcpServers": {}\n}\n'


def test_disconnecting_what_is_not_connected_changes_nothing(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["disconnect", "cursor"]) == 0
    assert "Cursor has no server named memvault" in capsys.readouterr().out
    assert not place_of(Client.CURSOR).parent.exists()
    assert run(["disconnect", "cursor", "--name", "nope"]) == 1


def test_what_was_there_stays_in_its_order_and_is_backed_up(home: Path) -> None:
    place = place_of(Client.CURSOR)
    place.parent.mkdir()
    before = '{\n    "z": 1,\n    "mcpServers": {"other": {"command": "é"}},\n    "a": [2]\n}'
    place.write_text(before, encoding="utf-8")
    assert run(["connect", "cursor"]) == 0
    after = json.loads(place.read_text(encoding="utf-8"))
    assert list(after) == ["z", "mcpServers", "a"]
    assert list(after["mcpServers"]) == ["other", "memvault"]
    assert '\n    "z"' in place.read_text(encoding="utf-8")
    assert (place.parent / "mcp.json.before-memvault").read_text(encoding="utf-8") == before


@pytest.mark.parametrize("client", [Client.CLAUDE_CODE, Client.CODEX])
def test_a_second_run_keeps_what_the_person_set_by_hand(client: Client, home: Path) -> None:
    run(["connect", client.value])
    place = place_of(client)
    config, name = registry_of(client), "memvault"
    entry = entry_in(client)
    args = [*entry["args"], "--tools", "full"]
    by_hand = entry | {"command": "/old/memvault", "args": args, "env": {"A": "1"}}
    config.file.put([([config.key, name], by_hand)])
    assert run(["connect", client.value]) == 0
    assert entry_in(client) == by_hand | {"command": entry["command"]}
    second = place.read_bytes()
    assert run(["connect", client.value]) == 0
    assert place.read_bytes() == second
    assert run(["connect", client.value, "--tools", "core"]) == 0
    assert entry_in(client)["args"] == [*entry["args"], "--tools", "core"]
    assert entry_in(client)["env"] == {"A": "1"}


def test_an_entry_that_starts_something_else_is_left_alone(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = place_of(Client.CURSOR)
    place.parent.mkdir()
    text = '{"mcpServers": {"memvault": {"command": "sh", "args": ["-c", "my start"]}}}'
    place.write_text(text)
    assert run(["connect", "cursor"]) == 1
    assert place.read_text() == text
    assert "does not start `memvault mcp`" in capsys.readouterr().err


def test_two_vaults_live_next_to_each_other_under_their_own_names(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work = ["--vault", str(home / "Work")]
    run(["connect", "cursor"])
    first = place_of(Client.CURSOR).read_bytes()
    assert run([*work, "connect", "cursor"]) == 2
    assert "--name" in capsys.readouterr().err
    assert place_of(Client.CURSOR).read_bytes() == first
    assert run([*work, "connect", "cursor", "--name", "work", "--tools=full"]) == 0
    assert str(home / "Vault") in entry_in(Client.CURSOR)["args"]
    assert str(home / "Work") in entry_in(Client.CURSOR, "work")["args"]
    capsys.readouterr()
    assert run(["disconnect", "cursor", "--name", "work"]) == 0
    assert "--name memvault" in capsys.readouterr().out
    assert place_of(Client.CURSOR).read_bytes() == first
    assert run(["connect", "cursor", "--name", "a b"]) == 2


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("cursor", '{"mcpServers": {} "a": 1}'),
        ("claude-desktop", '{"mcpServers": []}'),
        ("gemini-cli", '{"mcpServers": {}, "mcpServers": {}}'),
        ("cursor", '{"mcpServers": {'),
        ("cursor", "[]"),
        ("cursor", "\xff"),
        ("codex", "model = "),
        ("codex", "mcp_servers = 1\n"),
    ],
)
def test_a_file_that_cannot_be_edited_safely_is_left_alone_and_the_snippet_shown(
    client: str, text: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = place_of(Client(client))
    place.parent.mkdir(parents=True)
    place.write_text(text, encoding="latin-1")
    assert run(["connect", client]) == 1
    assert place.read_text(encoding="latin-1") == text
    assert "Add this by hand" in capsys.readouterr().err
    assert len(list(place.parent.iterdir())) == 1


def test_print_writes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["connect", "claude-desktop", "--print"]) == 0
    assert '"mcpServers"' in capsys.readouterr().out
    assert not place_of(Client.CLAUDE_DESKTOP).exists()


def test_chatgpt_gets_the_steps(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["connect", "chatgpt"]) == 0
    assert "tunnel" in capsys.readouterr().out


def test_a_linked_configuration_stays_a_link(home: Path) -> None:
    place = place_of(Client.CURSOR)
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
    assert run(["disconnect", "cursor"]) == 0
    assert place.is_symlink() and kept.read_text() == "{}"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
objects = st.dictionaries(st.text(max_size=5).filter("servers".__ne__), json_values, min_size=1)
layouts: st.SearchStrategy[Callable[[Any], str]] = st.sampled_from(
    [
        json.dumps,
        lambda value: json.dumps(value, indent=2),
        lambda value: json.dumps(value, indent="\t").replace("\n", "\r\n"),
        lambda value: json.dumps(value, indent=4)[:-2] + ", // last, \n /* } */ }\n",
        lambda value: json.dumps(value, indent=1)[:-2] + " /* one */\t// two \r\n}",
        lambda value: "\ufeff // head\n" + json.dumps(value, separators=(" ,", " : ")) + " ",
    ]
)


@given(others=objects, layout=layouts)
def test_what_is_put_into_any_json_comes_out_again_to_the_byte(
    others: dict[str, Any], layout: Callable[[Any], str]
) -> None:
    text = layout(others)
    put = put_json(text, ["servers", "memvault"], ENTRY)
    assert read_json(put) == others | {"servers": {"memvault": ENTRY}}
    assert list(read_json(put)) == [*others, "servers"]
    assert put_json(put, ["servers", "memvault"], ENTRY) == put
    assert cut_json(put, ["servers"]) == text


@given(before=st.lists(json_values, min_size=1, max_size=3), layout=layouts)
def test_a_value_appended_to_a_list_comes_out_again(
    before: list[Any], layout: Callable[[Any], str]
) -> None:
    text = layout({"hooks": {"Start": before}})
    put = put_json(text, ["hooks", "Start", len(before)], ENTRY)
    assert read_json(put) == {"hooks": {"Start": [*before, ENTRY]}}
    assert cut_json(put, ["hooks", "Start", len(before)]) == text
    first_gone = cut_json(put, ["hooks", "Start", 0])
    assert read_json(first_gone) == {"hooks": {"Start": [*before[1:], ENTRY]}}


@given(text=st.text(alphabet='{}[]:,"/*\\ \nabc1-', max_size=24))
def test_any_text_is_edited_or_refused(text: str) -> None:
    with suppress(CannotEdit):
        assert read_json(put_json(text, ["k"], ENTRY))["k"] == ENTRY


@pytest.mark.parametrize(
    "text",
    [
        "model = 'o'  # mine",
        '# head\r\n[mcp_servers.other]\r\ncommand = "x"\r\n',
        "[mcp_servers]\n\n[tail]\na = 1 # kept\n",
        "mcp_servers = { other = {} } # inline\n",
        '[mcp_servers.other.env]\nA = "1"\n\n[[list]]\nb = 2\n',
    ],
)
def test_toml_keeps_every_other_byte(text: str) -> None:
    steps = ["mcp_servers", "memvault"]
    put = put_toml(text, steps, ENTRY)
    assert tomllib.loads(put)["mcp_servers"]["memvault"] == ENTRY
    for line in text.splitlines():
        assert line in put or "inline" in line
    assert put_toml(put, steps, ENTRY) == put
    rest, before = tomllib.loads(cut_toml(put, steps)), tomllib.loads(text)
    assert {**rest, "mcp_servers": rest.get("mcp_servers", {})} == {"mcp_servers": {}, **before}
