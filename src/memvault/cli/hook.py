"""``memvault hook EVENT``, which clients' hooks run.

It passes the client's JSON from stdin to the engine, and the engine's answer to stdout. Clients
wait for it at every prompt and tool call, so it loads only a little of the standard library. Any
error ends in exit code 0, no output and a line in the log.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time

from memvault.config.engine_lock import is_held
from memvault.config.hook_files import KEPT, LIMITS, MAX_TIMEOUTS, HookFiles
from memvault.model.json_text import json_value

# When a session ends, clients exit soon (Claude Code after 1.5 s, Codex after 3 s). The engine must
# only accept the request in that time; its work may take 120 seconds.
_HANDOVER_SECONDS = 1.2
_MARGIN = 0.9  # of the limit, so that this process ends before the client's own limit
_START_SECONDS = 60.0  # in which a started engine may still be opening
_MAX_INPUT = 16_000_000
_ending = threading.Lock()  # for the thread that counts the timeout and ends the process


def run_hook_process(arguments: list[str]) -> None:
    """Run one hook and end the process.

    The exit code is always 0, because clients block on 2. Python's own end would make another of
    it if nobody reads the output.
    """
    try:
        run_hook_command(arguments)
    finally:
        os._exit(0)


def run_hook_command(arguments: list[str]) -> int:
    """Run one hook; returns 0."""
    options = _options(arguments)
    event, client = options["event"], options["client"]
    try:
        files = HookFiles(options["state"] or _state_of(options))
    except Exception as error:  # no folder to log to
        if sys.stderr is not None:
            sys.stderr.write(f"memvault: {error}\n")
        return 0
    try:
        if event not in LIMITS:
            files.log(client, event, "unknown event: nothing done")
        elif not files.is_off(event):
            _run(files, client, event, options)
    except Exception as error:
        files.log(client, event, f"failed: {type(error).__name__}: {error}")
    return 0


def _run(files: HookFiles, client: str, event: str, options: dict[str, str]) -> None:
    limit = _HANDOVER_SECONDS if event == "SessionEnd" else LIMITS[event] * _MARGIN
    began = time.monotonic()
    watch = threading.Timer(limit, _timed_out, (files, client, event))
    watch.daemon = True
    watch.start()
    data = sys.stdin.buffer.read(_MAX_INPUT)
    answer = None
    if data.strip():
        try:
            answer = _ask(files.state, f"/admin/hook/{client}/{event}", data, began + limit)
        except TimeoutError:
            watch.cancel()
            _timed_out(files, client, event)
    watch.cancel()
    files.forget_timeouts(event)
    if answer is None:
        _without_engine(files, client, event, data, options)
    elif answer:
        _write(answer)


def _ask(state: str, path: str, data: bytes, deadline: float) -> bytes | None:
    """The engine's answer; None if no engine accepts the request.

    Nothing is sent to the address of a killed engine, as another user's program may have its port.

    Raises:
        TimeoutError: it accepted the connection but did not answer in time.
    """
    if not is_held(os.path.join(state, "engine.lock")):
        return None
    try:
        with open(os.path.join(state, "engine.json"), "rb") as file:
            address = json_value(file.read())
        connection = socket.create_connection(
            (address["host"], address["port"]), timeout=max(0.05, deadline - time.monotonic())
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None  # no engine runs, or it was killed; the caller starts one and logs that
    host = f"[{address['host']}]" if ":" in address["host"] else address["host"]
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {host}:{address['port']}\r\n"
        f"Authorization: Bearer {address['token']}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(data)}\r\nConnection: close\r\n\r\n"
    )
    parts = []
    with connection:
        try:
            connection.sendall(head.encode() + data)
            while True:
                connection.settimeout(max(0.01, deadline - time.monotonic()))
                part = connection.recv(65536)
                if not part:
                    break
                parts.append(part)
        except TimeoutError:
            raise
        except OSError:
            return None  # the engine ended
    headers, separator, body = b"".join(parts).partition(b"\r\n\r\n")
    status = headers.split(b" ", 2)[1:2]
    return body if separator and status in ([b"200"], [b"202"], [b"204"]) else None


def _without_engine(
    files: HookFiles, client: str, event: str, data: bytes, options: dict[str, str]
) -> None:
    """Save the input if the engine needs it later, and start the engine for the next call."""
    if event in KEPT and data.strip():
        from memvault.capture.hook_input import kept_input

        kept_data = kept_input(data)
        if kept_data is not None:
            files.keep(client, event, kept_data)
    vault = options["vault"]
    if not os.path.isdir(vault):
        files.log(client, event, f"nothing done: there is no vault at {vault}")
        return
    if _start_is_due(files):
        _start_engine(files, options)
        files.log(client, event, "nothing added: the engine is being started")
    else:
        files.log(client, event, "nothing added: the engine is not ready")


def _start_is_due(files: HookFiles) -> bool:
    """Whether this process should start the engine; of concurrent processes, only one should."""
    mark = os.path.join(files.folder, "starting")
    os.makedirs(files.folder, mode=0o700, exist_ok=True)
    try:
        if time.time() - os.stat(mark).st_mtime > _START_SECONDS:
            os.unlink(mark)
    except FileNotFoundError:
        pass  # no engine is being started, or another hook removed the mark just now
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return False
    return True


def _start_engine(files: HookFiles, options: dict[str, str]) -> None:
    import subprocess

    config = ["--config", options["config"]] if options["config"] else []
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
    with open(os.path.join(files.state, "engine.log"), "ab") as log:
        subprocess.Popen(
            # -P: the engine must not import modules from the folder that a client was started in.
            [sys.executable, "-P", "-m", "memvault.cli", "--vault", options["vault"], *config,
             "serve", "--idle-exit"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=files.state,
            creationflags=flags,
            start_new_session=sys.platform != "win32",
        )  # fmt: skip


def _timed_out(files: HookFiles, client: str, event: str) -> None:
    """End the process; also called by the timer while the process waits for stdin or the engine."""
    _ending.acquire()  # the other thread waits here until the process ends
    try:
        off = files.count_timeout(event)
        files.log(client, event, "timed out" + ("; the hook is off now" if off else ""))
        if off and client != "cursor":
            notice = (
                f"memvault switched its {event} hook off: it timed out {MAX_TIMEOUTS + 1} times "
                f"in a row. `memvault hooks on {event}` switches it on again."
            )
            _write(json.dumps({"systemMessage": notice}).encode())
    finally:
        os._exit(0)


def _write(data: bytes) -> None:
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError:
        pass  # the client is gone, so nobody reads the answer


def _options(arguments: list[str]) -> dict[str, str]:
    """Options by name, and ``event``; unknown options, perhaps of later versions, are ignored."""
    options = {"vault": "", "config": "", "state": "", "client": "claude-code", "event": ""}
    rest = iter(arguments)
    words = []
    for argument in rest:
        name, mark, value = argument.removeprefix("--").partition("=")
        if argument.startswith("--") and name in options:
            options[name] = value if mark else next(rest, "")
        elif not argument.startswith("-"):
            words.append(argument)
    options["event"] = words[1] if len(words) > 1 else "none"
    return options


def _state_of(options: dict[str, str]) -> str:
    """The state folder for a command without ``--state``, which `memvault connect` always adds."""
    from memvault.cli.options import find_places

    places = find_places(options["vault"] or None, options["config"] or None)
    options["vault"] = str(places.vault)
    return str(places.state.root)
