"""A session's summary by the client's own model, where the client lets servers ask it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import mcp_types as mt
import pytest
from fastmcp import Client

from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from memvault.capture.summary import MIN_LINES, supported_sentences
from tests.integration.small_vault import unindexed
from tests.waiting import PATIENCE_SECONDS, until_seen

LINES = [f"We decided that part {n} of the mill stays in room {n}." for n in range(MIN_LINES)]
SUMMARY = (
    "We decided that part 1 stays in room 1. The mill was sold to Borealis for 900 crowns. "
    "- Part 2 of the mill stays in room 2.\nmy password is hunter2-and-more"
)
HEADING = "## Summary by the assistant's model"


@pytest.fixture
def container(tmp_path: Path) -> Iterator[Container]:
    container = unindexed(tmp_path, {})
    container.start(watch=False)
    yield container
    container.close()


def note_of(container: Container) -> str:
    found = [path.read_text() for path in (container.vault.root / "sessions").rglob("*.md")]
    return found[0] if found else ""


def stop(container: Container, folder: Path, client: str) -> None:
    entries = ({"type": "user", "message": {"role": "user", "content": line}} for line in LINES)
    transcript = folder / "t.jsonl"
    transcript.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries))
    given = {"session_id": "s-1", "transcript_path": str(transcript)}
    container.hooks.answer(client, "Stop", json.dumps(given).encode())


def asked_over(
    container: Container, work: Callable[[], None], done: Callable[[], object], answer: str
) -> list[str]:
    """What the model of a connected client is asked while this work is done."""
    prompts: list[str] = []

    async def model(
        messages: list[mt.SamplingMessage], params: mt.CreateMessageRequestParams, _: object
    ) -> str:
        prompts.append(f"{params.system_prompt}\n{messages[0].content}")
        return answer

    async def run() -> None:
        info = mt.Implementation(name="claude-code", version="2")
        server = build_server(container)
        client = Client(server, sampling_handler=model, client_info=info, mode="legacy")
        async with client:
            await client.list_tools()
            await asyncio.to_thread(work)
            await until_seen(done)

    asyncio.run(run())
    return prompts


def test_the_note_gets_what_the_model_says_as_far_as_the_session_bears_it_out(
    container: Container, tmp_path: Path
) -> None:
    (prompt,) = asked_over(
        container,
        lambda: stop(container, tmp_path, "claude-code"),
        lambda: HEADING in note_of(container),
        SUMMARY,
    )
    assert all(line in prompt for line in LINES)
    note = note_of(container)
    summary = note.partition(HEADING)[2].partition("\n## ")[0].split("\n- ")[1:]
    assert [line.strip() for line in summary] == [
        "We decided that part 1 stays in room 1.",
        "Part 2 of the mill stays in room 2.",
    ]
    record = container.hooks.records.get("claude-code", "s-1")
    assert len(record.changes) == 2 and record.unsummarised == []


def test_another_clients_model_is_not_asked(container: Container, tmp_path: Path) -> None:
    def work() -> None:
        stop(container, tmp_path, "codex")
        assert container.hooks.captures.wait(PATIENCE_SECONDS)

    done = lambda: LINES[0] in note_of(container)  # noqa: E731
    assert asked_over(container, work, done, SUMMARY) == []
    assert HEADING not in note_of(container)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("The mill stays in room 3.", True),
        ("The mill stays in room 77.", False),
        ("We gave the mill to Ada.", False),
        ("Everything went very well and all tests are green.", False),
        ("", False),
    ],
)
def test_a_sentence_is_kept_if_the_lines_hold_its_names_numbers_and_words(
    said: str, kept: bool
) -> None:
    assert bool(supported_sentences(said, LINES)) == kept
