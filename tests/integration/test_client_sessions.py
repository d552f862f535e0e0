"""Sessions, verbosity and limits as clients meet them: in memory, through bridges, over HTTP."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.server.middleware import rate_limiting
from mcp import MCPError

from mcp_server.engine.launcher import read_address
from mcp_server.middleware.client_identity import ToolSets
from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from mcp_server.tools.instructions import FRAGMENT
from memvault.cognition.sessions import Sessions
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, LimitSettings, Settings
from tests.integration.forked_engine import exit_code, start_engine
from tests.integration.small_vault import write_notes
from tests.integration.tiny_engine import environment
from tests.pages.served import served
from tests.waiting import until

START = datetime(2026, 3, 1, tzinfo=UTC)
Connect = Callable[[], Client[Any]]


class Clock:
    now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sessions") / "vault"
    write_notes(folder)
    return folder


@pytest.fixture(scope="module")
def shared(vault: Path) -> Iterator[Container]:
    settings = Settings(index=IndexSettings(ner="off"), user="ada")
    container = Container(vault, settings, StateFolder(vault.parent / "state"))
    container.indexing.scan()
    yield container
    container.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def container(shared: Container, clock: Clock) -> Container:
    """The same for all tests, with sessions and limits of the test's own."""
    shared.sessions = Sessions("ada", timedelta(hours=24), clock)
    shared.settings.limits = LimitSettings()
    return shared


