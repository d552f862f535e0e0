"""A call that the bridge sends again after the engine died changes the vault once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from mcp_server.engine.bridge import CALL_KEY, ONCE
from memvault.model.errors import StorageError
from tests.integration.caller import Caller
from tests.integration.small_vault import opened

WHY = "The person asked me to keep this."


def call(caller: Caller, key_: str, tool: str, **arguments: Any) -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        async with Client(caller.server) as client:
            given = {"rationale": WHY, **arguments}
            answer = await client.call_tool_mcp(tool, given, meta={CALL_KEY: key_})
            return dict(answer.structured_content or {})

    return asyncio.run(run())


def same(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether two answers say the same, apart from the state of the whole vault."""
    moving = ("pulse", "utl_state", "related", "johari_quadrant", "notice")
    return all(first[key] == second.get(key) for key in first if key not in moving)


@pytest.mark.parametrize(
    "arguments",
    [
        {"operation": "append", "content": "The ferry has a bar."},
        {"operation": "prepend", "content": "The ferry has a bar."},
        {"operation": "replace_text", "find": "ferry", "content": "old ferry"},
    ],
)
def test_an_edit_is_made_once_and_answered_twice(writer: Caller, arguments: Any) -> None:
    writer.ok("store_memory", title="Trip", content="We take the ferry.", rationale=WHY)
    first = call(writer, "one", "edit_memory", target="Trip", **arguments)
    made = writer.notes()
    second = call(writer, "one", "edit_memory", target="Trip", **arguments)
    assert writer.notes() == made
    assert same(first, second) and first["reversal_hash"]
    other = call(writer, "two", "edit_memory", target="Trip", **arguments)
    assert other["reversal_hash"] != first["reversal_hash"]
    assert writer.notes() != made


def test_a_later_engine_knows_what_an_earlier_one_did(tmp_path: Path) -> None:
    texts = {"title": "Trip", "content": "We take the ferry."}
    edit = {"target": "Trip", "operation": "append", "content": "The ferry has a bar."}
    answers = []
    for _ in range(2):
        container = opened(tmp_path)
        caller = Caller(container)
        stored = call(caller, "store", "store_memory", **texts)
        edited = call(caller, "edit", "edit_memory", **edit)
        answers.append((stored, edited, caller.notes()))
        container.close()
    (stored, edited, made), (stored_again, edited_again, made_again) = answers
    assert made == made_again
    assert same(stored, stored_again) and same(edited, edited_again)
    assert stored["reversal_hash"] and edited["reversal_hash"]


def test_a_preference_and_an_undo_are_made_once(writer: Caller) -> None:
    for _ in range(2):
        kept = call(writer, "set", "set_preference", key="tea", value="Strong, without milk.")
        assert kept["reversal_hash"]
    first = call(writer, "undo", "undo_change", change=kept["reversal_hash"])
    second = call(writer, "undo", "undo_change", change=kept["reversal_hash"])
    assert first["reversal_hash"] == second["reversal_hash"]
    assert [each["reversal_hash"] for each in second["undone"]] == [kept["reversal_hash"]]


def test_an_undo_of_all_of_a_client_is_made_once(writer: Caller) -> None:
    kept = call(writer, "set", "set_preference", key="tea", value="Strong, without milk.")
    client = writer.container.curator.history.change(kept["reversal_hash"]).client
    first = call(writer, "undo", "undo_change", client=client)
    assert len(first["undone"]) == 1
    second = call(writer, "undo", "undo_change", client=client)
    assert second["reversal_hash"] == first["reversal_hash"] and second["conflicts"] == []
    hashes = [[each["reversal_hash"] for each in one["undone"]] for one in (first, second)]
    assert hashes[0] == hashes[1]


def test_a_call_that_fails_after_its_change_says_that_it_was_made(writer: Caller) -> None:
    writer.ok("store_memory", title="Trip", content="We take the ferry.", rationale=WHY)
    first = call(writer, "one", "forget_concept", target="Trip")
    second = call(writer, "one", "forget_concept", target="Trip")
    assert second["error"]["data"] == {"reversal_hash": first["reversal_hash"]}
    assert "made its change" in second["error"]["message"]
    third = call(writer, "two", "forget_concept", target="Trip")
    assert "made its change" not in third["error"]["message"]


def test_a_call_that_fails_before_its_change_is_made_when_it_is_sent_again(
    writer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise StorageError("not now")

    with monkeypatch.context() as broken:
        broken.setattr(writer.container.client_limits, "check", refuse)
        texts = {"title": "Trip", "content": "We take the ferry."}
        assert "error" in call(writer, "one", "store_memory", **texts)
    assert call(writer, "one", "store_memory", **texts)["reversal_hash"]


def test_tools_that_make_a_change_say_that_they_know_a_call_by_its_key(writer: Caller) -> None:
    async def listed() -> dict[str, Any]:
        async with Client(Caller(writer.container, tools="full").server) as client:
            return {tool.name: tool for tool in await client.list_tools()}

    tools = asyncio.run(listed())
    once = {name for name, tool in tools.items() if (tool.meta or {}).get(ONCE)}
    assert once == {
        "edit_memory", "store_memory", "annotate_node", "boost_importance", "restore_concept",
    }  # fmt: skip
    assert not tools["edit_memory"].annotations.idempotent_hint
