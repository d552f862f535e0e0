"""One project's notes never speak in another project's answers, even where they are linked."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.integration.caller import Caller
from tests.integration.small_vault import opened

NOTES = {
    "projects/alpha/Mooring.md": "---\ntype: decision\nproject: alpha\n---\nLead: [[Ada Berg]]\n\n"
    "The mooring has two anchors. It was caused by [[Storm]].\n",
    "projects/beta/Buoys.md": "---\ntype: decision\nproject: beta\n---\n"
    "contradicts:: [[Mooring]]\n\nThe mooring has nine anchors. It blocks [[Mooring]].\n\n"
    "part of:: [[Mooring]]\n",
    "permanent/Ada Berg.md": "---\ntype: person\n---\nAda Berg is an engineer.\n",
    "permanent/Storm.md": "A storm came in May.\n",
    "projects/alpha/Lantern.md": "---\nproject: alpha\n---\n![[Wicks]]\n![[Lamp oil]]\n\n"
    "The lantern of alpha burns all night.\n",
    "projects/beta/Wicks.md": "The wicks are of cotton.\n",
    "permanent/Lamp oil.md": "The oil is of rape.\n",
    "projects/beta/Ferry.md": "The ferry leaves at nine from the north pier.\n",
    "projects/beta/Bell.md": "The bell weighs two tonnes.\n",
    "projects/beta/Clock.md": "The clock strikes at eight.\n",
    "projects/beta/Gong.md": "The gong strikes at eight.\n",
    "permanent/Hours.md": "What strikes when.\n",
    "permanent/Tram.md": "The tram stops at the market.\n",
    "permanent/Fog.md": "Fog lies on the bay.\n",
    "permanent/Delay.md": "---\nid: ffffffff-ffff-4fff-8fff-ffffffffffff\n---\nA delay.\n\nIt was caused by [[Fog]].\n\npart of:: [[Fog]]\n",
    **{
        f"projects/beta/Late {n}.md": "caused by:: [[Fog]]\npart of:: [[Fog]]\nweight:: 1\n"
        for n in range(25)
    },
}
QUESTION = "How many anchors has the mooring?"
ASPECTS = ["causal_links", "entailment_cones", "neighborhood", "conflicts"]


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    container = opened(tmp_path_factory.mktemp("harbour"), NOTES)
    yield Caller(container)
    container.close()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("recall_memory", {}),
        ("recall_memory", {"verbosity_level": 2}),
        ("graph_query", {"verbosity_level": 2}),
        ("inject_context", {"verbosity_level": 2}),
        ("inject_context", {"include_metadata": ASPECTS}),
    ],
)
def test_an_answer_for_a_project_has_nothing_of_another(harbour, tool, arguments):
    everywhere = json.dumps(harbour.ok(tool, query=QUESTION, **arguments))
    assert "Buoys" in everywhere
    answer = harbour.ok(tool, query=QUESTION, project="alpha", **arguments)
    assert "two anchors" in json.dumps(answer)
    assert "Buoys" not in json.dumps(answer) and "nine" not in json.dumps(answer)


def test_a_note_of_another_project_contradicts_nothing_here(harbour):
    def status(**scope: str) -> str:
        nodes = harbour.ok("recall_memory", query=QUESTION, **scope)["nodes"]
        mooring = next(node for node in nodes if node["title"] == "Mooring")
        return mooring.get("verification", {}).get("status", "verified")

    assert status() == "contradicted"
    assert status(project="alpha") == "verified"


def test_causes_that_notes_of_no_project_state_stay(harbour):
    links = harbour.ok("recall_memory", query=QUESTION, project="alpha", verbosity_level=2)
    assert "Storm" in [link["cause"] for link in links["causal_links"]]


def test_many_notes_of_another_project_crowd_no_insight_out(harbour):
    asked = {"query": "Fog on the bay", "include_metadata": ASPECTS}
    crowd = json.dumps(harbour.ok("inject_context", **asked)["insights"])
    assert "Late 0" in crowd
    insights = harbour.ok("inject_context", project="alpha", **asked)["insights"]
    assert "Delay" in [link["effect"] for link in insights["causal_links"]]
    special = [
        cone["more_special"] for cone in insights["entailment_cones"] if "more_special" in cone
    ]
    assert [each["name"] for each in special[0]] == ["Delay"]
    assert "Late" not in json.dumps(insights)


def test_what_another_projects_note_says_is_not_shown_where_a_note_embeds_it(harbour):
    def embedded(**scope: str) -> tuple[list[str], str]:
        nodes = harbour.ok("recall_memory", query="How long burns the lantern?", **scope)["nodes"]
        lantern = next(node for node in nodes if node["title"] == "Lantern")
        return [each["path"] for each in lantern["embedded"]], lantern["content"]

    assert embedded()[0] == ["projects/beta/Wicks.md", "permanent/Lamp oil.md"]
    paths, content = embedded(project="alpha")
    assert paths == ["permanent/Lamp oil.md"] and "Wicks" in content


def test_a_new_memory_of_a_project_contradicts_no_note_of_another(harbour):
    def contradicted(content: str, **scope: str) -> list[str]:
        stored = harbour.ok("store_memory", content=content, rationale="They said so", **scope)
        return [each["path"] for each in stored.get("contradicts") or []]

    assert contradicted("The ferry leaves at six from the north pier.", project="alpha") == []
    assert contradicted("The bell weighs four tonnes.") == ["projects/beta/Bell.md"]
    tram = "The tram does not stop at the market."
    assert contradicted(tram, project="alpha") == ["permanent/Tram.md"]


def test_an_edit_of_a_projects_note_contradicts_no_note_of_another(harbour):
    def contradicted(target: str, content: str) -> list[str]:
        edited = harbour.ok(
            "edit_memory", target=target, operation="append", content=content, rationale="They said so"
        )  # fmt: skip
        return [each["path"] for each in edited.get("contradicts") or []]

    assert contradicted("Lantern", "The clock strikes at seven.") == []
    assert contradicted("Hours", "The gong strikes at seven.") == ["projects/beta/Gong.md"]