async def answer(client: Client[Any], tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool_mcp(tool, arguments)
    assert not result.is_error, result.content
    return dict(result.structured_content)


async def refusal(client: Client[Any], tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool_mcp(tool, arguments)
    assert result.is_error
    return dict(result.structured_content["error"])


async def shows_text(client: Client[Any], **arguments: Any) -> bool:
    found = await answer(client, "recall_memory", query="kelp", top_k=1, **arguments)
    return "content" in found["nodes"][0]


async def session_of(client: Client[Any], **arguments: Any) -> dict[str, Any]:
    return dict((await answer(client, "get_system_instructions", **arguments))["session"])


# -- whose session a call is --------------------------------------------------------------------


@dataclass
class Two:
    """What two clients of one person are told, after one of them asked for bare answers."""

    levels: tuple[int, int]  # of the one: before and after
    show_text: tuple[bool, bool, bool, bool]  # the one, the other; the one with a level, without
    oven: str  # the memory that only the one read
    mine: dict[str, Any]  # the sessions of the one and of the other
    theirs: dict[str, Any]


def two_clients(connect: Connect) -> Two:
    async def run() -> Two:
        async with connect() as one, connect() as other:
            levels = await answer(one, "set_verbosity", level=0)
            texts = (
                await shows_text(one),
                await shows_text(other),
                await shows_text(one, verbosity_level=1),
                await shows_text(one),
            )
            oven = await answer(one, "get_memory", path="projects/oven/Clay oven.md")
            sessions = (await session_of(one), await session_of(other))
            before_and_after = (levels["previous_level"], levels["new_level"])
            return Two(before_and_after, texts, oven["id"], *sessions)

    return asyncio.run(run())


def assert_apart(two: Two) -> None:
    """What one client sets or sees does not reach the other; the person is the same."""
    assert two.levels == (1, 0)
    assert two.show_text == (False, True, True, False)
    assert two.mine["working_set"][0] == two.oven not in two.theirs["working_set"]
    assert two.mine["session_id"] != two.theirs["session_id"]
    assert two.mine["user_id"] == two.theirs["user_id"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_clients_of_one_person_share_the_memory_and_not_the_session(container, mode):
    server = build_server(container)
    assert_apart(two_clients(lambda: Client(server, mode=mode)))


@pytest.fixture(scope="module")
def engine(vault: Path) -> Iterator[tuple[Path, str]]:
    """A real engine in a process of its own: the variable that names its state, its address."""
    base = vault.parent / "engines"
    state = StateFolder.of_vault(vault, base)
    process = start_engine(vault, state, {"MEMVAULT_INDEX__NER": "off"})
    address = until(lambda: read_address(state))
    yield base, f"http://{address.netloc}/mcp"
    process.terminate()
    assert exit_code(process) == 0


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_each_bridge_is_a_session_of_its_own(vault, engine, mode):
    base, _ = engine
    variables = environment() | {"MEMVAULT_STATE": str(base)}
    arguments = ["-m", "memvault.cli", "--vault", str(vault), "mcp"]

    def connect() -> Client[Any]:
        transport = StdioTransport(sys.executable, arguments, env=variables, keep_alive=False)
        return Client(transport, mode=mode)

    assert_apart(two_clients(connect))


def test_each_http_client_with_a_handshake_is_a_session_of_its_own(engine):
    _, url = engine
    assert_apart(two_clients(lambda: Client(url, mode="legacy")))


def test_without_a_handshake_http_clients_are_distinguished_by_the_session_they_name(engine):
    """The stateless protocol over HTTP has no connection: what a client says is all there is."""
    _, url = engine

    async def run() -> None:
        async with Client(url) as one, Client(url) as other:
            await answer(one, "set_verbosity", level=0, session_id="one")
            assert not await shows_text(one, session_id="one")
            assert await shows_text(other, session_id="other")
            mine, again = await session_of(one), await session_of(one)
            assert mine["session_id"] == again["session_id"]
            assert len(again["working_set"]) >= len(mine["working_set"])

    asyncio.run(run())


def test_a_call_without_a_handshake_does_not_list_all_tools(tmp_path, monkeypatch):
    """The stateless protocol looks in that list for arguments that are HTTP headers, too."""
    listed = []
    list_tools = ToolSets.on_list_tools

    async def counted(self: ToolSets, context: Any, call_next: Any) -> Any:
        listed.append(context)
        return await list_tools(self, context, call_next)

    async def run(url: str) -> None:
        async with Client(url) as client:
            await answer(client, "recall_memory", query="oak")  # the client reads the list once
            before = len(listed)
            await answer(client, "recall_memory", query="oak")
            assert len(listed) == before > 0

    monkeypatch.setattr(ToolSets, "on_list_tools", counted)
    with served(tmp_path, {"Oak.md": "The oak is old."}) as running:
        asyncio.run(run(f"{running.url}/mcp"))


def test_without_a_handshake_http_clients_are_distinguished_by_their_token(engine):
    _, url = engine

    async def run() -> None:
        async with Client(url, auth="first") as one, Client(url, auth="second") as other:
            await answer(one, "set_verbosity", level=0)
            assert not await shows_text(one)
            assert await shows_text(other)
            assert (await session_of(one))["user_id"] == (await session_of(other))["user_id"]

    asyncio.run(run())


@asynccontextmanager
async def clients(container: Container, number: int) -> AsyncIterator[list[Client[Any]]]:
    server = build_server(container)
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(Client(server)) for _ in range(number)]


def test_a_named_session_is_the_same_from_every_connection(container):
    async def run() -> None:
        async with clients(container, 2) as (one, other):
            await answer(one, "set_verbosity", level=0, session_id="work")
            assert not await shows_text(other, session_id="work")
            assert await shows_text(one)  # the connection's own session is another
            named = await session_of(other, session_id="work")
            assert (named["session_id"], named["user_id"]) == ("work", "ada")
            assert len(named["working_set"]) == 1

    asyncio.run(run())


def test_what_answers_show_is_the_working_set_most_recent_first(container):
    async def run() -> None:
        async with clients(container, 1) as (client,):
            seen: list[str] = []
            for tool, key, arguments in (
                ("recall_memory", "nodes", {"query": "kelp", "top_k": 3}),
                ("graph_query", "results", {"query": "Where does the lead of Kelp census work?"}),
            ):
                ids = [node["id"] for node in (await answer(client, tool, **arguments))[key]]
                seen = ids + [each for each in seen if each not in ids]
            for tool in ("get_memory", "fetch"):
                await answer(client, tool, id=seen[-1])
                seen = [seen[-1], *seen[:-1]]
            assert (await session_of(client))["working_set"] == seen

    asyncio.run(run())


def test_a_session_without_a_call_for_a_day_has_expired_and_a_new_one_can_begin(container, clock):
    async def run() -> None:
        async with clients(container, 1) as (client,):
            await answer(client, "set_verbosity", level=0, session_id="work")
            await answer(client, "set_verbosity", level=0)
            clock.now += timedelta(hours=24, seconds=1)
            for tool, arguments in (
                ("recall_memory", {"query": "kelp"}),
                ("get_memetic_status", {}),
                ("set_verbosity", {"level": 1}),
            ):
                error = await refusal(client, tool, session_id="work", **arguments)
                assert error["code"] == -32000
                assert error["message"].startswith("Session expired or not found")
                assert error["data"] == {"session_id": "work"}
            assert await shows_text(client, session_id="work again")
            assert await shows_text(client)  # nobody chose the connection's: it begins anew

    asyncio.run(run())


def test_any_tool_call_ends_the_count_of_pulses_read_since(container):
    async def run() -> None:
        async with clients(container, 1) as (client,):
            mine = (await session_of(client))["session_id"]
            session = container.sessions.get(mine)
            session.pulse_was_read()
            await answer(client, "get_preference", key="reply language")
            assert session.pulse_reads == 0
            session.pulse_was_read()
            await answer(client, "recall_memory", query="kelp", session_id="another")
            assert session.pulse_reads == 0

    asyncio.run(run())


# -- how much is told ---------------------------------------------------------------------------


def test_each_level_tells_what_the_one_below_tells_and_more(container):
    question = {"query": "Who leads the Kelp census?", "top_k": 3}
    named = {"id", "title", "path", "relevance_score"}

    async def run() -> None:
        async with clients(container, 1) as (client,):
            levels = [
                await answer(client, "recall_memory", verbosity_level=level, **question)
                for level in range(3)
            ]
            bare, usual, full = ([set(node) for node in level["nodes"]] for level in levels)
            assert all(fields == named for fields in bare)
            assert all(fields > named | {"content", "lines"} for fields in usual)
            assert all(more > less for more, less in zip(full, usual, strict=True))
            assert all({"state", "utl_state"} <= fields for fields in full)
            concluded = {"causal_links", "entailment_cones", "conflict_analysis"}
            assert [concluded & set(level) for level in levels] == [set(), set(), concluded]
            assert len({tuple(node["id"] for node in level["nodes"]) for level in levels}) == 1

    asyncio.run(run())


def test_a_full_answer_lists_neighbours_of_its_memory_while_800_tokens_have_room(container):
    question = {"query": "Who leads the Kelp census?", "verbosity_level": 2}

    async def run() -> None:
        async with clients(container, 1) as (client,):
            for tool, key in (("recall_memory", "nodes"), ("graph_query", "results")):
                raw = await client.call_tool_mcp(tool, {**question, "top_k": 1})
                one = raw.structured_content
                [around] = one["neighborhood"]
                assert around["id"] == one[key][0]["id"]
                assert len(around["near"]) >= 1
                assert all({"name", "relation"} <= set(near) for near in around["near"])
                assert 350 <= container.embedder.tokens.count(raw.content[0].text) <= 820
                many = await answer(client, tool, **question, top_k=20)
                assert len(many[key]) > 4 and "neighborhood" not in many

    asyncio.run(run())


def test_full_answers_show_which_memory_takes_anothers_place(container):
    async def run() -> None:
        async with clients(container, 1) as (client,):
            full = await answer(
                client, "recall_memory", query="How is the kelp counted?", verbosity_level=2
            )
            [conflict] = full["conflict_analysis"]
            assert conflict["kind"] == "supersession"
            assert [side["name"] for side in conflict["sides"]] == [
                "Counting by drone",
                "Counting by boat",
            ]

    asyncio.run(run())


def test_the_bare_level_names_no_roads(container):
    async def run() -> None:
        async with clients(container, 1) as (client,):
            question = {"query": "Where does the lead of the Kelp census work?"}
            bare = await answer(client, "graph_query", verbosity_level=0, **question)
            usual = await answer(client, "graph_query", **question)
            assert not any("hops" in node for node in bare["results"])
            assert any("hops" in node for node in usual["results"])

    asyncio.run(run())


def test_passages_follow_the_sessions_verbosity_and_enter_its_working_set(container):
    """Core AC-CORE-05-01: at level 0 any tool that retrieves leaves out what is said."""

    async def run() -> None:
        async with clients(container, 1) as (client,):
            arguments = {"query": "kelp", "top_k": 1}
            [usual] = (await answer(client, "vector_search", **arguments))["chunks"]
            assert usual["text"] and (await session_of(client))["working_set"] == [usual["id"]]
            await answer(client, "set_verbosity", level=0)
            raw = await client.call_tool_mcp("vector_search", arguments)
            [bare] = raw.structured_content["chunks"]
            left_out = {"heading", "text", "verified", "origin"}
            assert set(usual) - set(bare) == left_out and bare["title"] and bare["path"]
            assert usual["origin"] == "person"
            assert container.embedder.tokens.count(raw.content[0].text) <= 180
            [once] = (await answer(client, "vector_search", verbosity_level=1, **arguments))[
                "chunks"
            ]
            assert once == usual

    asyncio.run(run())


@pytest.mark.parametrize("level", [-1, 3, "much", 1.5, None])
def test_a_level_that_is_none_is_refused_wherever_it_is_given(container, level):
    async def run() -> None:
        async with clients(container, 1) as (client,):
            errors = [await refusal(client, "set_verbosity", level=level)]
            if level is not None:  # which means the session's
                arguments = {"query": "kelp", "verbosity_level": level}
                errors.append(await refusal(client, "recall_memory", **arguments))
            for error in errors:
                assert (error["code"], error["message"]) == (
                    -32602,
                    "Verbosity level must be 0, 1, or 2",
                )

    asyncio.run(run())


# -- what clients are told ----------------------------------------------------------------------


def test_the_instructions_speak_of_tools_that_exist_and_are_short(container):
    async def run() -> None:
        server = build_server(container, tools="full")
        async with Client(server) as client:
            instructions = await answer(client, "get_system_instructions")
            tools = {tool.name: tool for tool in await client.list_tools()}
        assert instructions["system_prompt_fragment"] == FRAGMENT
        assert 250 <= container.embedder.tokens.count(FRAGMENT) <= 350
        assert {each["tool"] for each in instructions["critical_behaviors"]} <= tools.keys()
        assert instructions["antipatterns"]
        known = {*tools, "suggested_action", "curation_tasks"}
        known |= {name for tool in tools.values() for name in tool.input_schema["properties"]}
        texts = [FRAGMENT, *instructions["antipatterns"]]
        texts += [each["trigger"] + each["action"] for each in instructions["critical_behaviors"]]
        named = set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", " ".join(texts)))
        assert named and named <= known

    asyncio.run(run())


# -- how often ----------------------------------------------------------------------------------


def test_a_client_that_asks_too_often_is_refused_and_may_ask_again_later(container, monkeypatch):
    container.settings.limits = LimitSettings(calls_per_second=4.0, burst=3)
    server = build_server(container)
    seconds = [0.0]
    monkeypatch.setattr(rate_limiting, "time", SimpleNamespace(monotonic=lambda: seconds[0]))
    arguments = {"key": "reply language"}

    async def run() -> None:
        async with Client(server) as one, Client(server) as other:
            for _ in range(3):
                await answer(one, "get_preference", **arguments)
            error = await refusal(one, "get_preference", **arguments)
            assert error["code"] == -32004
            assert error["message"].startswith("Rate limit exceeded")
            assert error["data"] == {"retry_after_seconds": 0.25}
            await answer(other, "get_preference", **arguments)
            seconds[0] += error["data"]["retry_after_seconds"]
            await answer(one, "get_preference", **arguments)
            assert (await refusal(one, "search", query="kelp"))["code"] == -32004
            with pytest.raises(MCPError) as refused:
                await one.read_resource("context://global")
            assert refused.value.error.code == -32004
            assert refused.value.error.data == {"retry_after_seconds": 0.25}
            assert await other.read_resource("context://global")

    asyncio.run(run())


def test_there_is_no_limit_where_it_is_set_to_nothing(container):
    container.settings.limits = LimitSettings(calls_per_second=0.0, burst=1)

    async def run() -> None:
        async with clients(container, 1) as (client,):
            for _ in range(20):
                found = await answer(client, "get_preference", key="reply language")
                assert found["value"] == "Portuguese"

    asyncio.run(run())
