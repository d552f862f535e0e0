"""A searcher over what an indexer of the tests has indexed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from indexer.indexer import Indexer
from mcp_server.runtime.container import Container
from memvault.model.search import Hit, Mode, Scope
from memvault.model.state import Background
from memvault.search.candidates import CandidateFinder
from memvault.search.fallback import AnswerCache
from memvault.search.pipeline import Searcher
from memvault.search.times.time_spans import Calendar
from memvault.stores.graph_view import GraphView
from memvault.text.encoders.embedding import Embedder
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


def found(searcher: Searcher, query: str, top_k: int = 8, scope: Scope | None = None) -> list[Hit]:
    return searcher.search(query, mode=Mode.DEFAULT, top_k=top_k, scope=scope).hits
