"""The engine's one web application: MCP, bridges, health, metrics and administration."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from fastmcp import FastMCP
from fastmcp.server.context import reset_transport, set_transport
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from mcp_server.engine.administration import admin_routes
from mcp_server.engine.http_sessions import ContinuedSessions
from mcp_server.middleware.client_identity import connection_with, tools_in_query
from mcp_server.runtime.activity_tracker import ActivityTracker, TrackRequests, UnansweredCalls
from mcp_server.security.access_policy import AccessMiddleware, AccessPolicy
from mcp_server.security.consent import SignInPaths, client_admin_routes, client_routes
from mcp_server.security.oauth import ApprovalProvider
from memvault import __version__
from memvault.model.json_text import json_object

if TYPE_CHECKING:
    from mcp_server.engine.startup import Startup

MAX_UNDER_WAY = 64  # requests of one bridge; more wait in its socket until answers are read


def engine_app(
    mcp: FastMCP,
    startup: Startup,
    *,
    policy: AccessPolicy,
    tracker: ActivityTracker,
    stop: Callable[[], None],
    sign_in: ApprovalProvider | None = None,
    http_sessions: Path | None = None,
) -> Starlette:
    """The application with ``/mcp`` (streamable HTTP), ``/bridge`` (websocket), ``/healthz``,
    ``/metrics`` and ``/admin``; with ``sign_in`` also the routes of OAuth and ``/clients``.

    The FastMCP lifespan is entered once, with the application's; connections share it.

    Args:
        http_sessions: the file by which sessions over HTTP continue after they ended here; None if
            they do not.
    """
    mcp_app = mcp.http_app(path="/mcp", host_origin_protection=False)

    async def bridge(websocket: WebSocket) -> None:
        with connection_with(tools_in_query(websocket.url.query)):
            await serve_bridge(mcp, websocket, tracker)

    async def healthz(_: Request) -> Response:
        health = startup.health()
        status = 503 if health["status"] == "failed" else 200
        return JSONResponse({**health, "version": __version__}, status_code=status)

    def metrics(_: Request) -> Response:
        return Response(startup.metrics.text(), media_type=CONTENT_TYPE_LATEST)

    startup.watch_clients(tracker)

    client_admin = client_admin_routes(sign_in, policy.public.sessions if policy.public else None)
    oauth_routes = client_routes(sign_in) if sign_in is not None else []
    oauth_middleware = [Middleware(SignInPaths, provider=sign_in)] if sign_in is not None else []

    return Starlette(
        routes=[
            Route("/healthz", healthz),
            Route("/metrics", metrics),
            WebSocketRoute("/bridge", bridge),
            Mount("/admin", routes=[*admin_routes(startup, tracker, stop), *client_admin]),
            *oauth_routes,
            Mount(
                "/",
                app=ContinuedSessions(mcp_app, http_sessions) if http_sessions else mcp_app,
            ),
        ],
        middleware=[
            Middleware(AccessMiddleware, policy=policy),
            Middleware(TrackRequests, tracker=tracker),
            *oauth_middleware,
        ],
        lifespan=mcp_app.lifespan,
    )


async def serve_bridge(mcp: FastMCP, websocket: WebSocket, tracker: ActivityTracker) -> None:
    """Serve MCP over one websocket, a JSON-RPC message per frame, until the bridge disconnects.

    The same loop as FastMCP's stdio transport. The client's first request decides between the
    handshake protocols and the stateless one.
    """
    await websocket.accept()
    inbound, read = anyio.create_memory_object_stream[SessionMessage | Exception](16)
    write, outbound = anyio.create_memory_object_stream[SessionMessage](16)
    under_way, calls = anyio.Semaphore(MAX_UNDER_WAY), UnansweredCalls(tracker)
    server = mcp._mcp_server
    token = set_transport("stdio")
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_receive, websocket, inbound, write.clone(), under_way, calls)
            tasks.start_soon(_send, websocket, outbound, under_way, calls)
            await server.run(read, write, server.create_initialization_options())
            tasks.cancel_scope.cancel()
    finally:
        calls.clear()
        reset_transport(token)


async def _receive(
    websocket: WebSocket,
    inbound: MemoryObjectSendStream[SessionMessage | Exception],
    answers: MemoryObjectSendStream[SessionMessage],
    under_way: anyio.Semaphore,
    calls: UnansweredCalls,
) -> None:
    async def unanswered(request_id: int | str) -> None:  # a cancelled request
        calls.remove(request_id)
        under_way.release()

    with inbound, answers:
        while True:
            event = await websocket.receive()
            if event["type"] == "websocket.disconnect":
                return
            frame = event.get("bytes") or event.get("text") or b""
            try:
                message = mcp_types.jsonrpc_message_adapter.validate_json(frame, by_name=False)
            except ValidationError as error:
                refusal = _refusal(frame, error)
                if refusal is None:
                    await inbound.send(error)
                else:
                    await under_way.acquire()
                    await answers.send(refusal)
            else:
                metadata = None
                if isinstance(message, mcp_types.JSONRPCRequest):
                    if message.method == "tools/call":
                        calls.add(message.id)
                    await under_way.acquire()
                    metadata = ServerMessageMetadata(
                        on_request_unanswered=partial(unanswered, message.id)
                    )
                await inbound.send(SessionMessage(message, metadata))


def _refusal(frame: str | bytes, error: ValidationError) -> SessionMessage | None:
    """The error for an invalid request; None if the message is not a request, as no client waits
    for an answer to it."""
    request = json_object(frame) or {}
    id_ = request.get("id") if "method" in request else None
    if isinstance(id_, bool) or not isinstance(id_, int | str):
        return None
    details = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in details["loc"][1:])
    reason = f"{place}: {details['msg']}" if place else details["msg"]
    if "hex escape" in reason:  # pydantic refuses a lone surrogate, which Python's parser accepts
        reason = "it contains half of a character, as text that was cut within an emoji does"
    message = f"The request is not valid ({reason}). Correct it and send it again."
    refused = mcp_types.ErrorData(code=mcp_types.INVALID_REQUEST, message=message)
    return SessionMessage(mcp_types.JSONRPCError(jsonrpc="2.0", id=id_, error=refused))


async def _send(
    websocket: WebSocket,
    outbound: MemoryObjectReceiveStream[SessionMessage],
    under_way: anyio.Semaphore,
    calls: UnansweredCalls,
) -> None:
    has_left = False  # then answers go nowhere, so that `_receive` learns of it, too
    with outbound:
        async for item in outbound:
            message = item.message
            text = message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                if not has_left:
                    await websocket.send_bytes(text.encode())
            except (WebSocketDisconnect, RuntimeError):
                has_left = True
            request_id = getattr(message, "id", None)
            if request_id is not None and not hasattr(message, "method"):
                calls.remove(request_id)  # an answer, not a request of the engine's own
                under_way.release()
