"""How memories are used is counted at once, kept soon, and never lost for long."""

from __future__ import annotations

import shutil
import threading
import time
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from memvault.cognition.activity import CHECKPOINT, NAMESPACE, Activity
from memvault.model.errors import UnknownFormat
from memvault.model.memory import UTLState
from memvault.stores.keyvalue.sqlite import SqliteKeyValueStore
from memvault.vault.files import Vault
from memvault.vault.journal import Actor, Journal, JournalEntry
from tests.forks import forks_of
from tests.timing import seconds_of

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
STATE = UTLState(delta_s=0.25, delta_c=0.75, w_e=1.0, phi=0.0)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


class Desk:
    """A vault, its state, and the activity as one process after the other opens it."""

    def __init__(self, home: Path) -> None:
        self.vault, self.state = home / "vault", home / "state"
        self.vault.mkdir()
        self.clock = Clock()
        self.journal = Journal(Vault(self.vault))
        self._opened: list[tuple[Activity, SqliteKeyValueStore]] = []

    def open(self) -> Activity:
        self.state.mkdir(exist_ok=True)
        store = SqliteKeyValueStore(self.state / "keyvalue.sqlite")
        activity = Activity(store, self.journal, self.clock)
        self._opened.append((activity, store))
        return activity

    @property
    def store(self) -> SqliteKeyValueStore:
        return self._opened[-1][1]

    def close(self) -> None:
        while self._opened:
            activity, store = self._opened.pop()
            activity.close()
            store.close()

    def checkpoints(self) -> list[JournalEntry]:
        return [entry for entry in self.journal.entries() if entry.kind == CHECKPOINT]


@pytest.fixture
def desk(tmp_path):
    one = Desk(tmp_path)
    yield one
    one.close()


def test_a_memory_is_counted_once_a_call_and_remembers_when(desk):
    activity = desk.open()
    activity.accessed(["a", "b", "a"])
    desk.clock.now += timedelta(minutes=5)
    activity.accessed(["a"])
    assert activity.of("a").access_count == 2
    assert activity.of("a").last_accessed == START + timedelta(minutes=5)
    assert (activity.of("b").access_count, activity.of("b").last_accessed) == (1, START)
    assert (activity.of("c").access_count, activity.of("c").last_accessed) == (0, None)
    assert set(activity.all()) == {"a", "b"}


