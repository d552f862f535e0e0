"""Who may speak to the engine, case by case."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers

from mcp_server.guard import AccessPolicy, is_loopback

LOCAL = AccessPolicy("127.0.0.1", engine_token="engine")
OPEN = AccessPolicy("0.0.0.0", engine_token="engine", client_token="client")


def status(policy: AccessPolicy, path: str, *pairs: tuple[str, str]) -> int | None:
    raw = [(name.encode(), value.encode()) for name, value in pairs]
    refusal = policy.refusal(path, Headers(raw=raw))
    return refusal[0] if refusal else None


@pytest.mark.parametrize("host", ["127.0.0.1:80", "localhost:1", "LOCALHOST", "[::1]:80"])
def test_this_machines_own_names_are_welcome(host: str) -> None:
    assert status(LOCAL, "/mcp", ("host", host)) is None


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "[::1", "10.0.0.1"],
)
def test_any_other_name_is_a_rebound_one(host: str) -> None:
    assert status(LOCAL, "/mcp", ("host", host)) == 421


def test_a_request_without_or_with_two_hosts_is_refused() -> None:
    assert status(LOCAL, "/mcp") == 421
    assert status(LOCAL, "/mcp", ("host", "127.0.0.1"), ("host", "evil.example")) == 421


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("http://localhost:8420", None),
        ("http://localhost:3000", 403),
        ("http://localhost", 403),
        ("http://127.0.0.1:8420", 403),
        ("file://localhost:8420", 403),
        ("null", 403),
    ],
)
def test_only_the_engines_own_pages_may_ask(origin: str, expected: int | None) -> None:
    assert status(LOCAL, "/mcp", ("host", "localhost:8420"), ("origin", origin)) == expected


def test_beyond_this_machine_everything_needs_a_token() -> None:
    host = ("host", "nas.lan:8420")
    for path in ("/mcp", "/healthz", "/metrics", "/"):
        assert status(OPEN, path, host) == 401
        assert status(OPEN, path, host, ("authorization", "Bearer wrong")) == 401
        assert status(OPEN, path, host, ("authorization", "Basic client")) == 401
        assert status(OPEN, path, host, ("authorization", "bearer client")) is None
        assert status(OPEN, path, host, ("authorization", "Bearer engine")) is None


def test_the_configured_token_opens_no_administration() -> None:
    host = ("host", "nas.lan:8420")
    for path in ("/bridge", "/admin/status", "/admin/shutdown"):
        assert status(OPEN, path, host, ("authorization", "Bearer client")) == 401
        assert status(OPEN, path, host, ("authorization", "Bearer engine")) is None


def test_loopback_is_this_machine_alone() -> None:
    assert all(is_loopback(host) for host in ("127.0.0.1", "127.1.2.3", "::1", "localhost"))
    assert not any(is_loopback(host) for host in ("0.0.0.0", "::", "192.168.1.2", "localhost.evil"))
