"""The answers of inject_context: what is recalled, distilled and said about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from mcp_server.answer_room import ANSWER_TOKENS, AnswerRoom, bare
from mcp_server.answers.base import below_title
from mcp_server.answers.context import ContextAnswer, GatingWarning, SourceShape, UTLMetrics
from mcp_server.answers.insights import InsightsShape
from mcp_server.answers.recalled import StateShape
from mcp_server.toolbox import Toolbox
from memvault.cognition.pulse import MemoryState
from memvault.cognition.sessions import Session
from memvault.model.errors import GraphQueryError, StoreUnavailable
from memvault.model.insights import Aspect
from memvault.model.johari import UTLState
from memvault.model.pulse import CognitivePulse
from memvault.model.query import Scope
from memvault.model.verbosity import VerbosityLevel
from memvault.reasoning.insights import EVERY_ASPECT
from memvault.retrieval.context.colour import coloured, nearness
from memvault.retrieval.context.distil import Context, Distiller, Room
from memvault.retrieval.context.forms import Excerpt, Form
from memvault.retrieval.context.scoring import Found

COLOURED = 5  # more memories than are read, which the session's working set may bring up
HIGH_ENTROPY = 0.8  # graph-tools 2.0.1.1
NARROWING_TOOLS = ("generate_search_plan", "graph_query", "expand_causal_path")
WORTH_MORE = 80  # tokens left in a full answer for which more text is looked for
NO_GRAPH = "the graph does not answer: what it would add is missing"


@dataclass(frozen=True, slots=True)
class Asked:
    """A call of inject_context; ``count`` is how many memories are read."""

    query: str
    scope: Scope
    level: VerbosityLevel
    count: int
    max_tokens: int | None
    form: Form | None
    aspects: Sequence[Aspect]


class Contexts:
    """Made once per server; thread-safe."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    def answer(self, asked: Asked, session: Session) -> tuple[ContextAnswer, Context | None]:
        """The answer, and the context that it gives; at level 0 there is none."""
        found, lacking = self._found(asked, session)
        pulse = self._box.pulse_of(found)
        empty = ContextAnswer(
            nodes_retrieved=[], tool_gating_warning=_warning(pulse), pulse=pulse, notice=lacking
        )
        if asked.level is VerbosityLevel.RAW_ONLY:
            named = self._room.named(empty, [memory for _, memory in found])
            ids = [memory.id for memory in named]
            self._box.returned(session, ids)
            told = {"nodes_retrieved": ids, "sources": [bare(memory) for memory in named]}
            return empty.model_copy(update=told), None
        empty = empty.model_copy(update={"utl_metrics": _metrics(pulse)})
        room = self._budget(asked, empty)
        if room.terse:
            found = found[: -(-len(found) // 2)]  # it quotes one or two; reading takes time
        context = self._distiller.distil(asked.query, found, room, asked.form)
        answer = self._with_insights(self._told(empty, context, asked.level), asked)
        left = ANSWER_TOKENS[asked.level] - self._room.of(answer)
        if room.beside is not None and left >= WORTH_MORE and context.compression > 0.0:
            room = replace(room, tokens=room.tokens + left)  # insights left this much unused
            context = self._distiller.distil(asked.query, found, room, asked.form)
            answer = self._told(answer, context, asked.level)
        self._box.returned(session, answer.nodes_retrieved)
        return answer, context

    def _found(self, asked: Asked, session: Session) -> tuple[Found, str | None]:
        """What is recalled, coloured by what the session is about, and what could not be asked."""
        working_set = session.working_set
        count = asked.count + (COLOURED if working_set else 0)
        reached = self._box.services.steady.recall(asked.query, count, asked.scope)
        found = reached.memories
        if working_set:
            ids = [each.note_id for each in found]
            around = self._box.meter.landscape.around(ids)
            linked = {key: around[key].neighbours for key in ids}
            found = coloured(found, nearness(ids, working_set, linked))[: asked.count]
        return self._box.known(found), reached.notice

    def _budget(self, asked: Asked, empty: ContextAnswer) -> Room:
        if asked.max_tokens is not None:
            return Room(asked.max_tokens)
        return self._room.for_text(asked.level, self._told(empty, _NOTHING, asked.level))

    def _told(self, empty: ContextAnswer, context: Context, level: VerbosityLevel) -> ContextAnswer:
        ids = [each.memory.id for each in context.excerpts]
        full = level is VerbosityLevel.FULL_INSIGHTS
        states = self._box.meter.states(ids) if full else {}
        return empty.model_copy(
            update={
                "context": context.text,
                "tokens_used": context.tokens,
                "tokens_before_distillation": context.before,
                "distillation_applied": context.form,
                "compression_ratio": round(context.compression, 3),
                "nodes_retrieved": ids,
                "sources": [_source(each, states.get(each.memory.id)) for each in context.excerpts],
            }
        )

    def _with_insights(self, answer: ContextAnswer, asked: Asked) -> ContextAnswer:
        """What was asked for by name is given whole; what the verbosity adds, as far as it fits."""
        full = asked.level is VerbosityLevel.FULL_INSIGHTS
        wanted = asked.aspects or (EVERY_ASPECT if full else ())
        if not wanted or not answer.nodes_retrieved:
            return answer
        try:
            found = InsightsShape.of(self._box.insights(answer.nodes_retrieved, wanted))
        except (StoreUnavailable, GraphQueryError):
            return answer.model_copy(update={"notice": answer.notice or NO_GRAPH})
        if not asked.aspects:
            whole = max(ANSWER_TOKENS[asked.level], asked.max_tokens or 0)
            found = self._room.fitted(found, whole - self._room.of(answer))
        said = any(getattr(found, name) for name in InsightsShape.model_fields)
        return answer.model_copy(update={"insights": found if said else None})

    @cached_property
    def _distiller(self) -> Distiller:
        services = self._box.services

        def starting(digits: str) -> Sequence[str]:
            return services.catalogue.ids_starting(digits)  # of whichever generation is live

        return Distiller(services.vault.read, services.embedder, starting)

    @cached_property
    def _room(self) -> AnswerRoom:
        return AnswerRoom(self._box.services.embedder.tokens)


_NOTHING = Context("", Form.NARRATIVE, 0, 0, 0.0, ())


def _source(excerpt: Excerpt, state: MemoryState | None) -> SourceShape:
    """With its state, and its id once more, in a full answer."""
    return SourceShape(
        id=None if state is None else excerpt.memory.id,
        title=excerpt.memory.title,
        path=excerpt.memory.path,
        heading=below_title(excerpt.heading, excerpt.memory.title),
        lines=list(excerpt.lines),
        state=None if state is None else StateShape.of(state),
    )


def _metrics(pulse: CognitivePulse) -> UTLMetrics:
    state = UTLState(delta_s=pulse.entropy, delta_c=pulse.coherence, w_e=1.0, phi=0.0)
    return UTLMetrics(
        entropy=pulse.entropy,
        coherence=pulse.coherence,
        learning_score=round(state.learning_score, 3),
    )


def _warning(pulse: CognitivePulse) -> GatingWarning | None:
    if pulse.entropy <= HIGH_ENTROPY:
        return None
    return GatingWarning(
        triggered=True,
        entropy_score=pulse.entropy,
        message=f"Retrieval quality may be low due to high entropy ({pulse.entropy:.2f}). Suggest "
        f"calling {' or '.join(NARROWING_TOOLS[:2])} first to reduce entropy before retrying.",
        suggested_tools=list(NARROWING_TOOLS),
        auto_retry_after=False,
    )
