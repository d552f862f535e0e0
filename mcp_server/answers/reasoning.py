"""Answers about causes, probabilities, inference, critique and open questions."""

from __future__ import annotations

from textwrap import shorten
from typing import Annotated, Any, Literal

from pydantic import Field

from mcp_server.answers.base import Answer, Lines, Named, Shape, optional
from memvault.model.search import (
    CausalLink,
    Conflict,
    ConflictKind,
    ConflictSide,
    EntailmentCone,
    Insights,
    Neighbour,
    Related,
)
from memvault.reasoning.critique import Advice, ConflictType
from memvault.reasoning.plans import Trigger
from memvault.verification.immunity import Action

SENTENCE_CHARS = 160


def brief(sentence: str) -> str:
    """A sentence of a note on one line, cut after a word where it is long."""
    if len(sentence) <= SENTENCE_CHARS:
        return " ".join(sentence.split())
    return shorten(sentence, SENTENCE_CHARS, placeholder=" …")


class CausalShape(Shape):
    """The note at ``path`` states it in ``line``."""

    cause: str
    relation: str
    effect: str
    path: str
    line: int
    sentence: str | None = optional()

    @classmethod
    def of(cls, link: CausalLink) -> CausalShape:
        return cls(
            cause=link.cause.name,
            relation=link.relation,
            effect=link.effect.name,
            path=link.source.path,
            line=link.source.line,
            sentence=brief(link.source.sentence) or None,
        )


class RelatedShape(Shape):
    """Without ``path`` no note stands for it."""

    name: str
    path: str | None = optional()
    why: str

    @classmethod
    def of(cls, related: Related) -> RelatedShape:
        return cls(name=related.thing.name, path=related.thing.path, why=related.why)


class ConeShape(Shape):
    """What the memory ``id`` falls under, and what falls under it."""

    id: str
    more_general: list[RelatedShape] | None = optional()
    more_special: list[RelatedShape] | None = optional()

    @classmethod
    def of(cls, cone: EntailmentCone) -> ConeShape:
        return cls(
            id=cone.memory_id,
            more_general=[RelatedShape.of(each) for each in cone.general] or None,
            more_special=[RelatedShape.of(each) for each in cone.special] or None,
        )


class NearShape(Shape):
    """A thing next to a memory; ``sentence`` states how."""

    name: str
    path: str | None = optional()
    relation: str
    sentence: str | None = optional()

    @classmethod
    def of(cls, near: Neighbour, *, quoted: bool = False) -> NearShape:
        said = brief(near.source.sentence) if quoted else ""
        return cls(
            name=near.thing.name,
            path=near.thing.path,
            relation=near.relation,
            sentence=said or None,
        )


class SurroundingsShape(Shape):
    """What stands next to the memory ``id``, strongest first."""

    id: str
    near: list[NearShape]


class SideShape(Shape):
    """``text`` is what the note says."""

    name: str
    path: str | None = optional()
    line: int | None = optional()
    text: str

    @classmethod
    def of(cls, side: ConflictSide) -> SideShape:
        return cls(
            name=side.thing.name,
            path=side.path,
            line=side.line,
            text=brief(side.text),
        )


class ConflictShape(Shape):
    """``sides`` are the one to be relied on first, where anything tells which."""

    kind: ConflictKind
    about: str
    sides: list[SideShape] = Field(min_length=2, max_length=2)

    @classmethod
    def of(cls, conflict: Conflict) -> ConflictShape:
        return cls(
            kind=conflict.kind,
            about=conflict.about,
            sides=[SideShape.of(side) for side in conflict.sides],
        )


class InsightsShape(Shape):
    """What was not asked for, or has nothing to say, is left out."""

    causal_links: list[CausalShape] | None = optional()
    entailment_cones: list[ConeShape] | None = optional()
    neighborhood: list[SurroundingsShape] | None = optional()
    conflict_analysis: list[ConflictShape] | None = optional()

    @classmethod
    def of(cls, found: Insights) -> InsightsShape:
        return cls(
            causal_links=[CausalShape.of(each) for each in found.causal_links] or None,
            entailment_cones=[ConeShape.of(each) for each in found.entailment_cones] or None,
            neighborhood=[
                SurroundingsShape(id=key, near=[NearShape.of(each) for each in near])
                for key, near in found.neighborhood.items()
            ]
            or None,
            conflict_analysis=[ConflictShape.of(each) for each in found.conflicts] or None,
        )


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
