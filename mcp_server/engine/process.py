"""The engine: the one process of a vault that opens its indexes and serves all clients."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import uvicorn
from fastmcp import FastMCP
from filelock import FileLock, Timeout

from mcp_server.app import engine_app
from mcp_server.engine.build_version import installed_version
from mcp_server.engine.launcher import (
    ABRUPT_END,
    EngineAddress,
    is_lost,
    read_address,
    remove_address,
    write_address,
)
from mcp_server.middleware.client_identity import accept_person, reserve_names
from mcp_server.runtime.activity_tracker import ActivityTracker, CountRunningCalls
from mcp_server.security.access_policy import (
    AccessPolicy,
    PageSessions,
    PublicAccess,
    is_loopback,
)
from mcp_server.security.client_registry import ClientRegistry
from mcp_server.security.oauth import ApprovalProvider
from memvault.config.paths import StateFolder
from memvault.config.settings import EngineSettings
from memvault.model.errors import EngineUnavailable, InvalidParams, MemvaultError

if TYPE_CHECKING:
    from mcp_server.engine.startup import Startup

_log = logging.getLogger(__name__)

# A bridge tests the lock by taking it for a moment.
_LOCK_SECONDS = 0.5
_SHUTDOWN_SECONDS = 3
# Seconds by which opening the indexes is delayed, to leave the processor to the first handshake.
_OPEN_DELAY_SECONDS = 0.3
# An engine whose stores cannot open answers with the reason for this long, then stops. The next
# call starts another, for which the cause may be gone.
_LINGER_SECONDS = 5.0
# After this time, a shutdown hangs. Killing the engine loses no change that it confirmed.
_FORCE_EXIT_SECONDS = 60.0
_MAX_FRAME_BYTES = 64 * 2**20


def run_engine(
    state: StateFolder,
    settings: EngineSettings,
    assemble: Callable[[], tuple[FastMCP, Startup]],
    *,
    idle_exit: bool = False,
    on_ready: Callable[[EngineAddress], None] | None = None,
) -> None:
    """Serve until a signal, ``/admin/shutdown`` or the loss of the state folder or, with
    ``idle_exit``, until ``settings.idle_exit_seconds`` after the last client left.

    ``assemble`` is called once the vault's lock is held; the indexes open when the engine
    listens.

    Raises:
        EngineUnavailable: another engine serves the vault, or the port is taken.
        InvalidParams: a host other than this machine without a token.
        MemvaultError: the indexes could not be opened.
    """
    if not is_loopback(settings.host) and settings.token is None:
        raise InvalidParams(
            f"To listen on {settings.host}, set a token first: MEMVAULT_ENGINE__TOKEN=<secret>."
        )
    state.create()
    with _only_engine(state), bound_socket(settings, _usual_port(state)) as listener:
        mcp, startup = assemble()
        address = _new_address(settings, listener)
        server = _new_server(settings, state, address, mcp, startup, idle_exit=idle_exit)
        try:
            _serve(server, state, address, listener, on_ready)
        finally:
            startup.close()
            server.force_exit_timer.cancel()
        if server.failure is not None:
            raise server.failure


@contextlib.contextmanager
def _only_engine(state: StateFolder) -> Iterator[None]:
    lock = FileLock(state.engine_lock)
    try:
        lock.acquire(timeout=_LOCK_SECONDS, poll_interval=0.02)
    except Timeout:
        running = read_address(state)
        process = f" (process {running.pid})" if running else ""
        raise EngineUnavailable(
            f"An engine already serves this vault{process}; every client can use it as it is. "
            "Stop it with `memvault stop` first to start another."
        ) from None
    try:
        if (former := read_address(state)) is not None:
            remove_address(state, former)  # nobody may ask there while this engine starts
            _log.warning("the last engine, process %d, did not stop. %s", former.pid, ABRUPT_END)
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def bound_socket(settings: EngineSettings, usual_port: int = 0) -> Iterator[socket.socket]:
    """The listening socket; bound before the stores open, so that a port in use is reported at
    once. Where the settings leave the choice, ``usual_port`` is taken if it is free."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Asyncio disables Nagle's algorithm only if the protocol is given. Otherwise the body of each
    # answer waits 40 ms for the client's acknowledgement of the headers.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        if os.name == "posix":  # on Windows this option would let others share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            _bind(listener, settings.host, [settings.port] if settings.port else [usual_port, 0])
        except OSError as error:
            raise EngineUnavailable(
                f"Cannot listen on {settings.host} port {settings.port}: {error.strerror}. "
                "Choose another with MEMVAULT_ENGINE__PORT, or 0 for any free one."
            ) from error
        yield listener


def _bind(listener: socket.socket, host: str, ports: list[int]) -> None:
    """Bind to the first of these ports that is free. Raises OSError: none is."""
    for port in ports[:-1]:
        with contextlib.suppress(OSError):
            return listener.bind((host, port))
    return listener.bind((host, ports[-1]))


def _usual_port(state: StateFolder) -> int:
    """A port from 20000 to 29999, always the same for a vault, so that its page keeps its address.

    Systems give none of these to outgoing connections.
    """
    digest = hashlib.blake2b(str(state.root.absolute()).encode(), digest_size=4).digest()
    return 20_000 + int.from_bytes(digest) % 10_000


