"""The background worker: jobs by name, with delays, retries and a clean stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from mcp_server.runtime import worker as worker_module
from mcp_server.runtime.worker import Worker
from tests.waiting import PATIENCE_SECONDS, until


@pytest.fixture
def worker() -> Iterator[Worker]:
    made = Worker()
    yield made
    assert made.stop(PATIENCE_SECONDS)


def test_a_job_runs_after_its_delay(worker: Worker) -> None:
    ran: list[float] = []
    start = time.monotonic()
    worker.run("write", lambda: ran.append(time.monotonic() - start), after=0.1)
    assert worker.wait("write", PATIENCE_SECONDS)
    assert len(ran) == 1 and ran[0] >= 0.1


def test_a_job_that_returns_seconds_runs_again_until_it_returns_none(worker: Worker) -> None:
    left = [3, 2, 1]
    worker.run("read", lambda: 0.0 if left.pop() and left else None)
    assert worker.wait("read", PATIENCE_SECONDS)
    assert left == []


def test_a_job_replaces_one_of_its_name_that_still_waits(worker: Worker) -> None:
    ran: list[str] = []
    worker.run("tasks", lambda: ran.append("first"), after=30.0)
    worker.run("tasks", lambda: ran.append("second"))
    assert worker.wait("tasks", PATIENCE_SECONDS)
    assert ran == ["second"]


def test_a_patient_job_waits_while_many_notes_are_indexed_and_others_do_not(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "PATIENCE_SECONDS", 0.02)
    indexing = threading.Event()
    indexing.set()
    worker.is_busy = indexing.is_set
    ran: list[str] = []
    worker.run("pulse", lambda: ran.append("pulse"), patient=True)
    worker.run("lease", lambda: ran.append("lease"))
    assert worker.wait("lease", PATIENCE_SECONDS)
    time.sleep(0.1)
    assert ran == ["lease"] and worker.pending == ["pulse"]

    indexing.clear()
    until(lambda: not worker.pending)
    assert ran == ["lease", "pulse"]


def test_a_patient_job_runs_while_many_notes_are_indexed_if_a_call_waits_for_it(
    worker: Worker,
) -> None:
    worker.is_busy = lambda: True
    steps = [2, 1]
    worker.run("tasks", lambda: 0.0 if steps.pop() and steps else None, patient=True)
    time.sleep(0.05)
    assert steps == [2, 1]
    assert worker.wait("tasks", PATIENCE_SECONDS)
    assert steps == []


def test_jobs_of_one_name_never_run_at_the_same_time(worker: Worker) -> None:
    running, begun, alone = threading.Semaphore(1), threading.Semaphore(0), list[bool]()

    def job() -> None:
        alone.append(running.acquire(blocking=False))
        begun.release()
        time.sleep(0.02)
        running.release()

    for _ in range(5):
        worker.run("links", job)
        assert begun.acquire(timeout=PATIENCE_SECONDS)  # it still runs when the next one is due
    assert worker.wait("links", PATIENCE_SECONDS)
    assert alone == [True] * 5


def test_a_long_job_does_not_hold_up_another(worker: Worker) -> None:
    go_on, ran = threading.Event(), threading.Event()
    worker.run("long", lambda: go_on.wait(PATIENCE_SECONDS) and None)
    worker.run("delayed", ran.set, after=0.05)
    assert ran.wait(PATIENCE_SECONDS / 2)
    go_on.set()


def test_it_names_the_jobs_that_run_or_are_due_and_not_those_of_later(worker: Worker) -> None:
    release = threading.Event()
    worker.run("load the words", lambda: release.wait(PATIENCE_SECONDS) and None)
    worker.run("trim the log", lambda: None, after=1000.0)
    until(lambda: worker.pending == ["load the words"])
    release.set()
    until(lambda: worker.pending == [])


def test_a_job_that_fails_is_run_again(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "RETRY_SECONDS", 0.0)
    tries: list[int] = []

    def job() -> None:
        tries.append(1)
        if len(tries) < 3:
            raise RuntimeError("not yet")

    worker.run("check", job)
    until(lambda: len(tries) == 3)


def test_a_cancelled_job_does_not_run_and_a_running_one_does_not_run_again(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "PATIENCE_SECONDS", 0.02)
    ran: list[str] = []
    worker.is_busy = lambda: True
    worker.run("later", lambda: ran.append("later"), patient=True)
    worker.cancel("later")
    worker.is_busy = lambda: False
    begun, go_on = threading.Event(), threading.Event()

    def again() -> float:
        ran.append("again")
        begun.set()
        go_on.wait(PATIENCE_SECONDS)
        return 0.0

    worker.run("again", again)
    assert begun.wait(PATIENCE_SECONDS)
    worker.cancel("again")
    go_on.set()
    assert worker.wait("again", PATIENCE_SECONDS)
    time.sleep(0.15)
    assert ran == ["again"]


def test_it_stops_after_the_jobs_that_run_and_starts_no_more(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "PATIENCE_SECONDS", 0.02)
    begun, go_on, ran = threading.Event(), threading.Event(), []

    def long() -> None:
        begun.set()
        go_on.wait(PATIENCE_SECONDS)

    worker.run("long", long)
    assert begun.wait(PATIENCE_SECONDS)
    worker.is_busy = lambda: True
    worker.run("later", lambda: ran.append(1), patient=True)
    worker.ask_to_stop()
    worker.is_busy = lambda: False
    assert not worker.stop(0.1)
    go_on.set()
    assert worker.stop(PATIENCE_SECONDS)
    worker.run("never", lambda: ran.append(1))
    time.sleep(0.1)
    assert ran == []
