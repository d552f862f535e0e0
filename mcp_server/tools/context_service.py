"""Makes the answers of inject_context: recalls memories, distils them, adds insights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcp_server.answers.base import below_title
from mcp_server.answers.context import ContextAnswer, GatingWarning, SourceShape, UTLMetrics
from mcp_server.answers.reasoning import InsightsShape
from mcp_server.answers.token_budget import ANSWER_TOKENS, TokenBudget, bare_source
from mcp_server.tools.toolbox import Toolbox
from memvault.cognition.learning_state import learning_state_of_set
from memvault.cognition.pulse import MemoryState
from memvault.cognition.sessions import Session
from memvault.model.errors import GraphQueryError, StoreUnavailable
from memvault.model.search import Aspect, Hit, Mode, Scope, VerbosityLevel
from memvault.model.state import CognitivePulse
from memvault.reasoning.insights import EVERY_ASPECT
from memvault.search.context.forms import Context, ContextBudget, ContextExcerpt, ContextForm
from memvault.search.order import boosted_by_session, session_nearness
from memvault.verification.sensitive_topics import sensitive_topic_of

SESSION_CANDIDATES = 5  # additional memories, which the session's working set may move up
# Graph-tools 2.0.1.1 warns at an entropy above 0.8 instead, which does not tell good contexts from
# poor ones (docs/trials.md).
LOW_CONFIDENCE = 0.5
NARROWING_TOOLS = ("generate_search_plan", "epistemic_action", "expand_causal_path", "graph_query")
MAX_IGNORED = 3  # warnings in a row
WORTH_MORE = 80  # unused tokens in a full answer, from which more text is added
NO_GRAPH = "the graph does not answer: what it would add is missing"


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """A call of inject_context; ``count`` is the number of memories to read."""

    query: str
    scope: Scope
    level: VerbosityLevel
    count: int
    max_tokens: int | None
    form: ContextForm | None
    aspects: Sequence[Aspect]

    @property
    def is_sensitive(self) -> bool:
        """Whether only the person's own words may answer."""
        return sensitive_topic_of(self.query) is not None


