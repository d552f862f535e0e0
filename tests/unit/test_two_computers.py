"""Two computers with one vault, each with its own copy, which a sync tool keeps alike.

The tool copies whole files, late, in any order, and of a file that changed on both computers it
keeps only the newer one."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from memvault.curation.changes.staging import Staging
from memvault.curation.moved_paths import MovedPaths
from memvault.curation.operations.draft import Draft
from memvault.curation.operations.remember import remember
from memvault.model.change import ChangeKind
from memvault.model.provenance import OriginKind
from memvault.vault.journal import FOLDER
from tests.integration.killed_changes import stepping
from tests.property_examples import slow_property
from tests.unit.two_computers import (
    BY_CLIENT,
    BY_PERSON,
    FIRST,
    PATHS,
    Computer,
    Killed,
    copy,
    desktop,
    laptop,
    sync,
)

__all__ = ["desktop", "laptop"]


def test_no_entry_is_lost_where_the_newer_of_two_files_replaces_the_other(
    desktop: Computer, laptop: Computer
) -> None:
    on_desktop = desktop.store("The key hangs in the shed.", "Key")
    on_laptop = laptop.store("The boat is green.", "Boat")
    sync(desktop, laptop)
    for computer in (desktop, laptop):
        assert len(computer.curator.history.changes()) == 2
        origins = computer.origins()
        assert [origins[path].origin.name for path in (on_desktop, on_laptop)] == ["eve", "eve"]


def test_what_the_person_verified_on_one_computer_is_their_word_on_the_other_after_a_start(
    desktop: Computer, laptop: Computer
) -> None:
    desktop.vault.create_at("a.md", FIRST.encode())
    desktop.append("a.md", "The card is green.")
    sync(desktop, laptop)
    laptop.verify("a.md")
    sync(desktop, laptop)
    for computer in (desktop, laptop):
        assert computer.origins()["a.md"].is_person
        computer.start()
        assert computer.origins()["a.md"].is_person


def test_an_older_entry_that_comes_late_counts_as_if_it_had_come_in_time(
    desktop: Computer, laptop: Computer
) -> None:
    desktop.vault.create_at("a.md", FIRST.encode())
    desktop.append("a.md", "The card is green.")
    sync(desktop, laptop, "a.md")
    laptop.verify("a.md")
    assert laptop.origins()["a.md"].is_person
    sync(desktop, laptop)
    for computer in (desktop, laptop):
        assert computer.origins()["a.md"].is_person
    desktop.append("a.md", "The card is red.")
    sync(desktop, laptop)
    assert [span.first for span in laptop.origins()["a.md"].spans] == [10]


def test_an_older_entry_that_comes_late_counts_in_time_where_another_reader_took_the_newer_one(
    desktop: Computer, laptop: Computer
) -> None:
    """The entries that wait for a reader may have been read for others, at several times."""
    desktop.vault.create_at("a.md", FIRST.encode())
    sync(desktop, laptop)
    assert laptop.curator.moved.inherited_ids() == {}
    desktop.move("a.md", "b.md")
    laptop.move("a.md", "c.md")
    assert len(laptop.curator.history.changes()) == 1
    sync(desktop, laptop)
    assert laptop.curator.moved.inherited_ids() == MovedPaths(laptop.journal).inherited_ids()


def test_a_journal_that_is_there_by_half_for_a_moment_makes_no_clients_word_the_persons(
    desktop: Computer, laptop: Computer
) -> None:
    desktop.vault.create_at("a.md", FIRST.encode())
    desktop.append("a.md", "The card is green.")
    desktop.append("a.md", "The card is red.")
    sync(desktop, laptop)
    assert [span.first for span in laptop.origins()["a.md"].spans] == [5, 7]
    (file,) = laptop.journal.files()
    whole = file.read_bytes()
    for half in (whole[:-3], whole[: len(whole) // 2], whole.partition(b"\n")[0] + b"\n", b""):
        file.write_bytes(half)
        assert [span.first for span in laptop.origins()["a.md"].spans] == [5, 7]
    desktop.append("a.md", "The card is grey.")
    sync(desktop, laptop)
    assert [span.first for span in laptop.origins()["a.md"].spans] == [5, 7, 9]


def test_a_change_that_another_computer_is_making_is_not_reverted(
    desktop: Computer, laptop: Computer
) -> None:
    for name in ("a.md", "b.md"):
        desktop.vault.create_at(name, FIRST.encode())
    sync(desktop, laptop)

    def stage(staging: Staging) -> None:
        for name in ("a.md", "b.md"):
            staging.write(name, FIRST.encode() + b"\nThe card is green.\n")

    def step() -> None:
        is_green = [b"green" in desktop.vault.read(name) for name in ("a.md", "b.md")]
        if is_green == [True, False]:
            sync(desktop, laptop)

    with stepping(step):
        desktop.curator.perform(stage, ChangeKind.EDITED, ("it",), (), BY_CLIENT)
    assert b"green" not in laptop.vault.read("b.md")  # the sync tool came in the middle
    laptop.start()
    sync(desktop, laptop)
    for computer in (desktop, laptop):
        assert all(b"green" in computer.vault.read(name) for name in ("a.md", "b.md"))
        assert [change.kind for change in computer.curator.history.changes()] == ["edited"]


def test_an_interrupted_change_of_this_computer_is_recovered_at_its_start(
    desktop: Computer,
) -> None:
    desktop.vault.create_at("a.md", FIRST.encode())
    steps = count()

    def step() -> None:
        if next(steps) == 6:
            raise Killed

    with pytest.raises(Killed), stepping(step):
        desktop.append("a.md", "The card is green.")
    begun = [change.reversal_hash for change in desktop.curator.history.begun()]
    desktop.start()
    assert begun and [change.reversal_hash for change in desktop.recovered] == begun
    assert desktop.curator.history.begun() == []


def test_a_note_that_a_client_stored_is_the_clients_where_its_history_does_not_come(
    desktop: Computer, laptop: Computer
) -> None:
    path = desktop.store("The key hangs in the shed.", "Key")
    copy(path, desktop, laptop)
    assert laptop.origins()[path].origin.name == "eve"
    laptop.append(path, "The key is red.")
    assert {span.origin.name for span in laptop.origins()[path].spans} == {"eve"}
    assert laptop.origins()[path].own == ""
    again = laptop.vault.read(path).replace(b"source: eve", b"source: me")

    def set_source(staging: Staging) -> None:
        staging.write(path, again)

    laptop.curator.perform(set_source, ChangeKind.EDITED, ("it",), (), BY_CLIENT)
    assert laptop.origins()[path].own == ""
    sync(desktop, laptop, ".memvault")
    assert laptop.origins()[path].origin.name == "eve"


def test_the_person_verifies_a_note_whose_history_does_not_come(
    desktop: Computer, laptop: Computer
) -> None:
    path = desktop.store("The key hangs in the shed.", "Key")
    copy(path, desktop, laptop)
    laptop.verify(path)
    assert laptop.origins()[path].is_person
    undone = laptop.curator.undo([laptop.curator.history.changes()[0].reversal_hash], BY_PERSON)
    assert undone.change is not None and laptop.origins()[path].origin.name == "eve"


def test_an_imported_conversation_is_no_word_of_the_persons_where_its_history_does_not_come(
    laptop: Computer,
) -> None:
    talk = "---\nid: {}\nlifecycle: ephemeral\nsource: claude\nconversation: u-1\n---\n\n**Claude:** It is green.\n"
    laptop.vault.create_at("a.md", talk.format("0b9c9f0e-3c56-4b0e-9d5e-6f1a8f6f3a11").encode())
    assert laptop.origins()["a.md"].origin.kind is OriginKind.IMPORT


def test_a_clients_line_is_the_clients_in_the_copy_that_a_sync_tool_makes_at_a_conflict(
    desktop: Computer,
) -> None:
    desktop.vault.create_at("permanent/preferences.md", b"# Preferences\n")
    desktop.append("permanent/preferences.md", "- Tone: dry")
    copied = "permanent/preferences.sync-conflict-20260102-101112-ABCDEFG.md"
    desktop.vault.create_at(copied, desktop.vault.read("permanent/preferences.md") + b"- Mine: 1\n")
    assert [span.origin.name for span in desktop.origins()[copied].spans] == ["eve"]
    assert "mine 1" in desktop.origins()[copied].own


def test_a_note_of_the_persons_own_may_have_a_source(laptop: Computer) -> None:
    own = "---\nid: 0b9c9f0e-3c56-4b0e-9d5e-6f1a8f6f3a11\nsource: a book\n---\nIt is green.\n"
    laptop.vault.create_at("a.md", own.encode())
    laptop.vault.create_at("b.md", b"---\nsource: Ada\nrationale: kept for May\n---\nIt is red.\n")
    assert all(origin.is_person for origin in laptop.origins().values())


def test_what_other_programs_note_of_a_source_makes_nothing_a_clients(laptop: Computer) -> None:
    clipped = (
        "---\nid: 0b9c9f0e-3c56-4b0e-9d5e-6f1a8f6f3a11\nsource: Kindle\nimported: 2026-01-02\n"
        "rationale: for the talk\n---\nIt is green.\n"
    )
    laptop.vault.create_at("a.md", clipped.encode())
    assert laptop.origins()["a.md"].is_person


def test_a_note_that_a_client_stored_without_a_source_is_the_clients(
    desktop: Computer, laptop: Computer
) -> None:
    draft = Draft.checked(
        content="The key hangs in the shed.", title="Key", rationale="asked to keep this",
        client="eve", metadata={"source": None},
    )  # fmt: skip
    path = remember(desktop.curator, draft).result.path
    copy(path, desktop, laptop)
    assert laptop.origins()[path].origin.kind is OriginKind.CLIENT


class TwoComputers(RuleBasedStateMachine):
    """What a running engine knows from a journal that came in pieces is what a new one reads."""

    @initialize()
    def begin(self) -> None:
        self._home = TemporaryDirectory()
        home = Path(self._home.name)
        self.computers = [Computer(home / "desktop", "d1"), Computer(home / "laptop", "a2")]
        self.number = 0
        for path in PATHS:
            self.computers[0].vault.create_at(path, FIRST.encode())
        sync(*self.computers)

    def teardown(self) -> None:
        if hasattr(self, "computers"):
            self.everything_arrives()
            self._home.cleanup()

    def word(self) -> str:
        self.number += 1
        return f"The number {self.number} is that of the card {self.number}."

    @rule(on=st.integers(0, 1), path=st.sampled_from(PATHS))
    def client_adds(self, on: int, path: str) -> None:
        self.computers[on].append(path, self.word())

    @rule(on=st.integers(0, 1), path=st.sampled_from(PATHS))
    def person_verifies(self, on: int, path: str) -> None:
        self.computers[on].verify(path)

    @rule(on=st.integers(0, 1), path=st.sampled_from(PATHS))
    def person_writes(self, on: int, path: str) -> None:
        file = self.computers[on].vault.root / path
        file.write_bytes(file.read_bytes() + f"\n{self.word()}\n".encode())

    @rule(on=st.integers(0, 1), change=st.integers(0, 4))
    def undo(self, on: int, change: int) -> None:
        curator = self.computers[on].curator
        changes = [each for each in curator.history.changes() if each.undone_by is None]
        if changes:
            curator.undo([changes[change % len(changes)].reversal_hash], BY_PERSON)

    @rule(wanted=st.sampled_from(["", FOLDER.as_posix(), *PATHS]), read=st.booleans())
    def some_files_arrive(self, wanted: str, read: bool) -> None:
        sync(*self.computers, wanted)
        if read:
            for computer in self.computers:
                computer.origins()

    @rule()
    def everything_arrives(self) -> None:
        for _ in range(3):  # recognising notes appends entries
            sync(*self.computers)
            live = [computer.origins() for computer in self.computers]
        new = [Computer(each.vault.root, each.name) for each in self.computers]
        histories = [each.curator.history.changes(limit=None) for each in (*self.computers, *new)]
        assert all(history == histories[0] for history in histories)
        assert [each.origins() for each in new] == live
        assert live[0] == live[1]


TestTwoComputers = TwoComputers.TestCase
TestTwoComputers.settings = settings(slow_property(20), stateful_step_count=12)
