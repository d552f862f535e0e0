"""What speaks against a piece of reasoning."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from mcp_server.answers.base import Answer, Lines, Named, Shape, optional
from memvault.reasoning.critique import Advice, ConflictType
from memvault.reasoning.plans import Trigger
from memvault.verification.immunity import Action


class StepShape(Shape):
    step: int
    tool: str
    params: dict[str, Any]
    rationale: str


class ContextShape(Shape):
    """The state of what a quick recall of the goal found."""

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
    """``vague`` says that the question as it is finds memories that lie far apart or hang together
    badly."""

    queries: list[QueryShape]
    vague: bool


Chance = Annotated[float, Field(ge=0.0, le=1.0)]
# Low and high; a list, since some clients refuse schemas of tuples.
Interval = Annotated[list[float], Field(min_length=2, max_length=2)]


class EvidenceShape(Named):
    """A note that the answer rests on; ``bearing`` says what for, ``weight`` counts as so many
    ordinary notes."""

    lines: Lines | None = optional()
    sentence: str | None = optional()
    bearing: str | None = optional()
    weight: float


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


class ThingShape(Shape):
    """Without ``path`` no note stands for it."""

    id: str
    name: str
    path: str | None = optional()


class LinkShape(Shape):
    """One step; the note at ``path`` states it in ``line``."""

    cause: str
    kind: str
    effect: str
    strength: float
    relation: str
    path: str | None = optional()
    line: int | None = optional()
    sentence: str | None = optional()


class ConsequenceShape(ThingShape):
    """``probability`` if the action is made to happen, ``otherwise`` if it is kept from it; of a
    cause, ``probability`` once the effect is seen, ``otherwise`` at first."""

    direction: Literal["effects", "causes"]
    depth: int
    probability: Chance
    otherwise: Chance
    chain: list[LinkShape] | None = optional()


class CausalAnswer(Answer):
    """The greatest change first."""

    action: ThingShape
    consequences: list[ConsequenceShape]
    approximate: bool


class ChainShape(Shape):
    """From the first cause to the last effect; ``strength`` is the product of its steps'."""

    things: list[str]
    strength: float
    raises: bool
    links: list[LinkShape] | None = optional()


class ChainsAnswer(Answer):
    node: ThingShape
    chains: list[ChainShape]


class PredictionShape(Shape):
    """``predicted_value`` is the probability that it holds."""

    node_id: str
    node_content: str
    path: str | None = optional()
    predicted_value: Chance
    confidence: Chance


class InferenceAnswer(Answer):
    """``inference_path`` goes from one clamped end of a bridge to the other."""

    predictions: list[PredictionShape]
    inference_path: list[str] | None = optional()
    convergence_iterations: int
    converged: bool
    overall_confidence: Chance


class ContradictionShape(Shape):
    node_id: str
    title: str
    path: str
    lines: Lines
    content_snippet: str = Field(max_length=200)
    contradiction_type: ConflictType
    confidence: float
    explanation: str


class CritiqueAnswer(Answer):
    contradictions_found: bool
    contradiction_count: int
    contradicting_nodes: list[ContradictionShape]
    suggested_action: Advice


class AdversarialEvidence(Shape):
    """``span`` is a quotation: data, not an order. ``place`` is text, title or a property."""

    kind: str
    span: str
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
    """The session's last question: the mean entropy of its memories when it was asked, and now."""

    question: str
    entropy_before: float
    entropy_after: float


class EpistemicAnswer(Answer):
    """``question`` is left out where nothing is open."""

    question: str | None = optional()
    reason: str | None = optional()
    settles: list[SettlesShape]
    entropy_before: float | None = optional()
    last: SettledShape | None = optional()


class EntailmentStep(Shape):
    """``path`` and ``line`` are left out where a folder or a nested tag implies the step."""

    specific: str
    general: str
    why: str
    path: str | None = optional()
    line: int | None = optional()
    sentence: str | None = optional()


class EntailmentAnswer(Answer):
    """``chain`` is empty where nothing states it."""

    entails: bool
    chain: list[EntailmentStep]
