"""An engine with an address on the web, and what a client and the person's browser do with it."""

from __future__ import annotations

import http.client
import json
import re
import socket
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from mcp_server.engine.launcher import read_address
from memvault.cli.app import run
from memvault.config.paths import StateFolder
from tests.integration.tiny_engine import command, environment
from tests.servers.process import free_port
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


@contextmanager
def web_engine(home: Path) -> Iterator[Web]:
    """A tiny engine with an address on the web; its files lie in this folder."""
    (home / "vault").mkdir()
    port = free_port()
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


# RFC 7636, appendix B
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"


def code_for(web: Web, client: dict[str, Any]) -> str:
    """The authorisation code of a client that the person approves."""
    address, page = authorize(web, client, code_challenge=CHALLENGE)
    assert run(["clients", "approve", number_on(page)]) == 0
    status, headers, _ = web.request(address.removeprefix(web.url))
    back = urlsplit(headers["location"])
    assert (status, back.netloc, parse_qs(back.query)["state"]) == (302, "client.example", ["s"])
    return parse_qs(back.query)["code"][0]


def exchange(
    web: Web, client: dict[str, Any], code: str, verifier: str = VERIFIER
) -> tuple[int, dict[str, Any]]:
    values = {
        "grant_type": "authorization_code",
        "client_id": client["client_id"],
        "redirect_uri": "https://client.example/back",
        "code": code,
        "code_verifier": verifier,
    }
    return token(web, values)


def renew(web: Web, client: dict[str, Any], granted: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    values = {
        "grant_type": "refresh_token",
        "client_id": client["client_id"],
        "refresh_token": granted["refresh_token"],
    }
    return token(web, values)


def is_valid(web: Web, granted: dict[str, Any]) -> bool:
    return web.request("/mcp", Authorization=f"Bearer {granted['access_token']}")[0] != 401


def token(web: Web, values: dict[str, str]) -> tuple[int, dict[str, Any]]:
    status, text = posted(web, "/token", values)
    return status, json.loads(text)


def posted(web: Web, path: str, values: dict[str, str]) -> tuple[int, str]:
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    status, _, text = web.request(path, method="POST", body=urlencode(values).encode(), **kind)
    return status, text
