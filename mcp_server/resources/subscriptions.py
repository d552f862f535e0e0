"""Notifies subscribed clients when the pulse changes.

Clients of the handshake protocols subscribe with ``resources/subscribe`` and are notified on their
connection; those of the stateless protocol keep a ``subscriptions/listen`` stream open.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import mcp_types as mt
from fastmcp import FastMCP
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import ResourceUpdated

from mcp_server.middleware.client_identity import connection_of
from mcp_server.middleware.errors import protocol_error
from mcp_server.resources.state import PULSE_URI
from memvault.model.errors import InvalidParams, MemvaultError

_log = logging.getLogger(__name__)
MIN_SECONDS = 5.0  # between two updates of one subscriber (graph-tools 1.3)
LOOK_SECONDS = 0.5  # between two measurements of the pulse, while anybody is subscribed

Context = ServerRequestContext[Any, Any]


@dataclass(slots=True)
class _Subscriber:
    """``last`` is the pulse of the last notification, ``at`` its time (seconds, monotonic)."""

    session_id: str
    notify: Callable[[], Awaitable[None]]
    last: str | None
    at: float


class PulseUpdates:
    """Watches the pulse while anybody is subscribed.

    Args:
        measure: returns a session's pulse as text; raises MemvaultError while it is unavailable.
    """

    def __init__(self, measure: Callable[[str], str]) -> None:
        self._measure = measure
        self._subscribers: dict[Hashable, _Subscriber] = {}
        self._watching: asyncio.Task[None] | None = None

    def register(self, server: FastMCP[Any]) -> None:
        """Add the request handlers for both ways of subscribing."""
        low_level = server._mcp_server
        low_level.add_request_handler(
            "resources/subscribe", mt.SubscribeRequestParams, self._on_subscribe
        )
        low_level.add_request_handler(
            "resources/unsubscribe", mt.UnsubscribeRequestParams, self._on_unsubscribe
        )
        low_level.add_request_handler(
            "subscriptions/listen", mt.SubscriptionsListenRequestParams, self._on_listen
        )

    def close(self) -> None:
        """Stop watching."""
        self._subscribers.clear()
        if self._watching is not None:
            with suppress(RuntimeError):  # its event loop is gone already
                self._watching.cancel()

    # -- subscribing ----------------------------------------------------------------------------

    async def _on_subscribe(
        self, ctx: Context, params: mt.SubscribeRequestParams
    ) -> mt.EmptyResult:
        if str(params.uri) != PULSE_URI:
            error = InvalidParams(f"Only {PULSE_URI} can be subscribed to", uri=str(params.uri))
            raise protocol_error(error)
        connection = ctx.session._connection
        if connection not in self._subscribers:
            connection.exit_stack.callback(self._subscribers.pop, connection, None)
        await self._add(
            connection,
            connection_of(ctx.session),
            lambda: connection.send_resource_updated(PULSE_URI),
        )
        return mt.EmptyResult()

    async def _on_unsubscribe(self, ctx: Context, _: mt.UnsubscribeRequestParams) -> mt.EmptyResult:
        self._subscribers.pop(ctx.session._connection, None)
        return mt.EmptyResult()

    async def _on_listen(
        self, ctx: Context, params: mt.SubscriptionsListenRequestParams
    ) -> mt.SubscriptionsListenResult:
        bus = InMemorySubscriptionBus()  # this stream's own: each session has its own pulse
        stream = object()

        async def notify() -> None:
            await bus.publish(ResourceUpdated(PULSE_URI))

        if PULSE_URI in map(str, params.notifications.resource_subscriptions or ()):
            await self._add(stream, connection_of(ctx.session), notify)
        try:
            return await ListenHandler(bus)(ctx, params)
        finally:
            self._subscribers.pop(stream, None)

    async def _add(
        self, key: Hashable, session_id: str, notify: Callable[[], Awaitable[None]]
    ) -> None:
        last = await asyncio.to_thread(self._pulse_or_none, session_id)
        self._subscribers[key] = _Subscriber(session_id, notify, last, -MIN_SECONDS)
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch(), name="memvault-pulse")

    # -- watching -------------------------------------------------------------------------------

    async def _watch(self) -> None:
        while self._subscribers:
            await asyncio.sleep(LOOK_SECONDS)
            now = time.monotonic()
            due_subscribers = {
                key: subscriber
                for key, subscriber in self._subscribers.items()
                if now - subscriber.at >= MIN_SECONDS
            }
            sessions = {subscriber.session_id for subscriber in due_subscribers.values()}
            pulses = await asyncio.to_thread(
                lambda session_ids: {
                    session_id: self._pulse_or_none(session_id) for session_id in session_ids
                },
                sessions,
            )
            for key, subscriber in due_subscribers.items():
                pulse = pulses[subscriber.session_id]
                if pulse is None or pulse == subscriber.last or key not in self._subscribers:
                    continue
                subscriber.last, subscriber.at = pulse, time.monotonic()
                try:
                    await subscriber.notify()
                except Exception:  # a client's broken pipe must not end the others' updates
                    _log.debug("a subscriber could not be notified", exc_info=True)
                    self._subscribers.pop(key, None)

    def _pulse_or_none(self, session_id: str) -> str | None:
        try:
            return self._measure(session_id)
        except MemvaultError:
            return None  # measured again at the next change
        except Exception:
            _log.exception("the pulse could not be measured")
            return None
