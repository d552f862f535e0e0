"""How often one client may call."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_server.middleware import limits
from mcp_server.middleware.limits import Buckets


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_let_through_and_what_follows_must_wait():
    clock = Clock()
    buckets = Buckets(rate=2.0, burst=3, clock=clock)
    assert [buckets.take("a") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    clock.now = 0.25
    assert buckets.take("a") == pytest.approx(0.25)
    clock.now = 0.5
    assert buckets.take("a") == 0.0
    assert buckets.take("a") == pytest.approx(0.5)


def test_one_client_takes_nothing_from_another():
    buckets = Buckets(rate=1.0, burst=1, clock=Clock())
    assert [buckets.take(client) for client in ("a", "a", "b")] == [0.0, 1.0, 0.0]


@settings(max_examples=60, deadline=None)
@given(st.floats(0.1, 50), st.integers(1, 20), st.lists(st.floats(0, 3), min_size=1, max_size=80))
def test_nobody_calls_more_often_than_burst_and_rate_allow(rate, burst, pauses):
    clock = Clock()
    buckets = Buckets(rate, burst, clock)
    let_through = 0
    for pause in pauses:
        clock.now += pause
        wait = buckets.take("a")
        let_through += wait == 0.0
        if wait:
            clock.now += wait * 1.000001
            assert buckets.take("a") == 0.0
            let_through += 1
    assert let_through <= burst + rate * clock.now + 1e-6


def test_clients_seen_longest_ago_are_forgotten_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr(limits, "MOST_REMEMBERED", 2)
    buckets = Buckets(rate=0.1, burst=1, clock=Clock())
    for client in ("a", "b", "a", "c"):
        buckets.take(client)
    assert buckets.take("a") > 0.0
    assert buckets.take("b") == 0.0
