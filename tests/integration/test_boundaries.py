"""Whatever a client says, nothing outside the vault is read or written."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from mcp import MCPError

from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from memvault.vault.file_names import safe_name

SECRET = "the heron sleeps at noon"
WHY = "To see whether it stays inside."
PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
        "1f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
    )
).decode()
# {outside} is the absolute path of the folder beside the vault.
TRAPS = (
    "../outside/secret.md", "../outside/secret", "../../etc/passwd", "{outside}/secret.md",
    "/etc/passwd", "file://{outside}/secret.md", "notes/../../outside/secret.md",
    "..\\outside\\secret.md", "C:\\Windows\\system.ini", "\\\\server\\share", "//server/share",
    "%2e%2e/outside/secret.md", "..%2foutside%2fsecret.md", "a\x00b", "..\x00/outside/secret.md",
    "secret.md\x00", "NUL", "CON", "con.md", "aux/prn", "COM1.txt", "LPT9", ".", "..", "...", "/",
    "~", "~/secret.md", "$HOME/x", "`id`", "$(id)", ".git", ".obsidian/app.json", ".memvault",
    ".memvault/journal", ".trash/x", "link/secret.md", "link", "secret link.md", "manifest.md",
    "a/b/c/d", "x" * 300, "é" * 150, " ", "trailing. ", "a:b", "a|b?c*d", "tab\there\nand there",
    "\u202egnp.exe", "\ufeff", "\ud7ff", "｡｡/x", "‥/outside", "．．/outside/secret.md",
)  # fmt: skip
WORST = TRAPS[:17]


@dataclass
class Home:
    """A folder that holds the vault, the state folder, and what is none of memvault's business."""

    root: Path
    container: Container

    @property
    def vault(self) -> Path:
        return self.root / "vault"

    def trap(self, text: str) -> str:
        return text.replace("{outside}", str(self.root / "outside"))

    def others(self) -> dict[str, bytes | None]:
        """Every file and folder beside the vault and the state folder."""
        found: dict[str, bytes | None] = {}
        for entry in sorted(self.root.rglob("*")):
            relative = entry.relative_to(self.root)
            if relative.parts[0] not in {"vault", "state"}:
                found[str(relative)] = entry.read_bytes() if entry.is_file() else None
        return found

    def notes(self) -> dict[str, bytes]:
        files = (entry for entry in self.vault.rglob("*") if entry.is_file())
        return {f.relative_to(self.vault).as_posix(): f.read_bytes() for f in files}

    def call(self, *calls: tuple[str, dict[str, Any]]) -> list[str]:
        """The answers as a client reads them; none may tell of the outside."""

        async def run() -> list[str]:
            answers = []
            async with Client(build_server(self.container, tools="full")) as client:
                for name, arguments in calls:
                    result = await client.call_tool_mcp(name, arguments)
                    answers.append(json.dumps([c.model_dump(mode="json") for c in result.content]))
                    answers[-1] += json.dumps(result.structured_content)
                    code = ((result.structured_content or {}).get("error") or {}).get("code")
                    assert code in (None, -32602, -32002), (name, arguments, answers[-1])
            return answers

        return asyncio.run(run())


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    root = tmp_path
    outside, vault = root / "outside", root / "vault"
    for folder in (outside, vault / "notes", vault / ".obsidian"):
        folder.mkdir(parents=True)
    (outside / "secret.md").write_text(f"# Secret\n\nThis is {SECRET}.\n")
    (root / "secret.md").write_text(f"{SECRET}\n")
    (vault / ".obsidian/app.json").write_text("{}")
    (vault / "notes/Inside.md").write_text("# Inside\n\nA note that may be read.\n")
    try:
        (vault / "link").symlink_to(outside, target_is_directory=True)
        (vault / "secret link.md").symlink_to(outside / "secret.md")
    except OSError:
        pass  # Windows asks for a privilege; the other traps remain
    container = Container(
        vault, Settings(index=IndexSettings(ner="off")), StateFolder(root / "state")
    )
    container.indexing.scan()
    yield Home(root, container)
    container.close()


@pytest.fixture(autouse=True)
def nothing_outside_changes(home: Home) -> Iterator[None]:
    outside, entries = home.others(), set(home.root.iterdir())
    before = home.notes()
    yield
    assert home.others() == outside
    assert set(home.root.iterdir()) == entries
    after = home.notes()
    for path, data in before.items():
        if not path.startswith((".memvault/", "permanent/preferences.md")):
            assert after[path] == data
    for path in after.keys() - before.keys():
        assert path.startswith(".memvault/") or path.endswith((".md", ".png"))
        assert not any(part.startswith(".") for part in path.split("/")[:-1] if part != ".memvault")
        assert not {part.split(".")[0].lower() for part in path.split("/")} & {"con", "nul", "aux"}


