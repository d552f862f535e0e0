"""What a client is answered when stores are down or slow: real stores, closed; a real client."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcp_server.runtime.container import Container
from memvault.config.settings import LimitSettings, Settings
from memvault.model.errors import StoreUnavailable
from memvault.search.fallback import AnswerCache
from memvault.search.hybrid import HybridSearch
from tests.integration.caller import Caller
from tests.integration.small_vault import opened
from tests.waiting import PATIENCE_SECONDS

NOTES = {
    "projects/reef/Reef survey.md": "---\ntype: project\nproject: reef\n---\n"
    "Lead: [[Ines Moor]]\n\nDivers count corals every autumn.\n",
    "permanent/Ines Moor.md": "---\ntype: person\n---\nInes Moor is a diver from Faro.\n",
    "permanent/Faro.md": "---\ntype: place\n---\nA town by the lagoon.\n",
    "permanent/Bread.md": "Rye bread takes two days.\n",
}
QUESTION = "Who leads the Reef survey?"
NAMELESS = "Who counts corals?"
TOOLS = {
    "recall_memory": "nodes",
    "graph_query": "results",
    "search": "results",
    "inject_context": "nodes_retrieved",
}


class Outages(Caller):
    def start_without_graph(self) -> None:
        """The state after a start while the graph does not answer: nothing of it is in memory."""
        self.container.live.stores.graph.close()
        self.container.live.graph_view._loaded = False

    def ask(self, tool: str, query: str = QUESTION) -> tuple[list[str], str]:
        """Titles or ids found, and the notice."""
        result = self.raw(tool, query=query)
        assert not result.is_error, result.content
        found = result.structured_content[TOOLS[tool]]
        names = [each if isinstance(each, str) else each["title"] for each in found]
        return names, result.structured_content.get("notice", "")


@pytest.fixture
def container(tmp_path: Path) -> Iterator[Container]:
    container = opened(tmp_path, NOTES)
    yield container
    container.close()


@pytest.fixture
def caller(container: Container) -> Outages:
    return Outages(container)


@pytest.mark.parametrize("tool", list(TOOLS))
def test_without_the_graph_the_vectors_answer_and_the_answer_says_so(caller, tool):
    caller.start_without_graph()
    found, notice = caller.ask(tool)
    assert found
    assert "graph does not answer" in notice


def test_a_graph_that_stops_answering_once_it_is_in_memory_is_not_missed(caller):
    caller.container.live.graph_view.load()
    caller.container.live.stores.graph.close()
    found, notice = caller.ask("graph_query")
    assert {"Reef survey", "Ines Moor"} <= set(found[:3]) and not notice


def test_without_the_vectors_the_graph_answers_from_the_names_in_the_question(caller):
    caller.container.live.stores.vectors.close()
    for tool in ("recall_memory", "graph_query", "search"):
        found, notice = caller.ask(tool)
        assert {"Reef survey", "Ines Moor"} <= set(found) and "Bread" not in found
        assert "passage index does not answer" in notice
    context = caller.raw("inject_context", query=QUESTION).structured_content
    assert "Ines Moor" in context["context"]
    assert "passage index does not answer" in context["notice"]


@pytest.mark.parametrize("question", ["who leads the reef-survey?", "Who leads the Reef surveys?"])
def test_without_the_vectors_a_name_is_found_in_another_spelling(caller, question):
    caller.container.live.stores.vectors.close()
    assert "Reef survey" in caller.ask("recall_memory", question)[0]


def test_graph_results_show_their_path_and_their_own_lines(caller):
    caller.container.live.stores.vectors.close()
    nodes = caller.raw("graph_query", query=QUESTION).structured_content["results"]
    lead = next(node for node in nodes if node["title"] == "Ines Moor")
    assert lead["hops"][0]["relation"] == "Lead"
    assert lead["lines"] == [4, 4] and lead["content"] == "Ines Moor is a diver from Faro."


def test_a_question_without_names_gets_a_notice_that_names_are_needed(caller):
    caller.container.live.stores.vectors.close()
    found, notice = caller.ask("recall_memory", "sourdough")
    assert not found and "names no note" in notice


def test_without_both_the_same_question_gets_what_it_found_before_with_its_date(caller):
    before = {tool: caller.ask(tool, NAMELESS)[0] for tool in TOOLS}
    caller.container.live.stores.graph.close()
    caller.container.live.stores.vectors.close()
    for tool, known in before.items():
        found, notice = caller.ask(tool, NAMELESS.upper() if tool == "search" else NAMELESS)
        assert found == known
        assert "the same question found on" in notice and "UTC" in notice


def test_what_was_found_before_is_not_given_once_its_note_is_forgotten(caller):
    assert "Reef survey" in caller.ask("recall_memory", NAMELESS)[0]
    container = caller.container
    (container.vault.root / "projects/reef/Reef survey.md").unlink()
    container.indexing.index_written(["projects/reef/Reef survey.md"])
    container.live.stores.graph.close()
    container.live.stores.vectors.close()
    assert "Reef survey" not in caller.ask("recall_memory", NAMELESS)[0]


def test_a_new_question_without_any_store_is_an_error_that_says_what_still_works(container):
    container.live.stores.graph.close()
    container.live.stores.vectors.close()
    with pytest.raises(StoreUnavailable, match="get_memory"):
        container.live.searcher.search("How long does bread take?")


class StuckSearch(HybridSearch):
    """Hybrid search over a store that does not answer before it is let go."""

    let_go = threading.Event()

    def search(self, *arguments: Any, **named: Any) -> Any:
        self.let_go.wait(PATIENCE_SECONDS)
        return super().search(*arguments, **named)


def test_what_takes_too_long_gives_way_to_what_can_be_had(caller, monkeypatch):
    container = caller.container
    searcher = container.live.searcher
    stuck = StuckSearch(
        container.live.stores.vectors, container.embedder, container.live.catalogue.by_id
    )
    caller.ask("graph_query")  # everything is loaded
    monkeypatch.setattr(searcher.candidates, "hybrid", stuck)
    monkeypatch.setattr(searcher.candidates._fallback, "limit_seconds", 2.0)
    try:
        found, notice = caller.ask("graph_query")
        assert found and "Timed out after 2 s" in notice
        monkeypatch.setattr(searcher.candidates._fallback, "hybrid", stuck)
        found, notice = caller.ask("search", "Ines Moor")
        assert found and "Timed out after 2 s" in notice
    finally:
        stuck.let_go.set()


def test_the_limit_is_ten_seconds_unless_set(monkeypatch):
    monkeypatch.delenv("MEMVAULT_LIMITS__ANSWER_SECONDS")
    assert Settings().limits.answer_seconds == 10.0
    assert LimitSettings(answer_seconds=3).answer_seconds == 3.0


def test_only_so_many_answers_are_kept_and_the_fullest_of_each(caller):
    cache = AnswerCache()
    found = caller.container.live.searcher.find("bread", 3)
    cache.put("q", found)
    cache.put("q", found[:1])
    kept = cache.get("q")
    assert kept is not None and kept[0] == found
    for number in range(600):
        cache.put(str(number), [replace(found[0], relevance=0.5)])
    assert cache.get("q") is None and cache.get("599") is not None
