"""The command line's client of the engine: tools by websocket, administration by HTTP.

Imports little, because every command waits for these imports.
"""

from __future__ import annotations

import http.client
import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from mcp_server.engine.launcher import EngineAddress, Launcher, read_address
from memvault import __version__
from memvault.config.paths import StateFolder
from memvault.model.errors import EngineUnavailable, MemvaultError
from memvault.model.json_text import json_object, json_value

COMMAND_LINE = "memvault-cli"  # the client name of the command line
# In the `_meta` of a call: of all memories but the first, only the sentence that answers best.
BRIEF = "memvault/brief"
_PROTOCOL = "2025-06-18"
_GONE = "The engine stopped during this call; try again."


def proof_of_person(engine_token: str) -> str:
    """The proof that a call comes from the command line, and thus from the person.

    It is made with the engine's token, which clients do not have.
    """
    return blake2b(b"memvault command line", key=engine_token.encode()[:64]).hexdigest()


class EngineClient:
    """A synchronous MCP client of one running engine, for one thread."""

    def __init__(
        self, connection: ClientConnection, address: EngineAddress, launcher: Launcher
    ) -> None:
        self.address = address
        self._launcher = launcher
        self._connection = connection
        self._ids = itertools.count(1)
        proof = proof_of_person(address.token)
        info = {"name": COMMAND_LINE, "version": __version__, "title": proof}
        self._request("initialize", protocolVersion=_PROTOCOL, capabilities={}, clientInfo=info)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call_tool(
        self, name: str, arguments: dict[str, Any], *, brief: bool = False
    ) -> dict[str, Any]:
        """The tool's structured answer; ``brief``: one sentence of each memory but the first.

        Raises:
            MemvaultError: the tool's own error, with its message.
            EngineUnavailable: the engine stopped.
        """
        meta = {"_meta": {BRIEF: True}} if brief else {}
        result = self._request("tools/call", name=name, arguments=arguments, **meta)
        structured = result.get("structuredContent") or {}
        if result.get("isError"):
            texts = [part.get("text", "") for part in result.get("content", [])]
            data = structured.get("error", {}).get("data") or {}
            raise MemvaultError("\n".join(texts) or f"{name} failed", **_without_message(data))
        return dict(structured)

    def status(self) -> dict[str, Any]:
        return self._admin("GET", "/admin/status")

    def doctor(self, *, fix: bool) -> list[dict[str, Any]]:
        answer = self._admin("POST", f"/admin/doctor?fix={'true' if fix else 'false'}")
        return list(answer["findings"])

    def write_manifest(self) -> dict[str, Any]:
        """Write ``manifest.md``; returns its ``path``, the number of ``concepts`` in it, and the
        number of deletions ``waiting`` to be applied."""
        return self._admin("POST", "/admin/manifest")

    def rebuild(self) -> Iterator[dict[str, Any]]:
        """Rebuild all indexes; yields ``{stage, done, total}`` as it goes.

        Raises:
            MemvaultError: the rebuild failed, or one is already running.
        """
        with self._http("POST", "/admin/rebuild") as response:
            for line in response:
                answer = json_value(line)
                _raise_if_error(answer)
                if "finished" not in answer:
                    yield answer

    def web_clients(self) -> dict[str, Any]:
        """``public_url`` (None: clients on the web cannot connect) and ``clients``."""
        return self._admin("GET", "/admin/clients")

    def decide_client(self, action: str, key: str) -> bool:
        """Approve or deny the client with this number, or revoke the one with this id; False if no
        client has it."""
        return bool(self._admin("POST", "/admin/clients", {"action": action, "key": key})["done"])

    def sign_in_address(self) -> str | None:
        """An address that signs a browser in, once; None if no sign-in is needed."""
        code = self._admin("POST", "/admin/sign-in")["code"]
        return f"http://{self.address.netloc}/sign-in?code={code}" if code else None

    def shutdown(self) -> None:
        self._admin("POST", "/admin/shutdown")

    def _admin(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        with self._http(method, path, body) as response:
            return dict(json_value(response.read()))

    @contextmanager
    def _http(
        self, method: str, path: str, body: dict[str, Any] | None = None
    ) -> Iterator[http.client.HTTPResponse]:
        connection = http.client.HTTPConnection(self.address.host, self.address.port)
        try:
            headers = {"Authorization": f"Bearer {self.address.token}"}
            sent = None if body is None else json.dumps(body).encode()
            connection.request(method, path, body=sent, headers=headers)
            response = connection.getresponse()
            if response.status != http.client.OK:
                text = response.read()
                _raise_if_error(json_object(text) or {})
                raise EngineUnavailable(f"The engine answered {response.status} to {path}.")
            yield response
        except (OSError, http.client.HTTPException) as error:
            raise self._gone() from error
        finally:
            connection.close()

    def _request(self, method: str, **params: Any) -> dict[str, Any]:
        id_ = next(self._ids)
        self._send({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})
        while True:
            try:
                answer = json_value(self._connection.recv())
            except ConnectionClosed as error:
                raise self._gone() from error
            if answer.get("id") == id_ and "method" not in answer:
                _raise_if_error(answer)
                return dict(answer["result"])

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._connection.send(json.dumps(message).encode())
        except ConnectionClosed as error:
            raise self._gone() from error

    def _gone(self) -> EngineUnavailable:
        return EngineUnavailable(f"{_GONE} {self._launcher.abrupt_end()}".rstrip())


def _raise_if_error(answer: dict[str, Any]) -> None:
    if error := answer.get("error"):
        raise MemvaultError(str(error["message"]), **_without_message(error.get("data")))


def _without_message(data: Any) -> dict[str, Any]:
    """The data without ``message``, which the error has already."""
    return {k: v for k, v in data.items() if k != "message"} if isinstance(data, dict) else {}


@contextmanager
def connect_to_engine(
    launcher: Launcher,
    state: StateFolder,
    report: Callable[[str], None] | None = None,
    at_most: float | None = None,
) -> Iterator[EngineClient]:
    """A client of the vault's engine, which is started if needed.

    With ``report``, waits until the indexes are open, but ``at_most`` so many seconds, and calls
    ``report`` with each step.

    Raises:
        EngineUnavailable: it could not be started.
    """
    with launcher.connect() as connection:
        address = read_address(state)
        if address is None:
            raise EngineUnavailable(_GONE)
        if report is not None:
            launcher.wait_until_open(report, at_most)
        yield EngineClient(connection, address, launcher)
