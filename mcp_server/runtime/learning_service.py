"""Learns from use in an engine: observes answers and changes, and saves what it learns."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from mcp_server.hooks.client_formats import CLIENTS, is_same_client
from memvault.capture.extract import says_little
from memvault.consolidation.cases import CaseBank
from memvault.consolidation.learning import Learning
from memvault.consolidation.modulation import (
    AFFECTIVE_WEIGHT,
    Modulation,
    RewardSignal,
    RewardType,
)
from memvault.consolidation.rewards import FULL, Signal, SignalKind
from memvault.consolidation.use_observer import UseObserver, author_of, stored_question
from memvault.model.change import Change
from memvault.model.memory import Memory, Stage
from memvault.model.search import Hit, Scope, SearchResult, Tuning

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container

WRITE_SECONDS = 5.0
MAX_UNANSWERED_A_DAY = 20  # questions that are kept
UNNAMED = "an unnamed client"  # an empty name means the person
PAGE = "page"  # the connection of the person
_HOOKS = "hooks of "  # and a client's name: the connection of all its hooks
_AT_REST = Tuning()

logger = logging.getLogger(__name__)


class LearningService:
    """Learns from the use of one vault, if ``[learning] enabled``. Thread-safe."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self.modulation = Modulation()
        self._writing = threading.Lock()
        self.learnt = Learning(
            container.vault,
            container.state.device,
            keyvalue=lambda: container.live.stores.keyvalue,
            clock=container.now,
        )
        self.cases = CaseBank(self.learnt, container.embedder, container.now)
        self._uses = UseObserver(
            self._observe,
            container.memory_of,
            self._memory_at,
            stored=container.activity.of,
            connected=lambda key: bool(container.live.similarity_index.related(key, 1)),
            changes=lambda hashes: [container.curator.history.change(digest) for digest in hashes],
            stage=lambda: Stage.of(len(container.live.catalogue)),
            rate=self.modulation.learning_rate,
            clock=container.now,
        )
        if self.is_on:
            container.worker.run("learn from use", self._write, after=WRITE_SECONDS)

    @property
    def is_on(self) -> bool:
        return self._container.settings.learning.enabled

    # -- observing ------------------------------------------------------------------------------

    def record_shown(
        self, connection: str, client: str | None, session: str, question: str, hits: Sequence[Hit]
    ) -> None:
        """Record the memories of an answer to a question, best first."""
        if self.is_on:
            visible = [hit for hit in hits if not hit.withheld]
            self._uses.shown(connection, client or UNNAMED, session, question, visible)

    def record_change(self, change: Change) -> None:
        if self.is_on:
            self._uses.changed(change)

    def record_shown_to_person(self, question: str, hits: Sequence[Hit]) -> None:
        """Record the memories that a page shows for the person's question, best first."""
        if self.is_on:
            self._uses.shown(PAGE, "", "", question, hits)

    def record_read_by_person(self, memory_id: str) -> None:
        """Record that the person opened a memory's page."""
        self.record_read(PAGE, [memory_id])

    def record_answer(self, session: str, entropy: float, memories: int) -> None:
        """Record the entropy and the number of memories of an answer."""
        if self.is_on:
            self.modulation.answered(session, entropy, memories)

    def record_read(
        self, connection: str, ids: Sequence[str], *, cited: bool = False, client: str | None = None
    ) -> None:
        """Record which memories were read of those that the connection's answers or its client's
        hooks showed."""
        if self.is_on:
            hooks = [_HOOKS + name for name in CLIENTS if is_same_client(name, client or "")]
            self._uses.read([connection, *hooks], ids, cited=cited)

    def record_question(
        self, client: str, question: str, result: SearchResult, scope: Scope
    ) -> None:
        """Keep a question without a sure answer until it has one.

        Questions on sensitive topics, with filters, or with orders to a model are not kept.
        """
        if not self.is_on or result.topic is not None or scope.filters is not None:
            return
        text, now = stored_question(question), datetime.now(UTC)
        recorded = self.learnt.state.questions.get(text)
        if result.hits and result.known:
            if recorded is not None and recorded.is_open:
                self.settle(text)
            return
        today = sum(at.date() == now.date() for _, at, _ in self.learnt.unanswered())
        if today >= MAX_UNANSWERED_A_DAY or says_little(text):
            return
        if not self._container.immunity.check(text).adversarial:
            self._observe_question(SignalKind.UNANSWERED, text, client)

    def settle(self, question: str) -> None:
        """Remove a question from the unanswered ones."""
        self._observe_question(SignalKind.SETTLED, question, "")

    def _observe_question(self, kind: SignalKind, question: str, client: str) -> None:
        now = datetime.now(UTC)
        self.learnt.observe(
            [Signal(at=now, kind=kind, thousandths=0, client=client, question=question)]
        )

    def record_given(
        self, client: str, session: str, subject: str, memories: Sequence[Memory]
    ) -> None:
        """Record the memories that a hook gives for a subject, best first."""
        if self.is_on:
            hits = [Hit(memory, 0.0) for memory in memories]
            self._uses.shown(_HOOKS + client, client, session, subject, hits)

    def record_citations(self, client: str, ids: Sequence[str]) -> None:
        """Record which memories given by hooks the client's reply cites."""
        if self.is_on:
            self._uses.read([_HOOKS + client], ids, cited=True)

    def emit(
        self, session: str, client: str | None, signal: RewardSignal, shown_ids: Sequence[str]
    ) -> tuple[str, float, list[str]]:
        """Record a reward that a client emits; only a positive one raises memories (stack 8.5).

        Returns:
            its id, the sum of the session's signals of this turn, and the rewarded memories.
        """
        stored_id, net = str(uuid4()), self.modulation.rewarded(session, signal)
        raised_ids = shown_ids if signal.value > 0.0 and net > 0.0 else ()
        memories = [m for key in raised_ids if (m := self._container.memory_of(key)) is not None]
        share = round(FULL * AFFECTIVE_WEIGHT * net)
        targets = [(memory.id, author_of(memory), share) for memory in memories]
        if self.is_on:
            self.learnt.observe(
                Signal(
                    at=datetime.now(UTC), kind=SignalKind.EMITTED, thousandths=thousandths,
                    client=client or UNNAMED, session=session, author=author, memory=memory,
                    reward_id=stored_id,
                )
                for memory, author, thousandths in targets or [("", "", round(FULL * signal.value))]
            )  # fmt: skip
            self.learnt.flush()
        return stored_id, net, [memory for memory, author, _ in targets if not author]

    def _observe(self, signals: Iterable[Signal]) -> None:
        observed = list(signals)
        for signal in observed:
            value = signal.thousandths / FULL
            kind = RewardType.NOVELTY if signal.kind is SignalKind.NOVEL else None
            kind = kind or (RewardType.REWARD if value > 0.0 else RewardType.PENALTY)
            self.modulation.rewarded(signal.session, RewardSignal(kind, value))
        self.learnt.observe(observed)

    # -- what it changes ------------------------------------------------------------------------

    def preference(self, question: str, ids: Sequence[str]) -> list[float] | None:
        """The preference that use gives each memory as an answer to a question, in (-1, 1); None
        before anything was learnt."""
        return self.cases.preference(question, ids) if self.is_on else None

    def link_weight(self, first: str, second: str) -> float:
        """The preference that use gives the link between two memories, in (-1, 1)."""
        return self.learnt.link_weight(first, second) if self.is_on else 0.0

    def tuning(self) -> Tuning:
        """The current tuning of search by modulation."""
        return self.modulation.tuning() if self.is_on else _AT_REST

    def close(self) -> None:
        """Save everything; never raises."""
        if self.is_on:
            self._uses.judge_changes()
            self.learnt.close()

    def _write(self) -> float:
        with self._writing:
            self._uses.judge_changes()
            self.learnt.write()
            self.cases.embed_some()
        return WRITE_SECONDS

    def _memory_at(self, path: str) -> Memory | None:
        return self._container.live.catalogue.by_path(path)
