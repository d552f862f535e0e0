"""How often one client may call."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from fastmcp.server.middleware import rate_limiting
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_server.middleware import limits
from mcp_server.middleware.limits import RateLimits
from memvault.config.settings import LimitSettings


class Calls:
    """Calls of clients at times that the test chooses."""

    def __init__(self, patch: pytest.MonkeyPatch, rate: float, burst: int) -> None:
        self.now = 0.0
        patch.setattr(rate_limiting, "time", SimpleNamespace(monotonic=lambda: self.now))
        self._limits = RateLimits(lambda: LimitSettings(calls_per_second=rate, burst=burst))

    def wait(self, client: str) -> float:
        return asyncio.run(self._limits.wait(client))


def test_a_burst_is_allowed_and_later_calls_must_wait(monkeypatch):
    calls = Calls(monkeypatch, rate=2.0, burst=3)
    assert [calls.wait("a") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    calls.now = 0.25
    assert calls.wait("a") == pytest.approx(0.25)
    calls.now = 0.5
    assert calls.wait("a") == 0.0
    assert calls.wait("a") == pytest.approx(0.5)


def test_one_client_takes_nothing_from_another(monkeypatch):
    calls = Calls(monkeypatch, rate=1.0, burst=1)
    assert [calls.wait(client) for client in ("a", "a", "b")] == [0.0, 1.0, 0.0]


@settings(max_examples=20, deadline=None)
@given(st.floats(0.1, 50), st.integers(1, 20), st.lists(st.floats(0, 3), min_size=1, max_size=40))
def test_a_client_that_waits_as_long_as_requested_is_allowed_and_none_calls_more_often(
    rate, burst, pauses
):
    with pytest.MonkeyPatch.context() as patch:
        calls, allowed = Calls(patch, rate, burst), 0
        for pause in pauses:
            calls.now += pause
            wait = calls.wait("a")
            allowed += wait == 0.0
            if wait:
                calls.now += wait * 1.000001
                assert calls.wait("a") == 0.0
                allowed += 1
        assert allowed <= burst + rate * calls.now + 1e-6


def test_clients_that_called_longest_ago_are_forgotten_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr(limits, "MAX_REMEMBERED", 2)
    calls = Calls(monkeypatch, rate=0.1, burst=1)
    for client in ("a", "b", "a", "c"):
        calls.wait(client)
    assert calls.wait("a") > 0.0
    assert calls.wait("b") == 0.0
