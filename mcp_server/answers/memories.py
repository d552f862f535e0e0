"""Answers that show memories: the higher the verbosity, the more of each.

Every memory has its id, title, path and score, 70 to 100 of the model's tokens; the other fields
that the interface lists are about 110 more. Level 0 adds nothing to these, level 1 the sentences
that answer, level 2 the whole passage, the memory's state, what follows from the answer's memories
together and, if the 800 tokens allow, their neighbours. bench_verbosity.py measures the levels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from mcp_server.answers.base import (
    Answer,
    Filled,
    Lines,
    MemoryNamed,
    Moment,
    Named,
    Rounded,
    Shape,
    below_title,
    optional,
    read_from,
)
from mcp_server.answers.reasoning import CausalShape, ConeShape, ConflictShape, SurroundingsShape
from memvault.cognition.pulse import MemoryState
from memvault.model.distinct import distinct_by
from memvault.model.memory import JohariQuadrant, Lifecycle, UTLState
from memvault.model.note import LineRange
from memvault.model.provenance import OriginKind
from memvault.model.search import EntailmentCone, Hit, Insights, Mode
from memvault.model.verification import Status, Verification
from memvault.reasoning.bayes.source_weights import wilson
from memvault.search.excerpt import Excerpt
from memvault.text.note_graph import MENTIONS, PROJECT
from memvault.verification.labels import hidden_labels

FADED = "Only its summary or keys are left; `memvault reconstruct` brings back the full text."
MAX_CHARS = 300  # of a sentence that contradicts a memory, or claims something newer


class HopShape(Shape):
    """One step of the path to an answer; the note at ``path`` states it."""

    source: str = Field(serialization_alias="from")
    relation: str
    target: str = Field(serialization_alias="to")
    path: str


class StateShape(Shape):
    """Entropy and coherence of a memory among those it is linked with."""

    entropy: Rounded
    coherence: Rounded


class CounterEvidenceShape(Named):
    """A sentence of another note that contradicts a memory; ``said`` is the value it states. On
    sensitive topics neither is shown if only a client or an import says so. With ``stated_in`` the
    memory's own ``lines`` name the other note."""

    id: str = read_from("note_id")
    lines: Lines
    sentence: Annotated[Filled[str], AfterValidator(lambda text: text and text[:MAX_CHARS])] = (
        optional()
    )
    said: Filled[str] = optional()
    stated_in: str | None = optional()
    origin: OriginKind | None = optional()


class VerificationShape(Shape):
    """What other notes and the person say about a memory: ``score`` is 1 if verified, below 0.7 if
    not."""

    status: Status
    score: Rounded
    confirmed_by: Filled[list[str]] = optional(description="Paths of the notes that say the same.")
    contradicted_by: Filled[list[CounterEvidenceShape]] = optional()
    withheld: bool | None = optional(description="Its text is not shown: it is unverified.")


class NewerShape(Shape):
    """An unverified claim on the matter since the note was saved."""

    id: str = read_from("memory.id")
    path: str | None = optional()
    sentence: Annotated[Filled[str], AfterValidator(lambda text: text and text[:MAX_CHARS])] = (
        optional()
    )
    claimed_by: str = read_from("claimant")
    claimed_on: str = read_from("day")


class EmbeddedShape(Shape):
    """The start of what ``content`` embeds of another note."""

    path: str
    lines: Lines
    text: str


class AddedShape(Shape):
    """What others wrote into the person's note, next to ``content``."""

    path: str
    lines: Lines
    text: str


class NodeShape(Named):
    """``content`` is the passage that answers, ``lines`` its [first, last] line; ``heading`` is
    above it, unless that is the title. ``date``, when it happened, is left out if ``created_at``
    is the same."""

    id: str = read_from("memory.id")
    title: str
    path: str
    heading: str | None = optional()
    lines: Lines | None = optional()
    content: str | None = optional()
    added_by_others: Filled[list[AddedShape]] = optional()
    embedded: list[EmbeddedShape] | None = optional()
    newer_claims: Filled[list[NewerShape]] = optional()
    relevance_score: Rounded = read_from("relevance")
    confidence: Rounded | None = optional()
    confidence_interval: list[Rounded] | None = optional()
    importance: float | None = optional("memory.importance")
    verified: bool | None = optional()
    origin: OriginKind | None = optional()
    verification: VerificationShape | None = optional()
    lifecycle: Lifecycle | None = optional("memory.lifecycle")
    type: str | None = optional("memory.type")
    faded: str | None = optional("memory.faded", description=FADED)
    created_at: Moment | None = optional("memory.created_at")
    johari_quadrant: JohariQuadrant | None = optional("state.quadrant")
    hops: Filled[list[HopShape]] = optional()
    project: str | None = optional("memory.project")
    date: Moment | None = optional("memory.date")
    tags: Filled[list[str]] = optional("memory.tags")
    rationale: str | None = optional("memory.rationale")
    state: StateShape | None = optional()
    utl_state: UTLState | None = optional()


