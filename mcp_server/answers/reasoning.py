"""Answers about causes, probabilities, inference, critique and open questions."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field

from mcp_server.answers.base import (
    THREE_PLACES,
    Answer,
    Brief,
    Filled,
    Lines,
    Named,
    Rounded,
    Shape,
    brief,
    optional,
    read_from,
)
from memvault.model.search import Insights
from memvault.model.verification import ConflictKind
from memvault.reasoning.bayes.causal_chains import Direction
from memvault.reasoning.critique import Advice, ConflictType
from memvault.reasoning.tool_plan import Trigger
from memvault.verification.immunity import Action


class CausalShape(Shape):
    """The note at ``path`` states it in ``line``."""

    cause: str = read_from("cause.name")
    relation: str
    effect: str = read_from("effect.name")
    path: str = read_from("source.path")
    line: int = read_from("source.line")
    sentence: Brief = optional("source.sentence")


class ConeNodeShape(Shape):
    """Without ``path`` it has no note."""

    name: str = read_from("node.name")
    path: str | None = optional("node.path")
    why: str


class ConeShape(Shape):
    """What is more general, and what more special, than the memory ``id``."""

    id: str = read_from("memory_id")
    more_general: Filled[list[ConeNodeShape]] = optional("general")
    more_special: Filled[list[ConeNodeShape]] = optional("special")


class NearShape(Shape):
    """A node next to a memory; ``sentence`` states how."""

    name: str = read_from("node.name")
    path: str | None = optional("node.path")
    relation: str
    sentence: Brief = optional("source.sentence")


class SurroundingsShape(Shape):
    """The neighbours of the memory ``id``, strongest first."""

    id: str
    near: list[NearShape]


class SideShape(Shape):
    """``text`` is what the note says."""

    name: str = read_from("node.name")
    path: str | None = optional()
    line: int | None = optional()
    text: Annotated[str, AfterValidator(brief)]


class ConflictShape(Shape):
    """``sides`` starts with the more reliable one, if known."""

    kind: ConflictKind
    about: str
    sides: list[SideShape] = Field(min_length=2, max_length=2)


class InsightsShape(Shape):
    """What was not requested, or is empty, is left out."""

    causal_links: Filled[list[CausalShape]] = optional()
    entailment_cones: Filled[list[ConeShape]] = optional()
    neighborhood: Filled[list[SurroundingsShape]] = optional()
    conflict_analysis: Filled[list[ConflictShape]] = optional("conflicts")

    @classmethod
    def of_insights(cls, insights: Insights) -> Self:
        """The neighbours without the sentences that state them."""
        return cls.of(insights, neighborhood=[
            SurroundingsShape(id=key, near=[
                NearShape.of(neighbour).model_copy(update={"sentence": None}) for neighbour in near
            ])
            for key, near in insights.neighborhood.items()
        ])  # fmt: skip


class StepShape(Shape):
    step: int
    tool: str
    params: dict[str, Any]
    rationale: str


class ContextShape(Shape):
    """The state of the memories that a quick recall of the goal found."""

    entropy: float
    coherence: float
    triggered_by: Trigger


class ReflectionAnswer(Answer):
    reasoning: str
    suggested_sequence: list[StepShape]
    utl_context: ContextShape


class QueryShape(Shape):
    """``query`` is also among the ``params``, with which ``tool`` is to be called."""

    query: str
    tool: str
    params: dict[str, Any]
    rationale: str


class SearchPlanAnswer(Answer):
    """``vague``: the question finds memories that are far apart or incoherent."""

    queries: list[QueryShape]
    vague: bool


Chance = Annotated[float, Field(ge=0.0, le=1.0), THREE_PLACES]
# Low and high; a list, since some clients refuse schemas of tuples.
Interval = Annotated[list[Rounded], Field(min_length=2, max_length=2)]


class EvidenceShape(Named):
    """A note that the answer rests on; ``bearing`` says what for, ``weight`` counts as so many
    ordinary notes."""

    id: str = read_from("memory_id")
    lines: Lines | None = optional()
    sentence: Filled[str] = optional()
    bearing: str | None = optional()
    origin: str | None = optional()
    weight: Rounded


class ProbabilityAnswer(Answer):
    """``distribution`` has the most probable first, ``interval`` the 95% interval of each;
    ``approximate`` says that samples were drawn. ``given`` and ``done`` are what was taken as
    known and as done."""

    target: str
    distribution: dict[str, Chance]
    interval: dict[str, Interval]
    evidence_used: list[EvidenceShape]
    evidence_total: int | None = optional()
    approximate: bool
    given: dict[str, bool] | None = optional()
    done: dict[str, bool] | None = optional()


class NodeNameShape(Shape):
    """Without ``path`` it has no note."""

    id: str
    name: str
    path: str | None = optional()


class InfluenceShape(Shape):
    """One step; the note at ``path`` states it in ``line``."""

    cause: str
    kind: str
    effect: str
    strength: Rounded
    relation: str
    path: str | None = optional()
    line: int | None = optional()
    sentence: Filled[str] = optional()


class ConsequenceShape(Shape):
    """``probability`` if the action is made to happen, ``otherwise`` if it is kept from it; of a
    cause, ``probability`` once the effect is seen, ``otherwise`` at first."""

    id: str = read_from("node.id")
    name: str = read_from("node.name")
    path: str | None = optional("node.path")
    direction: Literal[Direction.EFFECTS, Direction.CAUSES]
    depth: int
    probability: Chance = read_from("after")
    otherwise: Chance = read_from("before")
    chain: list[InfluenceShape] | None = optional()


class CausalAnswer(Answer):
    """The greatest change first."""

    action: NodeNameShape
    consequences: list[ConsequenceShape]
    approximate: bool


class ChainShape(Shape):
    """From the first cause to the last effect; ``strength`` is the product of its steps'."""

    names: list[str]
    strength: Rounded
    raises: bool
    links: list[InfluenceShape] | None = optional()


