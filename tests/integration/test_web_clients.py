"""Clients on the web: FastMCP's own OAuth client against a real engine, approved by the person."""

from __future__ import annotations

import asyncio
import html
import http.client
import json
import re
import socket
import stat
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from fastmcp import Client
from fastmcp.client.auth import OAuth
from fastmcp.client.transports import StdioTransport
from mcp_types import Implementation

from mcp_server.engine.launcher import read_address
from memvault.cli.app import run
from memvault.config.paths import StateFolder
from tests.integration.tiny_engine import command, environment
from tests.waiting import PATIENCE_SECONDS, until


@dataclass
class Web:
    """An engine with an address on the web, and the browser of the person who connects a client."""

    state: StateFolder
    url: str
    decision: str = "approve"
    shown: str = ""

    def open_browser(self, address: str) -> bool:
        threading.Thread(target=self._browse, args=(address,), daemon=True).start()
        return True

    def _browse(self, address: str) -> None:
        page = urllib.request.urlopen(address, timeout=PATIENCE_SECONDS)
        self.shown = page.read().decode()
        if self.decision:
            back = urlsplit(parse_qs(urlsplit(address).query)["redirect_uri"][0])
            until(lambda: listens(back.hostname, back.port))  # a client opens the browser first
            assert run(["clients", self.decision, number_on(self.shown)]) == 0
            with suppress(HTTPError):  # a client answers 400 to a refusal
                urllib.request.urlopen(page.url, timeout=PATIENCE_SECONDS).read()

    def request(
        self, path: str, *, method: str = "GET", body: bytes | None = None, **headers: str
    ) -> tuple[int, Any, str]:
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE_SECONDS)
        connection.request(method, path, body=body, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()


def listens(host: str | None, port: int | None) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((host or "", port or 0)) == 0


def number_on(page: str) -> str:
    found = re.search(r'class="number">([2-9A-Z]{4}-[2-9A-Z]{4})<', page)
    assert found is not None, page
    return found[1]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    home = tmp_path_factory.mktemp("home")
    (home / "vault").mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMVAULT_STATE", str(home / "state"))
        patch.setenv("MEMVAULT_VAULT", str(home / "vault"))
        state = StateFolder.of_vault(home / "vault")
        state.create()
        environ = {**environment(), "TINY_WEB_PORT": str(port)}
        process = subprocess.Popen(command("serve", state.root), env=environ)
        until(lambda: read_address(state))
        found = Web(state, f"http://127.0.0.1:{port}")
        patch.setattr("fastmcp.client.auth.oauth.webbrowser.open", found.open_browser)
        yield found
        process.terminate()
        process.wait(PATIENCE_SECONDS)


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


def register(web: Web, **values: object) -> dict[str, Any]:
    metadata = {
        "client_name": "Handmade",
        "redirect_uris": ["https://client.example/back"],
        "token_endpoint_auth_method": "none",
        **values,
    }
    body = json.dumps(metadata).encode()
    answer = web.request("/register", method="POST", body=body)
    return {"status": answer[0], **json.loads(answer[2])}


def authorize(web: Web, client: dict[str, Any], **values: str) -> tuple[str, str]:
    """The address and the text of the page that waits."""
    query = {
        "response_type": "code",
        "client_id": client["client_id"],
        "redirect_uri": "https://client.example/back",
        "code_challenge_method": "S256",
        "state": "s",
        **values,
    }
    page = urllib.request.urlopen(f"{web.url}/authorize?{urlencode(query)}")
    return page.url, page.read().decode()


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


def test_a_code_works_once_and_only_with_the_verifier(web: Web) -> None:
    client = register(web)
    # RFC 7636, appendix B
    challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    address, page = authorize(web, client, code_challenge=challenge)
    assert run(["clients", "approve", number_on(page)]) == 0
    status, headers, _ = web.request(address.removeprefix(web.url))
    back = urlsplit(headers["location"])
    assert (status, back.netloc, parse_qs(back.query)["state"]) == (302, "client.example", ["s"])
    code = parse_qs(back.query)["code"][0]

    def exchange(verifier: str) -> tuple[int, dict[str, Any]]:
        values = {
            "grant_type": "authorization_code",
            "client_id": client["client_id"],
            "redirect_uri": "https://client.example/back",
            "code": code,
            "code_verifier": verifier,
        }
        return token(web, values)

    assert exchange("wrong" * 10)[0] in (400, 401)
    status, granted = exchange("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    assert status == 200
    assert exchange("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")[0] in (400, 401)

    fresh = {"grant_type": "refresh_token", "client_id": client["client_id"]}
    status, renewed = token(web, {**fresh, "refresh_token": granted["refresh_token"]})
    assert status == 200
    old = web.request("/mcp", Authorization=f"Bearer {granted['access_token']}")[0]
    new = web.request("/mcp", Authorization=f"Bearer {renewed['access_token']}")[0]
    assert old == 401 and new != 401
    assert token(web, {**fresh, "refresh_token": granted["refresh_token"]})[0] in (400, 401)


def test_a_client_without_a_secret_is_named_as_supported_and_ends_its_access(web: Web) -> None:
    metadata = json.loads(web.request("/.well-known/oauth-authorization-server")[2])
    for endpoint in ("token", "revocation"):
        assert "none" in metadata[f"{endpoint}_endpoint_auth_methods_supported"]

    client, other = register(web), register(web)
    verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    address, page = authorize(
        web, client, code_challenge="E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    )
    assert run(["clients", "approve", number_on(page)]) == 0
    back = urlsplit(web.request(address.removeprefix(web.url))[1]["location"])
    values = {
        "grant_type": "authorization_code",
        "client_id": client["client_id"],
        "redirect_uri": "https://client.example/back",
        "code": parse_qs(back.query)["code"][0],
        "code_verifier": verifier,
    }
    granted = token(web, values)[1]

    def is_valid() -> bool:
        bearer = f"Bearer {granted['access_token']}"
        return web.request("/mcp", Authorization=bearer)[0] != 401

    for who, stays in ((other, True), (client, False)):
        form = {"client_id": who["client_id"], "token": granted["refresh_token"]}
        assert posted(web, "/revoke", form)[0] == 200
        assert is_valid() is stays


def token(web: Web, values: dict[str, str]) -> tuple[int, dict[str, Any]]:
    status, text = posted(web, "/token", values)
    return status, json.loads(text)


def posted(web: Web, path: str, values: dict[str, str]) -> tuple[int, str]:
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    status, _, text = web.request(path, method="POST", body=urlencode(values).encode(), **kind)
    return status, text


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
