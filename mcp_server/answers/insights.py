"""What full answers say of memories beyond their text."""

from __future__ import annotations

from textwrap import shorten

from pydantic import Field

from mcp_server.answers.base import Shape, optional
from memvault.model.insights import (
    CausalLink,
    Conflict,
    ConflictKind,
    ConflictSide,
    EntailmentCone,
    Insights,
    Neighbour,
    Related,
)

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
