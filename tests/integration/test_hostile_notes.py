"""A vault with everything in it that should not be: the rest is found, and what is wrong is said.

One real engine, started by the bridge of the command line, and real clients: the first at the bridge.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from mcp_server.engine.launcher import read_address
from memvault.config.paths import StateFolder
from memvault.vault.parse import MAX_PARSED_BYTES
from tests.integration.tiny_engine import environment
from tests.waiting import PATIENCE_SECONDS

SCRIPTS = {
    "Καλημέρα": "ένα σημείωμα", "Привет мир": "короткая заметка", "日本の記憶": "短いメモ",
    "บันทึกความจำ": "บันทึกสั้น", "मेरी याद": "छोटा नोट", "ذاكرتي": "ملاحظة قصيرة",
    "הזיכרון שלי": "פתק קצר", "기억": "짧은 메모", "Ελλάδα 🏛": "σημείωμα", "ẞtraße café": "Notiz",
    "cafe\u0301 décomposé": "note courte", "ⲙⲉⲧⲣⲉⲙⲛⲭⲏⲙⲓ": "ⲥϩⲁⲓ", "𓀀𓂀": "hieroglyphs", "ᓄᓇᕗᑦ": "note",
}  # fmt: skip
LINE = "This line is written again and again, as in a log file.\n"
HUGE = "# Huge\n\nIt begins with an axolotl.\n\n" + LINE * 10_000 + " " * 2 * MAX_PARSED_BYTES
NOTES = 29  # that can be read
PNG = bytes.fromhex("89504e470d0a1a0a0000000d494844520000000100000001080600") + bytes(range(256))


def fill(vault: Path, outside: Path) -> None:
    def write(path: str, data: bytes | str) -> None:
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_bytes(data if isinstance(data, bytes) else data.encode())

    write("Latin.md", "# Latin\n\nThe word caf\xe9 and the marmot stand here.\n".encode("latin-1"))
    write("Broken bytes.md", b"# Broken\n\nGood words \xff\xfe\x80 and a wombat.\n\xc3")
    write("Sixteen.md", "# Sixteen\n\nWritten in UTF-16 with a capybara.\n".encode("utf-16"))
    write("picture.md", PNG * 50)
    write("program.md", b"\x7fELF" + os.urandom(20_000))
    write("empty.md", b"")
    write("nothing but zeros.md", bytes(5_000))
    write("Huge.md", HUGE)
    write("one/Twin.md", "# Twin\n\nThe first twin likes quinces.\n")
    write("two/Twin.md", "# Twin\n\nThe second twin likes medlars. See [[one/Twin]].\n")
    for name, text in SCRIPTS.items():
        write(f"scripts/{name}.md", f"# {name}\n\n{text}. [[Round A]]\n")
    write("Round A.md", "Goes to [[Round B]] and [[Round A]]. ![[Round A]]\n")
    write("Round B.md", "Goes to [[Round C]]. ![[Round C]]\n")
    write("Round C.md", "Goes back to [[Round A]]. ![[Round A]]\n")
    write("Yaml.md", "---\ntags: [open\nproject: x\n---\nA narwhal below malformed YAML.\n")
    write("locked/Hidden.md", "Nobody may read this pangolin.\n")
    write("Shut.md", "Nor this tapir.\n")
    outside.mkdir()
    (outside / "secret.md").write_text("The okapi lives outside the vault.\n")
    with suppress(OSError):  # Windows asks for a privilege
        (vault / "loop").symlink_to(vault, target_is_directory=True)
        (vault / "self").symlink_to(vault / "self")
        (vault / "away").symlink_to(outside, target_is_directory=True)
        (vault / "secret.md").symlink_to(outside / "secret.md")
        (vault / "dangling.md").symlink_to(outside / "gone.md")
    (vault / "folder.md").mkdir()
    write("folder.md/Inside.md", "A quokka in a folder that is called like a note.\n")
    if hasattr(os, "mkfifo"):
        os.mkfifo(vault / "pipe.md")
    (vault / "locked").chmod(0)
    (vault / "Shut.md").chmod(0)


def command(vault: Path) -> list[str]:
    """The bridge's command line; root gives up its power to read whatever it likes."""
    bridge = [sys.executable, "-m", "memvault.cli", "mcp", "--vault", str(vault)]
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("setpriv"):
        without = ["--inh-caps=-all", "--bounding-set=-dac_override,-dac_read_search"]
        return ["setpriv", *without, *bridge]
    return bridge


CAN_LOCK = os.name == "posix" and (os.geteuid() != 0 or shutil.which("setpriv") is not None)