class FullAnswer(Answer):
    """What follows from the answer's memories together, at verbosity 2; an empty list says that
    nothing does. ``neighborhood`` fills the rest of the answer's 800 tokens."""

    causal_links: list[CausalShape] | None = optional()
    entailment_cones: list[ConeShape] | None = optional()
    conflict_analysis: list[ConflictShape] | None = optional()
    neighborhood: list[SurroundingsShape] | None = optional()


class RecallAnswer(FullAnswer):
    nodes: list[NodeShape]
    mode: Mode


class ListedShape(MemoryNamed):
    """A note of a list; `get_memory` reads it. ``changed_at`` is when its file was last saved."""

    type: str = read_from("memory.type")
    lifecycle: Lifecycle = read_from("memory.lifecycle")
    project: str | None = optional("memory.project")
    tags: Filled[list[str]] = optional("memory.tags")
    faded: str | None = optional("memory.faded", description=FADED)
    created_at: Moment = read_from("memory.created_at")
    changed_at: Moment


class FolderShape(Shape):
    path: str
    notes: int


class ListAnswer(Answer):
    """``total`` counts all pages; with ``cursor`` the next one is asked for. ``folders`` are those
    directly below the folder, with the number of these notes in and below each."""

    memories: list[ListedShape]
    total: int
    folders: list[FolderShape]
    cursor: str | None = optional()


class GraphAnswer(FullAnswer):
    results: list[NodeShape]


class ChunkShape(Named):
    """Without heading and text at verbosity 0."""

    chunk_id: str
    heading: str | None = optional()
    lines: Lines
    text: str | None = optional()
    score: float
    verified: bool | None = optional()
    origin: OriginKind | None = optional()
    withheld: bool | None = optional(description="Its text is not shown: it is unverified.")


class ChunksAnswer(Answer):
    chunks: list[ChunkShape]


class FoundDocument(Shape):
    id: str
    title: str
    url: str


class SearchAnswer(Answer):
    results: list[FoundDocument]


class FetchAnswer(Answer):
    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


class LinkShape(Shape):
    """A relation of the note to another; without ``path`` no note has this file name or alias, and
    ``titled`` is the path of the note that has the name as its title."""

    relation: str
    title: str
    id: str | None = optional()
    path: str | None = optional()
    titled: str | None = optional()
    line: int


class MemoryAnswer(Answer, Named):
    """``content`` is the whole note, frontmatter included, as it is on disk. ``agent_id`` is the
    client that stored it, left out for what a person wrote; ``access_count`` counts this call."""

    content: str
    links: list[LinkShape]
    backlinks: list[LinkShape]
    lifecycle: Lifecycle
    type: str
    faded: str | None = optional(description=FADED)
    importance: float
    verified: bool = read_from("is_trusted")
    created_at: Moment
    johari_quadrant: JohariQuadrant
    utl_state: UTLState
    access_count: int
    last_accessed: Moment
    agent_id: str | None = optional()
    tags: list[str]
    project: str | None = optional()


def _verification_shape(check: Verification, *, withheld: bool) -> VerificationShape | None:
    """The verification to show; None if verified and no other note confirms or contradicts it."""
    if check.verified and not check.confirmed_by and not check.contradicted_by:
        return None
    return VerificationShape.of(
        check,
        confirmed_by=[evidence.path for evidence in check.confirmed_by],
        withheld=withheld or None,
    )


ONLY_FULL = ("confidence_interval", "project", "tags", "rationale", "state")  # fields of level 2
CONCLUSIONS = 3  # of each kind, and names in each cone


