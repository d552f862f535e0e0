"""How an answer shows memories: more of each with every level of verbosity.

Every memory has its id, title, path and score, 70 to 100 of the model's tokens; the other fields
that the interface lists are about 110 more. So the levels differ by what is said beside these: at
level 0 nothing, at level 1 the sentences that answer, at level 2 the whole passage, the memory's
state, what is concluded from the answer's memories together and, while 800 tokens have room, what
stands next to them. bench_verbosity.py measures them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from memvault.cognition.pulse import MemoryState, confidence
from memvault.model.insights import EntailmentCone, Insights
from memvault.model.memory import Memory, UTLState
from memvault.model.search import Evidence, Recalled, Status, VerbosityLevel, Verification
from memvault.search.excerpt import Excerpt, Excerpts
from memvault.vault.journal import Actor, Journal, JournalEntry
from memvault.verification.verified_recall import Answered, Weighed

MOST_CHARS = 300  # of a sentence that speaks against a memory


def checked(
    nodes: Sequence[NodeShape], weighed: Sequence[Weighed], level: VerbosityLevel
) -> list[NodeShape]:
    """The nodes with their calibrated confidence and their standing; what is withheld has no text.

    Args:
        weighed: in the order of the nodes.
    """
    if level is VerbosityLevel.RAW_ONLY:
        return list(nodes)
    return [_checked(node, each) for node, each in zip(nodes, weighed, strict=True)]


def log_override(journal: Journal, query: str, answered: Answered) -> None:
    """Unverified facts are about to be used on a critical matter (triple FR-47)."""
    journal.append(
        JournalEntry(
            ts=datetime.now(UTC),
            kind="unverified_used",
            actor=Actor(kind="client", name=client_name() or ""),
            data={
                "query": query,
                "matter": answered.matter,
                "memories": [each.memory.id for each in answered.unverified],
            },
        )
    )


def _checked(node: NodeShape, each: Weighed) -> NodeShape:
    check = each.verification
    told: dict[str, object] = {
        "confidence": round(each.confidence, 3),
        "verified": check.verified,
        "verification": _shape(check, withheld=each.withheld),
    }
    if each.withheld:
        told |= {"content": None, "hops": None}
    return node.model_copy(update=told)


def _shape(check: Verification, *, withheld: bool) -> VerificationShape | None:
    """None where there is nothing to tell."""
    if check.status is Status.UNVERIFIED and not withheld:
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
        sentence=each.sentence[:MOST_CHARS],
        said=each.said,
    )


# UTF-8 bytes of text of the first memories, and of each later one; about four make a token.
ANSWERING_BYTES = (1_000, 900, 800, 500, 500)
ANSWERING_BYTES_LATER = 400
PASSAGE_BYTES = 1_600
CONCLUSIONS = 3  # of each kind, and of each kind of things that one names


@dataclass(frozen=True, slots=True)
class Told:
    """A memory that was found, and what is known of it now."""

    recalled: Recalled
    memory: Memory
    state: MemoryState
    outdated: bool
    utl_state: UTLState | None = None


def bare(recalled: Recalled, memory: Memory) -> NodeShape:
    """Level 0."""
    return NodeShape(
        id=memory.id,
        title=memory.title,
        path=memory.path,
        relevance_score=round(recalled.relevance, 3),
    )


def excerpt_limits(count: int, level: VerbosityLevel) -> list[int]:
    """Bytes of text for each of so many memories, best first."""
    if level is VerbosityLevel.FULL_INSIGHTS:
        return [PASSAGE_BYTES] * count
    later = max(0, count - len(ANSWERING_BYTES))
    return [*ANSWERING_BYTES[:count], *[ANSWERING_BYTES_LATER] * later]


def shown(
    found: Sequence[Told], level: VerbosityLevel, query: str, excerpts: Excerpts
) -> list[NodeShape]:
    """Levels 1 and 2."""
    full = level is VerbosityLevel.FULL_INSIGHTS
    pairs = [(each.recalled, each.memory) for each in found]
    texts = excerpts.of(query, pairs, excerpt_limits(len(found), level))
    nodes = [_with_text(each, text) for each, text in zip(found, texts, strict=True)]
    if not full:
        return nodes
    return [_with_state(node, each) for node, each in zip(nodes, found, strict=True)]


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


def _with_text(each: Told, shown: Excerpt) -> NodeShape:
    memory, relevance = each.memory, each.recalled.relevance
    sure = confidence(relevance, verified=memory.verified, outdated=each.outdated)
    return bare(each.recalled, memory).model_copy(
        update={
            "hops": _hops(each.recalled),
            "heading": below_title(shown.heading, memory.title),
            "lines": list(shown.lines),
            "content": shown.text,
            "confidence": round(sure, 3),
            "importance": memory.importance,
            "verified": memory.verified,
            "lifecycle": memory.lifecycle,
            "type": memory.type,
            "created_at": utc(memory.created_at),
            "date": utc(memory.date) if memory.date else None,
            "johari_quadrant": each.state.quadrant,
        }
    )


def _with_state(node: NodeShape, each: Told) -> NodeShape:
    memory, state = each.memory, each.state
    return node.model_copy(
        update={
            "project": memory.project,
            "tags": list(memory.tags) or None,
            "rationale": memory.rationale,
            "state": StateShape.of(state),
            "utl_state": each.utl_state,
        }
    )


def _hops(each: Recalled) -> list[HopShape] | None:
    if not each.hops:
        return None
    return [
        HopShape(source=hop.source, relation=hop.relation, target=hop.target, path=hop.path)
        for hop in each.hops
    ]
