"""Clients on the web: FastMCP's own OAuth client against a real engine, approved by the person."""

from __future__ import annotations

import asyncio
import html
import json
import re
import stat
import sys
import urllib.request
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from fastmcp import Client
from fastmcp.client.auth import OAuth
from fastmcp.client.transports import StdioTransport
from mcp_types import Implementation

from mcp_server.engine.launcher import read_address
from memvault.cli.app import run
from tests.integration.tiny_engine import command, environment
from tests.integration.web_engine import Web, authorize, number_on, register, web_engine
from tests.waiting import until


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    with web_engine(tmp_path_factory.mktemp("home")) as web:
        yield web


@pytest.fixture
def web(engine: Web) -> Web:
    engine.decision, engine.shown = "approve", ""
    return engine


def connect_from_the_web(web: Web, auth: OAuth, tool: str = "who") -> object:
    async def ask() -> object:
        async with Client(f"{web.url}/mcp", auth=auth) as client:
            return (await client.call_tool(tool)).data

    return asyncio.run(ask())


def test_a_client_that_the_person_approves_can_ask_until_it_is_revoked(
    web: Web, capsys: pytest.CaptureFixture[str]
) -> None:
    auth = OAuth(client_name="Notes in the cloud")
    address = read_address(web.state)
    assert address is not None
    assert connect_from_the_web(web, auth) == address.pid
    assert "Notes in the cloud" in web.shown
    assert connect_from_the_web(web, auth) == address.pid  # with its token, without asking again

    capsys.readouterr()
    assert run(["clients", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in listed["clients"]] == ["Notes in the cloud"]
    kept = web.state.clients.read_text()
    tokens = auth.context.current_tokens
    assert tokens is not None and tokens.access_token not in kept
    if sys.platform != "win32":
        assert stat.S_IMODE(web.state.clients.stat().st_mode) == 0o600

    assert run(["clients", "revoke", "notes in the cloud"]) == 0
    status, _, _ = web.request("/mcp", Authorization=f"Bearer {tokens.access_token}")
    assert status == 401
    assert run(["clients", "revoke", "notes in the cloud"]) == 2


def test_the_history_names_a_client_as_the_person_approved_it(web: Web) -> None:
    auth = OAuth(client_name="Claude")
    assert connect_from_the_web(web, auth, "caller") == "Claude"


def test_no_client_passes_for_an_approved_one_by_its_name(web: Web) -> None:
    first = connect_from_the_web(web, OAuth(client_name="Notes of May"), "caller")
    assert first == "Notes of May"
    second = connect_from_the_web(web, OAuth(client_name="Notes of M\u0430y"), "caller")
    assert second != first and str(second).endswith("(2)")

    async def named_over_the_bridge() -> object:
        bridge, *arguments = command("bridge", web.state.root)
        transport = StdioTransport(bridge, arguments, env=environment())
        info = Implementation(name="Notes of May", version="1")
        async with Client(transport, client_info=info) as client:
            return (await client.call_tool("caller")).data

    assert asyncio.run(named_over_the_bridge()) == "Notes of May (not signed in)"


@pytest.mark.parametrize("name", ["Claude", "\u0421laude", "Cla\u200bude", "\u202eClaude\n"])
def test_a_name_like_that_of_an_approved_client_is_pointed_out(web: Web, name: str) -> None:
    known = register(web, client_name="Claude", redirect_uris=["https://claude.example/back"])
    address, page = authorize(
        web, known, code_challenge="x" * 43, redirect_uri="https://claude.example/back"
    )
    assert run(["clients", "approve", number_on(page)]) == 0
    assert web.request(address.removeprefix(web.url))[0] == 302
    _, page = authorize(web, register(web, client_name=name), code_challenge="x" * 43)
    shown = html.unescape(page)
    assert "You approved a client called Claude" in shown
    assert not {"\u200b", "\u202e"} & set(shown)


def test_a_client_that_is_denied_gets_no_token(web: Web) -> None:
    web.decision = "deny"
    with pytest.raises(Exception, match="denied"):
        connect_from_the_web(web, OAuth(client_name="Stranger"))
    assert "Stranger" not in web.state.clients.read_text()


def test_without_a_decision_there_is_a_number_and_nothing_else(web: Web) -> None:
    web.decision = ""
    with pytest.raises(RuntimeError, match="timed out"):
        connect_from_the_web(web, OAuth(client_name="<b>Waiting</b>", callback_timeout=1.0))
    assert "&lt;b&gt;Waiting" in until(lambda: web.shown)
    assert f"memvault clients approve {number_on(web.shown)}" in web.shown
    assert run(["clients", "approve", "000000"]) == 2


def test_everything_but_signing_in_needs_a_token(web: Web) -> None:
    status, headers, _ = web.request("/mcp", method="POST", body=b"{}")
    assert status == 401
    metadata = re.search(r'resource_metadata="([^"]+)"', headers["www-authenticate"])
    assert metadata is not None
    resource = json.loads(urllib.request.urlopen(metadata[1]).read())
    assert resource["resource"] == f"{web.url}/mcp"
    for path in ("/", "/clients", "/healthz", "/metrics", "/admin/clients", "/admin/sign-in"):
        assert web.request(path)[0] in (401, 405), path
    found = web.request("/.well-known/oauth-authorization-server")
    assert found[0] == 200 and json.loads(found[2])["code_challenge_methods_supported"] == ["S256"]


def test_the_page_opens_with_a_code_that_works_once(web: Web) -> None:
    from mcp_server.engine.client import connect_to_engine
    from mcp_server.engine.launcher import Launcher

    with connect_to_engine(Launcher(web.state, []), web.state) as engine:
        address = engine.sign_in_address()
    assert address is not None
    path = address.removeprefix(web.url)
    status, headers, _ = web.request(path)
    assert (status, headers["location"]) == (303, "/clients")
    cookie = headers["set-cookie"].partition(";")[0]
    assert web.request(path)[0] == 401
    status, _, page = web.request("/clients", Cookie=cookie)
    assert status == 200 and "Number that your own browser shows" in page
    assert web.request("/admin/clients", Cookie=cookie)[0] == 401
    assert web.request("/mcp", Cookie=cookie, Origin="http://evil.example")[0] == 403

    waiting, text = authorize(web, register(web), code_challenge="x" * 43)
    number = number_on(text).lower()
    form = urlencode({"action": "approve", "key": number}).encode()
    kind = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": cookie}
    foreign = {**kind, "Origin": "http://evil.example"}
    assert web.request("/clients", method="POST", body=form, **foreign)[0] == 403
    assert web.request("/clients", method="POST", body=form, **kind)[0] == 303
    assert web.request(waiting.removeprefix(web.url))[0] == 302
    assert "Handmade" in web.request("/clients", Cookie=cookie)[2]


def test_redirects_without_https_are_refused_at_registration(web: Web) -> None:
    assert register(web, redirect_uris=["http://client.example/back"])["status"] == 400
    assert register(web, redirect_uris=["http://localhost:1/back"])["status"] == 201
    assert register(web, redirect_uris=["com.example.app:/back"])["status"] == 201


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "data:text/html,hi", "file:///etc/passwd", "app:/back",
     "https://client.example/back#top"],
)  # fmt: skip
def test_redirects_to_scripts_and_files_are_refused_at_registration(web: Web, address: str) -> None:
    assert register(web, redirect_uris=[address])["status"] == 400


