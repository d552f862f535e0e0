"""Access control: checks every HTTP request and websocket before any route.

A page on the web can make a browser send requests to 127.0.0.1, and by DNS rebinding even read
the answers. Such requests carry a foreign ``Origin``, or the page's own name as ``Host``; both are
refused. FastMCP's guard is not used: it leaves websockets alone, and lets pages of any other local
port in.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_server.security.peer_user import Address, is_of_another_user

TOKEN_COOKIE = "memvault_token"
SIGN_IN_PATH = "/sign-in"
WEB_CLIENT = "web_client"  # in a request's state: the `WebClient` that sends it, or None
MAX_BYTES = 4_096
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
}
_FORM = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>memvault</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"></head><body><main><h1>memvault</h1>
<p>Run <code>memvault clients --open</code> on the computer that runs memvault, or enter its
token (<code>MEMVAULT_ENGINE__TOKEN</code>).</p>
<form method="post" action="/sign-in"><p><label>Token
<input type="password" name="token" autofocus required autocomplete="current-password"></label>
<button>Open</button></p></form></main></body></html>"""


# A name or an address, and a port. A URL parser would also take the 127.0.0.1 out of
# "127.0.0.1#.evil.example".
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::[0-9]{1,5})?")
_PUBLIC_PATHS = frozenset({"/authorize", "/token", "/register", "/revoke", "/consent"})
_CODE_SECONDS = 300


class PageSessions:
    """Browsers that the person signed in from this machine, each with a one-time code."""

    def __init__(self) -> None:
        self._codes: dict[str, float] = {}
        self._cookie = secrets.token_urlsafe(32)

    def new_code(self) -> str:
        """A code for ``/sign-in?code=``, valid for five minutes."""
        code = secrets.token_urlsafe(24)
        self._codes[code] = time.monotonic() + _CODE_SECONDS
        return code

    def redeem(self, code: str) -> str | None:
        """The cookie for a code that is still valid; the code is used up."""
        return self._cookie if self._codes.pop(code, 0.0) > time.monotonic() else None

    def accepts(self, cookie: str) -> bool:
        return hmac.compare_digest(cookie.encode(), self._cookie.encode())


class WebClient(NamedTuple):
    """A client on the web: the id of its registration, and the name that the person approved."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class PublicAccess:
    """The engine under its address on the web, where clients sign in with OAuth.

    Attributes:
        url: the https address.
        client_of: the client with a valid access token, else None.
        metadata_url: the address that says how to sign in, for refused clients.
        sessions: browsers that may open the pages.
        withdrawal: waits until some client's access is withdrawn.
    """

    url: str
    client_of: Callable[[str], WebClient | None]
    metadata_url: str
    sessions: PageSessions
    withdrawal: Callable[[], Awaitable[object]]

    def is_named_by(self, host: str) -> bool:
        return host.lower() == urlsplit(self.url).netloc.lower()


def needs_no_token(path: str) -> bool:
    """Whether the path belongs to the sign-in of clients on the web, which anyone may open."""
    return path in _PUBLIC_PATHS or path.startswith("/.well-known/")


def token_in_cookie(headers: Headers) -> str | None:
    """The token in the browser's cookie, or None."""
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return None
    return cookies[TOKEN_COOKIE].value if TOKEN_COOKIE in cookies else None


def accepts_html(scope: Scope, headers: Headers) -> bool:
    """Whether the request is a browser's, which accepts HTML."""
    return scope.get("method") == "GET" and "text/html" in headers.get("accept", "")


def sign_in_form() -> Response:
    return HTMLResponse(_FORM, status_code=401, headers=PAGE_HEADERS)


async def submitted_token(scope: Scope, receive: Receive) -> str:
    """The token of the form; empty if it is too long."""
    body = b""
    async for chunk in Request(scope, receive).stream():
        body += chunk
        if len(body) > MAX_BYTES:
            return ""
    return parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0].strip()


def signed_in(scope: Scope, token: str, page: str = "/") -> Response:
    """A redirect to a page that sets the cookie, which lasts for the browser's session."""
    response = RedirectResponse(page, 303, headers=PAGE_HEADERS)
    secure = scope.get("scheme") == "https"
    response.set_cookie(TOKEN_COOKIE, token, httponly=True, samesite="strict", secure=secure)
    return response


