"""An indexer on a real vault with real stores, and clients of a small vault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from indexer.indexer import Indexer
from memvault.config.paths import StateFolder
from memvault.config.settings import Settings
from memvault.search.pipeline import Searcher
from memvault.text.encoders.embedding import Embedder
from tests.integration.caller import Caller
from tests.integration.searching import indexer_of, searcher_over
from tests.integration.small_vault import opened


@pytest.fixture
def open_indexer(
    vault_folder: Path, state: StateFolder, settings: Settings, embedder: Embedder
) -> Iterator[Callable[..., Indexer]]:
    """Open an indexer on the vault; each name has stores of its own."""
    opened: list[Indexer] = []

    def open_one(name: str = "live") -> Indexer:
        one = indexer_of(vault_folder, state, embedder, settings, name)
        opened.append(one)
        return one

    yield open_one
    for one in opened:
        one.stores.close()


@pytest.fixture
def indexer(open_indexer: Callable[..., Indexer]) -> Indexer:
    return open_indexer()


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    """Of a vault that the module's tests share: none of them writes there."""
    container = opened(tmp_path_factory.mktemp("read"))
    yield Caller(container)
    container.close()


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Caller]:
    container = opened(tmp_path)
    yield Caller(container)
    container.close()


@pytest.fixture
def searcher(indexer: Indexer, embedder: Embedder) -> Iterator[Searcher]:
    with searcher_over(indexer, embedder) as one:
        yield one


@pytest.fixture
def fill(write: Callable[..., Path], indexer: Indexer) -> Callable[[dict[str, str]], None]:
    """Write notes, each text by its path, and index them."""

    def index(notes: dict[str, str]) -> None:
        for path, text in notes.items():
            write(path, text)
        indexer.scan()

    return index
