"""One server of each kind for a whole run, started when a test first asks for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers import neo4j, redis
from tests.servers.process import ServerProcess


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    if problem := redis.missing():
        pytest.skip(problem)
    process = redis.server(tmp_path_factory.mktemp("redis"))
    process.start()
    yield process
    process.kill()


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    if problem := neo4j.missing():
        pytest.skip(problem)
    process = neo4j.server(tmp_path_factory.mktemp("neo4j"))
    process.start()
    yield process
    process.kill()
