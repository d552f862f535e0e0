"""Opens the container in the background: the engine lists its tools at once, and calls wait until
the indexes are open."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import TYPE_CHECKING, Any

import mcp_types as mt
from fastmcp.prompts.base import PromptResult
from fastmcp.resources import ResourceResult
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult

from indexer.doctor import Problem
from mcp_server.metrics import Metrics
from mcp_server.middleware import CallTool, ReadResource, ResourceRead, ToolCall
from mcp_server.middleware.errors import error_result, protocol_error
from mcp_server.runtime.activity_tracker import ActivityTracker
from mcp_server.runtime.index_status import (
    DISK_FULL,
    all_problems,
    degraded_parts,
    incomplete_because,
)
from memvault.model.errors import EngineUnavailable, MemvaultError, StoreUnavailable
from memvault.text.encoders.model_files import EXPORTING

if TYPE_CHECKING:
    from indexer.progress import Report
    from mcp_server.runtime.container import Container
    from memvault.curation.manifest.keeper import WrittenManifest

_log = logging.getLogger(__name__)
PATIENCE_SECONDS = 120.0  # a call's longest wait for the indexes to open
SCAN_PATIENCE_SECONDS = 45.0  # a call's longest wait for the scan at the engine's start
SCAN_GRACE_SECONDS = 120.0  # no call waits for the scan later than this after its start
_CLOSE_SECONDS = 20.0  # closing's longest wait for the current batch
_INCOMPLETE_LIST = (
    "The notes are still being indexed, so the list would lack some concepts. `memvault status` "
    "shows when that is done."
)
_STOPPING = "The memvault engine is stopping. Call again: that starts a new one."
ReportStep = Callable[[str], None]


class Startup:
    """Opens the container in a thread of its own, then indexes changed notes. Thread-safe.

    ``open_container`` gets a function to report its steps, in words that follow "memvault is":
    "loading the model". ``configuration_problem`` compares the configuration with the settings in
    use, whenever the status or the problems are asked for.
    """

    def __init__(
        self,
        open_container: Callable[[ReportStep], Container],
        patience: float = PATIENCE_SECONDS,
        *,
        watch: bool = True,
        configuration_problem: Callable[[], Problem | None] = lambda: None,
    ) -> None:
        self.metrics = Metrics()
        self._open = open_container
        self._find_configuration_problem = configuration_problem
        self._logged_problem: Problem | None = None
        self._watch = watch
        self._patience = patience
        self._step = "starting"
        self._opened: Future[Container] = Future()
        self._first_scan_over = threading.Event()  # the first scan has ended or failed
        self._indexing_since = time.monotonic()
        self._stopping = threading.Event()
        self._failed: Callable[[MemvaultError], None] | None = None
        # Not a job of the worker, which starts only when the container is open.
        self._thread = threading.Thread(target=self._run, name="startup", daemon=True)
        self._lock = threading.Lock()

    @classmethod
    def of(cls, container: Container) -> Startup:
        """A startup for a container that is already open; the caller closes the container."""
        startup = cls(lambda _: container)
        startup._opened.set_result(container)
        startup._first_scan_over.set()
        return startup

    def start(self, failed: Callable[[MemvaultError], None]) -> None:
        """Start opening; ``failed`` is called if that fails."""
        self._failed = failed
        if not self._stopping.is_set():
            self._thread.start()

    def watch_clients(self, tracker: ActivityTracker) -> None:
        """Count the clients, and preload what their questions need."""
        self.metrics.watch_clients(tracker)
        self.when_open(lambda container: container.models.load_for(tracker))

    def when_open(self, callback: Callable[[Container], None]) -> None:
        """Call this with the container as soon as it is open."""

        def opened(future: Future[Container]) -> None:
            if future.exception() is None:
                callback(future.result())

        self._opened.add_done_callback(opened)

    def now(self) -> Container:
        """The open container.

        Raises:
            StoreUnavailable: it is not open yet.
            MemvaultError: it could not be opened.
        """
        if not self._opened.done():
            raise self._not_yet()
        return self._opened.result()

    def wait(self) -> Container:
        """The open container, after waiting for it as long as a call may. Raises as `now`."""
        try:
            return self._opened.result(self._patience)
        except FutureTimeout:
            raise self._not_yet() from None

    async def ready(self) -> None:
        """Wait for the container, then for the first scan, without blocking a thread. Raises as
        `now`."""
        if not self._opened.done():
            opened = asyncio.wrap_future(self._opened)
            try:
                await asyncio.wait_for(asyncio.shield(opened), self._patience)
            except TimeoutError:
                raise self._not_yet() from None
        self.now()
        now = time.monotonic()
        until = min(now + SCAN_PATIENCE_SECONDS, self._indexing_since + SCAN_GRACE_SECONDS)
        while self.indexing and time.monotonic() < until:
            await asyncio.sleep(0.02)

    @property
    def indexing(self) -> bool:
        """Whether changes made while no engine ran are still being indexed."""
        if self._first_scan_over.is_set():
            return False
        is_open = self._opened.done() and self._opened.exception() is None
        return not (is_open and self.now().indexing.has_caught_up)

    @property
    def stopping(self) -> bool:
        """Whether the engine is about to end."""
        return self._stopping.is_set()

    def notice(self) -> str | None:
        """Why answers may be incomplete now: a missing vault, an unreachable or full server, or
        notes that are not indexed yet. None if they are complete."""
        if self._opened.done() and (reason := incomplete_because(self.now())) is not None:
            return reason
        is_updating = self._opened.done() and self.now().live.indexer.updating
        if not (self.indexing or is_updating):
            return None
        indexing = self.now().status()["indexing"] or {}
        done, total = indexing.get("done", 0), indexing.get("total", 0)
        if not total:
            return "Indexing is starting; results may be incomplete."
        if is_updating:
            return (
                f"memvault was updated and indexes the notes again ({done:,} of {total:,}); until "
                "then, results may be incomplete."
            )
        return f"Indexing is running ({done:,} of {total:,} notes); results may be incomplete."

    def health(self) -> dict[str, Any]:
        """The engine's ``status``: ok, starting (with the step in ``doing``), degraded (with names
        in ``not_answering``, ``without_room`` and ``missing``) or failed (with ``error``)."""
        if not self._opened.done():
            return {"status": "starting", "doing": self._step}
        error = self._opened.exception()
        if error is not None:
            return {"status": "failed", "error": str(error)}
        problems = degraded_parts(self._opened.result())
        return {"status": "degraded" if problems else "ok", **problems}

    def status(self) -> dict[str, Any]:
        """The container's status; until it is open, the current step, and ``notes`` is None."""
        if self._opened.done():
            status = self.now().status()
            if self.indexing and status["indexing"] is None:
                status["indexing"] = {"stage": "starting", "done": 0, "total": 0}
            if problem := self._configuration_problem():
                status["problems"] = [f"{problem.what}; {problem.advice}", *status["problems"]]
            return status
        return {
            "notes": None,
            "indexing": {"stage": self._step, "done": 0, "total": 0},
            "last_scan": None,
            "problems": [],
        }

    def _configuration_problem(self) -> Problem | None:
        """The problem of the configuration, logged when it is found or is another one."""
        problem = self._find_configuration_problem()
        if problem is not None and problem != self._logged_problem:
            _log.warning("%s; %s", problem.what, problem.advice)
        self._logged_problem = problem
        return problem

    def doctor(self, *, fix: bool) -> list[Problem]:
        problems = all_problems(self.wait(), fix=fix)
        if problem := self._configuration_problem():
            problems.insert(0, problem)
        return problems

    def rebuild(self, report: Report) -> object:
        return self.wait().indexing.rebuild(report)

    def hook(self, client: str, event: str, data: bytes) -> bytes | None:
        """The answer to a client's hook; None until the container is open, since hooks do not
        wait."""
        if not self._opened.done() or self._opened.exception() is not None:
            return None
        return self._opened.result().hooks.answer(client, event, data)

    def write_manifest(self) -> WrittenManifest:
        """Write the list of concepts, once all notes are indexed.

        Raises:
            StoreUnavailable: that takes longer than a call may wait.
            EngineUnavailable: the engine stops before that.
        """
        container, until = self.wait(), time.monotonic() + self._patience
        while self.indexing or container.live.indexer.updating:
            if time.monotonic() > until:
                raise StoreUnavailable(_INCOMPLETE_LIST)
            time.sleep(0.05)
        if self.stopping:  # perhaps before the scan was over
            raise EngineUnavailable(_STOPPING)
        return container.manifest.write()

    def wind_down(self) -> None:
        """Stop long work soon, and refuse waiting calls; returns at once."""
        self._stopping.set()
        self._first_scan_over.set()
        with self._lock:
            if not self._opened.done():
                self._opened.set_exception(EngineUnavailable(_STOPPING))
                return
        if self._opened.exception() is None:
            self._opened.result().wind_down()

    def close(self) -> None:
        """Close what is open; a running model export ends by itself."""
        self.wind_down()
        deadline = time.monotonic() + _CLOSE_SECONDS
        while self._thread.is_alive() and time.monotonic() < deadline:
            if self._step == EXPORTING:
                break
            self._thread.join(0.1)
        if self._opened.exception() is None:
            self._opened.result().close()

    def _run(self) -> None:
        began = time.monotonic()
        try:
            container = self._open(self._report_step)
        except MemvaultError as error:
            self._give_up(error)
            return
        except Exception as error:
            _log.exception("opening the indexes failed")
            reason = error.strerror if isinstance(error, OSError) else "see the engine's log"
            self._give_up(EngineUnavailable(f"memvault could not open its indexes: {reason}."))
            return
        with self._lock:
            if not self._stopping.is_set():
                self._opened.set_result(container)
        if self._stopping.is_set() and self._opened.exception() is not None:
            container.close()  # `close` does not know this container
            return
        _log.info("indexes open after %.1f s", time.monotonic() - began)
        self._index(container)

    def _index(self, container: Container) -> None:
        self._indexing_since = time.monotonic()
        try:
            container.start(watch=self._watch)
        except MemvaultError as error:
            level = logging.INFO if self._stopping.is_set() else logging.ERROR
            _log.log(level, "indexing stopped: %s", error.message)
        except Exception:
            _log.exception("indexing stopped")
        finally:
            self._first_scan_over.set()

    def _report_step(self, step: str) -> None:
        self._step = step
        _log.info("%s", step)

    def _give_up(self, error: MemvaultError) -> None:
        with self._lock:
            if self._opened.done():
                return
            self._opened.set_exception(error)
        _log.error("%s", error.message)
        if self._failed is not None:
            self._failed(error)

    def _not_yet(self) -> StoreUnavailable:
        return StoreUnavailable(
            f"memvault is still starting: it is {self._step}. Try again in a minute; "
            "`memvault status` shows the progress.",
            doing=self._step,
        )


