"""One generation of the indexes, and everything that reads it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from indexer.found import FoundEntities
from indexer.indexer import Indexer
from memvault.cognition.landscape import Landscape
from memvault.cognition.opposing import opposing
from memvault.config.settings import Settings
from memvault.model.errors import MemvaultError
from memvault.model.graph import GraphNode
from memvault.reasoning.bayes.question import names_asked
from memvault.reasoning.bayes.reasoner import Reasoner
from memvault.reasoning.edges import EdgeIndex
from memvault.reasoning.verification.critique import Critic
from memvault.reasoning.verification.verifier import Verifier, names_in
from memvault.reasoning.verified_recall import VerifiedRecall
from memvault.retrieval.degraded import AnswerCache, SteadyRecall
from memvault.retrieval.multihop import MultiHop
from memvault.retrieval.neighbourhood import Neighbourhood
from memvault.retrieval.recall import Recall
from memvault.stores import faults
from memvault.stores.open import Stores, open_stores
from memvault.text.embedding import Embedder
from memvault.vault.files import Vault

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Index:
    """Made by `open_index`; its stores are closed by whoever asked for it."""

    folder: Path
    stores: Stores
    indexer: Indexer
    recall: Recall
    multihop: MultiHop
    edges: EdgeIndex
    landscape: Landscape
    steady: SteadyRecall
    verified_recall: VerifiedRecall
    critic: Critic
    reasoner: Reasoner

    def warm_up(self) -> None:
        """Load what answers questions now rather than with the first one."""
        self.landscape.warm_up_soon()
        self.edges.warm_up_soon()
        threading.Thread(target=self._warm_up_vectors, name="memvault-vectors", daemon=True).start()
        self.multihop.warm_up()

    def _warm_up_vectors(self) -> None:
        try:
            self.stores.vectors.warm_up()
        except MemvaultError as error:
            logger.info("first searches will be slower: %s", error.message)

    def close_readers(self, timeout: float) -> None:
        """Wait for what reads in the background, so many seconds at most each."""
        self.landscape.close(timeout)
        self.edges.close(timeout)
        self.steady.close()
        self.multihop.close(timeout)


def open_index(
    folder: Path,
    *,
    vault: Vault,
    settings: Settings,
    embedder: Embedder,
    found: FoundEntities,
    answers: AnswerCache,
    forgotten: Callable[[], frozenset[str]],
    joined: Callable[[], Mapping[str, GraphNode]],
) -> Index:
    """Open the stores of a generation and what reads them.

    Raises:
        StorageError: they are damaged, in use by another process, or there is no room.
    """
    stores = open_stores(settings, folder, embedder.dimension)
    with _closed_on_failure(stores):
        indexer = Indexer(
            vault, stores, embedder, found, settings.index, forgotten=forgotten, joined=joined
        )
    multihop = MultiHop(stores, embedder, indexer)
    edges = EdgeIndex(stores.graph, indexer.catalogue)
    landscape = Landscape(stores, indexer)
    by_id, names = indexer.catalogue.by_id, names_in(indexer.names)
    verifier = Verifier(
        stores.vectors, by_id, names, partial(opposing, landscape, edges), indexer.names.state
    )
    recall = Recall(stores.vectors, embedder)
    steady = SteadyRecall(
        multihop,
        recall,
        Neighbourhood(stores, embedder, indexer.catalogue),
        memory_of=by_id,
        read=vault.read,
        cache=answers,
        limit_seconds=settings.limits.answer_seconds,
    )
    indexer.on_change += [multihop.changed, edges.changed, landscape.changed]
    return Index(
        folder,
        stores,
        indexer,
        recall,
        multihop,
        edges,
        landscape,
        steady,
        VerifiedRecall(steady.recall, by_id, stores.vectors, embedder, verifier),
        Critic(multihop.recall, by_id, stores.vectors, names, verifier),
        Reasoner(
            edges,
            by_id,
            recall=multihop.recall,
            claims_of=verifier.claims,
            find_names=names_asked(indexer.names),
            settings=settings.reasoning,
        ),
    )


@contextmanager
def _closed_on_failure(stores: Stores) -> Iterator[None]:
    """Close the stores where what reads them cannot be made."""
    try:
        yield
    except BaseException as error:
        stores.close()
        if isinstance(error, ValidationError):  # a record that is none
            raise faults.integrity_error() from error
        raise
