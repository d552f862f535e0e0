"""Nothing leaves the machine: set-up, export, indexing, every tool and every page, watched."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

REPO = Path(__file__).parents[2]
PAGES = ("/", "/ask?q=seeds", "/curate", "/activity", "/concepts", "/compress", "/memories")

# Loaded by every Python process at its start: any name looked up, and any address other than this
# machine's, is written down and refused.
WATCH_SOCKETS = """
import os, sys
def hook(event, args):
    if event == "socket.connect":
        address = args[1]
        where = address[0] if isinstance(address, tuple) else "local"
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        where = args[0]
        where = where.decode() if isinstance(where, bytes) else where
    else:
        return
    if where in ("local", None, "", "localhost", "127.0.0.1", "::1"):
        return
    with open(os.environ["SEEN_SOCKETS"], "a") as file:
        file.write(f"{event} {where} by {' '.join(sys.argv)[:200]}\\n")
    raise OSError(f"refused in this test: {event} {where}")
sys.addaudithook(hook)
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def environment(tmp_path: Path, home: Path) -> dict[str, str]:
    """A person's bare home, where no model was exported yet and every socket is watched."""
    watch = tmp_path / "watch"
    watch.mkdir()
    (watch / "sitecustomize.py").write_text(WATCH_SOCKETS)
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "LANG")}
    return kept | {
        "HOME": str(home),
        "TMPDIR": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([str(watch), str(REPO / "src"), str(REPO)]),
        "SEEN_SOCKETS": str(tmp_path / "seen-sockets"),
    }


def sample(name: str, schema: dict[str, Any]) -> Any:
    """A value of the kind that a tool's argument takes."""
    if "default" in schema and schema["default"] is not None:
        return schema["default"]
    if "anyOf" in schema:
        return sample(name, schema["anyOf"][0])
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "string")
    if kind == "array":
        return [sample(name, schema.get("items", {}))]
    by_kind = {"integer": 1, "number": 0.5, "boolean": True, "object": {}}
    return by_kind.get(kind, "The seed library keeps its seeds in glass jars")


async def call_every_tool(command: list[str], environment: dict[str, str]) -> int:
    transport = StdioTransport(command[0], [*command[1:], "mcp", "--tools", "full"], environment)
    async with Client(transport) as client:
        tools = await client.list_tools()
        for tool in tools:
            properties = tool.inputSchema["properties"]
            required = tool.inputSchema.get("required", [])
            arguments = {name: sample(name, properties[name]) for name in required}
            await client.call_tool(tool.name, arguments, raise_on_error=False)
    return len(tools)


def strace(log: Path) -> list[str]:
    """The prefix that watches what compiled code connects to, where strace is installed."""
    found = shutil.which("strace")
    return [found, "-f", "--seccomp-bpf", "-e", "trace=connect", "-o", str(log)] if found else []


def foreign_addresses(log: Path) -> set[str]:
    text = log.read_text(errors="replace") if log.exists() else ""
    addresses = re.findall(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"', text)
    return {four or six for four, six in addresses} - {"127.0.0.1", "::1"}


@pytest.fixture
def engine(
    tmp_path: Path, home: Path, environment: dict[str, str]
) -> Iterator[tuple[list[str], int]]:
    """A command of the command line, and the port of an engine that serves a new vault."""
    command = [sys.executable, "-m", "memvault.cli", "--vault", str(tmp_path / "vault")]
    shutil.copytree(REPO / "vault_template", tmp_path / "vault")
    with (tmp_path / "engine.out").open("w") as output:
        process = subprocess.Popen(
            [*strace(tmp_path / "strace.log"), *command, "serve"],
            env=environment,
            cwd=tmp_path,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            yield command, engine_port(home, process)
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)


def engine_port(home: Path, process: subprocess.Popen[bytes]) -> int:
    """The port of the engine once its indexes answer."""
    for _ in range(1200):
        for file in home.rglob("engine.json"):
            port = int(json.loads(file.read_text())["port"])
            with suppress(OSError):
                url = f"http://127.0.0.1:{port}/healthz"
                if json.load(urllib.request.urlopen(url, timeout=5))["status"] == "ok":
                    return port
        assert process.poll() is None
        time.sleep(0.2)
    raise AssertionError("the engine did not start")


@pytest.mark.timeout(400)
def test_nothing_is_looked_up_contacted_or_written_elsewhere(
    tmp_path: Path, home: Path, environment: dict[str, str], engine: tuple[list[str], int]
) -> None:
    command, port = engine

    def run(*arguments: str) -> None:
        subprocess.run([*command, *arguments], env=environment, check=True, cwd=tmp_path)

    run("init")
    run("search", "seeds")
    assert asyncio.run(call_every_tool(command, environment)) > 30
    for page in PAGES:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{page}", timeout=60) as got:
            assert got.status == 200
    run("rebuild")

    seen = tmp_path / "seen-sockets"
    assert not seen.exists(), seen.read_text()
    assert foreign_addresses(tmp_path / "strace.log") == set()
    own = {home / ".cache" / "memvault", home / ".local" / "state" / "memvault"}
    written = [path for path in home.rglob("*") if path.is_file()]
    assert [path for path in written if not own & set(path.parents)] == []


def test_openvino_finds_no_telemetry_to_import(environment: dict[str, str]) -> None:
    code = (
        "import memvault, openvino, openvino.tools.ovc.telemetry_utils as utils;"
        "print(utils.tm.__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "openvino.tools.ovc.telemetry_stub"
