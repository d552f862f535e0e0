"""Administration over HTTP, for the command line: status, doctor, manifest, rebuild, shutdown."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pydantic_core import to_jsonable_python
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from indexer.progress import Progress
from mcp_server.runtime.activity_tracker import ActivityTracker
from memvault.model.errors import MemvaultError, StorageError

if TYPE_CHECKING:
    from mcp_server.engine.startup import Startup

_log = logging.getLogger(__name__)
_REPORTS_EVERY_SECONDS = 0.1
_Line = dict[str, Any]


def admin_routes(
    startup: Startup, tracker: ActivityTracker, stop: Callable[[], None]
) -> list[Route]:
    """Routes under ``/admin``; they require the token of ``engine.json``.

    ``stop`` ends the engine when its current answers are sent.
    """
    rebuilding = threading.Lock()

    async def status(_: Request) -> Response:
        return await _answer(startup.status)

    async def doctor(request: Request) -> Response:
        fix = request.query_params.get("fix") == "true"
        return await _answer(lambda: {"findings": startup.doctor(fix=fix)})

    async def manifest(_: Request) -> Response:
        return await _answer(startup.write_manifest)

    async def rebuild(_: Request) -> Response:
        if not rebuilding.acquire(blocking=False):
            return _refused(StorageError("A rebuild is already running; wait until it is done."))
        lines = _start_rebuild(startup, tracker, rebuilding)
        return StreamingResponse(_as_ndjson(lines), media_type="application/x-ndjson")

    async def hook(request: Request) -> Response:
        client, event = request.path_params["client"], request.path_params["event"]
        data = await request.body()
        answer = await run_in_threadpool(startup.hook, client, event, data)
        return Response(answer, status_code=200 if answer is not None else 503)

    async def shutdown(request: Request) -> Response:
        # Who runs `memvault serve` in a terminal would otherwise see it end without a reason.
        newer = request.query_params.get("newer")
        reason = f"memvault {newer} is newer, and takes over" if newer else "it was asked to"
        _log.warning("stopping: %s", reason)
        stop()
        return JSONResponse({"stopping": os.getpid()})

    return [
        Route("/status", status),
        Route("/doctor", doctor, methods=["POST"]),
        Route("/manifest", manifest, methods=["POST"]),
        Route("/rebuild", rebuild, methods=["POST"]),
        Route("/shutdown", shutdown, methods=["POST"]),
        Route("/hook/{client}/{event}", hook, methods=["POST"]),
    ]


async def _answer(compute: Callable[[], Any]) -> Response:
    try:
        return JSONResponse(to_jsonable_python(await run_in_threadpool(compute), fallback=str))
    except MemvaultError as error:
        return _refused(error)


def _refused(error: MemvaultError) -> Response:
    return JSONResponse({"error": _wire_error(error)}, status_code=409)


def _wire_error(error: MemvaultError) -> dict[str, Any]:
    data = to_jsonable_python(error.data, fallback=str)
    return {"code": error.code, "message": error.message, "data": data}


def _start_rebuild(
    startup: Startup, tracker: ActivityTracker, rebuilding: threading.Lock
) -> asyncio.Queue[_Line | None]:
    """Rebuild in a separate thread, which continues if the client leaves.

    The thread puts progress into the queue, then the outcome, then None, and releases the lock.
    """
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[_Line | None] = asyncio.Queue()

    def put(line: _Line | None) -> None:
        with suppress(RuntimeError):  # the engine stopped meanwhile
            loop.call_soon_threadsafe(lines.put_nowait, line)

    def run() -> None:
        with tracker.visit():
            try:
                put(_rebuild_outcome(startup, put))
            finally:
                rebuilding.release()
                put(None)

    # Not a job of the worker: a rebuild of a large vault takes minutes.
    threading.Thread(target=run, name="rebuild", daemon=True).start()
    return lines


async def _as_ndjson(lines: asyncio.Queue[_Line | None]) -> AsyncIterator[bytes]:
    while (line := await lines.get()) is not None:
        yield json.dumps(line).encode() + b"\n"


def _rebuild_outcome(startup: Startup, put: Callable[[_Line], None]) -> _Line:
    """Rebuild, and put progress at most ten times a second; returns ``finished`` or ``error``."""
    last = 0.0

    def report(progress: Progress) -> None:
        nonlocal last
        if progress.done < progress.total and time.monotonic() - last < _REPORTS_EVERY_SECONDS:
            return
        last = time.monotonic()
        put(progress.as_dict())

    try:
        outcome = startup.rebuild(report)
        return {"finished": to_jsonable_python(outcome, fallback=str)}
    except MemvaultError as error:
        return {"error": _wire_error(error)}
    except Exception:
        _log.exception("rebuild failed")
        return {"error": {"code": -32603, "message": "The rebuild failed; see the engine's log."}}
