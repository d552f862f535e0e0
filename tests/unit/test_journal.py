from __future__ import annotations

import json
import operator
import os
import shutil
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from memvault.model.errors import OutsideVault, StorageError
from memvault.vault.files import Vault
from memvault.vault.journal import Actor, Journal, JournalEntry
from tests.forks import forks_of
from tests.integration.killed_changes import stepping

posix_only = pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def entry(number: int = 0, ts: datetime = NOON) -> JournalEntry:
    return JournalEntry(
        ts=ts, kind="created", actor=Actor(kind="client", name="x"), data={"n": number}
    )


def append_many(root: str, first: int, count: int) -> None:
    journal = Journal(Vault(Path(root)))
    for number in range(first, first + count):
        journal.append(entry(number))


def test_entries_come_back_as_they_went_in(tmp_path: Path) -> None:
    journal = Journal(Vault(tmp_path))
    written = [
        entry(1),
        JournalEntry(
            ts=NOON,
            kind="preference_set",
            actor=Actor(kind="person", name="Åsa\n\u2028"),
            note_id="i",
            path="a/b.md",
            rationale="since it is so",
            before={"a": [1, None]},
            after="two\nlines",
        ),
    ]
    for each in written:
        journal.append(each)
    assert list(Journal(Vault(tmp_path)).entries()) == written


def test_each_month_in_utc_has_its_file_and_the_oldest_is_read_first(tmp_path: Path) -> None:
    journal = Journal(Vault(tmp_path))
    journal.append(entry(2, NOON))
    journal.append(entry(1, NOON - timedelta(days=40)))
    names = [file.name for file in journal.files()]
    assert names == ["2026-01.jsonl", "2026-03.jsonl"]
    assert [each.data["n"] for each in journal.entries()] == [1, 2]


def test_a_line_torn_by_a_crash_is_reported_and_kept_and_the_next_entry_is_whole(
    tmp_path: Path,
) -> None:
    journal = Journal(Vault(tmp_path))
    journal.append(entry(1))
    file = journal.files()[0]
    with file.open("ab") as stream:
        stream.write(b'{"ts":"2026-03-01T1')
    assert [each.data["n"] for each in journal.entries()] == [1]
    assert [(torn.line, torn.text) for torn in journal.torn_lines()] == [(2, '{"ts":"2026-03-01T1')]
    journal.append(entry(2))
    assert [each.data["n"] for each in journal.entries()] == [1, 2]
    assert len(journal.torn_lines()) == 1
    assert b'{"ts":"2026-03-01T1\n' in file.read_bytes()


def test_a_last_entry_that_lacks_only_its_line_end_counts(tmp_path: Path) -> None:
    journal = Journal(Vault(tmp_path))
    journal.append(entry(1))
    file = journal.files()[0]
    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    journal.append(entry(2))
    assert [each.data["n"] for each in journal.entries()] == [1, 2]
    assert journal.torn_lines() == []


def test_a_sync_tools_conflicted_copy_adds_what_only_it_has(tmp_path: Path) -> None:
    journal = Journal(Vault(tmp_path))
    journal.append(entry(1))
    file = journal.files()[0]
    extra = entry(2).model_dump_json().encode() + b"\n"
    (file.parent / "2026-03 (conflicted copy).jsonl").write_bytes(file.read_bytes() + extra)
    assert sorted(each.data["n"] for each in journal.entries()) == [1, 2]


def test_threads_and_processes_append_at_once_without_mixing_lines(tmp_path: Path) -> None:
    forks = forks_of(__name__)
    processes = [
        forks.Process(target=append_many, args=(str(tmp_path), 1000 * each, 25)) for each in (1, 2)
    ]
    threads = [
        threading.Thread(target=append_many, args=(str(tmp_path), 100_000 * each, 25))
        for each in (1, 2)
    ]
    for worker in [*processes, *threads]:
        worker.start()
    for worker in [*processes, *threads]:
        worker.join()
    journal = Journal(Vault(tmp_path))
    assert len({each.data["n"] for each in journal.entries()}) == 100
    assert journal.torn_lines() == []


