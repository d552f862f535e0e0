"""Makes the parts of answers that show memories: excerpts, states and conclusions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from mcp_server.answers.memories import (
    EmbeddedShape,
    FullAnswer,
    NodeShape,
    bare_node,
    conclusions,
    with_text,
)
from mcp_server.answers.token_budget import ANSWER_TOKENS, TokenBudget
from memvault.cognition.memory_loader import MemoryLoader
from memvault.cognition.pulse import PulseMeter
from memvault.model.errors import GraphQueryError, MemvaultError, StoreUnavailable
from memvault.model.memory import UTLState
from memvault.model.search import Aspect, Hit, Insights, Scope, SearchResult, VerbosityLevel
from memvault.reasoning.insights import EVERY_ASPECT, MAX_NEIGHBOURS, insights
from memvault.search.scope import allowed_in, without_filters

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container

CONCLUDED: tuple[Aspect, ...] = ("causal_links", "entailment_cones", "conflicts")
AROUND: tuple[Aspect, ...] = ("neighborhood",)
MAX_NEAR = 12  # neighbours of a memory that is the only result
NO_CONCLUSIONS = "The graph is unreachable; causes and conflicts are missing from this answer."
# UTF-8 bytes of text for each of the first memories; about four make a token.
ANSWERING_BYTES = (1_000, 1_000, 1_000, 600, 600)
ANSWERING_BYTES_LATER = 400
BRIEF_BYTES = 120
PASSAGE_BYTES = 1_600
Full = TypeVar("Full", bound=FullAnswer)


class MemoryPresenter:
    """Makes the shapes of memories for answers. Made once per server; thread-safe."""

    def __init__(
        self, container: Callable[[], Container], meter: PulseMeter, memory_nodes: MemoryLoader
    ) -> None:
        self._container = container
        self._meter = meter
        self._memory_nodes = memory_nodes

    def nodes(
        self,
        hits: Sequence[Hit],
        level: VerbosityLevel,
        query: str,
        scope: Scope,
        *,
        brief: bool = False,
    ) -> list[NodeShape]:
        """The hits as an answer to this question in this scope shows them; ``brief``: of all but
        the first only the sentence that answers best."""
        if level is VerbosityLevel.RAW_ONLY:
            return [bare_node(hit) for hit in hits]
        states = self._meter.states([hit.memory.id for hit in hits])
        full = level is VerbosityLevel.FULL_INSIGHTS
        gated = any(hit.gated for hit in hits)
        container = self._container()
        source = container.own_excerpts if gated else container.excerpts
        excerpts = source.of(query, hits, excerpt_limits(len(hits), level, brief=brief))
        nodes = with_text(hits, states, excerpts, self._utl_state if full else None)
        if gated:  # embedded text may be others' words
            return nodes
        is_in_project = allowed_in(without_filters(scope), container.live.catalogue.by_path)
        for index, (hit, excerpt) in enumerate(zip(hits, excerpts, strict=True)):
            if hit.withheld:
                continue
            parts = container.live.embedded_parts.of(
                hit.memory, excerpt.text, excerpt.lines, is_in_project
            )
            if embedded := [EmbeddedShape.of(part) for part in parts]:
                nodes[index] = nodes[index].model_copy(update={"embedded": embedded})
        return nodes

    def insights(
        self,
        ids: Sequence[str],
        aspects: Collection[Aspect] = EVERY_ASPECT,
        near: int = MAX_NEIGHBOURS,
        *,
        scope: Scope | None = None,
    ) -> Insights:
        """Causes, entailment, neighbours and conflicts of these memories, best first; in a scope
        with a project without the notes of other projects.

        Raises StoreUnavailable, GraphQueryError: the graph does not answer.
        """
        live = self._container().live
        return insights(
            ids,
            live.graph_view,
            live.catalogue.by_id,
            aspects,
            near=near,
            lead_of=live.lead_sentences.of,
            allowed=allowed_in(without_filters(scope), live.catalogue.by_id),
        )

    def with_conclusions(
        self, answer: Full, result: SearchResult, level: VerbosityLevel, scope: Scope
    ) -> Full:
        """The answer; at the highest level with conclusions from its memories."""
        if level is not VerbosityLevel.FULL_INSIGHTS:
            return answer
        if result.topic is not None and result.claims:
            return answer  # conclusions may quote claims, too
        container, ids = self._container(), [hit.memory.id for hit in result.hits]
        try:
            answer = answer.model_copy(
                update=conclusions(self.insights(ids, CONCLUDED, scope=scope))
            )
            budget = TokenBudget(container.embedder.tokens, container.live.catalogue)
            remaining_tokens = ANSWER_TOKENS[level] - budget.of(answer)
            if remaining_tokens <= 0:
                return answer
            around = self.insights(ids, AROUND, MAX_NEAR, scope=scope).neighborhood
            fields: dict[str, object] = {
                "neighborhood": budget.surroundings(around, remaining_tokens)
            }
        except (StoreUnavailable, GraphQueryError):
            fields = {"notice": answer.notice or NO_CONCLUSIONS}
        return answer.model_copy(update=fields)

    def _utl_state(self, memory_id: str) -> UTLState | None:
        """The memory's state of learning; None if the note is gone or cannot be read."""
        with suppress(MemvaultError):
            node = self._memory_nodes.get(memory_id)
            return node.utl_state if node is not None else None
        return None


def excerpt_limits(count: int, level: VerbosityLevel, *, brief: bool = False) -> list[int]:
    """Bytes of text for each of ``count`` memories, best first; ``brief``: as few as a sentence
    needs for all but the first."""
    if brief:
        return [*ANSWERING_BYTES[:1], *[BRIEF_BYTES] * (count - 1)][:count]
    if level is VerbosityLevel.FULL_INSIGHTS:
        return [PASSAGE_BYTES] * count
    later = max(0, count - len(ANSWERING_BYTES))
    return [*ANSWERING_BYTES[:count], *[ANSWERING_BYTES_LATER] * later]
