"""Probabilities, causes and effects, and inference over the notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal

from fastmcp.tools import tool
from pydantic import BaseModel, ConfigDict, Field

from mcp_server.answers.base import brief
from mcp_server.answers.reasoning import (
    CausalAnswer,
    ChainsAnswer,
    ChainShape,
    ConsequenceShape,
    EvidenceShape,
    InferenceAnswer,
    InfluenceShape,
    NodeNameShape,
    PredictionShape,
    ProbabilityAnswer,
)
from mcp_server.tools.arguments import FULL, READS, InProject, SessionId, Verbosity
from mcp_server.tools.toolbox import Tools
from memvault.model.errors import InvalidParams
from memvault.model.search import NodeRef, Scope, VerbosityLevel
from memvault.reasoning.bayes.causal_chains import CausalChain, Consequence, Direction, Effects
from memvault.reasoning.bayes.influences import Influence
from memvault.reasoning.bayes.omni_inference import (
    InferenceDirection,
    InferenceResult,
    OmniInference,
    resemblance,
)
from memvault.reasoning.bayes.probability import EvidenceUsed, ProbabilityQuery
from memvault.search.scope import in_scope

SHOWN = {
    VerbosityLevel.RAW_ONLY: 3,
    VerbosityLevel.TEXT_AND_IDS: 5,
    VerbosityLevel.FULL_INSIGHTS: 20,
}
MAX_CLAMPED = 20

NodeName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=1024,
        description="Title, alias, file name, path or id of a note, or the name of a concept.",
    ),
]
ChanceQuery = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=4096,
        description="In plain language: 'how likely is X if Y', 'what if we drop Z', or a question "
        "whose answer notes disagree on.",
    ),
]
TargetNode = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=1024,
        description="Instead of a query: the note or concept, by name, path or id.",
    ),
]
KnownFacts = Annotated[
    dict[str, bool] | None,
    Field(
        max_length=MAX_CLAMPED,
        description="Known facts: notes or concepts, each true or false.",
    ),
]
Interventions = Annotated[
    dict[str, bool] | None,
    Field(
        max_length=MAX_CLAMPED,
        description="What-if: notes or concepts that are set to true or false by intervention.",
    ),
]
Depth = Annotated[int, Field(ge=1, le=5, description="Longest chain of causes.")]
CausalDirection = Annotated[
    Direction, Field(description="effects: what follows. causes: what brings it about.")
]


class Clamped(BaseModel):
    """A known node: true or false, a probability in [0, 1], or its similarity to an embedding of
    the vault's model."""

    model_config = ConfigDict(extra="forbid")

    node_id: NodeName
    clamp_type: Literal["binary", "scalar", "semantic"] = "binary"
    clamp_value: bool | float | list[float] = True


ClampedNodes = Annotated[
    list[Clamped],
    Field(min_length=1, max_length=MAX_CLAMPED, description="Known nodes with their values."),
]
PredictNodes = Annotated[
    list[NodeName] | None,
    Field(max_length=20, description="Nodes to predict; default: those connected."),
]
Iterations = Annotated[
    int, Field(ge=1, le=200, description="Rounds of belief propagation at most.")
]


