"""The bridge that AI clients start: stdio on one side, the engine's websocket on the other.

One JSON-RPC message is one line of stdio and one frame of the websocket, its bytes unchanged,
except that a tool call gets a key. If the engine is lost, the bridge finds or starts another,
repeats the client's handshake and subscriptions, and sends unanswered requests again. By its key, a
call whose change the lost engine made is recognised (`middleware.call_keys`). Calls of other tools
that are not known to be read-only or idempotent are not sent again: such a call gets an error that
says so, since the tool may have run.

Clients start one or more bridges when they start, so this imports neither MCP nor pydantic.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO
from uuid import uuid4

from websockets.exceptions import ConnectionClosed, ConnectionClosedOK
from websockets.sync.client import ClientConnection

from mcp_server.engine.launcher import Launcher
from memvault.model.errors import EngineUnavailable
from memvault.model.json_text import json_object

_DRAIN_SECONDS = 2.0
_POLL_SECONDS = 0.01
# An engine that dies sooner is not started again until the client sends something.
_STEADY_SECONDS = 5.0
_UNAVAILABLE = -32002
_NO_JSON, _NO_REQUEST = -32700, -32600  # codes of JSON-RPC 2.0
# A quicker start is not reported to the person.
_QUIET_SECONDS = 4.0
_OWN_ID = "memvault bridge: which tools may be asked twice"
CALL_KEY = "memvault/call"  # in the _meta of a call: the key that the bridge gave it
MAX_KEY_CHARS = 64
ONCE = "memvault/once"  # in the _meta of a tool: it recognises a call by its key


@dataclass(slots=True)
class _Request:
    line: bytes
    method: str
    tool: str | None
    repetitions: int = 0


class Bridge:
    """Two threads: the caller's reads the client, another owns the connection."""

    def __init__(self, launcher: Launcher, stdin: BinaryIO, stdout: BinaryIO) -> None:
        self._launcher = launcher
        self._stdin = stdin
        self._stdout = stdout
        self._write_lock = threading.Lock()
        # Guards the connection and the messages that wait for one.
        self._send_lock = threading.Lock()
        self._connection: ClientConnection | None = None
        self._waiting: deque[bytes] = deque()
        self._connection_wanted = threading.Event()
        self._ending = False
        self._unanswered: dict[Any, _Request] = {}
        self._repeatable_tools: set[str] | None = None  # None until an engine has listed its tools
        self._initialize: bytes | None = None  # the client's, once a result answered it
        self._initialized: bytes | None = None
        self._subscribed: dict[str, bytes] = {}  # by resource: the client's subscription request
        self._not_delivered: set[Any] = set()  # ids of requests that the bridge repeated
        self._abrupt_end = ""  # of the last engine

    def run(self) -> None:
        """Pass messages on until stdin ends."""
        self._connection_wanted.set()
        link = threading.Thread(target=self._keep_connected, name="link", daemon=True)
        link.start()
        with suppress(KeyboardInterrupt):
            for line in self._stdin:
                if message := line.strip():
                    self._forward(message)
        self._drain()
        self._ending = True
        self._connection_wanted.set()
        if self._connection is not None:
            self._connection.close()

    # From the client

    def _forward(self, line: bytes) -> None:
        message = json_object(line)
        if message is None or message.keys().isdisjoint(("method", "result", "error")):
            self._write(_invalid(message))  # the engine reports other faults
            return
        if message.get("method") == "tools/call" and isinstance(message.get("params"), dict):
            line = _with_key(message, line)
        tools_request = self._tools_request(message)
        with self._send_lock:
            # Remembered before the lock, it could be sent by `_resume` as well, or refused there.
            self._remember(message, line)
            if tools_request is not None and self._connection is not None:
                _send(self._connection, tools_request)
            if self._connection is None or not _send(self._connection, line):
                self._waiting.append(line)
                self._connection_wanted.set()

    def _tools_request(self, message: dict[str, Any]) -> bytes | None:
        """A request for the list of tools, from which the bridge learns which calls it may repeat.

        Needed before the first call of a client that never requested the list. In the stateless
        protocol ``_meta`` names the client.
        """
        if message.get("method") != "tools/call" or self._repeatable_tools is not None:
            return None
        meta = _fields(_fields(message.get("params")).get("_meta"))
        meta.pop("progressToken", None)
        params = {"params": {"_meta": meta}} if meta else {}
        request = {"jsonrpc": "2.0", "id": _OWN_ID, "method": "tools/list", **params}
        return json.dumps(request).encode()

    def _remember(self, message: dict[str, Any], line: bytes) -> None:
        """Remember the requests that a new engine must receive again."""
        method, id_ = message.get("method"), message.get("id")
        params = _fields(message.get("params"))
        if method == "notifications/cancelled":
            self._unanswered.pop(_key(params.get("requestId")), None)
        elif method == "notifications/initialized":
            self._initialized = line
        elif isinstance(method, str) and id_ is not None:
            if method == "resources/subscribe":
                self._subscribed[str(params.get("uri"))] = line
            elif method == "resources/unsubscribe":
                self._subscribed.pop(str(params.get("uri")), None)
            tool = str(params.get("name")) if method == "tools/call" else None
            self._unanswered[_key(id_)] = _Request(line, method, tool)

    def _drain(self) -> None:
        """Wait for outstanding answers after the client's last message, also of an engine that is
        still starting."""
        remaining_seconds = _DRAIN_SECONDS
        while self._unanswered and remaining_seconds > 0:
            time.sleep(_POLL_SECONDS)
            if self._connection is not None:
                remaining_seconds -= _POLL_SECONDS

    # From the engine

    def _keep_connected(self) -> None:
        while not self._ending:
            self._connection_wanted.wait()
            self._connection_wanted.clear()
            if self._ending:
                return
            try:
                connection = self._launcher.connect()
            except EngineUnavailable as error:
                self._give_up(error.message)
                continue
            except Exception as error:  # the thread must go on, and the client needs an answer
                self._give_up(f"The memvault engine cannot be reached: {error}")
                continue
            connected_at = time.monotonic()
            threading.Thread(target=self._report_long_start, daemon=True).start()
            self._resume(connection)
            crashed = self._receive(connection)
            with self._send_lock:
                self._connection = None
            self._abrupt_end = self._launcher.abrupt_end() if crashed else ""
            if self._abrupt_end:
                _report(f"The memvault engine is gone. {self._abrupt_end}")
            was_steady = time.monotonic() - connected_at > _STEADY_SECONDS
            if self._unanswered or self._waiting or (crashed and was_steady):
                self._connection_wanted.set()

    def _report_long_start(self) -> None:
        """Report a long start on stderr, which clients keep as this server's log."""
        time.sleep(_QUIET_SECONDS)

        self._launcher.wait_until_open(lambda step: _report(f"memvault is {step}"))

    def _resume(self, connection: ClientConnection) -> None:
        """Repeat the handshake and subscriptions to a new engine, then send what waited."""
        with self._send_lock:
            waiting = set(self._waiting)
            lines = self._handshake_to_repeat(waiting)
            for id_, request in list(self._unanswered.items()):
                if request.line in waiting:
                    continue
                if self._may_repeat(request):
                    lines.append(request.line)
                else:
                    self._fail(id_, f"{_unknown_outcome(request)} {self._abrupt_end}".rstrip())
            self._connection = connection
            for line in self._waiting:
                tools_request = self._tools_request(json_object(line) or {})
                lines += [line] if tools_request is None else [tools_request, line]
            self._waiting.clear()
            self._connection_wanted.clear()  # later messages are sent at once
            for line in lines:
                _send(connection, line)

    def _handshake_to_repeat(self, waiting: set[bytes]) -> list[bytes]:
        """The handshake, once answered, and the answered subscriptions.

        The client does not get the answers to these repeated requests.
        """
        if self._initialize is None or self._initialize in waiting:
            return []
        id_ = _key((json_object(self._initialize) or {}).get("id"))
        if id_ in self._unanswered:
            return []
        self._not_delivered.add(id_)
        lines = [self._initialize]
        if self._initialized is not None and self._initialized not in waiting:
            lines.append(self._initialized)
        for line in self._subscribed.values():
            id_ = _key((json_object(line) or {}).get("id"))
            if line not in waiting and id_ not in self._unanswered:
                self._not_delivered.add(id_)
                lines.append(line)
        return lines

    def _may_repeat(self, request: _Request) -> bool:
        request.repetitions += 1
        is_repeatable = request.tool is None or request.tool in (self._repeatable_tools or ())
        return is_repeatable and request.repetitions <= 1

    def _receive(self, connection: ClientConnection) -> bool:
        """Pass answers on until the connection ends; True if the engine did not close it
        properly."""
        try:
            while True:
                frame = connection.recv()
                self._deliver(frame if isinstance(frame, bytes) else frame.encode())
        except ConnectionClosedOK:
            return False
        except ConnectionClosed as closed:
            return closed.rcvd is None

    def _deliver(self, frame: bytes) -> None:
        message = json_object(frame) or {}
        if "method" not in message and message.get("id") is not None:
            if message["id"] == _OWN_ID:
                self._learn_tools(message)
                return
            id_ = _key(message["id"])
            if id_ in self._not_delivered:
                self._not_delivered.discard(id_)
                return
            request = self._unanswered.get(id_)
            if request is not None and request.method == "tools/list":
                self._learn_tools(message)
            if request is not None and request.method == "initialize" and "result" in message:
                # After an error the client goes on as before, perhaps in the stateless protocol.
                self._initialize = request.line
            self._write(frame)
            self._unanswered.pop(id_, None)
            return
        self._write(frame)

    def _learn_tools(self, answer: dict[str, Any]) -> None:
        with suppress(KeyError, TypeError, AttributeError):  # an error: then no call is repeated
            repeatable = self._repeatable_tools or set()
            for tool in answer["result"]["tools"]:
                hints = tool.get("annotations") or {}
                knows_keys = (tool.get("_meta") or {}).get(ONCE)
                if hints.get("readOnlyHint") or hints.get("idempotentHint") or knows_keys:
                    repeatable.add(tool["name"])
            self._repeatable_tools = repeatable

    # Answers of the bridge itself

    def _give_up(self, reason: str) -> None:
        with self._send_lock:
            self._waiting.clear()
            for id_ in list(self._unanswered):
                self._fail(id_, reason)

    def _fail(self, id_: Any, message: str) -> None:
        if self._unanswered.pop(id_, None) is None:
            return
        error = {"code": _UNAVAILABLE, "message": message}
        answer = {"jsonrpc": "2.0", "id": id_[1], "error": error}
        self._write(json.dumps(answer).encode())

    def _write(self, message: bytes) -> None:
        with self._write_lock, suppress(BrokenPipeError, ValueError):  # the client has left
            self._stdout.write(message + b"\n")
            self._stdout.flush()


