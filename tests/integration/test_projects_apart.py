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
    assert [link["cause"] for link in links["causal_links"]] == ["Storm"]
