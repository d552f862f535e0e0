"""A client that states part of a sentence of the person's does not state it as theirs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from mcp_server.runtime.container import Container
from memvault.model.note import LineRange
from tests.benchmarks.trust_attempts import WHY, Caller, hooked, opened

# The ways of stating the part, by the name of the note that each is tried on.
WAYS = {
    "Ada": {"operation": "append", "content": "{part}"},
    "Bob": {"operation": "prepend", "content": "{part}"},
    "Cleo": {
        "operation": "replace_text", "find": "They play chess.", "content": "They play chess. {part}",
    },
    "Dora": {"operation": "append", "content": "All is well. {part}"},
    "Emil": {"operation": "append", "content": "*Emil* moved to **Rome** with a cat."},
}  # fmt: skip


def doubted(name: str) -> str:
    return f"It is a rumour that {part(name)}"


def part(name: str) -> str:
    return f"{name} moved to Rome with a cat."


def query(name: str) -> str:
    return f"Where did {name} move to with a cat?"


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    with opened(tmp_path_factory.mktemp("parts")) as running:
        for name in WAYS:
            note = f"# {name}\n\n{doubted(name)}\n\nThey play chess.\n"
            (running.vault.root / f"{name}.md").write_text(note, encoding="utf-8")
        boat = "# Boat\n\n## Rumours\n\nThe boat leaks.\n\n## Facts\n\nThe boat is blue.\n"
        (running.vault.root / "Boat.md").write_text(boat, encoding="utf-8")
        running.indexing.scan()
        yield running


@pytest.fixture(scope="module")
def call(container: Container) -> Caller:
    caller = Caller(container)
    for name, way in WAYS.items():
        texts = {key: text.format(part=part(name)) for key, text in way.items()}
        caller("edit_memory", target=f"{name}.md", rationale=WHY, **texts)
    caller("edit_memory", target="Boat.md", operation="append", section="Facts",
           content="The boat l<!-- -->eaks.", rationale=WHY)  # fmt: skip
    return caller


def states_part(text: str, name: str) -> bool:
    """Whether it has the part by itself, and does not say who wrote it."""
    marked = f"{part(name)} (written by eve, unverified)"
    return part(name) in text.replace(doubted(name), "").replace(marked, "")


def parts_of(node: dict[str, Any]) -> list[dict[str, Any]]:
    """A memory without what others added to it, and each addition; each says whose it is."""
    return [{**node, "added_by_others": []}, *node.get("added_by_others", [])]


@pytest.mark.parametrize("name", WAYS)
def test_no_tool_shows_a_part_as_the_persons(call: Caller, name: str) -> None:
    for tool in ("recall_memory", "graph_query", "vector_search"):
        answer = call(tool, "other", query=query(name))
        nodes = answer.get("nodes") or answer.get("results") or answer["chunks"]
        for each in (part for node in nodes for part in parts_of(node)):
            if states_part(json.dumps(each), name):
                assert each["origin"] == "client" and not each["verified"], (tool, each)


@pytest.mark.parametrize("name", WAYS)
def test_a_context_names_the_writer_of_a_part(call: Caller, name: str) -> None:
    answer = call("inject_context", "other", query=query(name), distillation_mode="raw")
    assert doubted(name) in answer["context"] and not states_part(answer["context"], name)


@pytest.mark.parametrize("name", WAYS)
def test_a_hook_quotes_no_part_as_the_persons(
    call: Caller, container: Container, name: str
) -> None:
    lines = hooked(container, query(name), name).replace("\\n", "\n").splitlines()
    unmarked = [line for line in lines if "claimed by eve" not in line]
    assert not states_part("\n".join(unmarked), name)


def test_the_whole_sentence_stays_the_persons(call: Caller) -> None:
    found = call("recall_memory", "other", query=query("Ada"))["nodes"][0]
    assert doubted("Ada") in found["content"]
    assert found["verified"] and found["origin"] == "person"


def test_a_copy_of_the_persons_sentence_in_other_lines_is_its_writers(
    call: Caller, container: Container
) -> None:
    boat = container.live.catalogue.by_path("Boat.md")
    assert boat is not None
    copied = boat.provenance.of_sentence("The boat leaks.", LineRange(11, 11))
    written = boat.provenance.of_sentence("The boat leaks.", LineRange(5, 5))
    assert (copied.name, written.is_person) == ("eve", True)
