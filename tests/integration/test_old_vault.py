"""A vault that memvault has served for years: what grows with its notes does not grow with both
its notes and the months of its journal."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from mcp_server.runtime.container import Container
from memvault.capture.extract import extract
from memvault.capture.session_note import CapturedSession, new_note
from memvault.capture.transcripts import TranscriptTurn
from memvault.curation.tasks.finder import MAX_OF_KIND
from memvault.model.change import TaskType
from memvault.vault.journal import Journal
from tests.integration.small_vault import opened
from tests.waiting import PATIENCE_SECONDS

DECISIONS = {  # by the age of their sessions in days
    0: "tar the blue boat in May",
    29: "ask the bank for another loan",
    31: "teach the choir a song by Schubert",
    300: "plant leeks behind the school",
}


def capture(container: Container, place: str, decision: str, at: datetime) -> str:
    """Write the note of a session that decided this; returns its path."""
    said = TranscriptTurn("person", f"We decided to {decision}.", at)
    session = CapturedSession("codex", f"{place} {at}", f"/srv/{place}", None)
    note = new_note(session, list(extract([said])), [], at)
    assert note is not None
    path = container.vault.root / note[0]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(note[1])
    return note[0]


def looks_at_the_journal(monkeypatch: pytest.MonkeyPatch, does: Callable[[], object]) -> int:
    """How often its files are compared with what was read of them."""
    sizes, looks = Journal.sizes, [0]

    def counted(journal: Journal) -> dict[str, int]:
        looks[0] += 1
        return sizes(journal)

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "sizes", counted)
        does()
    return looks[0]


def test_a_scan_looks_at_the_journal_as_often_whether_a_vault_has_few_notes_or_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    for number in (3, 40):
        notes = {f"Boat {each}.md": f"Boat {each} has a mast.\n" for each in range(number)}
        container = opened(tmp_path, notes, f"vault of {number}")
        looks.append(looks_at_the_journal(monkeypatch, container.indexing.scan))
        container.close()
    assert looks[0] == looks[1]


def test_the_decisions_of_old_sessions_are_neither_asked_about_nor_read_at_a_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    container = opened(tmp_path, {"Boat.md": "The boat has a mast.\n"})
    try:
        paths = [
            capture(container, "yard", decision, container.now() - timedelta(days=days))
            for days, decision in DECISIONS.items()
        ]
        container.indexing.scan()
        vault, read = container.live.indexer.vault, set[str]()
        monkeypatch.setattr(
            vault, "read", lambda path, of=vault.read: (read.add(path), of(path))[1]
        )
        container.curation.start()
        assert container.curation.wait(PATIENCE_SECONDS)
        tasks = container.curation.open_tasks()
        asked = {task.paths[0] for task in tasks if task.task_type is TaskType.PROMOTION}
        assert asked == set(paths[:2])
        assert read.isdisjoint(paths[2:])
    finally:
        container.close()


def test_of_the_sessions_of_one_day_the_person_is_asked_about_the_latest_wherever_they_were(
    tmp_path: Path,
) -> None:
    container = opened(tmp_path, {"Boat.md": "The boat has a mast.\n"})
    try:
        began = container.now() - timedelta(hours=1)
        places = [f"{letter}-yard" for letter in "zyxwvutsrq"]  # the last by name are the first
        paths = [
            capture(container, place, f"paint boat {number}", began + timedelta(minutes=number))
            for number, place in enumerate(places)
        ]
        container.indexing.scan()
        container.curation.start()
        assert container.curation.wait(PATIENCE_SECONDS)
        tasks = container.curation.tasks()
        asked = {task.paths[0] for task in tasks if task.task_type is TaskType.PROMOTION}
        assert asked == set(paths[-MAX_OF_KIND:])
    finally:
        container.close()
