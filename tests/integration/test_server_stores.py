"""The same memory on servers: Neo4j and Redis as processes, Qdrant by its client's local mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import neo4j as bolt
import pytest
import redis as resp

from mcp_server.runtime.container import Container
from memvault.config.settings import IndexSettings, Settings
from memvault.model.search import Filters, Hit, Scope
from tests.integration.server_stores import local_qdrant, open_one, server_settings
from tests.integration.test_multihop import BOATYARD
from tests.servers import neo4j, redis
from tests.servers.qdrant import LocalQdrant
from tests.waiting import until

__all__ = ["local_qdrant", "open_one", "server_settings"]

QUESTIONS = [
    "varnish",
    "Who skippers the boat that Pia Lund crews?",
    "Where is the Heron moored?",
    "Which firm does the skipper of Kestrel work for?",
    "repairs on the boats in 2025",
    "windy days and wind",
]
SCOPES = [None, Scope(filters=Filters(types=["person", "boat"]))]
CLOSE = 1e-3


def assert_alike(
    ours: Sequence[Hit], theirs: Sequence[Hit], key: Callable[[Hit], object], question: str
) -> None:
    """The same in the same order, where scores differ by more than what is not told apart: of
    those that are as good as the last, either may be left out."""
    assert len(ours) == len(theirs), question
    scores = {key(each): each.relevance for each in theirs}
    last = theirs[-1].relevance if theirs else 0.0
    for each in ours:
        assert each.relevance == pytest.approx(scores.get(key(each), last), abs=CLOSE), question
    for one, other in zip(ours, theirs, strict=True):
        assert key(one) == key(other) or one.relevance == pytest.approx(
            other.relevance, abs=CLOSE
        ), question


def note(hit: Hit) -> object:
    return hit.memory.id


def passage(hit: Hit) -> object:
    return hit.chunk_id


def test_the_same_vault_gives_the_same_answers_on_servers(
    write: Callable[..., Path], open_one: Callable[..., Container], server_settings: Settings
) -> None:
    for path, text in BOATYARD.items():
        write(path, text)
    embedded = open_one(Settings(index=IndexSettings(ner="off")), "embedded")
    servers = open_one(server_settings, "servers")
    for one in (embedded, servers):
        one.indexing.scan()
    assert len(servers.live.catalogue) == len(BOATYARD)
    assert servers.live.stores.vectors.count() == embedded.live.stores.vectors.count()
    assert set(servers.live.stores.graph.all_nodes()) == set(embedded.live.stores.graph.all_nodes())
    assert set(servers.live.stores.graph.all_edges()) == set(embedded.live.stores.graph.all_edges())
    for one in (embedded, servers):
        one.live.warm_up(one.worker)
    for question in QUESTIONS:
        for scope in SCOPES:
            ours, theirs = (
                (
                    one.live.searcher.hybrid.search(question, 10, scope),
                    one.live.searcher.hybrid.search_passages(question, 10, scope),
                    one.live.searcher.find(question, 10, scope),
                )
                for one in (servers, embedded)
            )
            for mine, other, key in zip(ours, theirs, (note, passage, note), strict=True):
                assert mine, question
                assert_alike(mine, other, key, question)


def test_a_rebuild_leaves_nothing_of_the_old_generation_on_the_servers(
    write: Callable[..., Path],
    open_one: Callable[..., Container],
    server_settings: Settings,
    local_qdrant: LocalQdrant,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mcp_server.runtime.generations.GRACE_SECONDS", 0.0)
    write("Boats.md", "---\ntype: note\n---\nThe [[Heron]] is varnished.\n")
    neighbour = open_one(server_settings, "neighbour")
    container = open_one(server_settings, "own")
    for one in (neighbour, container):
        one.indexing.scan()
    old, live = container.live.folder.name, neighbour.live.folder.name
    container.indexing.rebuild()
    new = container.live.folder.name
    until(lambda: not any(old in name for name in on_servers(server_settings, local_qdrant)))
    names = on_servers(server_settings, local_qdrant)
    for generation in (new, live):
        assert sum(generation in each for each in names) >= 3
    assert container.live.searcher.find("varnish", 3)
    assert neighbour.live.searcher.find("varnish", 3)


def on_servers(settings: Settings, local: LocalQdrant) -> list[str]:
    """Names of all that the three servers keep."""
    client = resp.Redis.from_url(settings.keyvalue, password=redis.PASSWORD)
    names = [name.decode() for name in client.scan_iter()]
    with bolt.GraphDatabase.driver(settings.graph, auth=(neo4j.USER, neo4j.PASSWORD)) as driver:
        found, _, _ = driver.execute_query("MATCH (n) UNWIND labels(n) AS l RETURN DISTINCT l")
        names += [row[0] for row in found]
        found, _, _ = driver.execute_query("SHOW CONSTRAINTS YIELD labelsOrTypes")
        names += [str(row[0]) for row in found]
    return names + [each.name for each in local.get_collections().collections]