def _new_address(settings: EngineSettings, listener: socket.socket) -> EngineAddress:
    return EngineAddress(
        pid=os.getpid(),
        host=_reachable(settings.host),
        port=listener.getsockname()[1],
        token=secrets.token_urlsafe(32),
        version=installed_version(),
        started=time.time(),
    )


def _new_server(
    settings: EngineSettings,
    state: StateFolder,
    address: EngineAddress,
    mcp: FastMCP,
    startup: Startup,
    *,
    idle_exit: bool,
) -> _EngineServer:
    client_token = settings.token.get_secret_value() if settings.token else None
    tracker = ActivityTracker()
    mcp.add_middleware(CountRunningCalls(tracker))

    def stop() -> None:
        server.should_exit = True

    sign_in = _oauth_provider(settings, state)
    accept_person(address.token)
    if sign_in is not None:
        reserve_names(sign_in.registry.names)
    app = engine_app(
        mcp,
        startup,
        policy=AccessPolicy(settings.host, address.token, client_token, _public(sign_in)),
        tracker=tracker,
        stop=stop,
        sign_in=sign_in,
        http_sessions=state.http_sessions,
    )
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="warning",
        access_log=False,
        lifespan="on",
        ws="websockets-sansio",
        ws_max_size=_MAX_FRAME_BYTES,
        ws_ping_interval=None,  # a lost loopback peer closes its socket
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        server_header=False,
        # Where no token is needed, another user's program could claim another address by them.
        proxy_headers=client_token is not None or sign_in is not None,
    )
    idle_seconds = settings.idle_exit_seconds if idle_exit else None
    server = _EngineServer(config, startup, tracker, idle_seconds)
    return server


def _oauth_provider(settings: EngineSettings, state: StateFolder) -> ApprovalProvider | None:
    """The OAuth provider; None for an engine without a public address."""
    if settings.public_url is None:
        return None
    return ApprovalProvider(settings.public_url, ClientRegistry(state.clients))


def _public(sign_in: ApprovalProvider | None) -> PublicAccess | None:
    if sign_in is None:
        return None
    return PublicAccess(
        sign_in.public_url,
        sign_in.client_of,
        sign_in.metadata_url,
        PageSessions(),
        sign_in.registry.withdrawal,
    )


def _serve(
    server: _EngineServer,
    state: StateFolder,
    address: EngineAddress,
    listener: socket.socket,
    on_ready: Callable[[EngineAddress], None] | None,
) -> None:
    def ready() -> None:
        write_address(state, address)
        _log.info("engine %s listens on %s", address.version, address.netloc)
        if on_ready is not None:
            on_ready(address)

    server.on_ready = ready
    server.is_lost = lambda: is_lost(state, address)
    try:
        server.run(sockets=[listener])
    finally:
        remove_address(state, address)
    _log.info("engine stopped")


def _timer(seconds: float, callback: Callable[[], None]) -> threading.Timer:
    timer = threading.Timer(seconds, callback)
    timer.daemon = True
    return timer


def _force_exit() -> None:
    _log.error("shutdown timed out; forcing exit")
    os._exit(1)


def _reachable(host: str) -> str:
    """The address under which bridges of this machine reach an engine bound to ``host``."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


class _EngineServer(uvicorn.Server):
    """uvicorn, which also reports when it listens, stops when idle, lets tool calls finish first,
    and returns after a signal.

    ``failure`` is the error of indexes that could not be opened.
    """

    on_ready: Callable[[], None]
    is_lost: Callable[[], bool]  # whether clients no longer find this engine

    def __init__(
        self,
        config: uvicorn.Config,
        startup: Startup,
        tracker: ActivityTracker,
        idle_seconds: float | None,
    ) -> None:
        super().__init__(config)
        self.failure: MemvaultError | None = None
        self.force_exit_timer = _timer(_FORCE_EXIT_SECONDS, _force_exit)
        self._startup = startup
        self._tracker = tracker
        self._idle_seconds = idle_seconds

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        with super().capture_signals():
            yield
            # uvicorn would raise them again, and the process would die before the stores close.
            self._captured_signals.clear()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        loop = asyncio.get_running_loop()
        try:
            self.on_ready()
        except MemvaultError as error:  # nobody can find an engine without an address
            self.failure = error
            loop.call_soon(self._stop)
            return
        loop.call_later(_OPEN_DELAY_SECONDS, self._startup.start, self._fail)
        self._watch = asyncio.create_task(self._stop_when_unneeded())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.force_exit_timer.start()
        self._startup.wind_down()
        for server in self.servers:
            server.close()
        deadline = time.monotonic() + _SHUTDOWN_SECONDS
        while self._tracker.unanswered_calls and time.monotonic() < deadline:
            if self.force_exit:
                break
            await asyncio.sleep(0.02)
        await super().shutdown(sockets)

    def _fail(self, error: MemvaultError) -> None:
        self.failure = error
        _timer(_LINGER_SECONDS, self._stop).start()

    def _stop(self) -> None:
        self.should_exit = True

    async def _stop_when_unneeded(self) -> None:
        idle = self._idle_seconds
        pause = 1.0 if idle is None else max(0.05, min(1.0, idle / 4))
        while not self.is_lost():
            if idle is not None and self._tracker.idle_seconds() >= idle:
                _log.info("stopping: no client for %.0f seconds", idle)
                break
            await asyncio.sleep(pause)
        else:
            _log.warning("stopping: the state folder was deleted")
        self.should_exit = True
