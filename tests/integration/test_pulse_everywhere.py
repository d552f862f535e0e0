"""Every answer of every tool carries the pulse."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from fastmcp import Client

from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from memvault.model.state import CognitivePulse, SuggestedAction
from tests.integration.caller import the_person
from tests.integration.small_vault import unindexed

NOTES = {
    "Tide mill.md": "The tide mill grinds rye. It was built by [[Runa Holt]] in 1931.\n",
    "Runa Holt.md": "Runa Holt builds mills. She decided to use oak, because it lasts.\n",
    "Sluice.md": "The sluice of the [[Tide mill]] leaks in winter.\n",
    "Old pier.md": "The old pier was torn down.\n",
    "Frost.md": "causes:: [[Burst sluice]]\n\nFrost comes in January.\n",
    "Burst sluice.md": "causes:: [[Flooded cellar]]\n\nThe sluice burst.\n",
    "Flooded cellar.md": "The cellar was flooded.\n",
}
WHY = "To see what the tool answers."
# What a tool is called with here: `{mill}` is the id of a memory. Those that change notes come
# last, in this order. A new tool gets its line, if it needs arguments at all.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "recall_memory": {"query": "who built the mill?"},
    "vector_search": {"query": "rye"},
    "graph_query": {"query": "who built the tide mill?"},
    "inject_context": {"query": "the mill"},
    "hydrate_citation": {"citation_tags": ["node_{mill8}"]},
    "get_preference": {"key": "reply language"},
    "get_memory": {"id": "{mill}"},
    "search": {"query": "mill"},
    "fetch": {"id": "{mill}"},
    "set_verbosity": {"level": 1},
    "get_neighborhood": {"node_id": "{mill}"},
    "reflect_on_memory": {"goal": "know who builds mills"},
    "generate_search_plan": {"query": "know who builds mills"},
    "critique_context": {"reasoning_summary": "Runa Holt built the tide mill in 1950."},
    "query_causal": {"action": "Frost"},
    "expand_causal_path": {"node": "Burst sluice"},
    "omni_infer": {"query_type": "forward", "clamped_nodes": [{"node_id": "Frost"}]},
    "probabilistic_query": {"query": "how likely is it that the sluice leaks?"},
    "check_adversarial": {"content": "The mill was sold in May."},
    "affective_score_signal": {"signal": {"actual_value": 0.5}},
    "affective_emit_reward": {"reward": {"type": "reward", "value": 0.5}},
    "trigger_dream": {"phase": "nrem", "duration": 5},
    "entailment_query": {"general": "Tide mill", "specific": "Sluice"},
    "set_preference": {"key": "reply language", "value": "Norse", "rationale": WHY},
    "store_memory": {"content": "The mill was sold.", "project": "mill", "rationale": WHY},
    "forget_concept": {"target": "Old pier", "rationale": WHY},
    "restore_concept": {"target": "Old pier", "rationale": WHY},
    "reconstruct_memory": {"target": "Frost", "rationale": WHY},
    "edit_memory": {
        "target": "Frost",
        "operation": "append",
        "content": "Every winter.",
        "rationale": WHY,
    },
    "annotate_node": {"target": "Frost", "note": "Every year.", "rationale": WHY},
    "boost_importance": {"target": "Frost", "importance": 0.8, "rationale": WHY},
    "set_lifecycle": {"target": "Frost", "lifecycle": "temporary", "rationale": WHY},
    "move_memory": {"target": "Frost", "destination": "weather", "rationale": WHY},
    "move_folder": {
        "folder": "projects/mill",
        "destination": "old/",
        "rationale": WHY,
        "preview": True,
    },
    "archive_project": {"project": "mill", "rationale": WHY},
    "verify_memory": {"target": "Frost", "rationale": WHY},
    "merge_concepts": {"sources": ["Frost", "Old pier"], "target": "Frost", "rationale": WHY},
    "get_node_lineage": {"node_id": "{mill}"},
    "undo_change": {"day": "{today}", "rationale": WHY},
}


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    home = tmp_path_factory.mktemp("everywhere")
    container = unindexed(home, NOTES | {"manifest.md": "# Knowledge Manifest\n"})
    container.start(watch=False)
    yield container
    container.close()


def filled(value: Any, mill: str) -> Any:
    if isinstance(value, dict):
        return {key: filled(each, mill) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, mill) for each in value]
    if isinstance(value, str):
        today = datetime.now().astimezone().date().isoformat()
        return value.replace("{mill8}", mill[:8]).replace("{mill}", mill).replace("{today}", today)
    return value


def test_a_pulse_costs_about_thirty_tokens(container: Container) -> None:
    """Core REQ-CORE-003, with the longest and the shortest action."""
    for action in SuggestedAction:
        pulse = CognitivePulse(entropy=0.383, coherence=0.825, suggested_action=action)
        assert 25 <= container.embedder.tokens.count(pulse.model_dump_json()) <= 35


def test_every_tool_refuses_a_session_that_has_expired_and_does_nothing(
    container: Container,
) -> None:
    """Core EC-CORE-015."""
    mill = container.live.catalogue.by_path("Tide mill.md")
    assert mill is not None
    container.sessions.touch("old").last_activity -= timedelta(hours=24, seconds=1)
    before = {file: file.read_bytes() for file in container.vault.root.rglob("*.md")}

    async def run() -> dict[str, Any]:
        async with Client(build_server(container, tools="full")) as client:
            tools = await client.list_tools()
            return {
                tool.name: await client.call_tool_mcp(
                    tool.name,
                    {**filled(ARGUMENTS.get(tool.name, {}), mill.id), "session_id": "old"},
                )
                for tool in tools
                if "session_id" in tool.input_schema["properties"]
                and tool.name != "get_steering_feedback"  # there it only narrows what is listed
            }

    answers = asyncio.run(run())
    assert len(answers) >= 15
    for name, answer in answers.items():
        assert answer.is_error, name
        error = answer.structured_content["error"]
        assert answer.is_error and error["code"] == -32000, name
        assert error["message"].startswith("Session expired or not found: old"), name
    assert {file: file.read_bytes() for file in container.vault.root.rglob("*.md")} == before


def test_every_tool_answers_with_a_pulse(container: Container) -> None:
    mill = container.live.catalogue.by_path("Tide mill.md")
    assert mill is not None
    order = list(ARGUMENTS)

    async def run() -> dict[str, Any]:
        server = build_server(container, tools="full")
        async with Client(server, client_info=the_person()) as client:
            tools = {tool.name: tool for tool in await client.list_tools()}
            assert set(ARGUMENTS) <= set(tools)
            late = sorted(tools, key=lambda name: order.index(name) if name in order else -1)
            answers = {}
            for name in late:
                needed = tools[name].input_schema.get("required", [])
                arguments = filled(ARGUMENTS.get(name, {}), mill.id)
                assert set(needed) <= set(arguments), f"say above how {name} is called"
                answers[name] = await client.call_tool_mcp(name, arguments)
            return answers

    answers = asyncio.run(run())
    assert answers.pop("reconstruct_memory").is_error  # nothing has faded
    for name, answer in answers.items():
        assert not answer.is_error, f"{name}: {answer.content}"
        pulse = answer.structured_content["pulse"]
        assert set(pulse) == {"entropy", "coherence", "suggested_action"}, name
        assert 0.0 <= pulse["entropy"] <= 1.0 and 0.0 <= pulse["coherence"] <= 1.0, name
        assert pulse["suggested_action"] in set(SuggestedAction), name
