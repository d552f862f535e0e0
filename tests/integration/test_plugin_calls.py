"""Skills, agents and commands name tools as they are: a model does what they say, to the letter."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from mcp_server.server import build_server
from tests.integration.small_vault import unindexed

# Tools of later systems, which the texts name only together with what to do without them.
LATER = {"get_identity_status", "get_consciousness_state"}
# What answers hold, which stands in backquotes as tools do.
ANSWERS = {"reversal_hash", "johari_quadrant", "utl_state", "link_to", "created_after"}
TEXTS = [
    file
    for kind in ("skills", "agents", "commands")
    for file in sorted((package_files("memvault.plugin") / kind).iterdir(), key=lambda f: f.name)
    if file.name.endswith(".md")
]
_CALL = re.compile(r"`([a-z]+(?:_[a-z]+)+)(?:\(([^`]*)\))?`")
_WITH = re.compile(r"`([a-z]+(?:_[a-z]+)+)` with `(\w+)=")


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The input schema of each tool of the full set."""
    container = unindexed(tmp_path_factory.mktemp("calls"), {})

    async def listed() -> dict[str, dict[str, Any]]:
        async with Client(build_server(container, tools="full")) as client:
            return {tool.name: tool.input_schema for tool in await client.list_tools()}

    try:
        return asyncio.run(listed())
    finally:
        container.close()


def arguments(text: str) -> Iterator[str]:
    """The names of a call's arguments: what stands before ``=``, or a bare name."""
    depth, start = 0, 0
    quoted = False
    for at, char in enumerate(f"{text},"):
        quoted ^= char == '"'
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0 and not quoted:
            part = text[start:at].split("=", 1)[0].strip()
            start = at + 1
            if part:
                yield part


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: Path(str(file)).stem)
def test_every_call_is_of_a_tool_with_its_parameters(
    file: Any, schemas: dict[str, dict[str, Any]]
) -> None:
    text = file.read_text(encoding="utf-8")
    calls = [*_CALL.findall(text), *_WITH.findall(text)]
    assert calls
    for name, given in calls:
        if name in LATER | ANSWERS:
            continue
        assert name in schemas, name
        named = set(arguments(given))
        schema = schemas[name]
        assert named <= set(schema["properties"]), (name, named)
        if named and (name, given) not in _WITH.findall(text):
            assert set(schema.get("required", ())) <= named, (name, named)


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: Path(str(file)).stem)
def test_a_tool_of_a_later_system_is_named_with_what_to_do_without_it(file: Any) -> None:
    text = file.read_text(encoding="utf-8")
    for name in LATER & {call for call, _ in _CALL.findall(text)}:
        sentence = text[text.index(name) :].split("\n")[0]
        assert re.search(r"[Oo]therwise|without|if (?:it is|they are) offered", sentence) or (
            "are offered" in text
        ), name