class ContextService:
    """Answers inject_context. Made once per server; thread-safe."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    def answer(
        self, request: ContextRequest, session: Session
    ) -> tuple[ContextAnswer, Context | None]:
        """The answer, and the context in it; None at level 0."""
        hits, notice = self._recalled(request, session)
        pulse = self._box.pulse_of(hits, session)
        empty = ContextAnswer(
            nodes_retrieved=[],
            tool_gating_warning=self._warning(hits, pulse, session),
            pulse=pulse,
            notice=notice,
        )
        if request.level is VerbosityLevel.RAW_ONLY:
            fitting = self._token_budget.named(empty, [hit.memory for hit in hits])
            ids = [memory.id for memory in fitting]
            self._box.record_shown(session, ids, request.query, hits)
            sources = [bare_source(memory) for memory in fitting]
            return empty.model_copy(update={"nodes_retrieved": ids, "sources": sources}), None
        empty = empty.model_copy(update={"utl_metrics": self._metrics(hits, pulse)})
        budget = self._context_budget(request, empty)
        container = self._box.container
        distiller = container.own_distiller if request.is_sensitive else container.distiller
        time = container.live.searcher.candidates.time_of(request.query)
        context = distiller.distil(request.query, hits, budget, request.form, time)
        answer = self._with_insights(self._with_text(empty, context, request.level), request)
        remaining = ANSWER_TOKENS[request.level] - self._token_budget.of(answer)
        has_room = budget.naming_tokens is not None and remaining >= WORTH_MORE
        if has_room and context.compression > 0.0:
            budget = replace(budget, tokens=budget.tokens + remaining)  # left by insights
            context = distiller.distil(request.query, hits, budget, request.form, time)
            answer = self._with_text(answer, context, request.level)
        self._box.record_shown(session, answer.nodes_retrieved, request.query, hits)
        return answer, context

    def _recalled(self, request: ContextRequest, session: Session) -> tuple[list[Hit], str | None]:
        """The memories found, those near the session's subject moved up, and the search's
        notice."""
        working_set = session.working_set
        count = request.count + (SESSION_CANDIDATES if working_set else 0)
        result = self._box.container.live.searcher.search(
            request.query, mode=Mode.DEFAULT, top_k=count, scope=request.scope
        )
        self._box.log_question(request.query, result, request.scope)
        hits = [hit for hit in result.hits if not hit.withheld]
        if working_set:
            ids = [hit.memory.id for hit in hits]
            around = self._box.meter.similarity_index.around(ids)
            linked = {key: around[key].neighbours for key in ids}
            hits = boosted_by_session(hits, session_nearness(ids, working_set, linked))
        return hits[: request.count], result.notice

    def _context_budget(self, request: ContextRequest, empty: ContextAnswer) -> ContextBudget:
        if request.max_tokens is not None:
            return ContextBudget(request.max_tokens)
        return self._token_budget.for_text(
            request.level, self._with_text(empty, _EMPTY_CONTEXT, request.level)
        )

    def _with_text(
        self, empty: ContextAnswer, context: Context, level: VerbosityLevel
    ) -> ContextAnswer:
        ids = [excerpt.memory.id for excerpt in context.excerpts]
        full = level is VerbosityLevel.FULL_INSIGHTS
        states = self._box.meter.states(ids) if full else {}
        return empty.model_copy(
            update={
                "context": context.text,
                "tokens_used": context.tokens,
                "tokens_before_distillation": context.source_tokens,
                "distillation_applied": context.form,
                "compression_ratio": round(context.compression, 3),
                "nodes_retrieved": ids,
                "sources": [
                    _source(excerpt, states.get(excerpt.memory.id)) for excerpt in context.excerpts
                ],
            }
        )

    def _with_insights(self, answer: ContextAnswer, request: ContextRequest) -> ContextAnswer:
        """The answer with insights: requested ones in full, those of the verbosity as far as they
        fit."""
        full = request.level is VerbosityLevel.FULL_INSIGHTS
        aspects = request.aspects or (EVERY_ASPECT if full else ())
        if not aspects or not answer.nodes_retrieved or request.is_sensitive:
            return answer  # insights may quote claims, too
        try:
            insights = InsightsShape.of_insights(
                self._box.presenter.insights(answer.nodes_retrieved, aspects, scope=request.scope)
            )
        except (StoreUnavailable, GraphQueryError):
            return answer.model_copy(update={"notice": answer.notice or NO_GRAPH})
        if not request.aspects:
            max_tokens = max(ANSWER_TOKENS[request.level], request.max_tokens or 0)
            insights = self._token_budget.fitted(
                insights, max_tokens - self._token_budget.of(answer)
            )
        has_any = any(getattr(insights, name) for name in InsightsShape.model_fields)
        return answer.model_copy(update={"insights": insights if has_any else None})

    def _metrics(self, hits: Sequence[Hit], pulse: CognitivePulse) -> UTLMetrics:
        ids, weights = [hit.memory.id for hit in hits], [hit.relevance for hit in hits]
        state = learning_state_of_set(self._box.meter, ids, weights)
        return UTLMetrics(
            entropy=pulse.entropy,
            coherence=pulse.coherence,
            learning_score=round(state.learning_score, 3),
        )

    def _warning(
        self, hits: Sequence[Hit], pulse: CognitivePulse, session: Session
    ) -> GatingWarning | None:
        confidence = max((hit.confidence for hit in hits), default=1.0)  # none: a notice says so
        if confidence >= LOW_CONFIDENCE:
            session.heeded()
            return None
        tools = [tool for tool in NARROWING_TOOLS if self._box.offers(tool)]
        ignored = session.warned(tools)
        return GatingWarning(
            triggered=True,
            entropy_score=pulse.entropy,
            message=f"Retrieval quality may be low: the best memory has a confidence of "
            f"{confidence:.2f}. Suggest calling {' or '.join(tools[:2])} first, or asking more "
            "precisely.",
            suggested_tools=tools,
            auto_retry_after=False,
            ignored=ignored or None,
            pattern="entropy-blind" if ignored >= MAX_IGNORED else None,
        )

    @property
    def _token_budget(self) -> TokenBudget:
        return TokenBudget(self._box.container.embedder.tokens, self._box.container.live.catalogue)


_EMPTY_CONTEXT = Context("", ContextForm.NARRATIVE, 0, 0, 0.0, ())


def _source(excerpt: ContextExcerpt, state: MemoryState | None) -> SourceShape:
    """The source of an excerpt; with its state, thus in a full answer, also with its id."""
    memory = excerpt.memory
    heading = below_title(memory.provenance.own_heading(excerpt.heading), memory.title)
    shape = SourceShape.of(excerpt, heading=heading, state=state)
    return shape if state is not None else shape.model_copy(update={"id": None})
