"""Wrong claims about a vault are found, with the note that says otherwise; right ones are not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastmcp import Client

from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from tests.benchmarks.bench_critique import against
from tests.benchmarks.critique_claims import NOTES, RIGHT, WRONG


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    base = tmp_path_factory.mktemp("critique")
    vault: Path = base / "vault"
    vault.mkdir()
    for path, text in NOTES.items():
        (vault / path).write_text(text, encoding="utf-8")
    settings = Settings(index=IndexSettings(ner="off"))
    opened = Container(vault, settings, StateFolder.of_vault(vault, base / "state"))
    opened.indexing.scan()
    yield opened
    opened.close()


def judged(services: Container, claims: list[str]) -> list[list[str]]:
    async def run() -> list[list[str]]:
        async with Client(build_server(services, tools="full")) as client:
            return [await against(client, claim, 0.3) for claim in claims]

    return asyncio.run(run())


def test_most_wrong_claims_are_found_with_the_note_that_says_otherwise(services):
    found = judged(services, [claim for claim, _ in WRONG])
    hits = [paths[:1] == [path] for paths, (_, path) in zip(found, WRONG, strict=True)]
    assert sum(hits) >= 0.85 * len(WRONG)


def test_claims_that_hold_or_of_which_the_notes_say_nothing_are_left_alone(services):
    found = judged(services, RIGHT)
    assert [claim for claim, paths in zip(RIGHT, found, strict=True) if paths] == []
