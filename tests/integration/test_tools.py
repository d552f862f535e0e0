"""The tools as a client sees them: a real vault, real stores, the real model, MCP in memory."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
from fastmcp import Client
from mcp import MCPError

from mcp_server.server import build_server
from tests.integration.caller import Caller, listed
from tests.integration.small_vault import KELP as NOTES

READING = {
    *("recall_memory", "graph_query", "inject_context", "get_memory", "search", "fetch"),
    *("get_preference", "get_memetic_status"),
}
WRITING = {
    *(
        "store_memory",
        "edit_memory",
        "forget_concept",
        "restore_concept",
        "undo_change",
        "set_preference",
    ),
}
CORE_TOKENS = 6_000  # of all that a client lists, schemas of answers included
TOOL_NAME = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")


def test_clients_see_the_core_tools_with_schemas_and_annotations(reader):
    tools, prompts = listed(reader.server)
    assert {each.name for each in tools} == READING | WRITING
    for each in tools:
        assert each.description and each.input_schema["additionalProperties"] is False
        assert each.output_schema["type"] == "object"
        assert each.annotations.open_world_hint is False
        assert each.annotations.read_only_hint is (each.name in READING)
    [prompt] = prompts
    assert (prompt.name, prompt.title) == ("context", "What I know about…")
    assert all("schema" not in argument.description for argument in prompt.arguments)


def test_the_core_tools_leave_a_model_room(reader):
    tools, _ = listed(reader.server)
    sizes = {each.name: each.model_dump_json(exclude_none=True, by_alias=True) for each in tools}
    count = reader.container.embedder.tokens.count
    assert len(tools) <= 14 and sum(map(count, sizes.values())) < CORE_TOKENS


def test_the_schema_of_each_rationale_has_the_limits_that_are_enforced(reader):
    tools, _ = listed(build_server(reader.container, tools="full"))
    schemas = {each.name: each.input_schema["properties"] for each in tools}
    limits = {
        (name, args["rationale"].get("minLength"), args["rationale"].get("maxLength"))
        for name, args in schemas.items()
        if "rationale" in args
    }
    assert limits == {(name, 10, 500) for name, args in schemas.items() if "rationale" in args}
    assert {"store_memory", "edit_memory", "forget_concept"} <= {name for name, _, _ in limits}


def test_core_tools_and_instructions_name_only_tools_that_the_client_has(reader):
    every = {each.name for each in listed(build_server(reader.container, tools="full"))[0]}
    core, _ = listed(reader.server)
    names = {each.name for each in core}
    texts = [each.model_dump_json(by_alias=True) for each in core]
    for text in (*texts, reader.server.instructions):
        assert {word for word in TOOL_NAME.findall(text) if word in every} <= names


def test_each_argument_is_described_for_its_own_tool(reader):
    tools = {each.name: each.input_schema["properties"] for each in listed(reader.server)[0]}
    kept, changed = "Why this is kept.", "Reason for this change."
    for name in WRITING:
        expected = kept if name in ("store_memory", "set_preference") else changed
        assert tools[name]["rationale"]["description"].startswith(expected)
    recalled, stored = tools["recall_memory"]["project"], tools["store_memory"]["project"]
    assert recalled["description"] != stored["description"]
    every, _ = listed(build_server(reader.container, tools="full"))
    for tool in every:
        for name, argument in tool.input_schema["properties"].items():
            assert argument.get("description"), (tool.name, name)


def test_the_full_set_has_the_core_tools_and_more(reader):
    tools, _ = listed(build_server(reader.container, tools="full"))
    assert {each.name for each in tools} > READING | WRITING
    assert not any("$ref" in each.model_dump_json() for each in tools)  # not all clients follow it


def test_every_provider_of_models_accepts_the_schemas_of_arguments(reader):
    """As Gemini, Vertex AI and OpenAI do: one tool that they refuse takes all others with it."""
    known = {"type", "description", "default", "enum", "items", "properties", "required"}
    known |= {"minimum", "maximum", "minLength", "maxLength", "maxProperties"}

    def check(part: dict[str, Any], place: str) -> None:
        if "anyOf" in part:
            assert part.keys() == {"anyOf"}, place
        else:
            assert isinstance(part.get("type"), str), place
            assert part.keys() <= known | {"additionalProperties"}, place
            assert ("items" in part) == (part["type"] == "array"), place
            assert "enum" not in part or part["type"] == "string", place
        for name, each in part.get("properties", {}).items():
            check(each, f"{place} {name}")
        more = [part["items"]] if "items" in part else part.get("anyOf", [])
        more += [part["additionalProperties"]] if part.get("additionalProperties") else []
        for each in more:
            check(each, f"{place} of")

    for tool in listed(build_server(reader.container, tools="full"))[0]:
        assert len(tool.name) <= 40 and len(tool.description) <= 1024  # clients prefix the name
        assert tool.input_schema["type"] == "object" and "properties" in tool.input_schema
        check(tool.input_schema, tool.name)


def test_errors_fit_the_schemas_of_answers_as_typescript_clients_check(reader):
    server = build_server(reader.container, tools="full")

    async def errors() -> dict[str, Any]:
        async with Client(server) as client:
            names = [tool.name for tool in await client.list_tools()]
            return {name: await client.call_tool_mcp(name, {"nonsense": 1}) for name in names}

    schemas = {tool.name: tool.output_schema for tool in listed(server)[0]}
    for name, result in asyncio.run(errors()).items():
        assert result.is_error and result.structured_content["error"]["code"] == -32602
        jsonschema.validate(result.structured_content, schemas[name])


def test_an_unknown_project_is_an_error_that_lists_the_known_ones(reader):
    for tool in ("recall_memory", "graph_query", "inject_context", "vector_search"):
        error = reader.error(tool, query="kelp", project="nope")
        assert error["code"] == -32602 and error["data"]["projects"] == ["kelp", "oven"]
        assert "Known projects: kelp, oven" in error["message"]
    assert reader.ok("recall_memory", query="kelp", project="KELP")["nodes"]


def test_a_project_may_be_spelt_as_a_repository_would_be(writer):
    first = writer.ok(
        "store_memory",
        content="Kelp grows in May.",
        rationale="They asked for it.",
        project="Kelp Farm",
    )
    again = writer.ok(
        "store_memory",
        content="The boat leaks aft.",
        rationale="They asked for it.",
        project="kelp-farm",
    )
    assert again["path"].rpartition("/")[0] == first["path"].rpartition("/")[0]
    found = writer.ok("recall_memory", query="When does kelp grow?", project="kelp_farm")["nodes"]
    assert found[0]["path"] == first["path"]


def test_a_memory_is_linked_by_any_name_of_a_note_and_also_to_a_note_to_come(writer):
    stored = writer.ok(
        "store_memory",
        content="The kelp is counted again in spring.",
        rationale="They asked me to note the next count.",
        link_to=["kelp census", "Counting by drone.md", "No such note"],
    )
    assert "no note has yet: 'No such note'" in stored["notice"]
    note = writer.ok("get_memory", path=stored["path"])
    assert {link["title"] for link in note["links"]} >= {
        "Kelp census",
        "Counting by drone",
        "No such note",
    }


def test_recall_gives_each_memory_once_with_its_source(reader):
    answer = reader.ok("recall_memory", query="Who counts the kelp, and how?")
    ids = [node["id"] for node in answer["nodes"]]
    assert len(ids) == len(set(ids))
    best = answer["nodes"][0]
    assert best["path"].startswith("projects/kelp/")
    assert {
        *("id", "title", "path", "content", "importance", "relevance_score", "verified"),
        *("confidence", "lifecycle", "type", "created_at", "johari_quadrant", "lines"),
    } <= best.keys()
    first, last = best["lines"]
    shown = NOTES[best["path"]].replace("[[", "").replace("]]", "")
    lines = shown.splitlines()[first - 1 : last]
    assert any(line and line in best["content"] for line in lines)
    scores = [node["relevance_score"] for node in answer["nodes"]]
    assert scores == sorted(scores, reverse=True)
    assert answer["mode"] == "default"


def test_recall_of_a_project_leaves_out_the_other_projects(reader):
    answer = reader.ok("recall_memory", query="sand and straw", project="kelp", top_k=100)
    paths = {node["path"] for node in answer["nodes"]}
    assert "projects/kelp/Kelp census.md" in paths
    assert not any(path.startswith("projects/oven/") for path in paths)


def test_recall_keeps_to_its_filters(reader):
    answer = reader.ok("recall_memory", query="kelp", filters={"min_importance": 0.7})
    assert [node["title"] for node in answer["nodes"]] == ["Kelp census"]
    answer = reader.ok("recall_memory", query="kelp", filters={"types": ["decision"]})
    assert {node["type"] for node in answer["nodes"]} == {"decision"}
    assert reader.ok("recall_memory", query="kelp", filters={"type": "decision"}) == answer


def test_arguments_and_filters_that_a_client_gives_empty_count_as_left_out(reader):
    expected = reader.ok("recall_memory", query="kelp")["nodes"]
    filters = {"types": [], "tags": [""], "created_after": "", "min_importance": None}
    optional = {"mode": None, "top_k": None, "allow_unverified": None}
    given = reader.ok("recall_memory", query="kelp", filters=filters, **optional)["nodes"]
    assert [node["id"] for node in given] == [node["id"] for node in expected] != []


def test_recall_can_ask_for_one_johari_quadrant(reader):
    everything = reader.ok("recall_memory", query="kelp", top_k=100)["nodes"]
    assert len({node["johari_quadrant"] for node in everything}) > 1
    for quadrant in ("open", "blind", "hidden", "unknown"):
        found = reader.ok(
            "recall_memory", query="kelp", top_k=100, filters={"johari_quadrants": [quadrant]}
        )["nodes"]
        wanted = [node["id"] for node in everything if node["johari_quadrant"] == quadrant]
        assert [node["id"] for node in found] == wanted


def test_verbosity_decides_which_fields_an_answer_has(reader):
    def of(level: int) -> tuple[dict[str, Any], int]:
        answer = reader.ok("recall_memory", query="kelp", verbosity_level=level)
        return answer["nodes"][0], len(json.dumps(answer))

    (bare, short), (_, usual), (full, long) = of(0), of(1), of(2)
    assert set(bare) == {"id", "title", "path", "relevance_score"}
    assert "state" in full and "project" in full
    assert short < usual < long


def test_a_superseded_memory_is_less_sure_than_it_is_relevant(reader):
    nodes = reader.ok("recall_memory", query="How is the kelp counted?")["nodes"]
    by_title = {node["title"]: node for node in nodes}
    old, new = by_title["Counting by boat"], by_title["Counting by drone"]
    assert old["confidence"] < old["relevance_score"]
    assert old["verification"]["status"] == "contradicted"
    assert [e["title"] for e in old["verification"]["contradicted_by"]] == ["Counting by drone"]
    assert "verification" not in new


def test_vector_search_gives_chunks_with_their_places(reader):
    answer = reader.ok("vector_search", query="an oven of clay", top_k=3)
    assert 1 <= len(answer["chunks"]) <= 3
    best = answer["chunks"][0]
    assert best["title"] == "Clay oven"
    assert {"id", "chunk_id", "path", "heading", "lines", "text", "score"} <= best.keys()


def test_graph_query_shows_the_hops_to_each_result(reader):
    answer = reader.ok("graph_query", query="Where does the lead of the Kelp census work?")
    by_title = {node["title"]: node for node in answer["results"]}
    hops = by_title["Harbour Lab"]["hops"]
    assert hops[-1]["to"] == "Harbour Lab"
    assert {"from", "relation", "to", "path"} == hops[-1].keys()
    assert hops[-1]["path"] == "permanent/Mira Sand.md"


def test_recall_memory_leaves_out_hops_that_only_say_that_a_note_has_a_name(writer):
    texts = {"Odd Berg.md": "Odd Berg sells barges.", "Barge.md": "We met Odd Berg on the barge.",
             "Tug.md": "Skipper: [[Odd Berg]]"}  # fmt: skip
    for path, text in texts.items():
        (writer.container.vault.root / path).write_text(f"{text}\n")
    writer.container.indexing.index_written(list(texts))

    def relations(level):
        question = {"query": "Who is Odd Berg of the barge and the tug?", "top_k": 100}
        nodes = writer.ok("recall_memory", verbosity_level=level, **question)["nodes"]
        return [{hop["relation"] for hop in node.get("hops", [])} for node in nodes]

    assert {"mentions"} in relations(2) and {"mentions"} not in relations(1)
    assert {"Skipper"} in relations(1)


def test_recall_memory_leaves_out_that_a_note_is_of_the_project_in_its_path(writer):
    texts = {"projects/Barge/Barge.md": "A barge of oak.", "projects/Barge/Sails.md": "Two sails "
             "for the barge.", "projects/Barge/Crew.md": "Skipper: [[Odd Berg]]"}  # fmt: skip
    for path, text in texts.items():
        (writer.container.vault.root / path).parent.mkdir(parents=True, exist_ok=True)
        (writer.container.vault.root / path).write_text(f"{text}\n")
    writer.container.indexing.index_written(list(texts))

    def relations(level):
        question = {"query": "What belongs to the project Barge?", "top_k": 100}
        nodes = writer.ok("recall_memory", verbosity_level=level, **question)["nodes"]
        nodes = [node for node in nodes if node["path"].startswith("projects/Barge/")]
        return [{hop["relation"] for hop in node.get("hops", [])} for node in nodes]

    assert {"project"} in relations(2) and {"project"} not in relations(1)


def test_the_day_of_a_memory_is_shown_once(writer):
    for day, created in (("2026-03-01", ""), ("2026-03-02", "created: 2026-03-04\n")):
        path = writer.container.vault.root / f"Tide {day}.md"
        path.write_text(f"---\n{created}date: {day}\n---\nThe tide of {day} was high.\n")
        writer.container.indexing.index_written([path.name])
    nodes = writer.ok("recall_memory", query="the high tides of March 2026")["nodes"]
    days = {node["title"]: node.get("date", "")[:10] for node in nodes}
    assert days["Tide 2026-03-01"] == "" and days["Tide 2026-03-02"] == "2026-03-02"


def test_graph_query_follows_at_most_max_hops_relations(reader):
    answer = reader.ok("graph_query", query="Kelp census", max_hops=1, top_k=100)
    assert all(len(node.get("hops", [])) <= 1 for node in answer["results"])


def test_graph_query_of_a_project_leaves_out_the_other_projects(reader):
    answer = reader.ok("graph_query", query="Clay oven", project="kelp", top_k=100)
    assert all(not n["path"].startswith("projects/oven/") for n in answer["results"])


def test_get_memory_gives_the_raw_note_with_links_both_ways(reader):
    answer = reader.ok("get_memory", path="permanent/Mira Sand.md")
    assert answer["content"] == NOTES["permanent/Mira Sand.md"]
    assert [link["title"] for link in answer["links"]] == ["Harbour Lab"]
    assert "Kelp census" in [link["title"] for link in answer["backlinks"]]
    again = reader.ok("get_memory", id=answer["id"])
    assert reader.ok("get_memory", id=answer["title"])["id"] == answer["id"]
    assert again["access_count"] == answer["access_count"] + 1
    used = {"access_count", "last_accessed", "pulse"}
    assert {k: v for k, v in again.items() if k not in used} == {
        k: v for k, v in answer.items() if k not in used
    }


def test_backlinks_begin_with_the_newest_note(writer):
    root = writer.container.vault.root
    for day in ("2026-02-01", "2026-03-05", "2025-12-24", "2026-03-04"):
        (root / f"Log {day}.md").write_text(
            f"---\ndate: {day}\n---\nAt [[Tide pool]].\n\nBack at the [[Tide pool]].\n", "utf-8"
        )
    (root / "Tide pool.md").write_text("# Tide pool\n", encoding="utf-8")
    writer.container.indexing.scan()
    answer = writer.ok("get_memory", path="Tide pool")
    assert [(each["title"], each["line"]) for each in answer["backlinks"]] == [
        (f"Log {day}", line)
        for day in ("2026-03-05", "2026-03-04", "2026-02-01", "2025-12-24")
        for line in (4, 6)
    ]


def test_a_link_without_a_note_has_a_title_but_no_path(reader):
    links = reader.ok("get_memory", path="projects/kelp/Kelp census.md")["links"]
    wanted = next(link for link in links if link["title"] == "Diving permits")
    assert "path" not in wanted and "id" not in wanted


def test_a_link_to_the_former_name_of_a_renamed_file_names_the_note_with_that_title(writer):
    root = writer.container.vault.root
    (root / "Old name.md").write_text("# Old name\n\nSee [[Other note]].\n", encoding="utf-8")
    (root / "Other note.md").write_text("It follows [[Old name]] and [[Nothing]].\n", "utf-8")
    writer.container.indexing.scan()
    (root / "Old name.md").rename(root / "New name.md")
    writer.container.indexing.scan()
    other = writer.ok("get_memory", path="Other note")
    links = {each["title"]: each for each in other["links"]}
    assert links["Old name"]["titled"] == "New name.md" and "path" not in links["Old name"]
    assert "titled" not in links["Nothing"]
    assert [(each["title"], each["path"]) for each in other["backlinks"]] == [
        ("Old name", "New name.md")
    ]


@pytest.mark.parametrize("arguments", [{}, {"id": "a", "path": "b"}])
def test_get_memory_wants_either_an_id_or_a_path(reader, arguments):
    assert reader.error("get_memory", **arguments)["code"] == -32602


def test_an_excluded_note_is_refused_with_the_rule_that_excludes_it(writer):
    root = writer.container.vault.root
    (root / ".memvaultignore").write_text("diary/\n", encoding="utf-8")
    (root / "diary").mkdir()
    (root / "diary/Monday.md").write_text("Rain.\n", encoding="utf-8")
    writer.container.indexing.scan()
    rule = "is not indexed: .memvaultignore excludes diary/"
    note = writer.error("get_memory", path="diary/Monday.md")
    assert note["message"] == f"diary/Monday.md {rule}"
    note = writer.error("forget_concept", target="diary/Monday", rationale="It is out of date.")
    assert note["message"] == f"diary/Monday {rule}"
    full = Caller(writer.container, tools="full")
    assert full.error("list_memories", folder="diary")["message"] == f"diary/ {rule}"
    assert full.ok("list_memories", folder="permanent")["total"] > 0


@pytest.mark.parametrize("path", ["nowhere.md", "../outside.md", "/etc/passwd"])
def test_a_note_that_is_not_there_is_named(reader, path):
    error = reader.error("get_memory", path=path)
    assert error["code"] == -32602 and path in error["message"]


def test_search_and_fetch_are_as_chatgpt_wants_them(reader):
    found = reader.ok("search", query="marine biologist")["results"]
    assert all(set(each) == {"id", "title", "url"} for each in found)
    first = found[0]
    assert first["title"] == "Mira Sand"
    assert unquote(first["url"]) == "obsidian://open?vault=My vault&file=permanent/Mira Sand.md"
    fetched = reader.ok("fetch", id=first["id"])
    assert {"id", "title", "text", "url", "metadata"} <= fetched.keys()
    assert fetched["text"] == NOTES["permanent/Mira Sand.md"]
    assert fetched["metadata"]["path"] == "permanent/Mira Sand.md"
    assert all(isinstance(value, str) for value in fetched["metadata"].values())


def test_a_note_is_read_by_whatever_an_answer_calls_it(reader):
    mira = reader.ok("get_memory", path="permanent/Mira Sand.md")
    assert reader.ok("fetch", id="Mira Sand")["id"] == mira["id"]
    assert reader.ok("get_memory", id=mira["id"], path=mira["path"])["content"] == mira["content"]
    other = next(path for path in NOTES if path != mira["path"])
    assert mira["path"] in reader.error("get_memory", id=mira["id"], path=other)["message"]


def test_the_answer_of_a_change_suggests_nothing_about_other_notes(reader):
    assert reader.ok("get_memetic_status")["pulse"]["suggested_action"] != "ready"
    why = "only to see what would change"
    seen = reader.ok("forget_concept", target="Mira Sand", rationale=why, preview=True)
    assert seen["pulse"]["suggested_action"] == "ready"


def test_the_notes_of_a_list_need_have_nothing_in_common(reader):
    listed_notes = reader.ok("recall_memory", query="What do you know about me?")
    assert len(listed_notes["nodes"]) > 3
    assert listed_notes["pulse"]["suggested_action"] == "ready"


def test_fetching_an_unknown_id_is_an_error_that_names_it(reader):
    assert "no-such-id" in reader.error("fetch", id="no-such-id")["message"]


def test_a_preference_is_found_however_its_key_is_written(reader):
    for key in ("Reply language", "reply_language", "REPLY-LANGUAGE"):
        answer = reader.ok("get_preference", key=key)
        assert (answer["value"], answer["path"]) == ("Portuguese", "permanent/preferences.md")


def test_a_preference_never_stated_has_no_value(reader):
    answer = reader.ok("get_preference", key="shoe size")
    assert answer["value"] is None and answer["path"] is None
    assert "reply language" in answer["keys"]  # of which one may mean the same
    known = reader.ok("get_preference", key="reply language")
    near = reader.ok("get_preference", key="language of answers")
    assert near["value"] is None
    assert near["similar"] == [{key: known[key] for key in ("key", "value", "path", "line")}]
    assert "keys" not in reader.ok("get_preference", key="reply language")


def test_a_preference_that_is_set_is_in_the_note_and_found(writer):
    reason = "They asked for metric units"
    written = writer.ok("set_preference", key="units", value="metric", rationale=reason)
    assert writer.ok("get_preference", key="Units")["value"] == "metric"
    text = (writer.container.vault.root / written["path"]).read_text(encoding="utf-8")
    assert text == NOTES["permanent/preferences.md"] + "- Units: metric\n"


def test_a_stored_memory_is_a_note_that_is_recalled_at_once(writer):
    stored = writer.ok(
        "store_memory",
        content="The diving season at Cabo Raso opens on the first of April.",
        title="Diving season",
        rationale="Needed to plan the census",
        project="kelp",
        tags=["ocean"],
        link_to=[writer.id_of("Kelp census")],
    )
    assert {"node_id", "path", "created_at", "johari_quadrant", "utl_state"} <= stored.keys()
    assert stored["path"] == "projects/kelp/Diving season.md"
    assert 0 <= stored["utl_state"]["delta_s"] <= 1
    nodes = writer.ok("recall_memory", query="When does the diving season open?")["nodes"]
    assert nodes[0]["id"] == stored["node_id"]
    note = writer.ok("get_memory", id=stored["node_id"])
    assert "Kelp census" in [link["title"] for link in note["links"]]


def test_a_familiar_memory_surprises_less_than_a_new_one(writer):
    def surprise(content: str) -> float:
        stored = writer.ok("store_memory", content=content, rationale="A test of surprise")
        return stored["utl_state"]["delta_s"]

    familiar = surprise("The kelp is counted by drone, since a drone is cheaper.")
    assert familiar < surprise("Grandmother's violin has a crack in its scroll.")


def test_the_status_lists_what_is_indexed_and_what_waits_for_a_person(reader):
    status = reader.ok("get_memetic_status")
    assert status["indexed"]["notes"] == len(NOTES)
    assert status["indexed"]["chunks"] >= len(NOTES)
    assert set(status["stores"].values()) == {"ok"}
    assert 1 <= len(status["top_active_concepts"]) <= 5
    assert status["entropy_level"] == status["pulse"]["entropy"] > 0
    tasks = {(task["task_type"], task["paths"][0]) for task in status["curation_tasks"]}
    assert ("malformed_frontmatter", "permanent/Broken.md") in tasks
    assert ("unresolved_links", "projects/kelp/Kelp census.md") in tasks


def test_the_pulse_of_an_answer_moves_with_the_vault(writer):
    def coherence() -> float:
        answer = writer.ok("recall_memory", query="clay oven and marine biology", top_k=9)
        return answer["pulse"]["coherence"]

    before = coherence()
    note = writer.container.vault.root / "projects/oven/Clay oven.md"
    links = "".join(f"[[{Path(path).stem}]] " for path in NOTES)
    note.write_text(note.read_text(encoding="utf-8") + links, encoding="utf-8")
    writer.container.indexing.scan()
    assert coherence() > before


def test_the_context_prompt_brings_passages_with_their_places(reader):
    async def run():
        async with Client(reader.server) as client:
            return await client.get_prompt("context", {"topic": "kelp", "depth": "brief"})

    text = asyncio.run(run()).messages[0].content.text
    assert "projects/kelp/" in text and text.count("### ") == 3


def test_a_field_that_a_client_left_empty_is_no_argument_of_the_prompt(reader):
    async def run(**arguments: str):
        async with Client(reader.server) as client:
            return await client.get_prompt("context", arguments)

    text = asyncio.run(run(topic="kelp", depth="")).messages[0].content.text
    assert "projects/kelp/" in text
    for arguments, reason in (
        ({}, "The prompt needs a topic"),
        ({"topic": " "}, "The prompt needs a topic"),
        ({"topic": "kelp", "depth": "huge"}, "depth must be brief, standard or deep"),
    ):
        with pytest.raises(MCPError, match=reason) as caught:
            asyncio.run(run(**arguments))
        assert caught.value.code == -32602
