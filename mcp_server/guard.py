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

from mcp_server.sign_in import PATH, form, signed_in, token_in_cookie, token_sent, wants_a_page


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
    the configured one, required for everything but ``/bridge`` and ``/admin`` when set: as a
    header or, from a browser that signed in with it, as a cookie."""

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
        if scheme.lower() == "bearer":
            return self._accepts(given.strip(), internal=internal)
        cookie = None if internal else token_in_cookie(headers)
        return cookie is not None and self.opens_pages(cookie)

    def opens_pages(self, token: str) -> bool:
        """Whether it is the configured token, with which a browser signs in."""
        wanted = self.client_token
        return wanted is not None and hmac.compare_digest(token.encode(), wanted.encode())

    def _accepts(self, token: str, *, internal: bool) -> bool:
        accepted = [self.engine_token]
        if not internal and self.client_token is not None:
            accepted.append(self.client_token)
        return any(hmac.compare_digest(token.encode(), each.encode()) for each in accepted)


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
        headers = Headers(scope=scope)
        refusal = self._policy.refusal(scope["path"], headers)
        if refusal is None:
            await self._app(scope, receive, send)
        elif refusal[0] == 401 and scope["type"] == "http" and scope["path"] == PATH:
            await self._sign_in(scope, receive, send)
        elif refusal[0] == 401 and wants_a_page(scope, headers):
            await form()(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": refusal[1]})
        else:
            status, reason = refusal
            challenge = {"WWW-Authenticate": "Bearer"} if status == 401 else None
            response = PlainTextResponse(reason, status_code=status, headers=challenge)
            await response(scope, receive, send)

    async def _sign_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_form = scope["method"] == "POST"
        token = await token_sent(scope, receive) if is_form else ""
        response = signed_in(scope, token) if self._policy.opens_pages(token) else form()
        await response(scope, receive, send)