class ReasoningTools(Tools):
    """Tools over `Reasoner`, `Effects` and `OmniInference`."""

    @tool(annotations=READS, tags=FULL, title="Estimate a probability")
    def probabilistic_query(
        self,
        query: ChanceQuery = None,
        *,
        target: TargetNode = None,
        evidence: KnownFacts = None,
        do: Interventions = None,
        project: InProject = None,
        verbosity_level: Verbosity = None,
        session_id: SessionId = None,
    ) -> ProbabilityAnswer:
        """Estimate how probable an answer is: a distribution with 95% intervals and its evidence.

        For "how likely", for answers on which notes disagree, and for what-if. It weighs how many
        independent notes agree, their age, importance and verification, contradictions and stated
        causes. An empty distribution means that the notes do not say.
        """
        session = self._box.touch(session_id)
        if (query is None) is (target is None):
            raise InvalidParams("Invalid params: query or target - give one of them")
        container, scope = self._box.container, self._box.scope(project)
        target_id = self._node(target, scope).id if target is not None else None
        probability_query = ProbabilityQuery(
            query or "", target_id, self._truths(evidence, scope), self._truths(do, scope), scope
        )
        result = container.live.reasoner.ask(probability_query)
        level = session.level(verbosity_level)
        used = _shown(result.evidence, level)
        ids = list(dict.fromkeys(statement.memory_id for statement in used))
        self._box.record_shown(session, ids)
        return ProbabilityAnswer(
            target=result.target,
            distribution={outcome.value: outcome.probability for outcome in result.outcomes},
            interval={outcome.value: [outcome.low, outcome.high] for outcome in result.outcomes},
            evidence_used=[_evidence(statement, level) for statement in used],
            evidence_total=len(result.evidence) if len(result.evidence) > len(used) else None,
            approximate=result.approximate,
            given=_by_name(result.given),
            done=_by_name(result.done),
            notice=result.notice,
            pulse=self._box.meter.of(ids),
        )

    @tool(annotations=READS, tags=FULL, title="Causes and effects")
    def query_causal(
        self,
        action: NodeName,
        *,
        direction: CausalDirection = Direction.EFFECTS,
        max_depth: Depth = 3,
        project: InProject = None,
        verbosity_level: Verbosity = None,
        session_id: SessionId = None,
    ) -> CausalAnswer:
        """List the effects or the causes of something that notes state, each with its probability
        with and without it."""
        session = self._box.touch(session_id)
        scope = self._box.scope(project)
        action_node = self._node(action, scope)
        consequences = self._effects().of(action_node.id, direction, max_depth, scope)
        level = session.level(verbosity_level)
        ids = [
            key
            for key in (action_node.id, *(c.node.id for c in consequences))
            if self._is_note(key)
        ]
        self._box.record_shown(session, ids)
        return CausalAnswer(
            action=NodeNameShape.of(action_node),
            consequences=[self._consequence(consequence, level) for consequence in consequences],
            approximate=any(consequence.approximate for consequence in consequences),
            pulse=self._box.meter.of(ids),
        )

    @tool(annotations=READS, tags=FULL, title="Causal chains")
    def expand_causal_path(
        self,
        node: NodeName,
        *,
        max_depth: Depth = 3,
        project: InProject = None,
        verbosity_level: Verbosity = None,
        session_id: SessionId = None,
    ) -> ChainsAnswer:
        """List the chains of cause and effect that lead to a note or concept and on from it,
        strongest first."""
        session = self._box.touch(session_id)
        scope = self._box.scope(project)
        start = self._node(node, scope)
        chains = self._effects().chains(start.id, max_depth, scope)
        level = session.level(verbosity_level)
        ids = list(dict.fromkeys(k for c in chains for k in c.nodes if self._is_note(k)))
        self._box.record_shown(session, ids)
        return ChainsAnswer(
            node=NodeNameShape.of(start),
            chains=[self._chain(chain, level) for chain in chains],
            pulse=self._box.meter.of(ids),
        )

    @tool(annotations=READS, tags=FULL, title="Infer in any direction")
    def omni_infer(
        self,
        query_type: Annotated[InferenceDirection, Field(description="Direction of the inference.")],
        clamped_nodes: ClampedNodes,
        *,
        predict_nodes: PredictNodes = None,
        max_iterations: Iterations = 50,
        project: InProject = None,
        session_id: SessionId = None,
    ) -> InferenceAnswer:
        """Predict unknown nodes from known ones. forward: effects of causes. backward: causes of
        effects. bridge: what connects two nodes. abduction: what explains observations.
        """
        session = self._box.touch(session_id)
        scope = self._box.scope(project)
        clamped = {
            self._node(clamped_node.node_id, scope).id: self._probability(clamped_node, scope)
            for clamped_node in clamped_nodes
        }
        target_ids = [self._node(name, scope).id for name in predict_nodes or ()]
        container = self._box.container
        inference = OmniInference(container.live.reasoner, container.live.graph_view)
        inferred = inference.infer(query_type, clamped, target_ids, max_iterations, scope)
        ids = [
            prediction.key for prediction in inferred.predictions if self._is_note(prediction.key)
        ]
        self._box.record_shown(session, ids)
        return self._inference(inferred, query_type, ids)

    # -- arguments ------------------------------------------------------------------------------

    def _node(self, name: str, scope: Scope) -> NodeRef:
        """The node with this name. Raises InvalidParams, NoteNotFound, AmbiguousTarget."""
        node = self._box.lookup.node(name)
        memory = self._box.container.live.catalogue.by_id(node.id)
        if memory is not None and not in_scope(memory, scope):
            raise InvalidParams(f"{name!r} belongs to another project; leave project out")
        return node

    def _truths(self, names: Mapping[str, bool] | None, scope: Scope) -> dict[str, bool]:
        return {self._node(name, scope).id: value for name, value in (names or {}).items()}

    def _probability(self, clamped: Clamped, scope: Scope) -> float:
        """The probability that a clamped node is true, in [0, 1]."""
        value, invalid = clamped.clamp_value, "Invalid params: clamped_nodes.clamp_value - "
        if clamped.clamp_type == "semantic":
            container = self._box.container
            if not isinstance(value, list):
                raise InvalidParams(invalid + "a semantic clamp needs an embedding")
            if len(value) != (dimension := container.embedder.dimension):
                raise InvalidParams(f"{invalid}this vault's embeddings have {dimension} dimensions")
            node_id = self._node(clamped.node_id, scope).id
            return resemblance(node_id, value, container.live.stores.vectors)
        if isinstance(value, list) or not 0.0 <= float(value) <= 1.0:
            raise InvalidParams(invalid + "must be true, false or a number from 0 to 1")
        return float(value) if clamped.clamp_type == "scalar" else float(value >= 0.5)

    # -- answers --------------------------------------------------------------------------------

    def _effects(self) -> Effects:
        return Effects(self._box.container.live.reasoner, self._box.container.live.graph_view)

    def _is_note(self, key: str) -> bool:
        return self._box.container.live.catalogue.by_id(key) is not None

    def _links(
        self, links: Iterable[Influence], level: VerbosityLevel
    ) -> list[InfluenceShape] | None:
        if level is VerbosityLevel.RAW_ONLY:
            return None
        return [self._link(influence, level) for influence in links]

    def _link(self, influence: Influence, level: VerbosityLevel) -> InfluenceShape:
        stated, name_of = influence.stated[0], self._box.container.live.reasoner.name_of
        memory = self._box.container.live.catalogue.by_id(stated.memory_id)
        full = level is VerbosityLevel.FULL_INSIGHTS
        return InfluenceShape.of(
            influence,
            cause=name_of(influence.cause),
            effect=name_of(influence.effect),
            relation=stated.relation,
            path=memory.path if memory is not None else None,
            line=stated.line if memory is not None else None,
            sentence=stated.sentence if full else brief(stated.sentence),
        )

    def _consequence(self, consequence: Consequence, level: VerbosityLevel) -> ConsequenceShape:
        return ConsequenceShape.of(
            consequence,
            depth=len(consequence.chain.links),
            chain=self._links(consequence.chain.links, level),
        )

    def _chain(self, chain: CausalChain, level: VerbosityLevel) -> ChainShape:
        return ChainShape.of(
            chain,
            names=[self._box.container.live.reasoner.name_of(key) for key in chain.nodes],
            links=self._links(chain.links, level),
        )

    def _inference(
        self, inferred: InferenceResult, kind: InferenceDirection, ids: list[str]
    ) -> InferenceAnswer:
        container = self._box.container
        name_of, by_id = container.live.reasoner.name_of, container.live.catalogue.by_id
        notice = None
        if not inferred.predictions:
            notice = "No note states a relation of this kind to the known nodes."
        return InferenceAnswer.of(
            inferred,
            predictions=[
                PredictionShape.of(
                    prediction,
                    node_content=name_of(prediction.key),
                    path=memory.path if (memory := by_id(prediction.key)) is not None else None,
                )
                for prediction in inferred.predictions
            ],
            inference_path=[name_of(key) for key in inferred.path_nodes]
            if kind is InferenceDirection.BRIDGE
            else None,
            notice=notice,
            pulse=self._box.meter.of(ids),
        )


def _by_name(pairs: Iterable[tuple[NodeRef, bool]]) -> dict[str, bool] | None:
    return {node.name: value for node, value in pairs} or None


def _shown(evidence: Sequence[EvidenceUsed], level: VerbosityLevel) -> Sequence[EvidenceUsed]:
    if level is VerbosityLevel.RAW_ONLY:  # which lists each note once, without its sentences
        evidence = list(
            {statement.memory_id: statement for statement in reversed(evidence)}.values()
        )[::-1]
    return evidence[: SHOWN[level]]


def _evidence(statement: EvidenceUsed, level: VerbosityLevel) -> EvidenceShape:
    shape = EvidenceShape.of(statement)
    match level:
        case VerbosityLevel.RAW_ONLY:
            return shape.model_copy(update=dict.fromkeys(("lines", "sentence", "bearing")))
        case VerbosityLevel.TEXT_AND_IDS:
            return shape.model_copy(update={"sentence": brief(statement.sentence) or None})
        case VerbosityLevel.FULL_INSIGHTS:
            return shape
