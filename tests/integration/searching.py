"""A searcher over what an indexer of the tests has indexed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from indexer.entity_cache import EntityCache
from indexer.indexer import Indexer
from mcp_server.runtime.container import Container
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from memvault.model.search import Hit, Mode, Scope
from memvault.model.state import Background
from memvault.search.candidates import CandidateFinder
from memvault.search.fallback import AnswerCache
from memvault.search.pipeline import Searcher
from memvault.search.times.time_spans import Calendar
from memvault.stores.graph_view import GraphView
from memvault.stores.open import open_stores
from memvault.text.encoders.embedding import Embedder
from memvault.vault.files import Vault
from memvault.verification.verifier import Verifier
from tests.integration.small_vault import unindexed, write_notes


def found_paths(container: Container, query: str) -> list[str]:
    """The paths of the notes that the query finds, the best first."""
    return [hit.memory.path for hit in container.live.searcher.find(query, 5)]


LONG_AGO = 1_780_000_000  # seconds since 1970


def container_of(folder: Path, notes: Mapping[str, str]) -> Container:
    """A new vault with these notes, which the person saved long ago; not indexed yet."""
    write_notes(folder / "vault", notes)
    for path in notes:
        os.utime(folder / "vault" / path, (LONG_AGO, LONG_AGO))
    return unindexed(folder, {})


def indexer_of(
    vault: Path,
    state: StateFolder,
    embedder: Embedder,
    settings: Settings | None = None,
    name: str = "live",
) -> Indexer:
    """An indexer on the vault; each name has stores of its own."""
    state.create()
    settings = settings or Settings(index=IndexSettings(ner="off"))
    stores = open_stores(settings, state.root / name, embedder.dimension)
    return Indexer(Vault(vault), stores, embedder, EntityCache(state.entity_cache), settings.index)


def viewed(indexer: Indexer) -> GraphView:
    """The graph in memory, which follows what is indexed."""
    view = GraphView(indexer.stores.graph, indexer.catalogue.by_id)
    indexer.on_change.append(view.apply)
    return view


@contextmanager
def searcher_over(
    indexer: Indexer,
    embedder: Embedder,
    calendar: Callable[[], Calendar] = Calendar,
    background: Background | None = None,
) -> Iterator[Searcher]:
    by_id, read = indexer.catalogue.by_id, indexer.vault.read
    candidates = CandidateFinder(
        indexer.stores,
        embedder,
        indexer,
        viewed(indexer),
        phrases=embedder,
        read=read,
        cache=AnswerCache(),
        limit_seconds=60.0,
        calendar=calendar,
        background=background,
    )
    verifier = Verifier(
        indexer.stores.vectors,
        by_id,
        indexer.names,
        lambda _: [],
        read=read,
        changed_at=indexer.catalogue.changed_at,
    )
    searcher = Searcher(candidates, indexer.stores, embedder, indexer.catalogue, verifier)
    yield searcher
    searcher.close()


@contextmanager
def searcher_of(folder: Path, notes: Mapping[str, str], embedder: Embedder) -> Iterator[Searcher]:
    """A searcher over a new vault of these notes, each text by its path."""
    write_notes(folder / "vault", notes)
    indexer = indexer_of(folder / "vault", StateFolder(folder / "state"), embedder)
    indexer.scan()
    with searcher_over(indexer, embedder) as one:
        one.warm_up()
        yield one
    indexer.stores.close()


def found(searcher: Searcher, query: str, top_k: int = 8, scope: Scope | None = None) -> list[Hit]:
    return searcher.search(query, mode=Mode.DEFAULT, top_k=top_k, scope=scope).hits
