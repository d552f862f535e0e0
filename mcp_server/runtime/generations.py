"""The open generations of indexes: the live one, those it has replaced, and the one that a rebuild
fills."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from indexer.catalogue import Catalogue
from indexer.generation_folders import GenerationFolders
from indexer.indexer import Indexer
from mcp_server.runtime.worker import Worker, settle
from memvault.cognition.similarity_index import SimilarityIndex
from memvault.model.errors import MemvaultError, StorageError
from memvault.reasoning.bayes.reasoner import Reasoner
from memvault.reasoning.conflicts import stated_conflicts
from memvault.reasoning.critique import Critic
from memvault.reasoning.entailment import Hierarchy
from memvault.reasoning.lead_sentences import LeadSentences
from memvault.reasoning.sentences.sentence_matching import SentenceMatcher
from memvault.reasoning.vault_overview import Overviews
from memvault.search.candidates import CandidateFinder
from memvault.search.embedded_parts import EmbeddedParts
from memvault.search.pipeline import Searcher
from memvault.search.times.time_spans import Calendar
from memvault.stores import faults
from memvault.stores.faults import is_corrupt
from memvault.stores.graph_view import GraphView
from memvault.stores.open import Stores, open_stores
from memvault.verification.vault_names import names_in
from memvault.verification.verifier import Verifier

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container
    from mcp_server.runtime.learning_service import LearningService

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Generation:
    """The stores of one generation and the objects that read them; made by `open_generation`."""

    folder: Path
    stores: Stores
    indexer: Indexer
    catalogue: Catalogue
    graph_view: GraphView
    similarity_index: SimilarityIndex
    searcher: Searcher
    critic: Critic
    reasoner: Reasoner
    hierarchy: Hierarchy
    overviews: Overviews
    lead_sentences: LeadSentences
    embedded_parts: EmbeddedParts

    def warm_up(self, worker: Worker) -> None:
        """Load in the background what the first question would wait for; retried after failures."""
        worker.run("load the similarity index", self.similarity_index.load)
        worker.run("load the vectors", self.stores.vectors.warm_up)
        self.searcher.warm_up()

    def close(self) -> None:
        """Close the stores; never raises."""
        self.searcher.close()
        try:
            self.stores.close()
        except MemvaultError:  # a full disk: committed data is flushed already
            logger.exception("closing the indexes")


def open_generation(folder: Path, container: Container) -> Generation:
    """Open the stores of a generation and the objects that read them.

    Raises:
        StorageError: they are damaged, made by a newer memvault, in use by another process, or
            there is no room.
    """
    settings, embedder, vault = container.settings, container.embedder, container.guarded
    stores = open_stores(settings, folder, embedder.dimension, embedder.model_id)
    with _closed_on_failure(stores):
        indexer = Indexer(
            vault, stores, embedder, container.entity_cache, settings.index,
            forgotten=lambda: container.curator.tombstones.suppressed_ids,
            merged=lambda: container.curator.merged_concepts,
        )  # fmt: skip
        if indexer.catalogue.has_newer_records and not stores.servers:
            raise StorageError("The indexes were made by a newer memvault.")
    catalogue, graph_view = indexer.catalogue, GraphView(stores.graph, indexer.catalogue.by_id)
    indexer.on_change.append(graph_view.apply)
    similarity_index = SimilarityIndex(graph_view, stores.vectors, catalogue)
    verifier = Verifier(
        stores.vectors, catalogue.by_id, indexer.names, partial(stated_conflicts, graph_view),
        read=vault.read, changed_at=catalogue.changed_at,
    )  # fmt: skip
    searcher = _searcher(container, stores, indexer, graph_view, verifier)
    names = names_in(indexer.names)
    matcher = SentenceMatcher(container.outlines, graph_view, names, embedder.embed)
    critic = Critic(
        searcher.find, catalogue.by_id, stores.vectors, names, verifier, matcher=matcher
    )
    reasoner = Reasoner(
        graph_view, catalogue.by_id, find=searcher.find, claims_of=verifier.claims,
        find_names=names_in(indexer.names, question=True), settings=settings.reasoning,
    )  # fmt: skip
    return Generation(
        folder, stores, indexer, catalogue, graph_view, similarity_index, searcher, critic,
        reasoner, Hierarchy(graph_view, catalogue.by_id), Overviews(catalogue, graph_view),
        LeadSentences(vault.read),
        EmbeddedParts(vault.read, graph_view.stated_by, indexer.links.resolve),
    )  # fmt: skip


def _searcher(
    container: Container,
    stores: Stores,
    indexer: Indexer,
    graph_view: GraphView,
    verifier: Verifier,
) -> Searcher:
    settings, embedder = container.settings, container.embedder

    def learning() -> LearningService:
        return container.learning  # made after the first generation

    candidates = CandidateFinder(
        stores, embedder, indexer, graph_view,
        phrases=container.models.phrases, read=container.guarded.read, cache=container.answer_cache,
        limit_seconds=settings.limits.answer_seconds, reranker=container.models.reranker,
        calendar=partial(Calendar.of, settings.calendar), background=container.worker,
        link_weight=lambda first, second: learning().link_weight(first, second),
        tuning=lambda: learning().tuning(),
    )  # fmt: skip
    return Searcher(
        candidates, stores, embedder, indexer.catalogue, verifier,
        preference=lambda question, ids: learning().preference(question, ids),
        ranking_share=settings.learning.ranking_share, tuning=lambda: learning().tuning(),
    )  # fmt: skip


@contextmanager
def _closed_on_failure(stores: Stores) -> Iterator[None]:
    """Close the stores if the block fails."""
    try:
        yield
    except BaseException as error:
        stores.close()
        if isinstance(error, ValidationError):  # a damaged record
            raise faults.integrity_error() from error
        raise


GRACE_SECONDS = 15.0  # for running questions on a replaced generation to end


class OpenGenerations:
    """Opens, replaces and closes generations. Thread-safe; one generation is filled at a time.

    Args:
        open_generation: opens the generation in a folder.

    Raises, when it is made:
        StoreUnavailable: another process has the indexes open.
        DiskFull: there is no room to open them.
    """

    def __init__(
        self,
        generations: GenerationFolders,
        open_generation: Callable[[Path], Generation],
        worker: Worker,
    ) -> None:
        self._generations = generations
        self._open = open_generation
        self._worker = worker
        self._changing = threading.Lock()  # while a generation is filled or folders are removed
        self._closed = threading.Event()
        self._filling: Generation | None = None
        self._replaced: list[Generation] = []  # still to be closed
        generations.remove_stale()
        self.live = self._open_live()

    def all(self) -> list[Generation]:
        """All open generations."""
        filling = self._filling
        complete = [self.live, *self._replaced]
        return complete if filling is None or filling in complete else [*complete, filling]

    @contextmanager
    def filling(self) -> Iterator[Generation]:
        """A new generation to fill; dropped if the block fails before it is live."""
        with self._changing:
            folder = self._generations.new()
            try:
                self._filling = fresh = self._open(folder)
                yield fresh
            except BaseException:
                if self.live.folder != folder:
                    if self._filling is not None:
                        self._filling.stores.close()
                    self._filling = None
                    self._remove_stale_folders()
                raise
            finally:
                self._filling = None

    def make_live(self, fresh: Generation) -> None:
        """Make this generation live, also after a restart."""
        self._generations.make_live(fresh.folder)
        self.replace_by(fresh)

    def save_live_name(self) -> None:
        """Write the live generation's name again, if it was lost."""
        self._generations.make_live(self.live.folder)

    def opened_elsewhere(self) -> Generation | None:
        """Open the generation that another process has made live; None if ours is still live."""
        if self._generations.live_name() in (None, self.live.folder.name):
            return None
        return self._open(self._generations.live())

    def replace_by(self, fresh: Generation) -> None:
        """Make this generation live in this process; the previous one is closed after a grace
        period."""
        self._replaced.append(self.live)
        self.live = fresh
        name = f"close the indexes replaced by {fresh.folder.name}"
        self._worker.run(name, self._close_oldest, after=GRACE_SECONDS)

    def wait_until_filled(self, timeout: float) -> None:
        """Wait until no generation is being filled, at most ``timeout`` seconds."""
        if self._changing.acquire(timeout=timeout):
            self._changing.release()

    def close(self) -> None:
        """Close all generations."""
        self._closed.set()
        for generation in self.all():
            generation.close()
        self._generations.close()

    def _open_live(self) -> Generation:
        """Open the live generation; one that cannot be read is replaced by a new, empty one."""
        folder = self._generations.live()
        try:
            return self._open(folder)
        except StorageError as error:
            if not is_corrupt(error):
                raise
            logger.error("%s Filling new indexes from the vault.", error.message)
        self._generations.put_aside(folder)
        return self._open(self._generations.live())

    def _close_oldest(self) -> None:
        with self._changing:  # otherwise a running rebuild's folder would seem stale
            if self._closed.is_set():
                return
            self._replaced[0].close()
            del self._replaced[0]
            self._remove_stale_folders()
        settle()

    def _remove_stale_folders(self) -> None:
        self._generations.remove_stale([generation.folder for generation in self.all()])
