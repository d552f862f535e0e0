"""The first hour of a new user: the commands of the README, and a real client over stdio.

The tests run in the order of the file, on one vault from the template.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from fastmcp import Client

from tests.newcomer.person import Newcomer
from tests.waiting import until

WHY = "The person asked for it just now."
ANSWERS = {
    "How should seeds be stored, and why?": ("Keep seeds in glass jars", "glass jars", "damp"),
    "Who decided to use glass jars, and who looks after them?": (
        "Keep seeds in glass jars",
        "Decided by: Pilar Mbeki",
        "Rowan Achterberg",
    ),
    "What is still open for the spring swap?": (
        "Planning the spring swap",
        "Label every jar",
        "asks the school",
    ),
}


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Newcomer]:
    home = tmp_path_factory.mktemp("home")
    person = Newcomer(home, home / "Memory-Vault")
    yield person
    person.types("stop")


def test_init_makes_a_vault_and_says_what_to_do_next(newcomer: Newcomer) -> None:
    printed = newcomer.starts("init")
    assert "9 notes indexed." in printed
    assert "memvault connect claude-desktop" in printed
    assert "problems\tnone" in newcomer.types("status")
    assert newcomer.starts("doctor") == "No problems found.\n"


def test_the_questions_of_the_home_note_are_those_that_are_tried_here(newcomer: Newcomer) -> None:
    home = (newcomer.vault / "Home.md").read_text(encoding="utf-8")
    block = re.search(r"```text\n(.*?)```", home, re.DOTALL)
    assert block is not None and block[1].splitlines() == list(ANSWERS)


@pytest.mark.parametrize("question", ANSWERS)
def test_each_question_brings_its_answer_first(question: str, newcomer: Newcomer) -> None:
    title, *sentences = ANSWERS[question]
    first = newcomer.recalled(question)[0]
    assert first["title"] == title
    assert [each for each in sentences if each not in first["content"]] == []


def test_what_a_client_stores_is_a_note_that_the_next_client_recalls(newcomer: Newcomer) -> None:
    stored = newcomer.calls(
        "store_memory",
        content="The label printer takes 12 mm tape, not 9 mm.",
        title="Label printer",
        rationale="Bought the wrong tape once already.",
        link_to=["Seed library"],
    )
    note = (newcomer.vault / stored["path"]).read_text(encoding="utf-8")
    assert "12 mm tape" in note and "[[Seed library]]" in note
    first = newcomer.recalled("Which tape does the label printer take?")[0]
    assert first["title"] == "Label printer" and "12 mm" in first["content"]


def test_a_client_corrects_a_note_after_a_preview(newcomer: Newcomer) -> None:
    (note,) = newcomer.vault.rglob("Label printer.md")
    before = note.read_bytes()
    change = {
        "target": "label printer",
        "operation": "replace_text",
        "find": "12 mm",
        "content": "18 mm",
        "rationale": "The person measured it again.",
    }
    newcomer.calls("edit_memory", **change, preview=True)
    assert note.read_bytes() == before
    newcomer.calls("edit_memory", **change)
    assert note.read_bytes() == before.replace(b"12 mm", b"18 mm")
    first = newcomer.recalled("Which tape does the label printer take?")[0]
    assert "18 mm" in first["content"]


def test_an_edit_of_what_the_person_saved_meanwhile_is_refused(newcomer: Newcomer) -> None:
    (note,) = newcomer.vault.rglob("Label printer.md")
    change = {
        "target": "label printer",
        "operation": "replace_text",
        "find": "18 mm",
        "content": "24 mm",
        "rationale": "The person measured it again.",
    }
    assert newcomer.calls("edit_memory", **change, preview=True)["after"] == "24 mm"
    own = note.read_bytes()
    note.write_bytes(own.replace(b"18 mm", b"twelve or eighteen millimetres"))
    with pytest.raises(Exception, match="does not contain the text to replace"):
        newcomer.calls("edit_memory", **change)
    assert b"twelve or eighteen millimetres" in note.read_bytes()
    note.write_bytes(own)


def test_an_import_is_undone_as_one(newcomer: Newcomer) -> None:
    talks = [
        {"uuid": f"talk-{number}", "name": f"Talk {number}", "created_at": "2026-01-01T00:00:00Z",
         "updated_at": "2026-01-01T00:00:00Z",
         "chat_messages": [{"uuid": f"said-{number}", "sender": "human", "text": "Which seeds?",
                            "created_at": "2026-01-01T00:00:00Z"}]}
        for number in range(30)
    ]  # fmt: skip
    export = newcomer.home / "conversations.json"
    export.write_text(json.dumps(talks))
    assert "30 added" in newcomer.types("import", "claude", str(export))
    change = newcomer.types("log").splitlines()[0]
    assert "and 27 more" in change
    printed = newcomer.types("undo", change.split("\t")[0])
    assert "and 10 more" in printed
    assert not list((newcomer.vault / "sessions").rglob("Talk*"))


def test_a_client_moves_a_note_of_the_persons_only_when_they_agree(newcomer: Newcomer) -> None:
    note = newcomer.vault / "projects" / "seed-library" / "Keep seeds in glass jars.md"
    before = note.read_bytes()
    moved = newcomer.calls(
        "archive_project", project="seed-library", rationale="The person seems to be done with it."
    )
    assert moved["moved"] == {} and "waits for the person" in moved["notice"]
    assert note.read_bytes() == before
    assert "asks to move the project seed-library to the archive" in newcomer.opens("/curate")[1]


def test_a_forgotten_note_is_gone_until_it_is_restored_to_the_byte(newcomer: Newcomer) -> None:
    note = newcomer.vault / "permanent" / "people" / "Rowan Achterberg.md"
    before = note.read_bytes()
    why = "The person seems to be done with them."
    waits = newcomer.calls("forget_concept", target="Rowan Achterberg", rationale=why)
    assert "waits for the person" in waits["notice"] and note.read_bytes() == before
    assert "asks to move this note to the trash" in newcomer.opens("/curate")[1]
    newcomer.types("forget", "Rowan Achterberg", "--yes")
    assert not note.exists()
    titles = [each["title"] for each in newcomer.recalled("Who is Rowan Achterberg?")]
    assert "Rowan Achterberg" not in titles
    newcomer.types("undo", newcomer.types("log").split("\t")[0], "--yes")
    assert note.read_bytes() == before


def test_the_log_lists_each_change_and_undo_takes_it_back(newcomer: Newcomer) -> None:
    rows = [line.split("\t") for line in newcomer.types("log").splitlines()]
    assert len(rows) == 6
    edited, stored = [row for row in rows if "Label printer" in row[2]]
    (note,) = newcomer.vault.rglob("Label printer.md")
    newcomer.types("undo", edited[0])
    assert "12 mm" in note.read_text(encoding="utf-8")
    newcomer.types("undo", stored[0])
    assert not note.exists()


def test_the_persons_own_words_are_shown_in_their_terminal(newcomer: Newcomer) -> None:
    note = newcomer.vault / "permanent" / "Bike.md"
    note.write_text("# Bike cost\n\nThe new bike cost 900 euros.\n", encoding="utf-8")
    until(lambda: "Bike.md" in newcomer.types("search", "What did the new bike cost?"))
    assert "900 euros" in newcomer.types("search", "What did the new bike cost?")
    assert "900 euros" in newcomer.types("show", "bike cost")


def test_a_client_is_connected_and_disconnected_without_a_trace(newcomer: Newcomer) -> None:
    folder = newcomer.home / ".cursor"
    folder.mkdir()
    (folder / "mcp.json").write_bytes(b'{ "mcpServers": { "x": {"command": "y"} } }\n')
    before = {path: path.read_bytes() for path in folder.iterdir()}
    newcomer.types("connect", "cursor", "--tools", "full")
    entry = json.loads((folder / "mcp.json").read_bytes())["mcpServers"]["memvault"]
    done = subprocess.run(
        [entry["command"], *entry["args"], "--help"], env=newcomer.environment, check=True
    )
    assert done.returncode == 0
    newcomer.types("disconnect", "cursor")
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_client_has_two_vaults_until_one_is_taken_out(newcomer: Newcomer) -> None:
    other = newcomer.home / "Other"
    other.mkdir()
    newcomer.types("connect", "cursor")
    newcomer.types("--vault", str(other), "connect", "cursor", "--name", "other")
    file = newcomer.home / ".cursor" / "mcp.json"
    servers = json.loads(file.read_bytes())["mcpServers"]
    assert str(other) in servers["other"]["args"]
    assert str(newcomer.vault) in servers["memvault"]["args"]
    newcomer.types("disconnect", "cursor", "--name", "other")
    left = json.loads(file.read_bytes())["mcpServers"]
    assert "memvault" in left and "other" not in left
    newcomer.types("disconnect", "cursor")


MISTAKES: list[tuple[str, dict[str, Any], str]] = [
    ("recall_memory", {}, "query - it is required"),
    ("recall_memory", {"query": ""}, "The question is empty"),
    ("recall_memory", {"query": "  "}, "The question is empty"),
    ("undo_change", {"change": "x", "rationale": WHY}, "`memvault log` lists all of them"),
    ("recall_memory", {"query": "x", "top_k": 0}, "between 1 and 100"),
    ("recall_memory", {"query": "x", "mode": "fast"}, "'planning'"),
    ("recall_memory", {"query": "x", "colour": "red"}, "There are: query"),
    ("recall_memory", {"query": "x", "project": "nope"}, "Known projects: seed-library"),
    ("recall_memory", {"query": "x", "filters": {"types": 7}}, "filters.types"),
    ("store_memory", {"rationale": WHY}, "Content is required"),
    ("store_memory", {"content": "a"}, "Rationale is required (10-500"),
    ("store_memory", {"content": "a", "rationale": "short"}, "at least 10"),
    ("store_memory", {"content": "a", "rationale": WHY, "importance": "huge"}, "critical, high"),
    ("store_memory", {"content_base64": "%", "rationale": WHY}, "not valid base64"),
    ("get_memory", {}, "Provide id or path"),
    ("get_memory", {"path": "../../etc/passwd"}, "search for what it says"),
    ("get_memory", {"path": "Seed libary"}, "the nearest"),
    ("edit_memory", {"target": "Seed library", "operation": "replace_section", "content": "x",
                     "section": "Prices", "rationale": WHY}, "its headings are"),
    ("edit_memory", {"target": "Seed library", "operation": "delete", "content": "x",
                     "rationale": WHY}, "'replace_text'"),
    ("forget_concept", {"target": "Nobody at all", "rationale": WHY}, "search for what it says"),
    ("undo_change", {"rationale": WHY}, "exactly one of change"),
    ("merge_concepts", {"sources": ["x"], "target": "x", "rationale": WHY}, "at least 2 memories"),
]  # fmt: skip


def test_the_mistakes_of_a_client_are_answered_with_what_to_do(newcomer: Newcomer) -> None:
    before = {path: path.read_bytes() for path in newcomer.vault.rglob("*.md")}

    async def answers() -> list[str]:
        async with Client(f"http://{newcomer.address()}/mcp?tools=full") as client:
            found = [await client.call_tool_mcp(tool, given) for tool, given, _ in MISTAKES]
        return [each.content[0].text if each.is_error else "no error" for each in found]

    for (tool, given, says), answer in zip(MISTAKES, asyncio.run(answers()), strict=True):
        assert says in answer and "Traceback" not in answer, (tool, given, answer)
    assert {path: path.read_bytes() for path in newcomer.vault.rglob("*.md")} == before


def test_every_page_opens(newcomer: Newcomer) -> None:
    for path in ("/", "/ask", "/curate", "/concepts", "/compress", "/activity"):
        assert newcomer.opens(path)[0] == 200, path
    assert "Keep seeds in glass jars" in newcomer.opens("/ask?q=How+should+seeds+be+stored")[1]


def test_a_mistake_is_answered_with_one_line_that_says_what_to_do(newcomer: Newcomer) -> None:
    for typed, meant in (("serrch", "search"), ("ask", "search"), ("history", "log")):
        assert f"Did you mean '{meant}'?" in newcomer.types(typed, "x", fails=True)
    missing = newcomer.types("show", "Keep seeds in glas jars", fails=True)
    assert missing.count("\n") == 1 and "Keep seeds in glass jars" in missing
