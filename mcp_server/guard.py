"""Who may speak to the engine: checks every HTTP request and websocket before any route.

A page on the web can make a browser send requests to 127.0.0.1, and by DNS rebinding even read
the answers. Such requests carry a foreign ``Origin``, or the page's own name as ``Host``; both are
refused. FastMCP's guard is not used: it leaves websockets alone, and lets pages of any other local
port in.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """``engine_token`` is the one in ``engine.json`` and opens everything; ``client_token`` is
    the configured one, required for everything but ``/bridge`` and ``/admin`` when set."""

    host: str
    engine_token: str
    client_token: str | None = None

    def refusal(self, path: str, headers: Headers) -> tuple[int, str] | None:
        """The HTTP status and reason for turning this request away, or None."""
        hosts = headers.getlist("host")
        host = hosts[0] if len(hosts) == 1 else ""
        if not host or (is_loopback(self.host) and not _names_this_machine(host)):
            return 421, "This engine answers only under its own address."
        if any(not _same_origin(origin, host) for origin in headers.getlist("origin")):
            return 403, "Requests from other web pages are refused."
        if not self._token_fits(path, headers):
            return 401, "A valid bearer token is required."
        return None

    def _token_fits(self, path: str, headers: Headers) -> bool:
        internal = path == "/bridge" or path.startswith("/admin")
        if not internal and self.client_token is None:
            return True
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return False
        accepted = [self.engine_token]
        if not internal and self.client_token is not None:
            accepted.append(self.client_token)
        sent = given.strip().encode()
        return any(hmac.compare_digest(sent, token.encode()) for token in accepted)


def _names_this_machine(netloc: str) -> bool:
    try:
        name = urlsplit(f"//{netloc}").hostname
    except ValueError:
        return False
    return name is not None and is_loopback(name)


def _same_origin(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and parts.netloc.lower() == host.lower()


class GuardMiddleware:
    """Turns refused requests away: HTTP with the status, websockets before they open."""

    def __init__(self, app: ASGIApp, policy: AccessPolicy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refusal = self._policy.refusal(scope["path"], Headers(scope=scope))
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": refusal[1]})
        else:
            status, reason = refusal
            challenge = {"WWW-Authenticate": "Bearer"} if status == 401 else None
            response = PlainTextResponse(reason, status_code=status, headers=challenge)
            await response(scope, receive, send)
