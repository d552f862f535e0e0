"""Forgetting and restoring as a client sees it: nothing shows what was forgotten, and everything
is as before when it is restored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from memvault.config.paths import StateFolder
from memvault.config.settings import Settings
from tests.integration.caller import the_person
from tests.snapshot import differences, snapshot
from tests.waiting import PATIENCE_SECONDS

NOTES = {
    "people/Ada Berg.md": "---\ntype: person\naliases: [Ada]\n---\nAda Berg builds boats.\n",
    "Boat.md": "Lead: [[Ada Berg]]\n\nThe boat was built by Ada in the [[Old Yard]]. #wood\n",
    "Yard.md": "---\npeople: [Ada Berg]\n---\nThe [[old yard]] is closed. See [[Boat]]. #wood\n",
    "a/Plan.md": "The plan for spring.\n",
    "b/Plan.md": "The plan for autumn.\n",
}
WHY = {"rationale": "They asked me to forget it."}


class Caller:
    def __init__(self, home: Path, settings: Settings) -> None:
        self.vault, self.home, self.settings = home / "vault", home, settings
        for path, text in NOTES.items():
            (self.vault / path).parent.mkdir(parents=True, exist_ok=True)
            (self.vault / path).write_text(text, encoding="utf-8")
        self.open()

    def open(self) -> None:
        self.container = Container(self.vault, self.settings, StateFolder(self.home / "state"))
        self.container.indexing.scan()

    def again(self) -> None:
        self.container.close()
        self.open()

    def ask(self, name: str, **arguments: Any) -> Any:
        async def run() -> Any:
            server = build_server(self.container, tools="full")
            async with Client(server, client_info=the_person()) as client:
                return await client.call_tool_mcp(name, arguments)

        return asyncio.run(run())

    def ok(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = self.ask(name, **arguments)
        assert not result.is_error, result.content
        content: dict[str, Any] = result.structured_content
        return content

    def error(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = self.ask(name, **arguments)
        assert result.is_error, result.structured_content
        error: dict[str, Any] = result.structured_content["error"]
        return error

    def id_of(self, path: str) -> str:
        memory = self.container.live.catalogue.by_path(path)
        assert memory is not None
        return memory.id

    def everything_shown(self) -> str:
        """What the tools that read say of the vault, in one text."""
        calls: list[tuple[str, dict[str, Any]]] = [
            ("recall_memory", {"query": "Ada Berg builds boats", "top_k": 50}),
            ("vector_search", {"query": "Ada Berg builds boats", "top_k": 50}),
            ("graph_query", {"query": "Who leads the boat?", "top_k": 50, "verbosity_level": 2}),
            ("search", {"query": "Ada Berg"}),
            ("get_memetic_status", {}),
            ("get_memory", {"path": "Boat.md"}),
            ("get_memory", {"path": "Yard.md"}),
            ("inject_context", {"query": "Who builds boats?", "verbosity_level": 2}),
            ("get_neighborhood", {"node_id": "Boat.md", "verbosity_level": 2}),
            ("get_recent_context", {"verbosity_level": 2}),
            ("get_graph_manifest", {"verbosity_level": 2}),
            ("reflect_on_memory", {"goal": "Find out who made the boat"}),
            ("generate_search_plan", {"query": "boats, and who made them"}),
            ("critique_context", {"reasoning_summary": "Ada Berg built the boat."}),
        ]
        answers = [f"\n{name} {json.dumps(self.ok(name, **a))}" for name, a in calls]
        return "".join(answers) + self.resources()

    def resources(self) -> str:
        """What can be read without a tool, after a look at everything."""

        async def run() -> list[str]:
            async with Client(build_server(self.container, tools="full")) as client:
                await client.call_tool("recall_memory", {"query": "boats", "top_k": 50})
                uris = ["context://current", "context://session", "context://global"]
                uris += [f"graph://{self.id_of(path)}" for path in ("Boat.md", "Yard.md")]
                return [(await client.read_resource(uri))[0].text for uri in uris]

        return "".join(asyncio.run(run()))


@pytest.fixture
def caller(tmp_path: Path, settings: Settings) -> Iterator[Caller]:
    one = Caller(tmp_path, settings)
    yield one
    one.container.close()


def test_a_forgotten_memory_is_as_if_it_did_not_exist(caller: Caller):
    """Core EC-CORE-011, TC-CORE-015."""
    ada = caller.id_of("people/Ada Berg.md")
    assert ada in caller.everything_shown()
    answer = caller.ok("forget_concept", target="Ada Berg", reason="user_requested", **WHY)
    assert (answer["node_ids"], answer["paths"]) == ([ada], ["people/Ada Berg.md"])
    until = datetime.fromisoformat(answer["restorable_until"])
    assert timedelta(days=29) < until - datetime.now(UTC) <= timedelta(days=30)
    for arguments in ({"id": ada}, {"path": "people/Ada Berg.md"}):
        assert caller.error("get_memory", **arguments)["code"] == -32602
    assert caller.error("fetch", id=ada)["code"] == -32602
    assert caller.error("get_neighborhood", node_id=ada)["code"] == -32602
    tag = f"node_{ada[:8]}"
    assert caller.error("hydrate_citation", citation_tags=[tag])["code"] == -32602
    caller.container.curation.wait(PATIENCE_SECONDS)
    shown = caller.everything_shown()
    assert ada not in shown and "builds boats" not in shown
    links = caller.ok("get_memory", path="Boat.md")["links"]
    assert "Ada Berg" not in [link["title"] for link in links]
    text = (caller.vault / "Boat.md").read_text(encoding="utf-8")
    assert text == NOTES["Boat.md"]


def test_a_restored_memory_is_found_linked_and_named_as_before(caller: Caller):
    before = snapshot(caller.container.live.indexer)
    answer = caller.ok("forget_concept", target="people/Ada Berg.md", **WHY)
    assert differences(before, snapshot(caller.container.live.indexer)) != []
    back = caller.ok("restore_concept", reversal_hash=answer["reversal_hash"], **WHY)
    assert back["paths"] == ["people/Ada Berg.md"] and back["node_ids"] == answer["node_ids"]
    assert differences(before, snapshot(caller.container.live.indexer)) == []
    note = (caller.vault / "people/Ada Berg.md").read_text(encoding="utf-8")
    assert note == NOTES["people/Ada Berg.md"]


def test_a_concept_that_notes_only_name_is_forgotten_for_good_after_restart_and_rebuild(
    caller: Caller,
):
    before = snapshot(caller.container.live.indexer)
    answer = caller.ok("forget_concept", target="Old yard", **WHY)
    assert answer["paths"] == [] and "restorable_until" not in answer

    def named() -> set[str]:
        return {node.name.casefold() for node in caller.container.live.stores.graph.all_nodes()}

    assert "old yard" not in named()
    caller.again()
    assert "old yard" not in named()
    caller.container.indexing.rebuild()
    assert "old yard" not in named()
    assert "Old Yard" not in [x["title"] for x in caller.ok("get_memory", path="Boat.md")["links"]]
    caller.ok("graph_query", query="What was built in the Old Yard?")
    caller.ok("restore_concept", target="old yard", **WHY)
    assert differences(before, snapshot(caller.container.live.indexer)) == []


def test_a_forgotten_tag_is_left_out_also_of_notes_written_later(caller: Caller):
    caller.ok("forget_concept", target="#wood", **WHY)
    (caller.vault / "Raft.md").write_text("A raft of logs. #wood\n", encoding="utf-8")
    caller.container.indexing.scan()
    nodes = {node.name for node in caller.container.live.stores.graph.all_nodes()}
    assert "wood" not in nodes and "Raft" in nodes
    caller.ok("restore_concept", target="#wood", **WHY)
    graph = caller.container.live.stores.graph
    (wood,) = (node for node in graph.all_nodes() if node.name == "wood")
    assert len({edge.source for edge in graph.neighbours([wood.id])}) == 3


def test_a_name_that_two_notes_bear_is_not_guessed_at(caller: Caller):
    error = caller.error("forget_concept", target="plan", **WHY)
    assert error["code"] == -32602
    assert {each["path"] for each in error["data"]["candidates"]} == {"a/Plan.md", "b/Plan.md"}
    caller.ok("forget_concept", target="a/Plan", **WHY)
    assert not (caller.vault / "a/Plan.md").exists() and (caller.vault / "b/Plan.md").exists()


def test_an_unknown_name_is_reported(caller: Caller):
    assert "Nobody" in caller.error("forget_concept", target="Nobody", **WHY)["message"]
    assert "Nobody" in caller.error("restore_concept", target="Nobody", **WHY)["message"]
    assert caller.error("restore_concept", **WHY)["code"] == -32602


def test_a_preview_lists_what_would_be_forgotten_and_changes_nothing(caller: Caller):
    before = snapshot(caller.container.live.indexer)
    answer = caller.ok("forget_concept", target="Ada", preview=True, **WHY)
    assert answer["preview"] is True and answer["paths"] == ["people/Ada Berg.md"]
    assert answer["linked_from"] == ["Boat.md", "Yard.md"]
    assert "reversal_hash" not in answer
    assert differences(before, snapshot(caller.container.live.indexer)) == []
    assert not (caller.vault / ".trash").exists() and not caller.container.journal.files()


@pytest.mark.parametrize("reason", [{}, {"reason": "duplicate"}])
def test_permanent_deletion_is_refused_in_the_documents_words(caller: Caller, reason: Any):
    """Core EC-CORE-012, ERR-CORE-007, TC-CORE-016."""
    error = caller.error("forget_concept", target="Boat.md", soft_delete=False, **reason, **WHY)
    message = "Permanent deletion requires reason='user_requested'"
    assert (error["code"], error["message"]) == (-32602, message)
    assert (caller.vault / "Boat.md").exists()


def test_permanent_deletion_on_the_persons_wish_leaves_no_file(caller: Caller):
    path = caller.ok("store_memory", content="A raft of planks.", title="Raft", **WHY)["path"]
    answer = caller.ok(
        "forget_concept", target=path, soft_delete=False, reason="user_requested", **WHY
    )
    assert answer["deletion"] == "done"
    assert "restorable_until" not in answer and "reversal_hash" not in answer
    assert not list(caller.vault.rglob("Raft*"))
    assert "deleted for good" in caller.error("restore_concept", target=path, **WHY)["message"]


@pytest.mark.parametrize(
    ("rationale", "message"),
    [
        (None, "Rationale is required (10-500 characters)"),
        ("short", "Rationale must be at least 10 characters"),
        ("x" * 501, "Rationale must be at most 500 characters"),
    ],
)
def test_forgetting_wants_a_rationale(caller: Caller, rationale: str | None, message: str):
    given = {} if rationale is None else {"rationale": rationale}
    error = caller.error("forget_concept", target="Boat.md", **given)
    assert (error["code"], error["message"]) == (-32602, message)


def test_clients_see_that_forgetting_is_destructive_and_restoring_is_not(
    caller: Caller,
):
    async def listed() -> dict[str, Any]:
        async with Client(build_server(caller.container)) as client:
            return {each.name: each for each in await client.list_tools()}

    core = asyncio.run(listed())
    assert core["forget_concept"].annotations.destructive_hint is True
    assert core["restore_concept"].annotations.destructive_hint is False
