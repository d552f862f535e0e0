"""One open vault for each file of tests, and the clients that call its tools."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mcp_server.runtime.container import Container
from tests.benchmarks.trust_attempts import Caller, opened


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    with opened(tmp_path_factory.mktemp("malicious")) as running:
        yield running


@pytest.fixture(scope="module")
def call(container: Container) -> Caller:
    return Caller(container)