def bare_node(hit: Hit) -> NodeShape:
    """The memory at level 0: id, title, path and score."""
    return NodeShape(
        id=hit.memory.id, title=hit.title, path=hit.path, relevance_score=hit.relevance
    )


def without_mentions(node: NodeShape) -> NodeShape:
    """The memory without hops that its text and path say: it has a name, or is of a project."""
    said = {(PROJECT, folder) for folder in node.path.split("/")[:-1]}
    if any(h.relation != MENTIONS and (h.relation, h.target) not in said for h in node.hops or ()):
        return node
    return node.model_copy(update={"hops": None})


def with_text(
    hits: Sequence[Hit],
    states: Mapping[str, MemoryState],
    excerpts: Sequence[Excerpt],
    utl_state: Callable[[str], UTLState | None] | None = None,
) -> list[NodeShape]:
    """The memories at levels 1 and 2.

    Args:
        states: by memory id.
        excerpts: of the hits, in their order.
        utl_state: a memory's state of learning, for level 2; None for level 1.
    """
    nodes = [
        _node(hit, excerpt, states[hit.memory.id])
        for hit, excerpt in zip(hits, excerpts, strict=True)
    ]
    if utl_state is None:
        return [node.model_copy(update=dict.fromkeys(ONLY_FULL)) for node in nodes]
    return [node.model_copy(update={"utl_state": utl_state(node.id)}) for node in nodes]


def conclusions(insights: Insights) -> dict[str, Any]:
    """The fields of a `FullAnswer`."""
    return {
        "causal_links": [CausalShape.of(link) for link in insights.causal_links[:CONCLUSIONS]],
        "entailment_cones": [
            ConeShape.of(_shortened(cone)) for cone in insights.entailment_cones[:CONCLUSIONS]
        ],
        "conflict_analysis": [
            ConflictShape.of(conflict) for conflict in insights.conflicts[:CONCLUSIONS]
        ],
    }


def _shortened(cone: EntailmentCone) -> EntailmentCone:
    return replace(cone, general=cone.general[:CONCLUSIONS], special=cone.special[:CONCLUSIONS])


def _interval(hit: Hit) -> list[float]:
    """The 95% interval of the confidence, from the number of notes for or against it (FR-23)."""
    check = hit.verification
    return list(wilson(hit.confidence, 1 + len(check.confirmed_by) + len(check.contradicted_by)))


def is_verified(hit: Hit, lines: LineRange) -> bool:
    """Whether all of the text in these lines is verified.

    The person's words do not verify the words of others in the same lines.
    """
    check, origin = hit.verification, hit.memory.provenance.of_lines(lines)
    covers_text = check.marked or hit.own_only or origin.is_person or not check.by_person
    return check.verified and covers_text


def _heading(hit: Hit, excerpt: Excerpt) -> str | None:
    return below_title(hit.memory.provenance.own_heading(excerpt.heading), hit.memory.title)


def _node(hit: Hit, excerpt: Excerpt, state: MemoryState) -> NodeShape:
    """The memory with all fields but `utl_state`; a withheld one has no text and no hops."""
    if excerpt.own_only and not (hit.own_only or hit.memory.is_marked_wrong):
        check = hit.verification
        hit = replace(
            hit, own_only=True, verification=check if check.by_person else check.of_own_part()
        )
    node = NodeShape.of(
        hit,
        heading=None if hit.withheld else _heading(hit, excerpt),
        lines=list(excerpt.lines),
        content=None if hit.withheld else excerpt.text,
        added_by_others=[
            AddedShape(path=hit.path, lines=list(addition.lines), text=addition.text)
            for addition in ([] if hit.gated else excerpt.additions)
        ],
        confidence_interval=_interval(hit),
        verified=is_verified(hit, excerpt.lines),
        origin=OriginKind.PERSON
        if hit.own_only
        else hit.memory.provenance.of_lines(excerpt.lines).kind,
        verification=_verification_shape(hit.verification, withheld=hit.withheld),
        newer_claims=hit.verification.newer,
        hops=None
        if hit.withheld
        else distinct_by(hit.hops, lambda hop: (hop.source, hop.relation, hop.target, hop.path)),
        state=state,
    ).model_copy(update=hidden_labels(hit))
    return node if node.date != node.created_at else node.model_copy(update={"date": None})
