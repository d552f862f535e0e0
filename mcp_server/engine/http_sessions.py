"""Continues the MCP sessions of clients over HTTP after they ended here.

A session of the handshake protocols lives in the engine's memory, and ends with the engine or after
half an hour without a request. The specification lets a server answer 404 then, and wants clients
to begin another session. Every call of those made with the TypeScript SDK fails instead, until the
person connects them again. So the handshake of each session is kept in the state folder. A request
of a session that ended repeats the handshake, and the session continues under its old id.

What a client subscribed to is not continued.
"""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_server.security.access_policy import WEB_CLIENT, WebClient
from memvault.model.json_text import json_value
from memvault.vault.write import write_whole

_log = logging.getLogger(__name__)
_SESSION = "mcp-session-id"
_MAX_SESSIONS = 200  # that are kept, those used last
_MAX_BYTES = 16_384  # of a handshake that is kept
_INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'


@dataclass(frozen=True, slots=True)
class _Handshake:
    """How a client began a session.

    Attributes:
        request: its ``initialize``, as JSON.
        client: the id of the client on the web; None for a client of this computer.
    """

    request: str
    client: str | None


_HANDSHAKES = TypeAdapter(dict[str, _Handshake])


class ContinuedSessions:
    """The MCP application, which continues sessions that ended otherwise than by their client.

    Args:
        app: the application at ``/mcp``.
        file: keeps the handshakes by the ids of their sessions.
    """

    def __init__(self, app: ASGIApp, file: Path) -> None:
        self._app = app
        self._file = file
        self._kept = _read(file)
        self._continued: dict[str, str] = {}  # the ids of sessions here, by the ids clients know
        self._lock, self._writing = asyncio.Lock(), asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != "/mcp":
            await self._app(scope, receive, send)
            return
        session = Headers(scope=scope).get(_SESSION)
        if session is None:
            await self._begin(scope, receive, send)
            return
        handshake = self._kept.get(session)
        if handshake is None or handshake.client != _client_of(scope):
            await self._app(scope, receive, send)
            return
        if scope["method"] == "DELETE":
            await self._keep(session, None)
        else:
            self._kept[session] = self._kept.pop(session)  # the last one of those used
        await self._answer(session, handshake, scope, receive, send)

    async def _answer(
        self, session: str, handshake: _Handshake, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answer a request of a kept session, which may have ended here."""
        taken: list[Message] = []
        has_ended = False
        sent = _known_as(session, send)

        async def received() -> Message:
            taken.append(await receive())
            return taken[-1]

        async def sent_unless_ended(message: Message) -> None:
            nonlocal has_ended
            has_ended |= message["type"] == "http.response.start" and message["status"] == 404
            if not has_ended:
                await sent(message)

        async def received_again() -> Message:
            return taken.pop(0) if taken else await receive()

        here = self._continued.get(session, session)
        await self._app(_of_session(scope, here), received, sent_unless_ended)
        if has_ended:
            async with self._lock:
                if self._continued.get(session, session) == here:  # no other request continued it
                    await self._continue(session, handshake, scope)
            here = self._continued.get(session, session)
            await self._app(_of_session(scope, here), received_again, sent)

    async def _begin(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request without a session, and keep it if it began one."""
        body = b""

        async def received() -> Message:
            nonlocal body
            message = await receive()
            if len(body) <= _MAX_BYTES:
                body += message.get("body", b"")
            return message

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                session = MutableHeaders(scope=message).get(_SESSION)
                if session is not None and len(body) <= _MAX_BYTES:
                    await self._keep(session, _Handshake(body.decode(), _client_of(scope)))
            await send(message)

        await self._app(scope, received, sent)

    async def _continue(self, session: str, handshake: _Handshake, scope: Scope) -> None:
        """Begin a session here for one that ended."""
        begun = await self._post(scope, handshake.request.encode(), None)
        if begun is not None:
            await self._post(scope, _INITIALIZED, begun)
            self._continued[session] = begun
            _log.info("continued a client's session")

    async def _post(self, scope: Scope, body: bytes, session: str | None) -> str | None:
        """Post a message as the client of this request; returns the id of its session."""
        found: str | None = None
        is_given = False

        async def receive() -> Message:
            nonlocal is_given
            if is_given:  # the client stays until it has the answer
                await asyncio.Event().wait()
            is_given = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            nonlocal found
            if message["type"] == "http.response.start" and message["status"] == 200:
                found = MutableHeaders(scope=message).get(_SESSION)

        headers = [
            (b"host", Headers(scope=scope).get("host", "").encode("latin-1")),
            (b"content-type", b"application/json"),
            (b"accept", b"application/json, text/event-stream"),
        ]
        posted = {**scope, "method": "POST", "headers": headers}
        await self._app(posted if session is None else _of_session(posted, session), receive, send)
        return found

    async def _keep(self, session: str, handshake: _Handshake | None) -> None:
        """Keep a session; None if it has ended."""
        self._kept.pop(session, None)
        if handshake is not None:
            self._kept[session] = handshake
        while len(self._kept) > _MAX_SESSIONS:
            oldest = next(iter(self._kept))
            del self._kept[oldest]
            self._continued.pop(oldest, None)
        async with self._writing:
            values = {key: asdict(kept) for key, kept in self._kept.items()}
            try:
                await run_in_threadpool(write_whole, self._file, json.dumps(values).encode(), 0o600)
            except OSError as error:  # after a restart this client has to connect again
                _log.warning("%s cannot be written: %s", self._file, error)


def _of_session(scope: Scope, session: str) -> Scope:
    """The request with this id of its session."""
    headers = [pair for pair in scope["headers"] if pair[0] != _SESSION.encode()]
    return {**scope, "headers": [*headers, (_SESSION.encode(), session.encode("latin-1"))]}


def _known_as(session: str, send: Send) -> Send:
    """A send function whose answers have this id of the session, as the client knows it."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if _SESSION in headers:
                headers[_SESSION] = session
        await send(message)

    return sent


def _client_of(scope: Scope) -> str | None:
    client: WebClient | None = scope.get("state", {}).get(WEB_CLIENT)
    return client.id if client is not None else None


def _read(file: Path) -> dict[str, _Handshake]:
    """The handshakes in the file; none if it is missing or damaged."""
    try:
        values: Any = json_value(file.read_bytes())
        return _HANDSHAKES.validate_python(values)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, ValidationError) as error:
        _log.warning("%s cannot be read: %s", file, error)
        return {}
