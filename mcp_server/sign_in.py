"""Letting a browser in where the engine wants a token, which no browser sends by itself.

Whoever asks for a page without one is shown a form; the token, given once, comes back with every
request of that browser as a cookie that no script reads and no other site's page can use.
"""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope

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