def test_many_threads_count_every_access(desk):
    activity = desk.open()

    def read() -> None:
        for _ in range(500):
            activity.accessed(["a", "b"])

    threads = [threading.Thread(target=read) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert activity.of("a").access_count == activity.of("b").access_count == 4_000


def test_an_access_costs_microseconds(desk):
    activity = desk.open()
    ids = [f"memory {number}" for number in range(10)]
    assert seconds_of(lambda: activity.accessed(ids), times=200) < 0.0005


def test_counts_come_back_after_the_process_ended_well(desk):
    activity = desk.open()
    activity.accessed(["a"])
    activity.stored("a", "some client", STATE)
    desk.close()
    found = desk.open().of("a")
    assert (found.access_count, found.agent_id, found.utl_state) == (1, "some client", STATE)


def test_counts_come_back_when_the_state_folder_is_lost(desk):
    activity = desk.open()
    activity.accessed(["a"])
    activity.accessed(["a", "b"])
    activity.stored("b", "some client", STATE)
    desk.close()
    shutil.rmtree(desk.state)
    again = desk.open()
    assert again.of("a").access_count == 2 and again.of("a").last_accessed == START
    assert (again.of("b").access_count, again.of("b").utl_state) == (1, STATE)
    again.accessed(["a"])
    desk.close()
    shutil.rmtree(desk.state)
    assert desk.open().of("a").access_count == 3


def test_a_memory_stored_again_keeps_who_stored_it_first(desk):
    activity = desk.open()
    activity.stored("a", "first", STATE)
    activity.stored("a", "second", UTLState())
    assert (activity.of("a").agent_id, activity.of("a").utl_state) == ("first", STATE)


def test_the_journal_records_only_counts_that_changed_since_the_last_entry(desk):
    activity = desk.open()
    activity.accessed(["a", "b"])
    activity.checkpoint()
    activity.accessed(["b"])
    activity.checkpoint()
    activity.checkpoint()
    desk.close()
    recorded = [entry.data["memories"] for entry in desk.checkpoints()]
    assert [set(each) for each in recorded] == [{"a", "b"}, {"b"}]
    assert recorded[1]["b"] == {"access_count": 2, "last_accessed": "2026-03-01T12:00:00Z"}


def test_a_process_that_read_nothing_writes_nothing_to_the_journal(desk):
    desk.open()
    desk.close()
    desk.open()
    desk.close()
    assert not (desk.vault / ".memvault").exists()


def test_counts_are_journalled_at_most_once_an_hour_while_the_engine_runs(desk):
    activity = desk.open()

    def use_and_wait() -> None:
        wanted = activity.of("a").access_count + 1
        activity.accessed(["a"])
        activity.write()
        assert f'"access_count":{wanted}' in (desk.store.get(NAMESPACE, "a") or b"").decode()

    use_and_wait()
    desk.clock.now += timedelta(minutes=59)
    use_and_wait()
    assert desk.checkpoints() == []
    desk.clock.now += timedelta(minutes=1)
    use_and_wait()
    assert desk.checkpoints()
    desk.clock.now += timedelta(minutes=30)
    use_and_wait()
    assert len(desk.checkpoints()) == 1


def test_counts_of_a_killed_process_are_journalled_by_the_next_one(desk):
    activity = desk.open()
    activity.accessed(["a"])
    activity.flush()  # and then it is killed
    desk.store.close()
    desk._opened.clear()
    desk.open()
    desk.close()
    assert [set(entry.data["memories"]) for entry in desk.checkpoints()] == [{"a"}]


def _count_until_killed(home: Path, told: Connection) -> None:
    desk = Desk.__new__(Desk)
    desk.vault, desk.state, desk.clock = home / "vault", home / "state", Clock()
    desk.journal, desk._opened = Journal(Vault(desk.vault)), []
    activity = desk.open()
    flush = activity.flush

    def tell() -> None:
        before = activity.of("a").access_count
        flush()
        told.send(before)

    activity.flush = tell  # type: ignore[method-assign]
    while True:
        for _ in range(20):
            activity.accessed(["a"])
            time.sleep(0.001)
        activity.write()


def test_a_killed_process_loses_only_what_it_counted_since_it_last_wrote(desk, tmp_path):
    forks = forks_of(__name__)
    reached = 0
    for _ in range(3):
        theirs, ours = forks.Pipe(duplex=False)
        child = forks.Process(target=_count_until_killed, args=(tmp_path, ours))
        child.start()
        ours.close()
        for _ in range(3):
            reached = theirs.recv()
        child.kill()
        child.join()
        while True:
            try:
                reached = theirs.recv()
            except EOFError:
                break
        found = desk.open().of("a").access_count
        desk.close()
        assert found >= reached > 0


def test_a_fresh_generation_takes_over_what_the_old_one_knew(desk, tmp_path):
    activity = desk.open()
    activity.accessed(["a"])
    activity.checkpoint()
    activity.accessed(["b"])
    fresh = SqliteKeyValueStore(tmp_path / "fresh.sqlite")
    activity.move_to(fresh)
    desk.store.close()
    activity.accessed(["a"])
    activity.close()
    desk._opened.clear()
    again = Activity(fresh, desk.journal, desk.clock)
    assert (again.of("a").access_count, again.of("b").access_count) == (2, 1)
    again.close()
    fresh.close()
    recorded = [set(entry.data["memories"]) for entry in desk.checkpoints()]
    assert recorded == [{"a"}, {"a", "b"}]


def test_a_damaged_old_generation_does_not_keep_the_fresh_one_from_taking_over(desk, tmp_path):
    activity = desk.open()
    activity.accessed(["a"])
    desk.store.close()  # it no longer answers
    fresh = SqliteKeyValueStore(tmp_path / "fresh.sqlite")
    activity.move_to(fresh)
    activity.close()
    desk._opened.clear()
    assert Activity(fresh, desk.journal, desk.clock).of("a").access_count == 1
    fresh.close()


def test_counting_goes_on_while_the_store_does_not_answer(desk, caplog):
    activity = desk.open()
    desk.store.close()
    activity.accessed(["a"])
    activity.flush()
    activity.accessed(["a"])
    assert activity.of("a").access_count == 2
    assert "not written yet" in caplog.text


def test_a_vault_that_is_gone_is_not_made_again_by_the_last_checkpoint(desk, caplog):
    activity = desk.open()
    activity.accessed(["a"])
    desk.vault.rename(desk.vault.with_name("unplugged"))
    desk.close()
    assert not desk.vault.exists()
    assert "not in the journal yet" in caplog.text
    desk.vault.with_name("unplugged").rename(desk.vault)
    desk.open()
    desk.close()
    assert [set(entry.data["memories"]) for entry in desk.checkpoints()] == [{"a"}]


def test_two_accounts_of_one_memory_become_the_later_one(desk):
    """Two machines that share a vault write journals of their own, and sync joins them."""
    for count, day in ((7, 2), (3, 3)):
        desk.journal.append(
            JournalEntry(
                ts=START + timedelta(days=day),
                kind=CHECKPOINT,
                actor=Actor(kind="system"),
                data={
                    "format": 2,
                    "memories": {
                        "a": {"access_count": count, "last_accessed": f"2026-03-0{day}T00:00:00Z"}
                    },
                },
            )
        )
    found = desk.open().of("a")
    assert (found.access_count, found.last_accessed) == (7, datetime(2026, 3, 3, tzinfo=UTC))


def test_a_journal_that_somebody_edited_is_read_as_far_as_it_can_be(desk):
    for data in ({}, {"format": "x", "memories": {"a": {}}}, {"format": 2, "memories": [1]},
                 {"format": 2, "memories": {"a": {"access_count": -1}, "b": {"access_count": 5}}},
                 {"format": 9, "memories": {"c": {"access_count": 1}}}):  # fmt: skip
        desk.journal.append(
            JournalEntry(ts=START, kind=CHECKPOINT, actor=Actor(kind="system"), data=data)
        )
    activity = desk.open()
    assert activity.of("b").access_count == 5
    assert activity.of("a").access_count == activity.of("c").access_count == 0


def test_what_a_newer_memvault_wrote_is_an_error_with_its_id_and_is_not_overwritten(desk):
    desk.open().close()
    desk.store.put(NAMESPACE, "a", b'9 {"access_count":1000}')
    desk.store.put(NAMESPACE, "b", b"nonsense")
    desk.store.put(NAMESPACE, "c", b'1 {"access_count":3}')
    activity = Activity(desk.store, desk.journal, desk.clock)
    activity.accessed(["a", "b", "c"])
    activity.stored("a", "some client", STATE)
    with pytest.raises(UnknownFormat, match="memory a has format version 9"):
        activity.of("a")
    assert (activity.of("b").access_count, activity.of("c").access_count) == (1, 4)
    activity.close()
    assert desk.store.get(NAMESPACE, "a") == b'9 {"access_count":1000}'


def test_two_processes_that_count_at_once_lose_nothing_of_each_other(desk):
    one = desk.open()
    other = Activity(desk.store, desk.journal, desk.clock)

    def use(activity: Activity) -> None:
        for _ in range(30):
            activity.accessed(["a", "b"])
            activity.flush()

    threads = [threading.Thread(target=use, args=(each,)) for each in (one, other)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    later = Activity(desk.store, desk.journal, desk.clock)
    assert (later.of("a").access_count, later.of("b").access_count) == (60, 60)
    one.accessed(["a"])
    one.flush()
    assert one.of("a").access_count == 61  # what the other counted is known by now


def test_a_journal_has_the_counts_of_every_process(desk):
    one = desk.open()
    other = Activity(desk.store, desk.journal, desk.clock)
    one.accessed(["a"])
    for _ in range(4):
        other.accessed(["a"])
    other.stored("a", "some client", STATE)
    one.flush()
    other.flush()
    one.checkpoint()
    (entry,) = desk.checkpoints()
    assert entry.data["memories"]["a"]["access_count"] == 5
    assert entry.data["memories"]["a"]["agent_id"] == "some client"


def test_a_store_that_comes_back_with_less_is_given_what_is_known(desk):
    activity = desk.open()
    for _ in range(7):
        activity.accessed(["a"])
    activity.flush()
    desk.store.delete(NAMESPACE, [key for key, _ in desk.store.items(NAMESPACE)])
    activity.accessed(["a"])
    activity.flush()
    assert Activity(desk.store, desk.journal, desk.clock).of("a").access_count == 8