@dataclass
class Desk:
    vault: Path
    state: Path
    is_indexed: bool = False

    def ask(self, *calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
        """Each answer's structured content, from a client that a person would have."""

        async def run() -> list[dict[str, Any]]:
            async with Client(self._transport()) as client:
                if not self.is_indexed:
                    await self._settled(client)
                    self.is_indexed = True
                answers = []
                for name, arguments in calls:
                    result = await client.call_tool_mcp(name, arguments)
                    answers.append(json.loads(json.dumps(result.structured_content)))
                return answers

        return asyncio.run(run())

    def _transport(self) -> StdioTransport | str:
        """The bridge, which starts the engine; then that engine's address."""
        address = read_address(StateFolder.of_vault(self.vault, self.state))
        if address is not None:
            return f"http://{address.netloc}/mcp"
        argv = command(self.vault)
        env = {**environment(), "MEMVAULT_STATE": str(self.state)}
        env["MEMVAULT_INDEX__NER"] = "off"
        return StdioTransport(argv[0], argv[1:], env=env, keep_alive=False)

    @staticmethod
    async def _settled(client: Client[Any]) -> None:
        for _ in range(1200):
            status = await client.call_tool("get_memetic_status")
            if status.structured_content["indexed"]["notes"] >= NOTES:
                return
            await asyncio.sleep(0.25)
        pytest.fail("the notes are not indexed")

    def found(self, *queries: str) -> list[list[str]]:
        """The paths that each query finds."""
        answers = self.ask(*[("recall_memory", {"query": each, "top_k": 5}) for each in queries])
        return [[node["path"] for node in answer["nodes"]] for answer in answers]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    home = tmp_path_factory.mktemp("hostile")
    vault = home / "vault"
    vault.mkdir()
    fill(vault, home / "outside")
    yield Desk(vault, home / "state")
    address = read_address(StateFolder.of_vault(vault, home / "state"))
    if address is not None:
        with suppress(OSError):
            os.kill(address.pid, signal.SIGTERM)
    (vault / "locked").chmod(0o755)


def test_every_note_that_can_be_read_is_found(desk: Desk) -> None:
    expected = {
        "marmot": "Latin.md",
        "wombat": "Broken bytes.md",
        "capybara": "Sixteen.md",
        "axolotl": "Huge.md",
        "narwhal": "Yaml.md",
        "quokka": "folder.md/Inside.md",
    }
    for path, found in zip(expected.values(), desk.found(*expected), strict=True):
        assert path in found


def test_notes_of_one_name_are_two_memories(desk: Desk) -> None:
    second, first = desk.found("medlars", "quinces")
    assert second[0] == "two/Twin.md"
    assert first[0] == "one/Twin.md"
    (twin,) = desk.ask(("get_memory", {"path": "one/Twin.md"}))
    assert [link["path"] for link in twin["backlinks"]] == ["two/Twin.md"]


def test_names_of_every_script_are_found_read_and_linked(desk: Desk) -> None:
    paths = {f"scripts/{name}.md" for name in SCRIPTS}
    answers = desk.ask(*[("get_memory", {"path": path}) for path in sorted(paths)])
    assert [answer["path"] for answer in answers] == sorted(paths)
    for answer in answers:
        assert {link["path"] for link in answer["links"]} == {"Round A.md"}
        assert SCRIPTS[Path(answer["path"]).stem] in answer["content"]
    searched = desk.ask(*[("search", {"query": name}) for name in SCRIPTS])
    ids = [answer["id"] for answer in desk.ask(*[
        ("get_memory", {"path": f"scripts/{name}.md"}) for name in SCRIPTS
    ])]  # fmt: skip
    for found, wanted in zip(searched, ids, strict=True):
        assert wanted in [result["id"] for result in found["results"]]


def test_links_in_a_circle_end(desk: Desk) -> None:
    (answer,) = desk.ask(("graph_query", {"query": "Where does Round A go?", "max_hops": 5}))
    assert {"Round A.md", "Round B.md", "Round C.md"} >= {
        node["path"] for node in answer["results"] if node["path"].startswith("Round")
    }


def test_what_is_outside_or_behind_a_link_is_not_there(desk: Desk) -> None:
    hidden = ("okapi", "pangolin", "tapir") if CAN_LOCK else ("okapi",)
    answers = desk.ask(*[("recall_memory", {"query": words}) for words in hidden])
    for words, answer in zip(hidden, answers, strict=True):
        assert words not in json.dumps(answer)
    answers = desk.ask(*[
        ("get_memory", {"path": path})
        for path in ("secret.md", "away/secret.md", "loop/Latin.md", "self/x.md", "dangling.md")
    ])  # fmt: skip
    assert [answer["error"]["code"] for answer in answers] == [-32602] * 5


def test_what_is_wrong_is_said(desk: Desk) -> None:
    (status,) = desk.ask(("get_memetic_status", {}))
    tasks_text = json.dumps(status["curation_tasks"], ensure_ascii=False)
    shown = doctor(desk)
    for path in ("Huge.md", "Yaml.md", "Latin.md", "Broken bytes.md", "picture.md", "program.md"):
        assert path in shown, tasks_text
    if CAN_LOCK:
        assert "locked" in shown
        assert "Shut.md" in shown
    assert "outside" not in shown
    assert str(desk.vault) not in shown


def test_nothing_was_written_to_any_note(desk: Desk) -> None:
    assert (desk.vault / "Huge.md").read_bytes() == HUGE.encode()
    assert (desk.vault / "Latin.md").read_bytes().endswith(b"caf\xe9 and the marmot stand here.\n")
    assert (desk.vault / "picture.md").read_bytes() == PNG * 50
    inside = {entry.name for entry in desk.vault.iterdir() if entry.name.startswith(".")}
    assert inside <= {".memvault"}


def doctor(desk: Desk) -> str:
    argv = [*command(desk.vault)[:-3], "doctor", "--json", "--vault", str(desk.vault)]
    env = {**environment(), "MEMVAULT_STATE": str(desk.state)}
    done = subprocess.run(
        argv, env=env, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout
