"""A client that connects for each call, to a server in this process."""

from __future__ import annotations

import asyncio
import json
from copy import copy
from typing import Any

from fastmcp import Client, FastMCP
from mcp_types import Implementation

from mcp_server.engine import ToolSet
from mcp_server.engine.client import COMMAND_LINE, proof_of_person
from mcp_server.middleware.client_identity import accept_person
from mcp_server.pages.shown_versions import shown_versions
from mcp_server.runtime.container import Container
from mcp_server.server import build_server


def the_person() -> Implementation:
    """How the command line introduces itself to an engine in this process."""
    token = "the engine's token"
    accept_person(token)
    return Implementation(name=COMMAND_LINE, version="1", title=proof_of_person(token))


def all_shown(container: Container) -> dict[str, str]:
    """The versions of all notes, as the forms of a page that showed them send back."""
    return shown_versions(container, container.live.catalogue.all())


class Caller:
    def __init__(self, container: Container, tools: ToolSet = "core") -> None:
        self.container = container
        self.server: FastMCP[Any] = build_server(container, tools=tools)
        self._info: Implementation | None = None

    @property
    def person(self) -> Caller:
        """The same, but as the person at the command line."""
        caller = copy(self)
        caller._info = the_person()
        return caller

    def named(self, client: str) -> Caller:
        """The same, but as a client of this name."""
        caller = copy(self)
        caller._info = Implementation(name=client, version="1")
        return caller

    def raw(self, name: str, **arguments: Any):
        async def run():
            async with Client(self.server, client_info=self._info) as client:
                return await client.call_tool_mcp(name, arguments)

        return asyncio.run(run())

    def ok(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = self.raw(name, **arguments)
        assert not result.is_error, result.content
        assert json.loads(result.content[0].text) == result.structured_content
        pulse = result.structured_content["pulse"]
        assert 0 <= pulse["entropy"] <= 1 and 0 <= pulse["coherence"] <= 1
        return result.structured_content

    def error(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = self.raw(name, **arguments)
        assert result.is_error, result.structured_content
        return result.structured_content["error"]

    def notes(self) -> dict[str, bytes]:
        """The bytes of every note, by path."""
        vault = self.container.vault
        return {stat.path: vault.read(stat.path) for stat in vault.walk()}

    def accept_newest_proposal(self) -> str:
        """Accept the newest proposal, as on *Curate*; returns the hash that undoes it."""
        self.container.decisions.accept(
            self.container.proposals.waiting()[0], all_shown(self.container)
        )
        return self.container.curator.history.changes()[0].reversal_hash

    def id_of(self, title: str) -> str:
        return next(m.id for m in self.container.live.catalogue.all() if m.title == title)


async def read_resource(client: Client[Any], uri: str) -> dict[str, Any]:
    [content] = await client.read_resource(uri)
    assert content.mime_type == "application/json"
    return dict(json.loads(content.text))


def listed(server: FastMCP[Any]):
    """The tools and the prompts that a client is told of."""

    async def run():
        async with Client(server) as client:
            return await client.list_tools(), await client.list_prompts()

    return asyncio.run(run())