def _with_notice(result: ToolResult, notice: str | None) -> ToolResult:
    content = result.structured_content
    if notice is None or result.is_error or not content:
        return result
    existing = content.get("notice")
    if existing and notice != DISK_FULL:
        return result
    combined = f"{existing} {notice}" if existing else notice
    return ToolResult(structured_content={**content, "notice": combined}, meta=result.meta)


class WaitForStartup(Middleware):
    """Makes calls, prompts and resources wait until the container is open; lists do not wait."""

    def __init__(self, startup: Startup) -> None:
        self._startup = startup

    async def on_call_tool(self, context: ToolCall, call_next: CallTool) -> ToolResult:
        try:
            await self._startup.ready()
        except MemvaultError as error:
            return error_result(error)
        return _with_notice(await call_next(context), self._startup.notice())

    async def on_get_prompt(
        self,
        context: MiddlewareContext[mt.GetPromptRequestParams],
        call_next: CallNext[mt.GetPromptRequestParams, PromptResult],
    ) -> PromptResult:
        await self._wait()
        return await call_next(context)

    async def on_read_resource(
        self, context: ResourceRead, call_next: ReadResource
    ) -> ResourceResult:
        await self._wait()
        return await call_next(context)

    async def _wait(self) -> None:
        try:
            await self._startup.ready()
        except MemvaultError as error:
            raise protocol_error(error) from error
