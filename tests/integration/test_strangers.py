"""Strangers who know the engine's address on the web, and pages of other sites, learn nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from mcp_server.app import engine_app
from mcp_server.engine.startup import Startup
from mcp_server.runtime.activity_tracker import ActivityTracker
from mcp_server.security.access_policy import AccessPolicy, PageSessions, PublicAccess
from mcp_server.security.client_registry import ClientRegistry
from mcp_server.security.oauth import ApprovalProvider
from mcp_server.server import build_server
from tests.integration.caller import Caller
from tests.integration.small_vault import opened

WEB = "https://notes.example.com"
VAULT = "Kestrel vault"


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
    public = PublicAccess(WEB, provider.client_of, provider.metadata_url, PageSessions())
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
