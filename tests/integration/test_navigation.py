"""Finding one's way and planning calls, as a client sees them."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mcp_server.server import build_server
from memvault.model.errors import StoreUnavailable
from memvault.model.note import Domain, NeurotransmitterWeights
from memvault.text.tokens import TokenCounter
from tests.integration.caller import Caller, listed

MINE = {
    "get_graph_manifest",
    "get_neighborhood",
    "get_recent_context",
    "reflect_on_memory",
    "generate_search_plan",
}
LONG_AGO = datetime(2020, 1, 2, tzinfo=UTC)


@pytest.fixture(scope="module")
def tokens(reader) -> TokenCounter:
    return reader.container.embedder.tokens


def save(caller: Caller, path: str, text: str, at: datetime | None = None) -> None:
    file: Path = caller.container.vault.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    if at is not None:
        os.utime(file, (at.timestamp(), at.timestamp()))
    caller.container.live.indexer.index([path])


def test_the_tools_are_listed_for_those_who_ask_for_all(reader):
    core, _ = listed(reader.server)
    assert MINE.isdisjoint(each.name for each in core)
    full, _ = listed(build_server(reader.container, tools="full"))
    assert {each.name for each in full} >= MINE


# -- the manifest -----------------------------------------------------------------------------


def test_the_manifest_tells_what_the_memory_holds(reader):
    manifest = reader.ok("get_graph_manifest", verbosity_level=2)
    assert manifest["notes"] == 8
    assert manifest["kinds"]["decision"] == 2 and manifest["projects"] == {"kelp": 3, "oven": 1}
    assert manifest["tags"] == {"ocean": 1, "survey": 1}
    assert manifest["relations"] == {"Lead": 1, "supersedes": 1}
    mira = next(each for each in manifest["concepts"] if each["name"] == "Mira Sand")
    assert (mira["kind"], mira["path"], mira["notes"]) == ("person", "permanent/Mira Sand.md", 1)
    fragment = manifest["prompt_fragment"]
    assert "8 notes" in fragment and "kelp (3)" in fragment and "Lead (1)" in fragment


def test_a_manifest_has_about_three_hundred_tokens_at_most(reader, tokens):
    raw = reader.raw("get_graph_manifest").content[0].text
    assert tokens.count(raw) <= 300
    assert tokens.count(reader.raw("get_graph_manifest", verbosity_level=0).content[0].text) <= 220


def test_the_manifest_moves_with_the_vault(writer):
    before = writer.ok("get_graph_manifest", verbosity_level=2)
    save(writer, "projects/hive/Bees.md", "---\ndate: 2019-05-01\n---\nKeeper: [[Mira Sand]]")
    after = Caller(writer.container).ok("get_graph_manifest", verbosity_level=2)
    assert after["notes"] == before["notes"] + 1
    assert after["projects"]["hive"] == 1 and after["relations"]["Keeper"] == 1
    assert after["first_day"] == "2019-05-01"
    mira = next(each for each in after["concepts"] if each["name"] == "Mira Sand")
    assert mira["notes"] == 2


def test_an_empty_memory_says_so(tmp_path, settings):
    from mcp_server.runtime.container import Container
    from memvault.config.paths import StateFolder

    (tmp_path / "vault").mkdir()
    state = StateFolder.of_vault(tmp_path / "vault", tmp_path / "state")
    container = Container(tmp_path / "vault", settings, state)
    try:
        caller = Caller(container, "full")
        assert "empty" in caller.ok("get_graph_manifest")["prompt_fragment"]
        assert caller.ok("get_recent_context")["projects"] == []
        plan = caller.ok("reflect_on_memory", goal="Understand what is going on here")
        assert plan["utl_context"]["triggered_by"] == "low_coherence"
        assert next(each["tool"] for each in plan["suggested_sequence"]) == "get_graph_manifest"
        assert len(caller.ok("generate_search_plan", query="anything")["queries"]) == 1
    finally:
        container.close()


# -- the neighbourhood ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["Kelp census", "projects/kelp/Kelp census.md", "kelp census", "id"]
)
def test_a_neighbourhood_is_asked_for_by_id_path_or_name(reader, name):
    key = reader.id_of("Kelp census") if name == "id" else name
    found = reader.ok("get_neighborhood", node_id=key)
    assert (found["title"], found["path"]) == ("Kelp census", "projects/kelp/Kelp census.md")
    near = {each["title"]: each for each in found["neighbors"]}
    assert near["Mira Sand"]["distance"] == 1 and near["Mira Sand"]["relation"] == "Lead"
    assert near["Mira Sand"]["sentence"] == "Lead: Mira Sand"
    assert near["Mira Sand"]["stated_in"] == "projects/kelp/Kelp census.md"
    assert near["Harbour Lab"]["distance"] == 2 and near["Harbour Lab"]["via"] == "Mira Sand"
    assert "path" not in near["Diving permits"]
    weights = [each["weight"] for each in found["neighbors"]]
    assert weights == sorted(weights, reverse=True)


def test_a_relation_acts_by_the_field_of_knowledge_of_the_note_that_states_it(writer):
    """Core REQ-CORE-027: the six profiles, as `NeurotransmitterWeights.for_domain` has them."""
    save(writer, "Lighthouse.md", "It stands on the cape.")
    for name, tag in (("Ballad", "poetry"), ("Walk", "outdoors"), ("Statute", "law")):
        save(writer, f"{name}.md", f"---\ntags: [{tag}]\n---\nSee the [[Lighthouse]].")

    def weights() -> dict[str, float]:
        found = writer.ok("get_neighborhood", node_id="Lighthouse", hops=1)["neighbors"]
        return {each["title"]: each["weight"] for each in found}

    acting = {"Ballad": Domain.CREATIVE, "Walk": Domain.GENERAL, "Statute": Domain.LEGAL}
    assert list(weights()) == list(acting)
    for title, domain in acting.items():
        balance = 0.5 + 0.5 * NeurotransmitterWeights.for_domain(domain).net_activation()
        assert weights()[title] == pytest.approx(balance, abs=0.001)
    save(writer, "Ballad.md", "---\ntags: [contracts]\n---\nSee the [[Lighthouse]].")
    assert weights()["Ballad"] == weights()["Statute"] < weights()["Walk"]


def test_an_entity_without_a_note_and_a_tag_have_neighbourhoods(reader):
    permits = reader.ok("get_neighborhood", node_id="Diving permits", hops=1)
    assert "path" not in permits
    assert [each["title"] for each in permits["neighbors"]] == ["Kelp census"]
    ocean = reader.ok("get_neighborhood", node_id="#ocean", hops=1)
    assert [each["title"] for each in ocean["neighbors"]] == ["Kelp census"]


def test_hops_limit_project_and_level_are_kept(reader):
    key = reader.id_of("Kelp census")
    one = reader.ok("get_neighborhood", node_id=key, hops=1)["neighbors"]
    assert {each["distance"] for each in one} == {1}
    assert len(reader.ok("get_neighborhood", node_id=key, limit=2)["neighbors"]) == 2
    elsewhere = reader.ok("get_neighborhood", node_id=key, project="oven")["neighbors"]
    assert not any(each.get("path", "").startswith("projects/kelp") for each in elsewhere)
    bare = reader.ok("get_neighborhood", node_id=key, verbosity_level=0)["neighbors"]
    assert all("sentence" not in each and each["id"] for each in bare)
    full = reader.ok("get_neighborhood", node_id=key, verbosity_level=2)["neighbors"]
    assert any(each["relevance"] > 0 for each in full)


def test_an_unknown_name_says_where_names_are_found(reader):
    error = reader.error("get_neighborhood", node_id="Nobody of this name")
    assert error["code"] == -32602 and "search for what it says" in error["message"]
    assert reader.error("get_neighborhood", node_id="Mira", hops=4)["code"] == -32602


# -- what happened lately ---------------------------------------------------------------------


def test_recent_context_tells_what_was_written_changed_and_read_by_project(writer):
    head = "---\ncreated: 2019-05-01\n---\n"
    save(writer, "projects/oven/Old.md", head + "Bricks.", LONG_AGO)
    save(writer, "projects/oven/Mended.md", head + "Mortar.")
    found = writer.ok("get_recent_context", project="oven")
    events = {m["title"]: m["what"] for group in found["projects"] for m in group["memories"]}
    assert (
        events["Mended"] == "changed" and events["Clay oven"] == "created" and "Old" not in events
    )
    writer.ok("get_memory", path="projects/oven/Old.md")
    found = writer.ok("get_recent_context", project="oven", verbosity_level=2)
    oven = next(group for group in found["projects"] if group["project"] == "oven")
    last = oven["memories"][-1]  # what was only read comes after what was written
    assert (last["title"], last["what"], last["access_count"]) == ("Old", "accessed", 1)


def test_the_time_asked_for_is_kept(writer):
    later = (datetime.now(UTC) + timedelta(seconds=0.2)).isoformat()
    time.sleep(0.3)
    save(writer, "New.md", "Just written.")
    found = writer.ok("get_recent_context", since=later)
    assert [m["title"] for group in found["projects"] for m in group["memories"]] == ["New"]
    assert found["total"] == 1
    ahead = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    assert "future" in writer.error("get_recent_context", since=ahead)["message"]


def test_what_a_session_used_comes_first_and_is_not_another_sessions(writer):
    writer.ok("recall_memory", query="clay oven in the garden", top_k=1, session_id="one")
    used = writer.ok("get_recent_context", session_id="one")["projects"][0]["memories"][0]
    assert used["title"] == "Clay oven" and used["working_set"] is True
    other = writer.ok("get_recent_context", session_id="two")["projects"]
    assert not any("working_set" in m for group in other for m in group["memories"])


# -- planning ---------------------------------------------------------------------------------

GOALS = [
    "Why was the boat replaced by the drone for counting kelp?",
    "Find all contradictions between decisions in the kelp project",
    "What happened lately with the clay oven?",
    "How does the person like replies to be formatted?",
    "Give me an overview of everything this memory holds",
    "Discover connections between Mira Sand and the Harbour Lab I might have missed",
    "Find the code snippets that deploy the service",
    "Who leads the Kelp census and where does she work?",
    "Clean up duplicates and broken links in my notes",
    "Plan the next spring: what do we need, and when did we decide it?",
    "something about things and stuff",
    "What did we write between January and March 2019?",
    "How likely is the spring survey if the boat is replaced by the drone?",
    "Check whether Mira Sand leads the Kelp census",
    "What are the effects of the Kelp census on the permits?",
    "日本での計画について教えてください",
    "'; MATCH (n) DETACH DELETE n; --",
]


@pytest.fixture(scope="module")
def planner(reader) -> Caller:
    """A client that sees all tools."""
    return Caller(reader.container, "full")


@pytest.mark.parametrize("goal", GOALS)
def test_every_suggested_call_succeeds_unchanged(planner, goal):
    for session in (None, "planning"):
        arguments: dict[str, Any] = {"session_id": session} if session else {}
        answer = planner.ok("reflect_on_memory", goal=goal, max_steps=5, **arguments)
        steps = answer["suggested_sequence"]
        assert 1 <= len(steps) <= 5
        assert [each["step"] for each in steps] == list(range(1, len(steps) + 1))
        for each in steps:
            assert each["rationale"]
            planner.ok(each["tool"], **each["params"])
        planned = planner.ok("generate_search_plan", query=goal, **arguments)["queries"]
        assert 1 <= len(planned) <= 4
        for each in planned:
            assert each["query"] == each["params"]["query"]
            planner.ok(each["tool"], **each["params"])


def tools_for(caller: Caller, goal: str, most: int = 3) -> list[str]:
    answer = caller.ok("reflect_on_memory", goal=goal, max_steps=most)
    return [each["tool"] for each in answer["suggested_sequence"]]


def test_the_sequence_follows_from_what_the_goal_asks_for(planner):
    assert "graph_query" in tools_for(planner, GOALS[0])
    assert tools_for(planner, GOALS[2])[0] == "get_recent_context"
    assert tools_for(planner, GOALS[4])[0] == "get_graph_manifest"
    assert "get_memetic_status" in tools_for(planner, GOALS[8])
    assert "query_causal" in tools_for(planner, "Why was the Kelp census delayed?", most=5)
    assert "probabilistic_query" in tools_for(planner, "How likely is it that the oven cracks?")
    assert "critique_context" in tools_for(planner, "Check that Mira Sand leads the Kelp census")
    assert len(tools_for(planner, GOALS[0], most=1)) == 1


def test_a_client_with_the_core_set_gets_advice_only_about_core_tools(reader):
    core, _ = listed(reader.server)
    own = {each.name for each in core}
    for goal in GOALS:
        assert set(tools_for(reader, goal, most=5)) <= own
    for each in reader.ok("get_memetic_status")["curation_tasks"]:
        assert each.get("suggested_tool") in {None, *own}
    for each in reader.ok("get_system_instructions")["critical_behaviors"]:
        assert each["tool"] in own


def test_the_state_of_what_is_known_triggers_the_plan(planner):
    answer = planner.ok("reflect_on_memory", goal="something about things and stuff")
    assert answer["utl_context"]["triggered_by"] == "high_entropy"
    assert answer["utl_context"]["entropy"] == answer["pulse"]["entropy"] > 0.7
    assert answer["suggested_sequence"][0]["tool"] == "generate_search_plan"
    assert "High entropy" in answer["reasoning"]


def test_goals_have_the_documents_bounds(reader):
    assert reader.error("reflect_on_memory", goal="too short")["code"] == -32602
    assert reader.error("reflect_on_memory", goal="x" * 501)["code"] == -32602
    assert reader.error("reflect_on_memory", goal="long enough", max_steps=6)["code"] == -32602


def test_a_compound_question_is_split_and_pronouns_get_their_name(reader):
    plan = reader.ok("generate_search_plan", query="Who leads kelp census? And where is Mira from?")
    assert len(plan["queries"]) == 2
    plan = reader.ok("generate_search_plan", query="What does Mira study and where does she work?")
    assert [each["query"] for each in plan["queries"]] == [
        "What does Mira Sand study",
        "where does she work (Mira Sand)",
    ]


def test_a_question_is_narrowed_by_project_and_type_it_names(reader):
    plan = reader.ok("generate_search_plan", query="Which decisions were made in kelp?")
    params = plan["queries"][0]["params"]
    assert params["project"] == "kelp" and params["filters"] == {"types": ["decision"]}


TOPICS = {
    "orchard": ("apple trees", "pruning", "Gala", "frost"),
    "choir": ("rehearsal", "tenors", "psalm", "concert"),
    "boiler": ("pressure", "valve", "heating", "leak"),
    "thesis": ("chapter", "supervisor", "footnotes", "deadline"),
}


def test_following_the_plan_lowers_the_entropy_of_a_vague_question(writer):
    for project, words in TOPICS.items():
        for number in range(4):
            text = f"# {project} {words[number]}\n\nThe {project}: {' and '.join(words)}."
            save(writer, f"projects/{project}/{project} log {number}.md", text)
    for vague in ("How did it all go?", "notes on how things went", "what about the day"):
        plan = writer.ok("generate_search_plan", query=vague)
        assert plan["vague"] is True
        before = plan["pulse"]["entropy"]  # of all that the question brings up
        after = [writer.ok(q["tool"], **q["params"])["pulse"]["entropy"] for q in plan["queries"]]
        assert len(after) >= 3
        assert all(each < before for each in after)
        assert sum(after) / len(after) < before - 0.2


def test_a_facet_whose_question_finds_other_subjects_is_left_out(writer):
    for number in (1, 2):
        text = f"Rubber seals for the press of the [[Garden]] have arrived, box {number}."
        save(writer, f"permanent/Seals {number}.md", text)
    elsewhere = {
        "Garden of Eden": "It hangs in the Prado: a triptych in oil on oak.",
        "Garden path sentence": "It leads a parser astray until its last word.",
        "Madison Square Garden": "Sold out for the hockey finals in New York.",
    }
    for title, text in elsewhere.items():
        save(writer, f"permanent/{title}.md", text)
    plan = writer.ok("generate_search_plan", query="How is it going?", max_queries=10)
    before = plan["pulse"]["entropy"]
    assert plan["vague"] is True
    assert "Garden" not in [query["params"]["query"] for query in plan["queries"]]
    facets = [query for query in plan["queries"] if query["rationale"] != "As asked"]
    assert facets
    for query in facets:
        assert writer.ok(query["tool"], **query["params"])["pulse"]["entropy"] < before


def test_without_the_graph_plans_and_manifest_still_answer(writer, monkeypatch):
    def down(*_: object) -> None:
        raise StoreUnavailable("The graph does not answer.")

    graph = writer.container.live.stores.graph
    for name in ("all_nodes", "all_edges", "neighbours", "nodes", "stated_by"):
        monkeypatch.setattr(graph, name, down)
    view = writer.container.live.graph_view  # as at a start without a graph
    monkeypatch.setattr(view, "_loaded", False)
    monkeypatch.setattr(view, "version", view.version + 1)
    assert "graph is unreachable" in writer.ok("get_graph_manifest")["notice"]
    assert writer.ok("generate_search_plan", query="kelp or oven")["notice"]
    assert writer.ok("reflect_on_memory", goal="Understand the kelp census")["suggested_sequence"]
    assert writer.error("get_neighborhood", node_id="Kelp census")["code"] == -32002