def test_a_journal_folder_that_links_out_of_the_vault_is_refused(tmp_path: Path) -> None:
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    vault.mkdir()
    outside.mkdir()
    try:
        (vault / ".memvault").symlink_to(outside, target_is_directory=True)
    except OSError:
        pytest.skip("links need rights here")
    with pytest.raises(OutsideVault):
        Journal(Vault(vault)).append(entry())
    assert list(outside.rglob("*.jsonl")) == []


def test_a_journal_whose_folder_is_a_file_is_neither_empty_nor_written(tmp_path: Path) -> None:
    (tmp_path / ".memvault").mkdir()
    (tmp_path / ".memvault" / "journal").write_text("not a folder")
    journal = Journal(Vault(tmp_path))
    for use in (
        lambda: list(journal.entries()),
        lambda: journal.entries_after({}),
        lambda: journal.append(entry()),
    ):
        with pytest.raises(StorageError, match=r"\.memvault/journal"):
            use()


@posix_only
@pytest.mark.parametrize("closed", ["journal", "journal/2026-03.jsonl"])
def test_a_journal_that_may_be_written_but_not_read_takes_no_entry(closed: str) -> None:
    code = (
        "import os, sys; from pathlib import Path; from tests.unit.test_journal import *\n"
        "os.getuid() or os.setuid(65534)\n"
        "journal = Journal(Vault(Path(sys.argv[1])))\n"
        "for use in (lambda: list(journal.entries()), lambda: journal.entries_after({}),\n"
        "            lambda: journal.append(entry(2))):\n"
        "    try: use()\n"
        "    except StorageError as error: print(error.message.partition(':')[0])\n"
    )
    # Not in tmp_path: another pytest that starts closes its parent folder to other users again.
    with TemporaryDirectory() as folder:
        root = Path(folder)
        Journal(Vault(root)).append(entry(1))
        for path in (root, *root.rglob("*")):
            path.chmod(0o777)
        (root / ".memvault" / closed).chmod(0o333)
        try:
            out = subprocess.run(
                [sys.executable, "-c", code, folder], capture_output=True, text=True, check=False
            )
        finally:
            (root / ".memvault" / closed).chmod(0o777)
        assert out.stdout.count(".memvault/journal") == 3, out.stdout + out.stderr
        assert [each.data["n"] for each in Journal(Vault(root)).entries()] == [1]


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="timezone"):
        entry(ts=datetime(2026, 3, 1))


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=50)
@given(json_values)
def test_any_json_value_survives_a_line_of_the_journal(value: object) -> None:
    line = JournalEntry(ts=NOON, kind="k", actor=Actor(kind="system"), before=value)
    text = line.model_dump_json()
    assert "\n" not in text
    assert JournalEntry.model_validate_json(text) == line
    assert json.loads(text)["before"] == value


class Killed(BaseException):
    """Ends the work as a kill of the process would."""


class Compressed(RuleBasedStateMachine):
    """Months are compressed, cut off, written to late, copied and deleted by sync tools; whoever
    follows the journal misses nothing."""

    @initialize()
    def begin(self) -> None:
        self.home = TemporaryDirectory()
        self.vault = Vault(Path(self.home.name))
        self.journal, self.now = Journal(self.vault), NOON
        self.written: list[int] = []
        self.followed: dict[int, int] = {}  # how often each was read
        self.follower = self.journal.follow()
        self.is_odd = False  # a clock was set back, or a sync tool made a copy

    @rule(count=st.integers(1, 4), days=st.integers(0, 20))
    def append(self, count: int, days: int) -> None:
        self.now += timedelta(days=days)
        for _ in range(count):
            self.written.append(len(self.written))
            self.journal.append(entry(self.written[-1], self.now))

    @rule(days=st.integers(20, 80))
    def append_late(self, days: int) -> None:
        self.is_odd = True
        self.written.append(len(self.written))
        self.journal.append(entry(self.written[-1], self.now - timedelta(days=days)))

    @rule(steps=st.sampled_from([*range(6), 100, 100, 100]))
    def compress(self, steps: int) -> None:
        left = iter(range(steps))

        def step() -> None:
            if next(left, None) is None:
                raise Killed

        try:
            with stepping(step):
                for saved in Journal(self.vault).compress(self.now):
                    assert saved >= 0
        except Killed:
            self.follow(anew=True)

    @rule(at=st.integers(0, 9))
    def sync_tool_copies(self, at: int) -> None:
        self.is_odd = True
        if files := self.journal.files():
            file = files[at % len(files)]
            shutil.copy(file, file.with_name(f"{file.stem} (copy){file.suffix}"))

    @rule(anew=st.booleans())
    def follow(self, anew: bool) -> None:
        if anew:
            self.followed, self.journal = {}, Journal(self.vault)
            self.follower = self.journal.follow()
        entries = list(chain(*self.journal.new_entries(self.follower)))
        for each in entries:
            number = each.data["n"]
            self.followed[number] = self.followed.get(number, 0) + 1
        assert set(self.followed) == set(self.written)
        assert self.is_odd or set(self.followed.values()) <= {1}
        assert self.is_odd or [each.data["n"] for each in entries] == sorted(
            each.data["n"] for each in entries
        )

    @invariant()
    def nothing_is_lost(self) -> None:
        if hasattr(self, "journal"):
            assert sorted(e.data["n"] for e in Journal(self.vault).entries()) == self.written
            assert self.journal.torn_lines() == []

    def teardown(self) -> None:
        if hasattr(self, "home"):
            self.home.cleanup()


