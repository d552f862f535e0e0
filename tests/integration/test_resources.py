"""What clients read and watch without calling a tool: pulse, state, context and graph."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp import MCPError
from mcp.client.subscriptions import listen

from mcp_server.engine.launcher import read_address
from mcp_server.resources.state import PULSE_URI
from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from memvault.model.memory import UTLState
from tests.integration.caller import read_resource
from tests.integration.forked_engine import exit_code, start_engine
from tests.integration.tiny_engine import environment
from tests.waiting import until, until_seen

NOTES = {
    "Tide mill.md": "---\ntype: project\n---\nThe tide mill grinds rye twice a day. "
    "It was built by [[Runa Holt]].\n",
    "Runa Holt.md": "---\ntype: person\n---\nRuna Holt builds mills and repairs sluices.\n",
    "Sluice.md": "The sluice of the [[Tide mill]] leaks in winter.\n",
    "Bees.md": "The bees swarmed in May and moved into the old hive. "
    "They came from [[Orchard Lane]].\n",
}
OTHER = "Quarks are bound by gluons, says quantum chromodynamics. contradicts:: [[Sluice]]\n"
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


def write_notes(vault: Path) -> None:
    vault.mkdir(exist_ok=True)
    for path, text in NOTES.items():
        (vault / path).write_text(text, encoding="utf-8")


def opened(home: Path) -> Container:
    vault = home / "vault"
    write_notes(vault)
    settings = Settings(index=IndexSettings(ner="off"))
    container = Container(vault, settings, StateFolder.of_vault(vault, home / "state"))
    container.start(watch=False)
    container.live.similarity_index.load()
    return container


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    """Read only."""
    container = opened(tmp_path_factory.mktemp("read"))
    yield container
    container.close()


@pytest.fixture
def edited(tmp_path: Path) -> Iterator[Container]:
    container = opened(tmp_path)
    yield container
    container.close()


def edit(container: Container, path: str, text: str) -> None:
    (container.vault.root / path).write_text(text, encoding="utf-8")
    container.live.indexer.index([path])


def with_client(
    container: Container, talk: Callable[[Client[Any]], Any], mode: str = "auto"
) -> Any:
    async def run() -> Any:
        async with Client(build_server(container), mode=mode) as client:
            return await talk(client)

    return asyncio.run(run())


def test_the_pulse_gives_the_stage_and_the_waiting_tasks(container: Container) -> None:
    pulse = with_client(container, lambda client: read_resource(client, PULSE_URI))
    assert set(pulse) == {
        "entropy", "coherence", "suggested_action", "lifecycle", "curation_tasks_pending",
        "thought_loop_warning",
    }  # fmt: skip
    assert 0 < pulse["entropy"] < 1 and 0 < pulse["coherence"] < 1
    assert pulse["lifecycle"] == "infancy"
    assert pulse["curation_tasks_pending"] == container.curation.pending()


def test_the_pulse_is_of_what_the_session_was_shown(container: Container) -> None:
    async def talk(client: Client[Any]) -> None:
        of_vault = await read_resource(client, PULSE_URI)
        answer = await client.call_tool("get_memory", {"path": "Tide mill.md"})
        of_session = await read_resource(client, PULSE_URI)
        assert of_session["entropy"] != of_vault["entropy"]
        assert of_session["entropy"] == answer.structured_content["pulse"]["entropy"]

    with_client(container, talk)


def test_reading_the_pulse_again_and_again_without_a_tool_call_warns_of_a_loop(
    container: Container,
) -> None:
    async def talk(client: Client[Any]) -> None:
        warned = [
            (await read_resource(client, PULSE_URI))["thought_loop_warning"] for _ in range(6)
        ]
        assert warned == [False, False, False, False, True, True]
        await client.call_tool("recall_memory", {"query": "mill"})
        assert not (await read_resource(client, PULSE_URI))["thought_loop_warning"]

    with_client(container, talk)


def test_the_state_of_a_session_is_that_of_its_working_set(container: Container) -> None:
    async def talk(client: Client[Any]) -> None:
        before = await read_resource(client, "utl://current_session/state")
        assert (before["memories"], before["learning_score"]) == (0, 0.0)
        answer = await client.call_tool(
            "recall_memory", {"query": "who built the tide mill?", "session_id": "work"}
        )
        shown = [node["id"] for node in answer.structured_content["nodes"]]
        state = await read_resource(client, "utl://work/state")
        assert state["memories"] == len(shown) == sum(state["johari"].values())
        assert set(state["johari"]) == {"open", "blind", "hidden", "unknown"}
        expected = services_pulse(container, shown)
        assert state["entropy"] == pytest.approx(expected.entropy, abs=2e-3)
        assert state["coherence"] == pytest.approx(expected.coherence, abs=2e-3)
        learnt = UTLState(**state["utl_state"])
        assert state["learning_score"] == pytest.approx(learnt.learning_score, abs=1e-3)
        assert learnt.delta_s == state["entropy"]
        assert 0.0 < learnt.phi < 1.5 and learnt.w_e == 1.0
        own = await read_resource(client, "utl://current_session/state")
        assert own["memories"] == 0

    with_client(container, talk)


def services_pulse(container: Container, ids: list[str]) -> Any:
    from memvault.cognition.pulse import PulseMeter

    return PulseMeter(lambda: container.live.similarity_index).of(ids)


def test_the_context_is_what_was_shown_last_or_what_the_vault_is_about(
    container: Container,
) -> None:
    async def talk(client: Client[Any]) -> None:
        assert (await read_resource(client, "context://current"))["memories"] == []
        await client.call_tool("get_memory", {"path": "Bees.md"})
        await client.call_tool("get_memory", {"path": "Sluice.md"})
        current = await read_resource(client, "context://current")
        assert [memory["path"] for memory in current["memories"]] == ["Sluice.md", "Bees.md"]
        assert await read_resource(client, "context://session") == {**current, "scope": "session"}
        whole = await read_resource(client, "context://global")
        assert (whole["notes"], whole["lifecycle"]) == (4, "infancy")
        assert {"Bees", "Sluice"} <= {concept["name"] for concept in whole["concepts"]}
        [shown] = await client.read_resource("context://current?format=markdown")
        assert shown.mime_type == "text/markdown"
        assert "- [[Sluice]] (Sluice.md): note" in shown.text

    with_client(container, talk)


def test_a_node_shows_its_relations_with_their_sentences_and_its_state(
    container: Container,
) -> None:
    mill, runa, _ = (container.live.catalogue.by_path(path) for path in NOTES if path != "Bees.md")
    assert mill is not None and runa is not None
    node = with_client(container, lambda client: read_resource(client, f"graph://{mill.id}"))
    assert (node["title"], node["path"], node["kind"]) == ("Tide mill", "Tide mill.md", "project")
    assert "grinds rye" in node["content"]
    assert 0 < node["state"]["entropy"] < 1 and node["johari_quadrant"]
    to_runa = next(edge for edge in node["edges"] if edge["id"] == runa.id)
    assert to_runa["sentence"] == "It was built by Runa Holt." and to_runa["outgoing"]
    assert (to_runa["stated_in"], to_runa["line"]) == ("Tide mill.md", 4)
    back = next(e for e in node["edges"] if e["title"] == "Sluice")
    assert not back["outgoing"] and back["stated_in"] == "Sluice.md"


def test_an_entity_without_a_note_is_a_node_too(container: Container) -> None:
    lane = next(n for n in container.live.stores.graph.all_nodes() if n.name == "Orchard Lane")
    node = with_client(container, lambda client: read_resource(client, f"graph://{lane.id}"))
    assert node["title"] == "Orchard Lane" and "path" not in node and "content" not in node
    assert node["edges"][0]["sentence"] == "They came from Orchard Lane."


WRONG = {
    "graph://nothing": (-32602, "No node of the graph has the id nothing"),
    "utl://nobody/state": (-32000, "Session expired or not found"),
    "context://elsewhere": (-32602, "scope must be one of current, session, global"),
    "context://current?format=xml": (-32602, "format must be one of json, markdown"),
    "nowhere://at/all": (-32602, "Resource not found"),
}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_what_cannot_be_read_is_answered_with_a_code_and_what_to_do(
    container: Container, mode: str
) -> None:
    async def talk(client: Client[Any]) -> None:
        for uri, (code, words) in WRONG.items():
            with pytest.raises(MCPError) as caught:
                await client.read_resource(uri)
            assert caught.value.error.code == code
            assert words in caught.value.error.message

    with_client(container, talk, mode)


# -- updates ------------------------------------------------------------------------------------


@asynccontextmanager
async def subscribed(
    connect: Callable[..., Client[Any]], mode: str
) -> AsyncIterator[tuple[Client[Any], list[float]]]:
    """A client that watches the pulse, and the moments at which it was told of an update."""
    notified_at: list[float] = []

    async def on_message(message: Any) -> None:
        if type(message).__name__ == "ResourceUpdatedNotification":
            assert str(message.params.uri) == PULSE_URI
            notified_at.append(time.monotonic())

    async with connect(mode=mode, message_handler=on_message) as client:
        if mode == "legacy":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                await client.session.subscribe_resource(PULSE_URI)
            yield client, notified_at
        else:
            async with listen(client.session, resource_subscriptions=[PULSE_URI]):
                yield client, notified_at


def test_subscribers_hear_of_a_change_at_most_every_five_seconds(edited: Container) -> None:
    """In the handshake protocols and in the stateless one."""
    both_watch, edited_at = asyncio.Barrier(2), list[float]()

    async def watch(server: Any, mode: str) -> None:
        async with subscribed(lambda **how: Client(server, **how), mode) as (client, updates):
            await asyncio.sleep(1.2)
            assert updates == []  # nothing has changed
            await both_watch.wait()
            if mode == "legacy":
                edited_at.append(time.monotonic())
                edit(edited, "Quarks.md", OTHER)
            await until_seen(lambda: updates)
            if mode == "legacy":
                edit(edited, "Bees.md", "Honey.\n")
                await asyncio.sleep(0.7)
                edit(edited, "Runa Holt.md", "Somebody else altogether.\n")
            await until_seen(lambda: len(updates) > 1)
            pulse = await read_resource(client, PULSE_URI)
            await asyncio.sleep(1.2)
            # Counted from the edit: a busy machine receives one late, and the next one in time.
            earliest = [edited_at[0] + 5.0 * number for number in range(len(updates))]
            assert all(at >= soonest for at, soonest in zip(updates, earliest, strict=True))
            if pulse["entropy"] != (await read_resource(client, PULSE_URI))["entropy"]:
                await until_seen(lambda: len(updates) > 2)  # what is measured later is told later

    async def run() -> None:
        server = build_server(edited)
        await until_seen(edited.curation.pending)  # found in the background after the start
        async with Client(server) as first:
            await read_resource(first, PULSE_URI)
            await asyncio.gather(watch(server, "legacy"), watch(server, "auto"))

    asyncio.run(run())


def test_only_the_pulse_can_be_subscribed_to(container: Container) -> None:
    async def talk(client: Client[Any]) -> None:
        with warnings.catch_warnings(), pytest.raises(MCPError, match="Only utl://current_session"):
            warnings.simplefilter("ignore")
            await client.session.subscribe_resource("context://current")

    with_client(container, talk, "legacy")


@pytest.fixture(scope="module")
def engine(
    tmp_path_factory: pytest.TempPathFactory, forked_engines: None
) -> Iterator[tuple[Path, StateFolder]]:
    """A real engine in a process of its own: its vault and its state."""
    home = tmp_path_factory.mktemp("engine")
    vault, state = home / "vault", StateFolder.of_vault(home / "vault", home / "state")
    write_notes(vault)
    process = start_engine(vault, state, variables(state))
    until(lambda: read_address(state))
    yield vault, state
    address = read_address(state)  # perhaps of an engine that a bridge has started since
    process.terminate()
    if address is not None and address.pid != process.pid:
        os.kill(address.pid, signal.SIGTERM)
    assert exit_code(process) is not None


def variables(state: StateFolder) -> dict[str, str]:
    return environment() | {
        "MEMVAULT_STATE": str(state.root.parent),
        "MEMVAULT_INDEX__NER": "off",
        "MEMVAULT_INDEX__DEBOUNCE_SECONDS": "0.05",
    }


def bridged(vault: Path, state: StateFolder) -> Callable[..., Client[Any]]:
    arguments = ["-m", "memvault.cli", "--vault", str(vault), "mcp"]

    def connect(**how: Any) -> Client[Any]:
        transport = StdioTransport(
            sys.executable, arguments, env=variables(state), keep_alive=False
        )
        return Client(transport, **how)

    return connect


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("way", ["http", "bridge"])
def test_updates_come_over_http_and_through_the_bridge(
    engine: tuple[Path, StateFolder], way: str, mode: str
) -> None:
    vault, state = engine
    address = read_address(state)
    assert address is not None
    url = f"http://{address.netloc}/mcp"
    connect = bridged(vault, state) if way == "bridge" else lambda **how: Client(url, **how)

    async def run() -> None:
        async with subscribed(connect, mode) as (client, updates):
            await read_resource(client, PULSE_URI)
            (vault / f"From {way} {mode}.md").write_text(OTHER + way + mode, encoding="utf-8")
            assert await until_seen(lambda: updates)

    asyncio.run(run())


def test_a_subscription_outlives_the_engine(engine: tuple[Path, StateFolder]) -> None:
    vault, state = engine

    async def run() -> None:
        async with subscribed(bridged(vault, state), "legacy") as (client, updates):
            await client.call_tool("recall_memory", {"query": "mill"})
            address = read_address(state)
            assert address is not None
            os.kill(address.pid, KILL)
            await client.call_tool("recall_memory", {"query": "mill"})  # by the next engine
            updates.clear()
            (vault / "Sluice.md").write_text("Another text.\n", encoding="utf-8")
            (vault / "Tide mill.md").write_text("Yet another one.\n", encoding="utf-8")
            assert await until_seen(lambda: updates)

    asyncio.run(run())
