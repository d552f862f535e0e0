"""The models of an engine: opened once, in memory only while they are used."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from pathlib import Path

from mcp_server.runtime.activity_tracker import ActivityTracker
from mcp_server.runtime.worker import Worker, collect_recent, give_back_memory
from memvault.config.settings import Settings
from memvault.model.errors import ModelUnavailable
from memvault.text.encoders.embedding import Embedder, fitted_with, needs_export, open_embedder
from memvault.text.encoders.model_files import EXPORTING
from memvault.text.encoders.reranker import Reranker
from memvault.text.question_parser import question_parser

IDLE_SECONDS = 30.0  # without a batch to embed
PHRASES = 16  # of a question that are embedded at once
CLIENTS_AWAY_SECONDS = 300.0  # without clients, after which the question parser is unloaded
HANDSHAKE_SECONDS = 0.5  # loading the parser waits so long, to leave the processor to the client


class Models:
    """The models of an engine. Thread-safe.

    Args:
        cache: the file of computed vectors.
        report: called with what takes long, in words that follow "memvault is".

    Attributes:
        embedder: embeds notes and questions.
        phrases: embeds the phrases of questions, which rules are fitted to; may be the same.
        reranker: orders what was found, if the person has configured one.

    Raises, when it is made:
        ModelUnavailable: the embedding model is not installed or cannot be exported.
    """

    def __init__(
        self, settings: Settings, cache: Path, worker: Worker, report: Callable[[str], None]
    ) -> None:
        configured, fitted = settings.embedding, fitted_with(settings.embedding)
        report(EXPORTING if any(map(needs_export, (configured, fitted))) else "loading the model")
        with ExitStack() as cleanup:
            self.embedder: Embedder = cleanup.enter_context(
                closing(open_embedder(configured, cache))
            )
            self.phrases = self.embedder if fitted == configured else open_embedder(fitted, cache)
            cleanup.pop_all()
        self._embedders = {self.embedder, self.phrases}
        self.reranker = Reranker(settings.rerank) if settings.rerank.model else None
        self._worker = worker

    def start(self) -> None:
        """Load the reranker, and unload embedding models whenever they are idle."""
        if self.reranker is not None:
            self._worker.run("load the reranker", self.reranker.load)
        self._worker.run("unload idle models", self._unload_embedders, after=IDLE_SECONDS)

    def interrupt(self) -> None:
        """Stop embedding after the current batch."""
        for embedder in self._embedders:
            embedder.interrupt()

    def close(self) -> None:
        for embedder in self._embedders:
            embedder.close()

    def load_for(self, clients: ActivityTracker) -> None:
        """Load the question parser when a client connects, and prepare to embed phrases.

        Otherwise a question would wait for them (1.3 s and 0.3 s). The parser is unloaded some
        minutes after the last client has left.
        """
        parser = question_parser()
        if parser is None:
            return

        def load() -> None:
            with suppress(ModelUnavailable):  # the reason is logged
                parser.load()
            self.phrases.prepare(PHRASES)

        def arrived() -> None:
            if not parser.is_loaded:
                self._worker.run("load the question parser", load, after=HANDSHAKE_SECONDS)

        def unload() -> float:
            if clients.idle_seconds() >= CLIENTS_AWAY_SECONDS and parser.release():
                collect_recent()
            return IDLE_SECONDS

        clients.arrived = arrived
        if clients.visits:
            arrived()
        self._worker.run("unload the question parser", unload, after=IDLE_SECONDS)

    def _unload_embedders(self) -> float:
        released = [embedder.release(IDLE_SECONDS) for embedder in self._embedders]
        if any(released):
            give_back_memory()
        return IDLE_SECONDS