TestCompressed = Compressed.TestCase
TestCompressed.settings = settings(max_examples=20, stateful_step_count=12, deadline=None)


def test_followers_of_a_journal_share_one_reading_and_each_gets_its_kinds_once(
    tmp_path: Path,
) -> None:
    journal = Journal(Vault(tmp_path))
    follower, other, of_pulses = journal.follow(), journal.follow(), journal.follow(("pulse",))
    pulse = JournalEntry(ts=NOON, kind="pulse", actor=Actor(kind="system"))
    journal.append(entry(1))
    journal.append(pulse)
    (read,) = journal.new_entries(follower)
    assert [each.kind for each in read] == ["created", "pulse"]
    assert all(map(operator.is_, read, journal.new_entries(other)[0]))
    assert journal.new_entries(of_pulses) == [[pulse]]
    late = journal.follow()
    assert journal.new_entries(late) == [read]
    journal.append(entry(2))
    for each in (late, follower):
        assert [[new.data["n"] for new in read] for read in journal.new_entries(each)] == [[2]]
    assert journal.new_entries(of_pulses) == []


def test_each_computer_has_its_files_and_all_are_read_in_the_order_of_their_times(
    tmp_path: Path,
) -> None:
    vault = Vault(tmp_path)
    old, desktop, laptop = Journal(vault), Journal(vault, writer="d1"), Journal(vault, writer="a2")
    for number, journal in enumerate((old, desktop, laptop, desktop, laptop)):
        journal.append(entry(number, NOON + timedelta(minutes=number)))
    names = ["2026-03-a2.jsonl", "2026-03-d1.jsonl", "2026-03.jsonl"]
    assert [file.name for file in desktop.files()] == names
    assert [each.data["n"] for each in laptop.entries_after({})[0]] == [0, 1, 2, 3, 4]
    assert len(list(desktop.compress(NOON + timedelta(days=40)))) == 2
    assert [file.name for file in desktop.files()] == [names[0], names[1] + ".gz", names[2] + ".gz"]
    assert [each.data["n"] for each in laptop.entries_after({})[0]] == [0, 1, 2, 3, 4]


def test_a_damaged_compressed_month_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    journal = Journal(Vault(tmp_path))
    for number in range(200):
        journal.append(entry(number))
    journal.append(entry(200, NOON + timedelta(days=40)))
    assert sum(journal.compress(NOON + timedelta(days=40))) > 0
    file, _ = journal.files()
    assert file.name == "2026-03.jsonl.gz"
    file.write_bytes(file.read_bytes()[:-60])
    assert [each.data["n"] for each in journal.entries()][-1] == 200
    (torn,) = journal.torn_lines()
    assert torn.path.endswith("2026-03.jsonl.gz") and "damaged" in torn.text
    entries, marks = journal.entries_after({})
    assert entries[-1].data["n"] == 200 and journal.entries_after(marks)[0] == []
