"""How long the codes, tokens, sessions and streams of a client on the web stay valid."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from memvault.cli.app import run
from tests.integration.web_engine import (
    Web,
    code_for,
    exchange,
    is_valid,
    posted,
    register,
    renew,
    web_engine,
)


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    with web_engine(tmp_path_factory.mktemp("home")) as engine:
        yield engine


def test_a_code_works_once_and_only_with_the_verifier(web: Web) -> None:
    client = register(web)
    code = code_for(web, client)
    assert exchange(web, client, code, "wrong" * 10)[0] in (400, 401)
    status, granted = exchange(web, client, code)
    assert status == 200
    status, renewed = renew(web, client, granted)
    assert status == 200
    assert not is_valid(web, granted) and is_valid(web, renewed)
    assert renew(web, client, granted)[0] in (400, 401)
    assert renew(web, register(web), granted)[0] in (400, 401)
    form = {"client_id": client["client_id"], "token": granted["refresh_token"]}
    assert posted(web, "/revoke", form)[0] == 200  # a client that tidies up

    assert exchange(web, client, code, "wrong" * 10)[0] in (400, 401)
    assert is_valid(web, renewed)  # who has the code alone ends nobody's access


def test_the_tokens_of_a_code_that_is_used_again_become_invalid(web: Web) -> None:
    client = register(web)
    other = exchange(web, client, code_for(web, client))[1]
    code = code_for(web, client)
    renewed = renew(web, client, exchange(web, client, code)[1])[1]
    for _ in range(2):
        assert exchange(web, client, code)[0] in (400, 401)
        assert not is_valid(web, renewed) and is_valid(web, other)
        assert renew(web, client, renewed)[0] in (400, 401)


def test_a_client_without_a_secret_is_named_as_supported_and_ends_its_access(web: Web) -> None:
    metadata = json.loads(web.request("/.well-known/oauth-authorization-server")[2])
    for endpoint in ("token", "revocation"):
        assert "none" in metadata[f"{endpoint}_endpoint_auth_methods_supported"]

    client, other = register(web), register(web)
    granted = exchange(web, client, code_for(web, client))[1]
    for who, stays in ((other, True), (client, False)):
        form = {"client_id": who["client_id"], "token": granted["refresh_token"]}
        assert posted(web, "/revoke", form)[0] == 200
        assert is_valid(web, granted) is stays


def rpc(web: Web, access: str, method: str, session: str = "", **params: object) -> tuple[int, Any]:
    """The status and the headers of the answer to a client's request."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    headers = {**mcp_headers(access, session), "Content-Type": "application/json"}
    return web.request("/mcp", method="POST", body=body, **headers)[:2]


def mcp_headers(access: str, session: str = "") -> dict[str, str]:
    kept = {"Mcp-Session-Id": session} if session else {}
    accept = "application/json, text/event-stream"
    return {"Authorization": f"Bearer {access}", "Accept": accept, **kept}


def session_of(web: Web, name: str) -> tuple[str, str]:
    """The access token of a client that the person approves under this name, and the id of its MCP
    session."""
    client = register(web, client_name=name)
    access = exchange(web, client, code_for(web, client))[1]["access_token"]
    info = {"name": "test", "version": "1"}
    version = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
    status, headers = rpc(web, access, "initialize", **version)
    assert status == 200
    return access, headers["mcp-session-id"]


def test_a_client_of_the_same_name_does_not_continue_the_session_of_a_revoked_one(web: Web) -> None:
    first, session = session_of(web, "Kite")
    assert rpc(web, first, "ping", session)[0] == 200
    assert run(["clients", "revoke", "Kite"]) == 0
    second, own = session_of(web, "Kite")
    assert rpc(web, second, "ping", own)[0] == 200
    assert rpc(web, second, "ping", session)[0] == 404


def test_an_open_stream_ends_at_once_when_its_client_is_revoked(web: Web) -> None:
    streams = []
    for name in ("Heron", "Egret"):
        connection = http.client.HTTPConnection(urlsplit(web.url).netloc, timeout=5)
        connection.request("GET", "/mcp", headers=mcp_headers(*session_of(web, name)))
        streams.append(connection.getresponse())
    assert [stream.status for stream in streams] == [200, 200]
    assert run(["clients", "revoke", "Heron"]) == 0
    assert streams[0].read() == b""  # before the next sign of life, 15 seconds after the last
    with pytest.raises(TimeoutError):
        streams[1].read(1)
