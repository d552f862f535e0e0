"""Two computers with one vault, of which one has a wrong clock, or the journal comes in pieces."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from memvault.curation.proposals import ProposalKind, Proposals
from memvault.curation.quarantine import GONE, Quarantine, QuarantinedText
from memvault.vault import journal_reader
from memvault.vault.frontmatter.properties import memory_of
from memvault.vault.journal import FOLDER, JournalEntry
from memvault.vault.parse import parse_note
from tests.unit.two_computers import (
    BY_CLIENT,
    BY_PERSON,
    FIRST,
    Ahead,
    Computer,
    desktop,
    laptop,
    sync,
)

__all__ = ["desktop", "laptop"]


def test_a_decision_stays_made_though_the_other_computers_clock_is_ahead(
    desktop: Computer, laptop: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = laptop.store("The key hangs in the shed.", "Key")
    note = memory_of(parse_note(path, laptop.vault.read(path)), fallback_time=datetime.now(UTC))

    def proposals(computer: Computer) -> Proposals:
        return Proposals(computer.journal, lambda _: note, lambda _: False)

    with monkeypatch.context() as patch:
        patch.setattr(journal_reader, "datetime", Ahead)
        proposals(laptop).propose(ProposalKind.FORGOTTEN, note, BY_CLIENT.actor, "it is old")
    sync(desktop, laptop)
    (waiting,) = proposals(desktop).waiting()
    proposals(desktop).decide(waiting.key, BY_PERSON.actor)
    sync(desktop, laptop)
    for computer in (desktop, laptop):
        assert proposals(computer).waiting() == []


def test_what_is_gone_or_released_stays_so_though_the_other_computers_clock_is_ahead(
    desktop: Computer, laptop: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def text(key: str) -> QuarantinedText:
        return QuarantinedText(key, "a.md", "", "eve", (), (), False, datetime.now(UTC))

    here, there = Quarantine(desktop.journal), Quarantine(laptop.journal)
    with monkeypatch.context() as patch:
        patch.setattr(journal_reader, "datetime", Ahead)
        there.hold(text("order"))
        there.hold(text("joke"))
        there.release("joke", BY_PERSON.actor)
        there.release("joke", BY_PERSON.actor, back=True)
    sync(desktop, laptop)
    assert len(here.held_texts()) == 2
    for _ in range(3):  # as each time that the note is read
        here.keep_only("a.md", ["joke"])
    here.release("joke", BY_PERSON.actor)
    sync(desktop, laptop)
    for quarantine in (here, there, Quarantine(desktop.journal)):
        assert quarantine.held_texts() == [] and quarantine.is_released("joke")
    assert [entry.kind for entry in desktop.journal.entries()].count(GONE) == 1


def test_an_entry_that_comes_late_to_a_journal_that_is_there_by_half_counts_in_its_order(
    desktop: Computer, laptop: Computer
) -> None:
    laptop.vault.create_at("a.md", FIRST.encode())
    laptop.append("a.md", "The card is green.")
    sync(desktop, laptop)
    laptop.verify("a.md")
    sync(desktop, laptop, "a.md")
    desktop.append("a.md", "The card is red.")
    desktop.origins()
    (own,) = (desktop.vault.root / FOLDER).glob(f"*-{desktop.name}.jsonl")
    whole = own.read_bytes()
    own.write_bytes(b"")
    sync(laptop, desktop, FOLDER.as_posix() + "/" + laptop.journal.files()[0].name)
    desktop.origins()
    own.write_bytes(whole)
    assert [span.first for span in desktop.origins()["a.md"].spans] == [10]


def test_a_start_reads_each_entry_once_though_the_clock_was_set_back(
    desktop: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    desktop.vault.create_at("a.md", FIRST.encode())
    now, actor = datetime.now(UTC), BY_CLIENT.actor
    for hour in (3, 1, 2, 0):
        at = now + timedelta(hours=hour)
        desktop.journal.append(JournalEntry(ts=at, kind="change_begun", actor=actor, path="a.md"))
    read = count()
    parsed = JournalEntry.model_validate_json

    def counting(raw: bytes) -> JournalEntry:
        next(read)
        return parsed(raw)

    monkeypatch.setattr(JournalEntry, "model_validate_json", counting)
    desktop.start()
    desktop.origins()
    assert next(read) == 4
