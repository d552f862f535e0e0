"""The question that settles most, and whether one thing is part of another."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest
from fastmcp import Client

from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from memvault.curation.tasks.questions import best_question
from memvault.reasoning.entailment import chain_of

NOTES = {
    "Kelp.md": "# Kelp\n\nis a:: [[Brown alga]]\n",
    "Brown alga.md": "# Brown alga\n\nis a:: [[Alga]]\n",
    "Alga.md": "# Alga\n\nLives in water.\n",
    "Oak.md": "# Oak\n\nA tree.\n",
    **{
        f"projects/{name}.md": f"---\ntype: project\n---\n# {name}\n\n{lead}\n"
        for name, lead in (
            ("Aurora", "Lead: [[Ada]]"), ("Marlin", "Lead: [[Ben]]"), ("Sable", "Lead: [[Cy]]"),
            ("Quill", "Nobody knows yet. See [[Aurora]]."),
        )
    },
    **{f"{name}.md": f"---\ntype: person\n---\n# {name}\n" for name in ("Ada", "Ben", "Cy")},
}  # fmt: skip


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    base = tmp_path_factory.mktemp("questions")
    for path, text in NOTES.items():
        file = base / "vault" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    settings = Settings(index=IndexSettings(ner="off"))
    opened = Container(base / "vault", settings, StateFolder.of_vault(base / "vault", base / "s"))
    opened.indexing.scan()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def call(container: Container) -> Any:
    server = build_server(container, tools="full")

    def one(name: str, **arguments: Any) -> dict[str, Any]:
        async def run() -> Any:
            async with Client(server) as client:
                return await client.call_tool_mcp(name, arguments)

        result = asyncio.run(run())
        assert not result.is_error, result.content
        return dict(result.structured_content or {})

    return one


def test_a_chain_of_kinds_is_followed_and_cited(call: Any) -> None:
    answer = call("entailment_query", general="Alga", specific="Kelp")
    assert answer["entails"] is True
    assert [step["general"] for step in answer["chain"]] == ["Brown alga", "Alga"]
    assert answer["chain"][0]["path"] == "Kelp.md"


def test_nothing_follows_the_other_way_or_from_elsewhere(call: Any) -> None:
    assert call("entailment_query", general="Kelp", specific="Alga")["entails"] is False
    assert call("entailment_query", general="Alga", specific="Oak")["entails"] is False


def test_a_chain_is_found_within_a_millisecond(container: Container) -> None:
    by_id, view = container.live.catalogue.by_id, container.live.graph_view
    kelp, alga = (container.live.catalogue.by_path(path) for path in ("Kelp.md", "Alga.md"))
    assert kelp is not None
    assert alga is not None
    spent = []
    for _ in range(50):
        start = time.thread_time()
        assert chain_of(kelp.id, alga.id, view, by_id)
        spent.append(time.thread_time() - start)
    assert sorted(spent)[25] < 0.001


def test_the_question_that_settles_most_names_what_it_settles(call: Any) -> None:
    answer = call("epistemic_action")
    assert answer["question"]
    assert answer["settles"]
    assert 0.0 <= answer["entropy_before"] <= 1.0


def test_what_most_projects_state_is_asked_of_the_one_that_does_not(container: Container) -> None:
    gap = best_question((), list(container.live.catalogue.all()), container.live.graph_view)
    assert gap is not None
    assert gap.text.startswith("What is the lead of Quill? 3 of 4")