def test_no_number_of_strangers_keeps_out_the_client_of_the_person(web: Web) -> None:
    challenge = "x" * 43
    early, text = authorize(web, register(web, client_name="Patient"), code_challenge=challenge)
    own = register(web, client_name="Own")
    numbers = {
        number_on(authorize(web, register(web), code_challenge=challenge)[1]) for _ in range(120)
    }
    assert len(numbers) == 120
    late, own_text = authorize(web, own, code_challenge=challenge)
    for address, page in ((early, text), (late, own_text)):
        assert number_on(urllib.request.urlopen(address).read().decode()) == number_on(page)
    assert run(["clients", "approve", number_on(own_text)]) == 0
    assert web.request(early.removeprefix(web.url))[0] == 200
    assert web.request(late.removeprefix(web.url))[0] == 302


def test_a_request_that_was_not_made_by_this_engine_is_none(web: Web) -> None:
    address, _ = authorize(web, register(web), code_challenge="x" * 43)
    path = address.removeprefix(web.url)
    for other in (path[:-8], path[:60] + "AAAA" + path[64:], "/consent", "/consent?request=%C3%A9"):
        assert web.request(other)[0] == 404


def test_a_registration_that_would_fill_the_memory_is_refused(web: Web) -> None:
    assert register(web, client_name="x" * 100_000)["status"] == 400
    assert register(web, client_name="x" * 1_000)["status"] == 201


def test_a_foreign_resource_is_refused(web: Web) -> None:
    client = register(web)
    query = {
        "response_type": "code",
        "client_id": client["client_id"],
        "code_challenge": "x" * 43,
        "code_challenge_method": "S256",
        "resource": "https://other.example/mcp",
    }
    status, headers, _ = web.request(f"/authorize?{urlencode(query)}")
    assert status == 302 and "error=invalid_target" in headers["location"]
