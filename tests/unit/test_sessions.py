"""Sessions: begun by their first call, apart from each other, ended by a day of silence."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.cognition import sessions as module
from memvault.cognition.sessions import WORKING_SET, Session, Sessions
from memvault.config.settings import Settings, user_id
from memvault.model.errors import SessionNotFound
from memvault.model.search import VerbosityLevel

START = datetime(2026, 3, 1, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, **time: float) -> None:
        self.now += timedelta(**time)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sessions(clock: Clock) -> Sessions:
    return Sessions("ada", timedelta(hours=24), clock)


def test_a_session_begins_with_the_first_call_that_names_it(sessions, clock):
    with pytest.raises(SessionNotFound):
        sessions.get("a")
    session = sessions.touch("a", "an editor")
    assert (session.id, session.user_id, session.client) == ("a", "ada", "an editor")
    assert session.created == session.last_activity == START
    assert session.verbosity is VerbosityLevel.TEXT_AND_IDS and session.working_set == []
    clock.pass_by(hours=1)
    assert sessions.touch("a") is session
    assert session.created == START and session.last_activity == START + timedelta(hours=1)
    assert session.client == "an editor"


def test_a_session_ends_after_a_day_without_a_call_and_stays_ended(sessions, clock):
    sessions.touch("a")
    clock.pass_by(hours=24)
    sessions.touch("a")
    clock.pass_by(hours=24, seconds=1)
    for ask in (sessions.get, sessions.touch, sessions.touch):
        with pytest.raises(SessionNotFound, match=r"^Session expired or not found") as caught:
            ask("a")
        assert caught.value.data == {"session_id": "a"}
    assert sessions.touch("b").id == "b"


def test_looking_at_a_session_does_not_keep_it_alive(sessions, clock):
    sessions.touch("a")
    clock.pass_by(hours=23)
    sessions.get("a")
    clock.pass_by(hours=2)
    with pytest.raises(SessionNotFound):
        sessions.get("a")


def test_an_expired_renewable_session_starts_again(sessions, clock):
    old = sessions.touch("a", renewable=True)
    old.accessed(["one"])
    clock.pass_by(days=2)
    new = sessions.touch("a", renewable=True)
    assert new is not old and new.working_set == []


def test_sessions_of_one_person_have_working_sets_of_their_own(sessions):
    one, other = sessions.touch("one"), sessions.touch("other")
    one.accessed(["x", "y"])
    assert (one.working_set, other.working_set) == (["x", "y"], [])
    assert one.user_id == other.user_id


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(0, 80).map(str), max_size=12, unique=True), max_size=20))
def test_the_working_set_is_the_last_fifty_memories_most_recent_first(answers):
    session = Session("a", "ada", None, START)
    expected: list[str] = []
    for ids in answers:
        session.accessed(ids)
        expected = ids + [each for each in expected if each not in ids]
    assert session.working_set == expected[:WORKING_SET]


def test_reads_of_the_pulse_are_counted_until_the_next_call(sessions):
    session = sessions.touch("a")
    for _ in range(3):
        session.pulse_was_read()
    assert sessions.get("a").pulse_reads == 3
    sessions.touch("a")
    assert session.pulse_reads == 0


def test_sessions_called_longest_ago_are_forgotten_when_there_are_too_many(sessions, monkeypatch):
    monkeypatch.setattr(module, "MAX_REMEMBERED", 3)
    for name in ("a", "b", "c", "a", "d"):
        sessions.touch(name)
    with pytest.raises(SessionNotFound):
        sessions.get("b")
    assert [sessions.get(name).id for name in ("a", "c", "d")] == ["a", "c", "d"]


def test_threads_that_begin_one_session_share_it(sessions):
    found: list[Session] = []
    barrier = threading.Barrier(8)

    def begin() -> None:
        barrier.wait()
        found.append(sessions.touch("a"))

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(session) for session in found}) == 1


def test_a_call_may_ask_for_another_verbosity_than_its_session_has(sessions):
    session = sessions.touch("a")
    session.verbosity = VerbosityLevel.FULL_INSIGHTS
    assert session.level(None) is VerbosityLevel.FULL_INSIGHTS
    assert session.level(0) is VerbosityLevel.RAW_ONLY


def test_the_person_is_who_the_settings_say_else_the_account(monkeypatch, tmp_path):
    monkeypatch.delenv("MEMVAULT_USER", raising=False)
    of_account = user_id(Settings())
    assert of_account == user_id(Settings()) and len(of_account) == 36
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert user_id(Settings()) != of_account
    monkeypatch.setenv("MEMVAULT_USER", "ada")
    assert user_id(Settings()) == "ada"
