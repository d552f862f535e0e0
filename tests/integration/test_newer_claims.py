"""What a client stored since the person saved a note is named next to it, as a claim."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_server.runtime.container import Container
from memvault.cli.app import run
from tests.integration.caller import Caller
from tests.integration.searching import container_of

WHY = "The person asked me to remember it"
NOTES = {
    "lessons/Cello.md": "# Cello\n\nPavel teaches on Mondays, a lesson is 38.50.\n\nStrings: silver.\n",
    "house/Boat shed.md": "# Boat shed\n\n| what | a year |\n| --- | --- |\n| rent | 700 |\n| paint | 60 |\n",
    "house/Chimney.md": "# Chimney\n\nSwept by Mr Ost each autumn, for 85.\n",
    "lessons/Flute.md": "---\nlesson: 30\n---\n# Flute\n\nWith Ms Wei.\n",
    "lessons/Harp.md": "# Harp\n\nPlayed in the chapel at 15:00.\n",
    "house/Stove.md": "---\nlogs: 40\n---\n# Stove\n\nBurns birch.\n",
}
CLAIMS = (
    "A lesson of Pavel in cello is now 44.",
    "The rent of the boat shed rises to 750 a year.",
    "The chimney was painted white.",
    "The harp is played in the chapel at 16:30, because the old priest rests until the bells ring.",
)


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    opened = container_of(tmp_path_factory.mktemp("newer"), NOTES)
    opened.start(watch=False)
    caller = Caller(opened)
    for claim in CLAIMS:
        caller.ok("store_memory", content=claim, rationale=WHY)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def call(container: Container) -> Caller:
    return Caller(container)


def newer(answer: dict[str, Any], title: str) -> list[dict[str, Any]]:
    node = next(each for each in answer["nodes"] if each["title"] == title)
    return node.get("newer_claims", [])


def test_a_newer_claim_is_named_next_to_the_persons_older_figure(call: Caller) -> None:
    (claim,) = newer(call.ok("recall_memory", query="What does a cello lesson cost?"), "Cello")
    assert claim["sentence"] == CLAIMS[0]
    assert (claim["verified"], claim["origin"]) == (False, "client")
    assert claim["claimed_by"] and claim["claimed_on"] and claim["path"].endswith(".md")


def test_the_reason_that_a_claim_gives_says_nothing_of_its_matter(call: Caller) -> None:
    (claim,) = newer(call.ok("recall_memory", query="When is the harp played?"), "Harp")
    assert claim["sentence"] == CLAIMS[3]


def test_a_context_names_it_behind_the_persons_words(call: Caller) -> None:
    context = call.ok("inject_context", query="What does a cello lesson cost?", max_tokens=400)
    text = str(context["context"])
    assert "38.50" in text
    assert f'unverified: "{CLAIMS[0]}")' in text


def test_the_terminal_names_it_below_the_persons_words(
    call: Caller, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "memvault.cli.ask.tool_answer",
        lambda context, tool, arguments, *, brief: call.ok(tool, **arguments),
    )
    assert run(["search", "What does a cello lesson cost?"]) == 0
    lines = capsys.readouterr().out.splitlines()
    below = lines[lines.index("  Pavel teaches on Mondays, a lesson is 38.50.") :]
    assert any("newer, claimed by" in line and CLAIMS[0] in line for line in below)
    assert any("client, unverified" in line for line in lines)


def test_a_hook_names_it_in_the_persons_line(container: Container, tmp_path: Path) -> None:
    given = {
        "session_id": "s-1",
        "cwd": str(tmp_path),
        "hook_event_name": "UserPromptSubmit",
        "prompt": "What does a cello lesson with Pavel cost?",
    }
    answer = container.hooks.answer("claude-code", "UserPromptSubmit", json.dumps(given).encode())
    (line,) = (line for line in answer.decode().split("\\n") if "Cello.md" in line)
    assert "38.50" in line
    assert "newer, claimed by" in line and CLAIMS[0] in line


def test_on_a_sensitive_matter_only_that_there_is_one_is_named(call: Caller) -> None:
    answer = call.ok("recall_memory", query="What rent do we pay for the boat shed?")
    (claim,) = newer(answer, "Boat shed")
    assert claim["claimed_by"] and claim["claimed_on"]
    assert "sentence" not in claim and "path" not in claim
    context = call.ok("inject_context", query="What rent do we pay for the boat shed?")
    assert "unverified and withheld" in str(context["context"])
    assert "750 a year" not in str(answer) + str(context)


def test_a_claim_that_a_client_corrects_has_a_newer_one(call: Caller) -> None:
    first = call.ok("store_memory", content="The form asks for 15 members.", rationale=WHY)
    call.ok("store_memory", content="The form asks for 12 members, not 15.", rationale=WHY)
    answer = call.ok("recall_memory", query="How many members must the form have?")
    node = next(each for each in answer["nodes"] if each["path"] == first["path"])
    assert "12 members" in node["newer_claims"][0]["sentence"]


def test_what_says_nothing_else_or_on_something_else_is_not_named(call: Caller) -> None:
    assert newer(call.ok("recall_memory", query="Who sweeps the chimney?"), "Chimney") == []
    assert newer(call.ok("recall_memory", query="Which strings has the cello?"), "Cello") == []
    assert newer(call.ok("recall_memory", query="What does a lesson cost?"), "Flute") == []


def test_what_the_person_saves_later_has_no_newer_claim(call: Caller, container: Container) -> None:
    call.ok("store_memory", content="The stove takes logs of 33.", rationale=WHY)
    question = "How long are the logs of the stove?"
    assert len(newer(call.ok("recall_memory", query=question), "Stove")) == 1
    file = container.vault.root / "house" / "Stove.md"
    file.write_text(file.read_text().replace("40", "35"))
    container.indexing.index_written(["house/Stove.md"])
    assert newer(call.ok("recall_memory", query=question), "Stove") == []
