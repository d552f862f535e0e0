"""Background work makes way for requests, and hurries when somebody waits for it."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Callable

import pytest
from fastmcp import Client, FastMCP

from mcp_server.runtime import running_requests
from mcp_server.runtime.running_requests import (
    ANSWER_SECONDS,
    PASSING_SECONDS,
    CountRequests,
    RunningRequests,
)
from mcp_server.runtime.worker import DUE
from memvault.model.priority import AwaitedLock, make_way, making_way
from tests.waiting import PATIENCE_SECONDS, until, until_seen


def started(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_background_work_waits_for_requests_and_other_work_does_not() -> None:
    passed: list[str] = []
    make_way()
    with making_way(lambda: passed.append("background")):
        make_way()
        with making_way(None):  # somebody waits for this
            make_way()
    make_way()
    assert passed == ["background"]


def test_work_goes_on_when_a_request_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_requests, "PASSING_SECONDS", 2 * PATIENCE_SECONDS)
    requests, ended = RunningRequests(), threading.Event()
    with requests.running():
        work = started(lambda: (requests.let_pass(), ended.set()))
        assert not ended.wait(PASSING_SECONDS / 10)
    assert ended.wait(PATIENCE_SECONDS)
    work.join(PATIENCE_SECONDS)


def test_work_waits_until_an_answer_is_sent() -> None:
    requests = RunningRequests()
    with requests.running():
        answered = time.monotonic()
    requests.let_pass()
    assert time.monotonic() - answered >= ANSWER_SECONDS


def test_work_goes_on_even_if_requests_never_end() -> None:
    requests = RunningRequests()

    def waited() -> float:
        began = time.monotonic()
        requests.let_pass()
        return time.monotonic() - began

    with requests.running():
        assert waited() >= PASSING_SECONDS
        until(lambda: waited() < PASSING_SECONDS / 2)  # its turn, unless others had the processor


def test_work_that_holds_a_lock_that_others_wait_for_does_not_make_way() -> None:
    lock, passed = AwaitedLock(), list[bool]()
    with making_way(lambda: passed.append(lock.awaited)):
        with lock:
            make_way()
            waiting = started(lambda: lock.acquire(PATIENCE_SECONDS))  # a tool, say
            until(lambda: lock.awaited)
            make_way()
        waiting.join(PATIENCE_SECONDS)
        make_way()
    assert passed == [False, False]


def test_background_work_that_waits_for_a_lock_does_not_hurry_its_holder() -> None:
    lock, entered = AwaitedLock(), threading.Event()

    def work() -> None:
        with making_way(lambda: None):
            entered.set()
            assert lock.acquire(PATIENCE_SECONDS)

    with lock:
        waiting = started(work)
        assert entered.wait(PATIENCE_SECONDS)
        waiting.join(0.05)  # so long that it certainly asks for the lock
        assert not lock.awaited
    waiting.join(PATIENCE_SECONDS)


def test_garbage_is_collected_between_requests_not_during_one() -> None:
    requests = RunningRequests()
    server = FastMCP("one tool", middleware=[CountRequests(lambda: requests)])

    @server.tool
    def answer() -> None:
        for _ in range(DUE):
            gc.collect(0)

    async def run() -> None:
        async with Client(server) as client:
            with requests.running():
                await client.call_tool("answer", {})
                await asyncio.sleep(3 * ANSWER_SECONDS)
                assert gc.get_count()[1] >= DUE
            await client.call_tool("answer", {})
            await until_seen(lambda: gc.get_count()[1] < DUE)

    gc.disable()
    try:
        asyncio.run(run())
    finally:
        gc.enable()
