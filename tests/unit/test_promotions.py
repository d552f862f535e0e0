"""Decisions of captured sessions are proposed to the person, until a note keeps them."""

from __future__ import annotations

from datetime import UTC, datetime

from memvault.capture.extract import extract
from memvault.capture.session_note import CapturedSession, new_note
from memvault.capture.transcripts import TranscriptTurn
from memvault.curation.tasks.note_tasks import promotion
from memvault.model.memory import Memory
from memvault.vault.frontmatter.properties import memory_of
from memvault.vault.parse import parse_note
from memvault.vault.session_lines import is_captured

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
SAID = "We decided to use [[DuckDB]] for reports because it reads Parquet. I prefer short answers."


def captured(text: str) -> tuple[Memory, bytes]:
    session = CapturedSession("codex", "s-1", "/srv/aurora", "aurora")
    composed = new_note(session, list(extract([TranscriptTurn("person", text, NOW)])), [], NOW)
    assert composed is not None
    path, data = composed
    return memory_of(parse_note(path, data), fallback_time=NOW), data


def test_each_decision_and_preference_is_proposed_as_it_was_said() -> None:
    memory, data = captured(SAID)
    assert is_captured(memory)
    task = promotion(memory, data, [])
    assert task is not None
    contents = {call.arguments["content"]: call.arguments["type"] for call in task.settled_by}
    assert contents == {
        "We decided to use [[DuckDB]] for reports because it reads Parquet.": "decision",
        "I prefer short answers.": "preference",
    }
    assert all(call.arguments["link_to"] == [memory.id] for call in task.settled_by)


def test_what_a_linking_note_keeps_is_proposed_no_more() -> None:
    memory, data = captured(SAID)
    kept = b"We decided to use [[DuckDB]] for reports because it reads Parquet.\n"
    task = promotion(memory, data, [kept])
    assert task is not None and len(task.settled_by) == 1
    assert promotion(memory, data, [kept + b"I prefer short answers.\n"]) is None


def test_a_session_without_decisions_proposes_nothing() -> None:
    assert promotion(*captured("I moved to Bergen in May."), []) is None
