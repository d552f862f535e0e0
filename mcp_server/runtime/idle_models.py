"""Unloads models that nobody uses, and loads them before a question needs them."""

from __future__ import annotations

from contextlib import suppress

from mcp_server.runtime.activity_tracker import ActivityTracker
from mcp_server.runtime.worker import Worker, collect_recent, give_back_memory
from memvault.model.errors import ModelUnavailable
from memvault.text.encoders.embedding import Embedder
from memvault.text.question_parser import question_parser

IDLE_SECONDS = 30.0  # without a batch to embed
PHRASES = 16  # of a question that are embedded at once
CLIENTS_AWAY_SECONDS = 300.0  # without clients, after which the question parser is unloaded
HANDSHAKE_SECONDS = 0.5  # loading the parser waits so long, to leave the processor to the client


class IdleModels:
    """Keeps models in memory only while they are used. Thread-safe.

    Args:
        embedder: embeds notes and questions.
        phrase_embedder: embeds the phrases of questions; may be the same.
    """

    def __init__(self, embedder: Embedder, phrase_embedder: Embedder, worker: Worker) -> None:
        self._embedders = {embedder, phrase_embedder}
        self._phrase_embedder = phrase_embedder
        self._worker = worker

    def start(self) -> None:
        """Unload embedding models whenever they are idle."""
        self._worker.run("unload idle models", self._unload_embedders, after=IDLE_SECONDS)

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
            self._phrase_embedder.prepare(PHRASES)

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
