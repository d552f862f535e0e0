"""A bridge whose client asks faster than it reads: it holds up itself, not the engine."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from fastmcp import FastMCP
from starlette.websockets import WebSocketDisconnect

from mcp_server.app import MAX_UNDER_WAY, serve_bridge
from mcp_server.runtime.activity_tracker import ActivityTracker
from tests.waiting import PATIENCE_SECONDS, until_seen

ASKED = 10 * MAX_UNDER_WAY
INFO = {"name": "test", "version": "1"}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": INFO}


def request(id_: int, method: str = "tools/call", **params: Any) -> bytes:
    params = params or {"name": "echo", "arguments": {}}
    return json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}).encode()


def notice(method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()


class Deaf:
    """A websocket whose client reads nothing until ``reads`` is set."""

    def __init__(self, frames: list[bytes]) -> None:
        opening = [request(0, "initialize", **HELLO), notice("notifications/initialized")]
        self._frames = [*opening, *frames]
        self.taken = 0
        self.reads = asyncio.Event()
        self.left = asyncio.Event()
        self.answered: list[int] = []

    async def accept(self) -> None: ...

    async def receive(self) -> dict[str, Any]:
        if self.taken < len(self._frames):
            self.taken += 1
            return {"type": "websocket.receive", "bytes": self._frames[self.taken - 1]}
        await self.left.wait()
        return {"type": "websocket.disconnect"}

    async def send_bytes(self, data: bytes) -> None:
        id_ = json.loads(data).get("id")
        if id_ != 0:
            await self.reads.wait()
        if self.left.is_set():
            raise WebSocketDisconnect
        self.answered.append(id_)


def engine() -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("test")

    @mcp.tool
    async def echo() -> str:
        return "x"

    @mcp.tool
    async def wait() -> str:
        await asyncio.sleep(60)
        return "x"

    return mcp


def served(socket: Deaf) -> tuple[asyncio.Task[None], ActivityTracker]:
    tracker = ActivityTracker()
    serving = serve_bridge(engine(), socket, tracker)  # type: ignore[arg-type]
    return asyncio.create_task(serving), tracker


async def steady(socket: Deaf) -> int:
    """How many frames are taken when no more are."""
    before = -1
    while before != socket.taken:
        before = socket.taken
        await asyncio.sleep(0.1)
    return before


def test_requests_wait_in_the_socket_while_answers_are_not_read() -> None:
    async def run() -> None:
        socket = Deaf([request(number) for number in range(1, ASKED + 1)])
        serving, tracker = served(socket)
        # An engine that stops waits for them.
        await until_seen(lambda: tracker.unanswered_calls >= MAX_UNDER_WAY)
        assert await steady(socket) <= MAX_UNDER_WAY + 4
        socket.reads.set()
        await until_seen(lambda: len(socket.answered) > ASKED and not tracker.unanswered_calls)
        assert await steady(socket) == ASKED + 2
        assert sorted(socket.answered) == list(range(ASKED + 1))
        socket.left.set()
        await asyncio.wait_for(serving, PATIENCE_SECONDS)

    asyncio.run(run())


def test_a_client_that_leaves_without_reading_leaves_nothing_behind() -> None:
    async def run() -> None:
        socket = Deaf([request(number) for number in range(1, ASKED + 1)])
        serving, tracker = served(socket)
        await until_seen(lambda: tracker.unanswered_calls >= MAX_UNDER_WAY)
        socket.left.set()
        socket.reads.set()
        await asyncio.wait_for(serving, PATIENCE_SECONDS)
        assert tracker.unanswered_calls == 0
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())


def test_requests_that_are_cancelled_or_not_valid_make_room_for_others() -> None:
    async def run() -> None:
        frames = []
        for number in range(1, 2 * MAX_UNDER_WAY):
            frames.append(request(number, name="wait", arguments={}))
            frames.append(notice("notifications/cancelled", requestId=number))
            frames.append(json.dumps({"jsonrpc": "2.0", "id": -number, "method": 3}).encode())
        socket = Deaf([*frames, request(1000)])
        socket.reads.set()
        serving, tracker = served(socket)
        await until_seen(lambda: 1000 in socket.answered and not tracker.unanswered_calls)
        socket.left.set()
        await asyncio.wait_for(serving, PATIENCE_SECONDS)
        assert tracker.unanswered_calls == 0

    asyncio.run(run())