def _key(id_: Any) -> tuple[str, Any]:
    """The id with its type: 1, "1" and True are different ids, though 1 == True in Python."""
    return type(id_).__name__, id_ if isinstance(id_, int | str | float) else None


def _invalid(message: dict[str, Any] | None) -> bytes:
    """The answer to a line that is no JSON object (None), or to an object that is no message."""
    if message is None:
        error = {"code": _NO_JSON, "message": "A message is a JSON object in one line."}
    else:
        error = {"code": _NO_REQUEST, "message": "A request has a method."}
    id_ = (message or {}).get("id")
    is_id = isinstance(id_, int | str) and not isinstance(id_, bool)  # JSON has no NaN
    answer = {"jsonrpc": "2.0", "id": id_ if is_id else None, "error": error}
    return json.dumps(answer).encode()


def _with_key(message: dict[str, Any], line: bytes) -> bytes:
    """A tool call with a key of its own."""
    params = _fields(message["params"])
    params["_meta"] = {**_fields(params.get("_meta")), CALL_KEY: uuid4().hex}
    try:
        return json.dumps({**message, "params": params}).encode()
    except RecursionError:
        return line  # the engine reports the error


def _fields(value: Any) -> dict[str, Any]:
    """A copy of an object's fields; empty for anything else."""
    return dict(value) if isinstance(value, dict) else {}


def _send(connection: ClientConnection, line: bytes) -> bool:
    try:
        connection.send(line)
    except ConnectionClosed:
        return False
    return True


def _report(sentence: str) -> None:
    """Write to stderr, unless that is closed and nobody reads it."""
    with suppress(OSError, ValueError):
        sys.stderr.write(sentence + "\n")
        sys.stderr.flush()


def _unknown_outcome(request: _Request) -> str:
    name = f"'{request.tool or request.method}'"
    return (
        f"The memvault engine stopped while {name} was under way, so it may or may not have been "
        "done. Check first, then try again."
    )


def run_bridge(launcher: Launcher) -> None:
    """Serve the client on this process's stdin and stdout; returns at once if either is closed."""
    if sys.stdin is None or sys.stdout is None:
        return
    Bridge(launcher, sys.stdin.buffer, sys.stdout.buffer).run()
