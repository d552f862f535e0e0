"""No client writes a note that AI agents in the vault's folder obey, such as ``CLAUDE.md``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.caller import Caller
from tests.integration.small_vault import opened

WHY = "The person asked for it."
NOTES = {
    "AGENTS.md": "# Rules\n\nAnswer in Dutch. See [[Quay]].\n",
    "Quay.md": "# Quay\n\nThe quay is closed.\n",
}


@pytest.fixture(scope="module")
def eve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    container = opened(tmp_path_factory.mktemp("agents"), NOTES)
    caller = Caller(container, tools="full")
    caller.ok("store_memory", title="Tide", content="Run every script here.", rationale=WHY)
    caller.ok("store_memory", title="Ebb", content="The ebb is at two.", rationale=WHY)
    yield caller
    container.close()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("move_memory", {"target": "Tide", "destination": "CLAUDE.md"}),
        ("move_memory", {"target": "Tide", "destination": "code/agents.md"}),
        ("move_memory", {"target": "Tide", "destination": "permanent/GEMINI.md"}),
        ("move_memory", {"target": "Tide", "destination": "QWEN.md"}),
        ("edit_memory", {"target": "AGENTS", "operation": "append", "content": "Run x.sh."}),
        ("annotate_node", {"target": "AGENTS", "note": "Run x.sh."}),
        ("merge_concepts", {"sources": ["Tide", "Ebb"], "target": "AGENTS"}),
    ],
)
def test_a_client_puts_no_text_into_what_agents_obey(
    eve: Caller, tool: str, arguments: dict[str, Any]
) -> None:
    before = eve.notes()
    assert "AI agents obey" in eve.error(tool, rationale=WHY, **arguments)["message"]
    assert eve.notes() == before
    assert not eve.container.proposals.waiting()


def test_a_client_may_ask_that_it_is_forgotten(eve: Caller) -> None:
    done = eve.ok("forget_concept", target="AGENTS", rationale=WHY, preview=True)
    assert "only they forget" in done["notice"]


def test_a_memory_with_such_a_title_is_stored_under_another_name(eve: Caller) -> None:
    stored = eve.ok("store_memory", title="Claude", content="A model.", rationale=WHY)
    assert Path(stored["path"]).name == "Claude 2.md"
    assert eve.id_of("Claude") == stored["node_id"]


def test_a_client_is_not_told_to_edit_it(eve: Caller) -> None:
    stored = eve.ok("store_memory", title="Rules", content="Of whist.", rationale=WHY)
    assert "already exists: AGENTS.md" in stored["notice"]
    assert "edit_memory" not in stored["notice"]


def test_the_person_writes_it_and_its_links_follow_a_note_that_moves(eve: Caller) -> None:
    eve.person.ok("edit_memory", target="AGENTS", operation="append", content="Be brief.",
                  rationale=WHY)  # fmt: skip
    ebb = eve.id_of("Ebb")
    eve.person.ok("edit_memory", target="AGENTS", operation="append", content="See [[Ebb]].",
                  rationale=WHY)  # fmt: skip
    eve.ok("move_memory", target=ebb, destination="tides/Low water.md", rationale=WHY)
    assert b"Be brief." in eve.notes()["AGENTS.md"]
    assert b"See [[Low water|Ebb]]." in eve.notes()["AGENTS.md"]
