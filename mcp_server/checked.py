"""How an answer shows what checking a memory found, and what is used all the same."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from mcp_server.answers.recalled import EvidenceShape, NodeShape, VerificationShape
from mcp_server.caller import client_name
from memvault.model.verbosity import VerbosityLevel
from memvault.model.verification import Evidence, Status, Verification
from memvault.reasoning.verified_recall import Answered, Weighed
from memvault.vault.journal import Actor, Journal, JournalEntry

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
