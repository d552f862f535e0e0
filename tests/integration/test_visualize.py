"""The picture of the memory that a client reads: visualize://."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from fastmcp import Client
from mcp import MCPError

from mcp_server.server import build_server
from tests.integration.caller import Caller, read_resource
from tests.integration.small_vault import opened

NOTES = {
    "Tide mill.md": "---\ntype: project\nlead: Runa Holt\n---\nThe tide mill grinds rye. "
    "Built by [[Runa Holt]]. Stands in [[Ost Harbour]].\n",
    "Runa Holt.md": "---\ntype: person\n---\nRuna Holt builds mills and repairs sluices.\n",
    "Sluice.md": "The sluice of the [[Tide mill]] leaks in winter.\n",
    "Dry sluice.md": "contradicts:: [[Sluice]]\n\nThe sluice has never leaked.\n",
    "a/Pump.md": "---\ntype: fact\nprice: 40 crowns\n---\nSee [[Tide mill]].\n",
    "b/Pump.md": "---\ntype: fact\nprice: 70 crowns\n---\nSee [[Tide mill]].\n",
    "Bees.md": f"The bees swarmed in May. See [[{'Q' * 90}]].\n",
}
HUB = {
    f"days/Day {number}.md": f"Worked on [[Hub]] with [[Friend {number % 7}]].\n"
    for number in range(90)
}


def drawn(caller: Caller, path: str) -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        async with Client(caller.server) as client:
            return await read_resource(client, "visualize://" + path)

    return asyncio.run(run())


@pytest.fixture(scope="module")
def mill(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    container = opened(tmp_path_factory.mktemp("mill"), {**NOTES, **HUB})
    yield Caller(container)
    container.close()


def titles(picture: dict[str, Any]) -> set[str]:
    return {node["title"] for node in picture["nodes"]}


def test_a_node_is_drawn_with_its_neighbours(mill: Caller) -> None:
    picture = drawn(mill, "node/Tide%20mill?depth=1")
    assert {"Tide mill", "Runa Holt", "Ost Harbour", "Sluice", "Pump"} <= titles(picture)
    assert "Dry sluice" not in titles(picture)
    [centre] = [node for node in picture["nodes"] if node["asked"]]
    assert (centre["title"], centre["path"]) == ("Tide mill", "Tide mill.md")
    shown = {node["id"] for node in picture["nodes"]}
    assert picture["edges"] and all(
        edge["source"] in shown and edge["target"] in shown for edge in picture["edges"]
    )
    assert picture["mermaid_code"].startswith("flowchart LR\n")
    assert picture["mermaid_code"].count('["') == len(picture["nodes"])
    assert "d3_json" not in picture
    two_steps = drawn(mill, "node/Tide%20mill")
    assert "Dry sluice" in titles(two_steps)
    by_id = drawn(mill, f"node/{centre['id']}")
    assert by_id["nodes"] == two_steps["nodes"]


def test_a_topic_is_drawn_around_what_is_nearest_in_meaning(mill: Caller) -> None:
    picture = drawn(mill, "topic/" + quote("where does the water leak through") + "?depth=1")
    centres = {node["title"] for node in picture["nodes"] if node["asked"]}
    assert {"Sluice", "Dry sluice"} <= centres and not any("Day" in title for title in centres)
    named = drawn(mill, "topic/tide%20MILL?depth=1")
    assert named["nodes"][0]["title"] == "Tide mill"


def test_conflicts_are_listed_and_drawn_in_red(mill: Caller) -> None:
    picture = drawn(mill, "node/Tide%20mill?depth=3")
    kinds = {
        (tuple(sorted(each["titles"])), each["conflict_type"]) for each in picture["conflicts"]
    }
    assert (("Dry sluice", "Sluice"), "contradiction") in kinds
    assert (("Pump", "Pump"), "different_values") in kinds
    code = picture["mermaid_code"]
    assert "linkStyle " in code and '-.-|"price differs"|' in code and " conflict\n" in code
    [edge] = [each for each in picture["edges"] if each["conflict"]]
    assert edge["relation"] == "contradicts"
    plain = drawn(mill, "node/Tide%20mill?depth=3&highlight_conflicts=false")
    assert plain["conflicts"] == picture["conflicts"]
    assert "linkStyle" not in plain["mermaid_code"] and " conflict\n" not in plain["mermaid_code"]
    dot = drawn(mill, "node/Tide%20mill?depth=3&format=graphviz")["graphviz_code"]
    assert dot.count("#c62828") >= 5


def test_weights_can_be_left_out(mill: Caller) -> None:
    with_weights = drawn(mill, "node/Sluice?format=d3")
    links = with_weights["d3_json"]["links"]
    stated = [link for link in links if link["relation"] != "price"]
    assert len(stated) == len(links) - 1 == len(with_weights["edges"])
    assert all(0 < link["value"] <= 1 for link in stated)
    assert all(0 < edge["weight"] <= 1 for edge in with_weights["edges"])
    without = drawn(mill, "node/Sluice?format=d3&include_weights=false")
    assert all("value" not in each for each in without["d3_json"]["links"])
    assert all("weight" not in each for each in (*without["nodes"], *without["edges"]))
    ids = [node["id"] for node in without["d3_json"]["nodes"]]
    assert ids == [node["id"] for node in without["nodes"]]
    assert {link["source"] for link in without["d3_json"]["links"]} <= set(ids)


def test_a_hub_is_drawn_with_at_most_sixty_nodes_unless_more_are_asked_for(mill: Caller) -> None:
    assert len(drawn(mill, "node/Hub?depth=5")["nodes"]) == 60
    more = drawn(mill, "node/Hub?depth=1&limit=80")
    assert len(more["nodes"]) == 80
    joined = {end for edge in more["edges"] for end in (edge["source"], edge["target"])}
    assert joined == {node["id"] for node in more["nodes"]}


def test_a_session_is_drawn_around_what_it_was_shown(mill: Caller) -> None:
    async def run() -> tuple[dict[str, Any], ...]:
        async with Client(build_server(mill.container)) as client:
            before = await read_resource(client, "visualize://session/current")
            await client.call_tool("get_memory", {"path": "Bees.md"})
            after = await read_resource(client, "visualize://session/current_session?depth=1")
            return before, after

    before, after = asyncio.run(run())
    assert before["nodes"] == [] and "Nothing has been recalled" in before["notice"]
    assert [node["title"] for node in after["nodes"] if node["asked"]] == ["Bees"]
    assert "Q" * 90 in titles(after)
    assert "Q" * 39 + "…" in after["mermaid_code"] and "Q" * 41 not in after["mermaid_code"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("galaxy/mill", "scope must be one of session, topic, node"),
        ("node/Sluice?format=png", "format must be one of mermaid, d3, graphviz"),
        ("node/Sluice?depth=0", "depth must be between 1 and 5"),
        ("node/Sluice?depth=six", "depth must be between 1 and 5"),
        ("node/Sluice?limit=201", "limit must be between 1 and 200"),
        ("node/Sluice?include_weights=perhaps", "include_weights must be true or false"),
        ("node/Nowhere", "No memory or concept has the id, path or name 'Nowhere'"),
        ("session/never", "Session expired or not found"),
    ],
)
def test_what_cannot_be_drawn_says_why(mill: Caller, path: str, message: str) -> None:
    with pytest.raises(MCPError, match=message):
        drawn(mill, path)
