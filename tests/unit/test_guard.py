"""Who may speak to the engine, case by case."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from mcp_server.security.access_policy import (
    WEB_CLIENT,
    AccessMiddleware,
    AccessPolicy,
    PageSessions,
    PublicAccess,
    WebClient,
    is_loopback,
)

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
    [
        "", "evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "[::1", "10.0.0.1",
        "[::1].evil", "127.0.0.1#.evil.example", "127.0.0.1/.evil.example", "127.0.0.1:1 evil",
        "evil.example@127.0.0.1", "127.0.0.1:", "127.0.0.1:٣",
    ],
)  # fmt: skip
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


def test_a_browser_that_signed_in_reads_pages_and_no_more() -> None:
    host, cookie = ("host", "nas.lan:8420"), ("cookie", "memvault_token=client")
    assert status(OPEN, "/", host, cookie) is None
    assert status(OPEN, "/memories", host, ("cookie", "memvault_token=wrong")) == 401
    assert status(OPEN, "/", host, ("cookie", "memvault_token=engine")) == 401
    assert status(OPEN, "/", host, cookie, ("origin", "http://evil.example")) == 403
    for path in ("/bridge", "/admin/status"):
        assert status(OPEN, path, host, cookie) == 401
    assert status(OPEN, "/", host, ("cookie", "a=b; \x00=")) == 401


def guarded() -> TestClient:
    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("the page")(scope, receive, send)

    return TestClient(AccessMiddleware(page, OPEN), base_url="http://nas.lan:8420")


def test_a_browser_beyond_this_machine_is_asked_for_the_token_once() -> None:
    browser = guarded()
    response = browser.get("/", headers={"accept": "text/html"})
    assert response.status_code == 401 and 'action="/sign-in"' in response.text
    assert browser.get("/").text == "A valid bearer token is required."
    wrong = browser.post("/sign-in", data={"token": "wrong"})
    assert wrong.status_code == 401 and "set-cookie" not in wrong.headers
    answer = browser.post("/sign-in", data={"token": "client"}, follow_redirects=False)
    given = answer.headers["set-cookie"].lower()
    assert answer.status_code == 303 and "httponly" in given and "samesite=strict" in given
    assert browser.get("/").text == "the page"


def test_the_token_of_a_form_is_never_longer_than_one_can_be() -> None:
    assert guarded().post("/sign-in", data={"token": "x" * 10_000}).status_code == 401


CLAUDE = WebClient("1", "Claude")
SESSIONS = PageSessions()
WEB = AccessPolicy(
    "127.0.0.1",
    engine_token="engine",
    public=PublicAccess(
        "https://notes.example.com",
        {"granted": CLAUDE}.get,
        "https://notes.example.com/m",
        SESSIONS,
        asyncio.Event().wait,
    ),
)
TUNNEL = ("host", "notes.example.com")


def test_with_an_address_on_the_web_only_mcp_and_signing_in_are_served_there() -> None:
    for path in ("/", "/ask", "/clients", "/healthz", "/metrics", "/admin/status", "/bridge"):
        assert status(WEB, path, TUNNEL) == 404
        assert status(WEB, path, TUNNEL, ("authorization", "Bearer granted")) == 404
    for path in ("/token", "/register", "/consent", "/.well-known/oauth-authorization-server"):
        assert status(WEB, path, TUNNEL) is None
    assert status(WEB, "/mcp", TUNNEL) == 401
    assert status(WEB, "/mcp", TUNNEL, ("authorization", "Bearer granted")) is None
    assert status(WEB, "/mcp", ("host", "other.example.com")) == 421


def test_a_tunnel_that_makes_requests_look_local_opens_nothing() -> None:
    local = ("host", "127.0.0.1:8420")
    for path in ("/mcp", "/", "/clients", "/healthz"):
        assert status(WEB, path, local) == 401
    assert status(WEB, "/mcp", local, ("authorization", "Bearer granted")) is None
    assert status(WEB, "/clients", local, ("authorization", "Bearer granted")) == 401
    assert status(WEB, "/admin/clients", local, ("authorization", "Bearer granted")) == 401


def test_a_code_from_this_machine_signs_a_browser_in_once() -> None:
    code = SESSIONS.new_code()
    cookie = WEB.cookie_for(code)
    assert cookie is not None and WEB.cookie_for(code) is None and WEB.cookie_for("") is None
    local, sent = ("host", "127.0.0.1:8420"), ("cookie", f"memvault_token={cookie}")
    assert status(WEB, "/clients", local, sent) is None
    assert status(WEB, "/clients", TUNNEL, sent) == 404
    assert status(WEB, "/admin/clients", local, sent) == 401


def test_a_stream_ends_when_its_client_is_revoked() -> None:
    approved = {"granted": CLAUDE}
    public = PublicAccess(
        "https://notes.example.com", approved.get, "", SESSIONS, asyncio.Event().wait
    )
    policy = AccessPolicy("127.0.0.1", engine_token="engine", public=public)

    async def stream(scope: Scope, receive: Receive, send: Send) -> None:
        async def lines() -> AsyncIterator[bytes]:
            yield scope["state"][WEB_CLIENT].name.encode()
            approved.clear()
            yield b"a note that was saved since"
            yield b"another"

        await StreamingResponse(lines())(scope, receive, send)

    client = TestClient(AccessMiddleware(stream, policy), base_url="https://notes.example.com")
    answer = client.get("/mcp", headers={"authorization": "Bearer granted"})
    assert (answer.status_code, answer.text) == (200, "Claude")
