"""How an answer shows memories: more of each with every level of verbosity.

Every memory has its id, title, path and score, 70 to 100 of the model's tokens; the other fields
that the interface lists are about 110 more. So the levels differ by what is said beside these: at
level 0 nothing, at level 1 the sentences that answer, at level 2 the whole passage, the memory's
state, what is concluded from the answer's memories together and, while 800 tokens have room, what
stands next to them. bench_verbosity.py measures them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from mcp_server.answers.base import below_title, utc
from mcp_server.answers.insights import CausalShape, ConeShape, ConflictShape
from mcp_server.answers.recalled import (
    EvidenceShape,
    HopShape,
    NodeShape,
    StateShape,
    VerificationShape,
)
from mcp_server.middleware.client_identity import client_name
from mcp_server.middleware.origin_marks import origin_shown
from memvault.cognition.pulse import MemoryState
from memvault.model.insights import EntailmentCone, Insights
from memvault.model.memory import Memory, UTLState
from memvault.model.provenance import OriginKind
from memvault.model.search import (
    Evidence,
    Hit,
    SearchResult,
    VerbosityLevel,
    Verification,
)
from memvault.search.excerpt import Excerpt
from memvault.vault.journal import Actor, Journal, JournalEntry

MOST_CHARS = 300  # of a sentence that speaks against a memory


def log_unverified(journal: Journal, query: str, result: SearchResult) -> None:
    """Log that a sensitive question met claims that nobody confirms: that they were withheld, or
    that the client asked for them all the same (triple FR-47)."""
    if result.matter is None or not result.claims:
        return
    withheld = any(hit.withheld for hit in result.hits)
    journal.append(
        JournalEntry(
            ts=datetime.now(UTC),
            kind="unverified_withheld" if withheld else "unverified_used",
            actor=Actor(kind="client", name=client_name() or ""),
            data={
                "query": query,
                "matter": result.matter,
                "memories": [hit.memory.id for hit in result.claims],
            },
        )
    )


def _shape(check: Verification, *, withheld: bool) -> VerificationShape | None:
    """None where there is nothing to tell."""
    if check.verified and not check.confirmed_by and not check.contradicted_by:
        return None
    return VerificationShape(
        status=check.status,
        score=round(check.score, 3),
        confirmed_by=[each.path for each in check.confirmed_by] or None,
        contradicted_by=[_evidence(each) for each in check.contradicted_by] or None,
        withheld=withheld or None,
    )


def _evidence(each: Evidence) -> EvidenceShape:
    return EvidenceShape(
        id=each.note_id,
        title=each.title,
        path=each.path,
        lines=list(each.lines),
        sentence=each.sentence[:MOST_CHARS] or None,
        said=each.said or None,
    )


# UTF-8 bytes of text of the first memories, and of each later one; about four make a token.
ANSWERING_BYTES = (1_000, 900, 800, 500, 500)
ANSWERING_BYTES_LATER = 400
PASSAGE_BYTES = 1_600
CONCLUSIONS = 3  # of each kind, and of each kind of things that one names


def bare(hit: Hit) -> NodeShape:
    """Level 0."""
    return NodeShape(
        id=hit.memory.id,
        title=hit.memory.title,
        path=hit.memory.path,
        relevance_score=round(hit.relevance, 3),
    )


def excerpt_limits(count: int, level: VerbosityLevel) -> list[int]:
    """Bytes of text for each of so many memories, best first."""
    if level is VerbosityLevel.FULL_INSIGHTS:
        return [PASSAGE_BYTES] * count
    later = max(0, count - len(ANSWERING_BYTES))
    return [*ANSWERING_BYTES[:count], *[ANSWERING_BYTES_LATER] * later]


def shown(
    hits: Sequence[Hit],
    states: Mapping[str, MemoryState],
    excerpts: Sequence[Excerpt],
    utl_state: Callable[[str], UTLState | None] | None = None,
) -> list[NodeShape]:
    """Levels 1 and 2.

    Args:
        states: by memory id.
        excerpts: of the hits, in their order.
        utl_state: a memory's state of learning, for level 2; None for level 1.
    """
    nodes = [
        _with_text(hit, excerpt, states[hit.memory.id])
        for hit, excerpt in zip(hits, excerpts, strict=True)
    ]
    if utl_state is None:
        return nodes
    return [
        _with_state(node, hit.memory, states[hit.memory.id], utl_state(hit.memory.id))
        for node, hit in zip(nodes, hits, strict=True)
    ]


def concluded(found: Insights) -> dict[str, Any]:
    """The fields of a `FullAnswer`."""
    return {
        "causal_links": [CausalShape.of(each) for each in found.causal_links[:CONCLUSIONS]],
        "entailment_cones": [
            ConeShape.of(_narrowed(each)) for each in found.entailment_cones[:CONCLUSIONS]
        ],
        "conflict_analysis": [ConflictShape.of(each) for each in found.conflicts[:CONCLUSIONS]],
    }


def _narrowed(cone: EntailmentCone) -> EntailmentCone:
    return replace(cone, general=cone.general[:CONCLUSIONS], special=cone.special[:CONCLUSIONS])


def is_verified(hit: Hit, lines: list[int]) -> bool:
    """Whether all that is shown of a hit is verified: the person's words do not vouch for those of
    others in the same lines."""
    check, origin = hit.verification, origin_shown(hit.memory, lines)
    vouches = check.marked or hit.own_only or origin.is_person or not check.by_person
    return check.verified and vouches


def _with_text(hit: Hit, excerpt: Excerpt, state: MemoryState) -> NodeShape:
    """What is withheld has no text and no path to it."""
    memory = hit.memory
    origin = origin_shown(memory, list(excerpt.lines))
    return bare(hit).model_copy(
        update={
            "hops": None if hit.withheld else _hops(hit),
            "heading": below_title(excerpt.heading, memory.title),
            "lines": list(excerpt.lines),
            "content": None if hit.withheld else excerpt.text,
            "confidence": round(hit.confidence, 3),
            "importance": memory.importance,
            "verified": is_verified(hit, list(excerpt.lines)),
            "origin": OriginKind.PERSON if hit.own_only else origin.kind,
            "verification": _shape(hit.verification, withheld=hit.withheld),
            "lifecycle": memory.lifecycle,
            "type": memory.type,
            "created_at": utc(memory.created_at),
            "date": utc(memory.date) if memory.date else None,
            "johari_quadrant": state.quadrant,
        }
    )


def _with_state(
    node: NodeShape, memory: Memory, state: MemoryState, utl_state: UTLState | None
) -> NodeShape:
    return node.model_copy(
        update={
            "project": memory.project,
            "tags": list(memory.tags) or None,
            "rationale": memory.rationale,
            "state": StateShape.of(state),
            "utl_state": utl_state,
        }
    )


def _hops(hit: Hit) -> list[HopShape] | None:
    if not hit.hops:
        return None
    return [
        HopShape(source=hop.source, relation=hop.relation, target=hop.target, path=hop.path)
        for hop in hit.hops
    ]
