"""Who may speak to the engine: checks every HTTP request and websocket before any route.

A page on the web can make a browser send requests to 127.0.0.1, and by DNS rebinding even read
the answers. Such requests carry a foreign ``Origin``, or the page's own name as ``Host``; both are
refused. FastMCP's guard is not used: it leaves websockets alone, and lets pages of any other local
port in.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

COOKIE = "memvault_token"
PATH = "/sign-in"
MOST_BYTES = 4_096
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
}
_FORM = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>memvault</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"></head><body><main><h1>memvault</h1>
<form method="post" action="/sign-in"><p><label>The token of this engine
<input type="password" name="token" autofocus required autocomplete="current-password"></label>
<button>Open</button></p></form></main></body></html>"""


def token_in_cookie(headers: Headers) -> str | None:
    """The token that the browser was given."""
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return None
    return cookies[COOKIE].value if COOKIE in cookies else None


def wants_a_page(scope: Scope, headers: Headers) -> bool:
    """Whether a person looks: a browser asks for HTML."""
    return scope.get("method") == "GET" and "text/html" in headers.get("accept", "")


def form() -> Response:
    return HTMLResponse(_FORM, status_code=401, headers=_HEADERS)


async def token_sent(scope: Scope, receive: Receive) -> str:
    """The token of the form; empty for anything longer than one can be."""
    body = b""
    async for chunk in Request(scope, receive).stream():
        body += chunk
        if len(body) > MOST_BYTES:
            return ""
    return parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0].strip()


def signed_in(scope: Scope, token: str) -> Response:
    """To the first page, with the cookie: for this browser's session alone."""
    response = RedirectResponse("/", 303, headers=_HEADERS)
    secure = scope.get("scheme") == "https"
    response.set_cookie(COOKIE, token, httponly=True, samesite="strict", secure=secure)
    return response


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
