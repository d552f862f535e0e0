"""A newcomer: a home folder, a vault, a terminal, and a client that starts `memvault mcp`."""

from __future__ import annotations

import asyncio
import http.client
import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from memvault.cli.app import run
from memvault.config.paths import model_cache
from tests.integration.tiny_engine import environment


@dataclass
class Newcomer:
    """A person with a home folder, a vault and a terminal."""

    home: Path
    vault: Path
    page: str = ""  # host and port

    @property
    def environment(self) -> dict[str, str]:
        given = {name: str(self.home) for name in ("HOME", "USERPROFILE")}
        return {
            **environment(),
            **given,
            "APPDATA": str(self.home / "AppData"),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "MEMVAULT_STATE": str(self.home / "state"),
            "MEMVAULT_CACHE": os.environ.get("MEMVAULT_CACHE") or str(model_cache().parent),
            "MEMVAULT_VAULT": str(self.vault),
            "MEMVAULT_ENGINE__IDLE_EXIT_SECONDS": "60",
        }

    def types(self, *arguments: str, fails: bool = False) -> str:
        """What a command of memvault prints; run here, since a new process takes a second."""
        printed, complained = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.environment.items():
                patch.setenv(name, value)
            with redirect_stdout(printed), redirect_stderr(complained):
                code = run(list(arguments))
        assert (code != 0) == fails, complained.getvalue()
        return complained.getvalue() if fails else printed.getvalue()

    def starts(self, *arguments: str) -> str:
        """What a command prints in a process of its own, as `types`."""
        done = subprocess.run(
            [sys.executable, "-m", "memvault.cli", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=200,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def calls(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool answers a client that starts `memvault mcp`."""

        async def call() -> dict[str, Any]:
            command = ["-m", "memvault.cli", "mcp", "--tools", "full"]
            transport = StdioTransport(sys.executable, command, env=self.environment)
            async with Client(transport) as client:
                result = await client.call_tool(tool, arguments)
                return dict(result.structured_content or {})

        return asyncio.run(call())

    def address(self) -> str:
        """Host and port of the engine."""
        if not self.page:
            address = json.loads(self.types("status", "--json"))["page"]
            self.page = address.removeprefix("http://").rstrip("/")
        return self.page

    def opens(self, path: str) -> tuple[int, str]:
        """The status and text of a page."""
        connection = http.client.HTTPConnection(self.address(), timeout=30)
        connection.request("GET", path, headers={"Accept": "text/html"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def recalled(self, question: str) -> list[dict[str, Any]]:
        """What a client finds that speaks to the engine over HTTP."""

        async def call() -> list[dict[str, Any]]:
            async with Client(f"http://{self.address()}/mcp") as client:
                result = await client.call_tool("recall_memory", {"query": question})
                return list((result.structured_content or {})["nodes"])

        return asyncio.run(call())