@pytest.mark.parametrize(
    ("name", "traps"),
    [("title", TRAPS), ("project", TRAPS), ("type", WORST), ("tags", WORST), ("content", WORST)],
)
def test_a_memory_is_stored_inside_whatever_it_is_called(
    home: Home, name: str, traps: tuple[str, ...]
) -> None:
    calls = []
    for trap in map(home.trap, traps):
        value: Any = [trap] if name == "tags" else trap
        given = {"content": f"Kept as {name}.", "rationale": WHY, name: value}
        calls.append(("store_memory", given))
    answers = home.call(*calls)
    assert not any(SECRET in answer for answer in answers)
    assert any('"node_id"' in answer for answer in answers)


def test_a_picture_is_saved_inside_whatever_it_is_called(home: Home) -> None:
    given = {"content_base64": PIXEL, "modality": "image", "rationale": WHY}
    calls = [("store_memory", {**given, "title": home.trap(trap)}) for trap in WORST]
    assert any('"node_id"' in answer for answer in home.call(*calls))


def test_a_memory_is_linked_to_nothing_outside(home: Home) -> None:
    """A link to an unknown path is left out, and the answer says so; one to a name is kept."""
    before = home.notes()
    traps = [home.trap(trap) for trap in TRAPS]
    given = {"content": "It links.", "rationale": WHY}
    answers = home.call(*[("store_memory", {**given, "link_to": [trap]}) for trap in traps])
    inside = {Path(path).stem for path in before if path.endswith(".md")}
    after = home.notes()
    stored = after.keys() - before.keys()
    texts = [after[path].decode() for path in stored if path.endswith(".md")]
    linked = [target for text in texts for target in re.findall(r"\[\[([^]|]+)", text)]
    unlinked = [answer for answer in answers if "Stored without a link to" in answer]
    refused = [answer for answer in answers if '"error"' in answer]
    assert texts and unlinked
    assert all(Path(target).name in inside or target == safe_name(target) for target in linked)
    assert len(linked) + len(unlinked) + len(refused) == len(traps)


@pytest.mark.parametrize(
    ("tool", "argument"), [("get_memory", "id"), ("get_memory", "path"), ("fetch", "id")]
)
def test_nothing_outside_is_read(home: Home, tool: str, argument: str) -> None:
    notes = home.notes()
    for answer in home.call(*[(tool, {argument: home.trap(trap)}) for trap in TRAPS]):
        assert SECRET not in answer
        assert "root:" not in answer
        assert '"error"' in answer
    assert len(home.notes()) == len(notes)


def test_questions_and_filters_read_nothing_outside(home: Home) -> None:
    calls = []
    for trap in map(home.trap, WORST):
        calls.append(("recall_memory", {"query": trap, "project": trap, "session_id": trap}))
        calls.append(("recall_memory", {"query": SECRET, "filters": {"tags": [trap]}}))
        calls.append(("graph_query", {"query": trap, "project": trap}))
        calls.append(("search", {"query": trap}))
    for answer in home.call(*calls):
        assert "This is " + SECRET not in answer


def test_preferences_are_kept_in_their_note_whatever_their_key(home: Home) -> None:
    calls = []
    for trap in map(home.trap, WORST):
        calls.append(("set_preference", {"key": trap, "value": "yes", "rationale": WHY}))
        calls.append(("set_preference", {"key": "Place", "value": trap, "rationale": WHY}))
        calls.append(("get_preference", {"key": trap}))
    for answer in home.call(*calls):
        assert SECRET not in answer
    assert not set(home.notes()) & {"preferences.md", "yes.md"}


def test_prompts_and_resources_read_nothing_outside(home: Home) -> None:
    async def ask() -> list[str]:
        texts = []
        async with Client(build_server(home.container)) as client:
            for trap in map(home.trap, WORST):
                prompt = await client.get_prompt("context", {"topic": trap, "depth": "deep"})
                texts.append(prompt.model_dump_json())
                for uri in (f"file://{trap}", f"memvault://{trap}", f"note:///{trap}"):
                    with pytest.raises((MCPError, ValueError)):
                        await client.read_resource(uri)
        return texts

    assert not any("This is " + SECRET in text for text in asyncio.run(ask()))
