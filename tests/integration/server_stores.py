"""Container on server stores, and what the tests of these share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from mcp_server.runtime.container import Container
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from memvault.stores.vectors import qdrant
from tests.servers import neo4j, redis
from tests.servers.process import ServerProcess
from tests.servers.qdrant import LocalQdrant

BOATS = {
    "Kestrel.md": "---\ntype: boat\n---\nSkipper: [[Omar]]\n\nShe was varnished in May.\n",
    "Omar.md": "---\ntype: person\n---\nHe works for [[Delta Rigging]].\n",
}
WHY = "said in the talk about boats"


@pytest.fixture
def local_qdrant(monkeypatch: pytest.MonkeyPatch) -> LocalQdrant:
    local = LocalQdrant()
    monkeypatch.setattr(qdrant, "connect_to_server", lambda url, key: local)
    return local


@pytest.fixture
def server_settings(
    neo4j_server: ServerProcess, redis_server: ServerProcess, local_qdrant: LocalQdrant
) -> Settings:
    return Settings(
        vectors="http://127.0.0.1:6333",
        graph=neo4j.url(neo4j_server),
        keyvalue=redis.url(redis_server),
        neo4j_password=SecretStr(neo4j.PASSWORD),
        redis_password=SecretStr(redis.PASSWORD),
        index=IndexSettings(ner="off", debounce_seconds=0.05),
    )


@pytest.fixture
def open_one(vault_folder: Path, tmp_path: Path) -> Iterator[Callable[..., Container]]:
    opened: list[Container] = []

    def open_on(settings: Settings, name: str) -> Container:
        # The folder's name is the namespace on servers, and each test has its own.
        one = Container(vault_folder, settings, StateFolder(tmp_path / f"{name}-{tmp_path.name}"))
        opened.append(one)
        return one

    yield open_on
    for one in opened:
        one.close()
