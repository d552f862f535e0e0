"""The pages where web clients wait, and where the person approves them.

``/consent`` is open to everyone and only shows a number. ``/clients`` needs the cookie of a browser
that was signed in on this machine, and ``/admin/clients`` the engine's token.
"""

from __future__ import annotations

import time
from typing import Any

from jinja2 import Environment
from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_server.security.access_policy import PAGE_HEADERS, PageSessions, needs_no_token
from mcp_server.security.oauth import CONSENT_PATH, ApprovalProvider, WaitingClient
from memvault.model.json_text import json_value

CLIENTS_PATH = "/clients"
_MAX_BODY_BYTES = 262_144
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.5rem .5rem .5rem 0;"
    "border-bottom:1px solid #8884}form{display:inline}button{font:inherit;padding:.3rem .8rem}"
    "strong.number{font-size:2rem;letter-spacing:.1em}"
)
# One template for both pages: what a page is not given, it leaves out. Every value is escaped.
_PAGE = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string("""\
<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{{ title }}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
{% if waiting %}<meta http-equiv="refresh" content="2">{% endif %}
<style>{{ style }}</style></head><body><main><h1>{{ title }}</h1>
{% if text %}<p>{{ text }}</p>{% endif %}
{% if waiting %}
<p><b>{{ waiting.name }}</b> ({{ waiting.host }}) asks to read and write your notes.
<b>{{ warning }}</b></p>
<p><strong class="number">{{ waiting.number }}</strong></p>
<p>To allow it, run <code>memvault clients approve {{ waiting.number }}</code> on the computer that
runs memvault, or <code>memvault clients --open</code> and enter this number there. This page then
continues by itself. If you did not start this, close the page.</p>
{% endif %}
{% if clients is defined %}
<form method="post"><input type="hidden" name="action" value="approve">
<label>Number that your own browser shows <input name="key" required autocomplete="off"></label>
<button>Approve</button></form><h2>Approved</h2><table>
{% for key, client in clients.items() %}
<tr><td>{{ client.name }} ({{ client.host }})</td>
<td>last seen {{ time.strftime("%Y-%m-%d %H:%M", time.localtime(client.last_seen)) }}</td>
<td><form method="post"><input type="hidden" name="action" value="revoke">
<input type="hidden" name="key" value="{{ key }}"><button>Revoke</button></form></td></tr>
{% endfor %}</table>{% if not clients %}<p>None.</p>{% endif %}
{% endif %}
</main></body></html>""")


def consent_routes(provider: ApprovalProvider) -> list[BaseRoute]:
    """The routes that anyone may open: OAuth's own, and the page of a waiting client."""

    async def consent(request: Request) -> Response:
        waiting = provider.request(request.query_params.get("request", ""))
        if waiting is None:
            expired = "This request has expired. Connect again from your AI client."
            return _page("memvault", text=expired, status=404)
        if provider.is_decided(waiting):
            return _finished(provider, waiting)
        warning = _warning(provider, waiting)
        return _page("Approve this client", waiting=waiting, warning=warning)

    return [*provider.routes(), Route(CONSENT_PATH, consent)]


def _finished(provider: ApprovalProvider, waiting: WaitingClient) -> Response:
    try:
        target = provider.finish(waiting)
    except OSError as error:
        text = (
            f"The approval cannot be saved on the computer that runs memvault: {error.strerror}. "
            "Correct that, reload this page and approve the client again."
        )
        return _page("memvault", text=text, status=500)
    return RedirectResponse(target, 302, headers={"Cache-Control": "no-store"})


class SignInPaths:
    """Sends the paths that need no token to the sign-in, and all others to the engine.

    Nothing else of the engine answers a stranger, whatever the path or the method.
    """

    def __init__(self, app: ASGIApp, provider: ApprovalProvider) -> None:
        self._app = app
        sign_in = Starlette(routes=consent_routes(provider))
        self._sign_in = RequestBodyLimitMiddleware(sign_in, _MAX_BODY_BYTES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_open = scope["type"] != "lifespan" and needs_no_token(scope["path"])
        await (self._sign_in if is_open else self._app)(scope, receive, send)


def client_routes(provider: ApprovalProvider) -> list[BaseRoute]:
    """``/clients``, where the person approves, denies and revokes."""

    async def show(request: Request) -> Response:
        return _page("Clients on the web", clients=provider.registry.clients)

    async def act(request: Request) -> Response:
        form = await request.form()
        action, key = str(form.get("action", "")), str(form.get("key", ""))
        _decide(provider, action, key)
        return RedirectResponse(CLIENTS_PATH, 303)

    return [
        Route(CLIENTS_PATH, show, methods=["GET"]),
        Route(CLIENTS_PATH, act, methods=["POST"]),
    ]


def client_admin_routes(
    provider: ApprovalProvider | None, sessions: PageSessions | None
) -> list[BaseRoute]:
    """``/admin/clients`` and ``/admin/sign-in`` for the command line; the access policy requires
    the engine's token."""

    async def show(_: Request) -> Response:
        if provider is None:
            return JSONResponse({"public_url": None, "clients": []})
        return JSONResponse(_as_json(provider))

    async def act(request: Request) -> Response:
        values = json_value(await request.body())
        done = provider is not None and _decide(provider, str(values["action"]), str(values["key"]))
        return JSONResponse({"done": done})

    async def sign_in(_: Request) -> Response:
        return JSONResponse({"code": sessions.new_code() if sessions is not None else None})

    return [
        Route("/clients", show, methods=["GET"]),
        Route("/clients", act, methods=["POST"]),
        Route("/sign-in", sign_in, methods=["POST"]),
    ]


def _decide(provider: ApprovalProvider, action: str, key: str) -> bool:
    """Approve or deny the client with a number, or revoke the one with an id; False if there can
    be none."""
    match action:
        case "approve" | "deny":
            return provider.decide(key, approve=action == "approve")
        case "revoke":
            return provider.registry.revoke(key)
    return False


def _as_json(provider: ApprovalProvider) -> dict[str, Any]:
    clients = [
        {"id": key, "name": client.name, "host": client.host, "approved": client.approved,
         "last_seen": client.last_seen}
        for key, client in provider.registry.clients.items()
    ]  # fmt: skip
    return {"public_url": provider.public_url, "clients": clients}


def _warning(provider: ApprovalProvider, waiting: WaitingClient) -> str:
    """A warning for the person before they approve; usually empty."""
    namesake = provider.namesake(waiting)
    if namesake is None:
        return ""
    return (
        f"You approved a client called {namesake.name} ({namesake.host}) already, and this is "
        "another one. Approve it only if you are connecting again."
    )


def _page(title: str, status: int = 200, **fields: object) -> Response:
    html = _PAGE.render(title=title, style=_STYLE, time=time, **fields)
    return HTMLResponse(html, status_code=status, headers=PAGE_HEADERS)