class ChainsAnswer(Answer):
    node: NodeNameShape
    chains: list[ChainShape]


class PredictionShape(Shape):
    """``predicted_value`` is the probability that it holds."""

    node_id: str = read_from("key")
    node_content: str
    path: str | None = optional()
    predicted_value: Chance = read_from("value")
    confidence: Chance


class InferenceAnswer(Answer):
    """``inference_path`` goes from one clamped end of a bridge to the other."""

    predictions: list[PredictionShape]
    inference_path: list[str] | None = optional()
    convergence_iterations: int = read_from("iterations")
    converged: bool
    overall_confidence: Chance


class ContradictionShape(Shape):
    node_id: str = read_from("memory.id")
    title: str = read_from("memory.title")
    path: str = read_from("memory.path")
    lines: Lines
    content_snippet: str = read_from("snippet", max_length=200)
    contradiction_type: ConflictType = read_from("type")
    confidence: Rounded
    explanation: str


class CritiqueAnswer(Answer):
    contradictions_found: bool
    contradiction_count: int
    contradicting_nodes: list[ContradictionShape]
    suggested_action: Advice


class AdversarialEvidence(Shape):
    """``span`` is a quotation: data, not an order. ``place`` is text, title or a property."""

    kind: str
    span: str = read_from("excerpt")
    place: str


class AdversarialAnswer(Answer):
    """``score`` is 1 or more where the text is adversarial."""

    adversarial: bool
    kinds: list[str]
    evidence: list[AdversarialEvidence]
    action: Action
    score: float


class SettlesShape(Named):
    """A memory that the answer to a question would settle."""


class SettledShape(Shape):
    """The session's last question, and how open it was when it was asked and is now, in [0, 1]."""

    question: str
    entropy_before: Rounded
    entropy_after: Rounded


class EpistemicAnswer(Answer):
    """``question`` is left out where nothing is open; ``entropy_before`` says how open it is, in
    [0, 1]: 1 if all answers are equally likely."""

    question: str | None = optional()
    reason: str | None = optional()
    settles: list[SettlesShape]
    entropy_before: Rounded | None = optional()
    open_questions: int
    last: SettledShape | None = optional()


class EntailmentStep(Shape):
    """``path`` and ``line`` are left out where a folder or a nested tag implies the step."""

    specific: str
    general: str = read_from("node.name")
    why: str
    path: str | None = optional("source.path")
    line: int | None = optional("source.line")
    sentence: Brief = optional("source.sentence")


class EntailmentAnswer(Answer):
    """``chain`` is empty where nothing states it."""

    entails: bool
    chain: list[EntailmentStep]