def is_loopback(host: str) -> bool:
    """Whether a host name or address is a loopback one, which only this machine reaches."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """Decides which requests are allowed.

    Attributes:
        engine_token: the token in ``engine.json``; opens everything.
        client_token: the configured token; opens all but ``/bridge`` and ``/admin``, as a
            header or, from a browser that signed in with it, as a cookie.
        public: set when clients reach the engine from the web. Everything then needs a token,
            since a tunnel can make a request look local. OAuth tokens open ``/mcp`` alone.
    """

    host: str
    engine_token: str
    client_token: str | None = None
    public: PublicAccess | None = None

    def refusal(self, path: str, headers: Headers) -> tuple[int, str] | None:
        """The HTTP status and reason for refusing this request, or None."""
        hosts = headers.getlist("host")
        host = hosts[0] if len(hosts) == 1 else ""
        is_public = self.public is not None and self.public.is_named_by(host)
        is_known = is_public or _names_this_machine(host) or not is_loopback(self.host)
        if not host or not is_known:
            return 421, "This engine answers only under its own address."
        if self.public is not None and needs_no_token(path):
            return None
        if _is_of_other_page(headers, host):
            return 403, "Requests from other web pages are refused."
        if is_public and not _names_this_machine(host) and path != "/mcp":
            return 404, "Only MCP is served under this address."
        if not self._token_fits(path, headers):
            return 401, "A valid bearer token is required."
        return None

    @property
    def challenge(self) -> str:
        """The ``WWW-Authenticate`` header of a refusal (RFC 6750, RFC 9728)."""
        if self.public is None:
            return "Bearer"
        return f'Bearer resource_metadata="{self.public.metadata_url}"'

    def cookie_for(self, code: str) -> str | None:
        """The cookie for a browser with this one-time code; None if the code is not valid."""
        return self.public.sessions.redeem(code) if self.public is not None else None

    def _token_fits(self, path: str, headers: Headers) -> bool:
        internal = path == "/bridge" or path.startswith("/admin")
        if not internal and self.client_token is None and self.public is None:
            return True
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self._accepts(token.strip(), path, internal=internal)
        cookie = None if internal else token_in_cookie(headers)
        return cookie is not None and self.opens_pages(cookie)

    def opens_pages(self, token: str) -> bool:
        """Whether a browser with this cookie is signed in."""
        configured = self.client_token
        if configured is not None and hmac.compare_digest(token.encode(), configured.encode()):
            return True
        return self.public is not None and self.public.sessions.accepts(token)

    def _accepts(self, token: str, path: str, *, internal: bool) -> bool:
        accepted = [self.engine_token]
        if not internal and self.client_token is not None:
            accepted.append(self.client_token)
        if any(hmac.compare_digest(token.encode(), valid.encode()) for valid in accepted):
            return True
        return path == "/mcp" and self._web_client(token) is not None

    def _web_client(self, token: str) -> WebClient | None:
        return self.public.client_of(token) if self.public is not None else None

    def client_of(self, headers: Headers) -> WebClient | None:
        """The client on the web that sends this request; None for any other."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return self._web_client(token.strip()) if scheme.lower() == "bearer" else None


def _names_this_machine(netloc: str) -> bool:
    match = _HOST.fullmatch(netloc)
    return match is not None and is_loopback(match[1])


def _is_of_other_page(headers: Headers, host: str) -> bool:
    """Whether a page of another origin made a browser send this request.

    Browsers send no ``Origin`` for the images, scripts and frames of a page. A link to the engine
    that the person follows is allowed.
    """
    if any(not _same_origin(origin, host) for origin in headers.getlist("origin")):
        return True
    is_foreign = headers.get("sec-fetch-site") in {"cross-site", "same-site"}
    return is_foreign and headers.get("sec-fetch-dest") != "document"


def _same_origin(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and parts.netloc.lower() == host.lower()


def _session_owner(client: WebClient) -> AuthenticatedUser:
    """The owner of the MCP sessions that this client opens; the SDK refuses them to others."""
    return AuthenticatedUser(AccessToken(token="", client_id=client.id, scopes=[]))


class AccessMiddleware:
    """Refuses requests by the policy: HTTP with a status, websockets before they open."""

    def __init__(self, app: ASGIApp, policy: AccessPolicy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._policy.refusal(scope["path"], headers) or self._of_another_user(scope)
        if refusal is None:
            client = scope.setdefault("state", {})[WEB_CLIENT] = self._policy.client_of(headers)
            if client is not None:
                scope["user"] = _session_owner(client)
                await self._answer_while_approved(headers, scope, receive, send)
            else:
                await self._app(scope, receive, send)
        elif refusal[0] == 401 and scope["type"] == "http" and scope["path"] == SIGN_IN_PATH:
            await self._sign_in(scope, receive, send)
        elif refusal[0] == 401 and accepts_html(scope, headers):
            await sign_in_form()(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": refusal[1]})
        else:
            status, reason = refusal
            challenge = {"WWW-Authenticate": self._policy.challenge} if status == 401 else None
            response = PlainTextResponse(reason, status_code=status, headers=challenge)
            await response(scope, receive, send)

    def _of_another_user(self, scope: Scope) -> tuple[int, str] | None:
        """The refusal of a request that needed no token and came from another user's program."""
        client, server = scope.get("client"), scope.get("server")
        needs_token = self._policy.client_token is not None or self._policy.public is not None
        if needs_token or not server or server[1] is None:
            return None
        # There is no client's address if the connection is closed already.
        if not client or is_of_another_user(Address(*client), Address(*server)):
            return 403, "This engine answers only the user of this computer who started it."
        return None

    async def _answer_while_approved(
        self, headers: Headers, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answer a client on the web; the answer, which may be a stream, ends once the client's
        token is invalid."""
        public = self._policy.public
        assert public is not None
        has_begun = has_ended = False

        async def checked(message: Message) -> None:
            nonlocal has_begun, has_ended
            if has_ended:
                return
            has_begun = True
            if message["type"] == "http.response.body":
                if not self._policy.client_of(headers):
                    message = {"type": "http.response.body", "body": b""}
                has_ended = not message.get("more_body", False)
            await send(message)

        async def end_when_withdrawn() -> None:
            while self._policy.client_of(headers):
                await public.withdrawal()
            if has_begun:
                await checked({"type": "http.response.body"})

        watch = asyncio.create_task(end_when_withdrawn())
        try:
            await self._app(scope, receive, checked)
        finally:
            watch.cancel()

    async def _sign_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "POST":
            token = await submitted_token(scope, receive)
            response = (
                signed_in(scope, token) if self._policy.opens_pages(token) else sign_in_form()
            )
        else:
            code = parse_qs(scope.get("query_string", b"").decode("ascii", "replace"))
            cookie = self._policy.cookie_for(code.get("code", [""])[0])
            response = sign_in_form() if cookie is None else signed_in(scope, cookie, "/clients")
        await response(scope, receive, send)
