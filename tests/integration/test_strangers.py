"""Strangers who know the engine's address on the web, and pages of other sites, learn nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from mcp_server.app import engine_app
from mcp_server.engine.startup import Startup
from mcp_server.runtime.activity_tracker import ActivityTracker
from mcp_server.security.access_policy import AccessPolicy, PageSessions, PublicAccess
from mcp_server.security.client_registry import ClientRegistry
from mcp_server.security.consent import consent_routes
from mcp_server.security.oauth import ApprovalProvider
from mcp_server.server import build_server
from tests.integration.caller import Caller
from tests.integration.small_vault import opened

WEB = "https://notes.example.com"
VAULT = "Kestrel vault"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "any", "version": "1"},
    },
}
LIST_TOOLS = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> ApprovalProvider:
    return ApprovalProvider(WEB, ClientRegistry(tmp_path_factory.mktemp("web") / "clients.json"))


@pytest.fixture(scope="module")
def web(
    provider: ApprovalProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TestClient]:
    """A client at the engine's address on the web; the person has written a note."""
    container = opened(tmp_path_factory.mktemp("home"), {"Bank.md": "Rent: 910 EUR\n"}, VAULT)
    person = Caller(container).person
    person.ok("store_memory", content="The kite is red.", title="My kite", rationale="I wrote it")
    startup = Startup.of(container)
    public = PublicAccess(
        WEB,
        provider.client_of,
        provider.metadata_url,
        PageSessions(),
        provider.registry.withdrawal,
    )
    app = engine_app(
        build_server(startup),
        startup,
        policy=AccessPolicy("127.0.0.1", "engine", public=public),
        tracker=ActivityTracker(),
        stop=lambda: None,
        sign_in=provider,
    )
    with TestClient(app, base_url=WEB) as client:
        yield client
    container.close()


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS", "get"])
@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/nothing", "/.well-known/..%2fmemories", "/.well-known//memories",
        "/.well-known/oauth-authorization-server", "/authorize", "/token", "/register", "/revoke",
        "/consent", "/memories", "/mcp", "/nothing",
    ],
)  # fmt: skip
def test_no_answer_to_a_stranger_comes_from_the_pages(
    web: TestClient, method: str, path: str
) -> None:
    answer = web.request(method, path, content=b"{}")
    assert VAULT not in answer.text and "kite" not in answer.text
    assert 'name="token"' not in answer.text  # of the pages' forms
    assert answer.status_code < 500


@pytest.mark.parametrize("path", ["/token", "/register", "/revoke", "/authorize"])
def test_a_stranger_cannot_make_the_engine_hold_megabytes(web: TestClient, path: str) -> None:
    upload = {"content-type": "multipart/form-data; boundary=x"}
    head = b'--x\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\n'

    def chunks() -> Iterator[bytes]:
        yield head
        for _ in range(100):
            yield b"z" * 10_000
        yield b"\r\n--x--\r\n"

    assert web.post(path, content=chunks(), headers=upload).status_code == 413


def approved_token(provider: ApprovalProvider, name: str) -> str:
    provider.registry.approve(name, {"client_id": name, "client_name": name, "redirect_uris": []})
    return provider.registry.issue(name, [], None)[0]


def test_a_client_cannot_use_the_session_of_another(
    web: TestClient, provider: ApprovalProvider
) -> None:
    def status(token: str, session: str, method: str = "POST") -> int:
        headers = {**headers_of(token), "mcp-session-id": session}
        return web.request(method, "/mcp", json=LIST_TOOLS, headers=headers).status_code

    alpha, beta = approved_token(provider, "Alpha"), approved_token(provider, "Beta")
    session = web.post("/mcp", json=INITIALIZE, headers=headers_of(alpha)).headers["mcp-session-id"]
    assert status(alpha, session) == 200
    for method in ("POST", "GET", "DELETE"):
        assert status(beta, session, method) == 404
    assert status("engine", session) == 404
    renewed = provider.registry.issue("Alpha", [], None)[0]
    assert status(renewed, session) == 200


def headers_of(token: str) -> dict[str, str]:
    accept = "application/json, text/event-stream"
    return {"authorization": f"Bearer {token}", "accept": accept}


def test_the_host_that_the_person_sees_is_the_one_that_gets_the_approval(web: TestClient) -> None:
    address = "https://known.example@other.example/back"
    answer = web.post("/register", json={"client_name": "Known", "redirect_uris": [address]})
    assert answer.status_code == 400
    assert json.loads(answer.text)["error"] == "invalid_redirect_uri"


def test_an_approval_that_cannot_be_saved_is_said_and_given_again(
    tmp_path: Path,
) -> None:
    state = tmp_path / "state"
    provider = ApprovalProvider(WEB, ClientRegistry(state / "clients.json"))
    with TestClient(Starlette(routes=consent_routes(provider)), base_url=WEB) as browser:
        redirect = "https://client.example/back"
        client = browser.post("/register", json={"redirect_uris": [redirect]}).json()
        query = {
            "response_type": "code",
            "client_id": client["client_id"],
            "code_challenge": "x" * 43,
            "code_challenge_method": "S256",
        }
        waiting = browser.get("/authorize", params=query, follow_redirects=False)
        address = waiting.headers["location"]
        number = re.findall(r'class="number">([^<]+)<', browser.get(address).text)[0]
        assert provider.decide(number, approve=True)
        unsaved = browser.get(address)
        assert unsaved.status_code == 500 and "No such file" in unsaved.text
        state.mkdir()
        assert number in browser.get(address).text
        assert provider.decide(number, approve=True)
        finished = browser.get(address, follow_redirects=False)
        assert finished.headers["location"].startswith(f"{redirect}?code=")
