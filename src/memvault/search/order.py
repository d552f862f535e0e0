"""How sure a memory is once others were asked, and what this and its age change in the order."""

from __future__ import annotations

from memvault.model.search import ConflictKind, Hit, Status, Verification

UNVERIFIED_MOST = 0.69  # confidence of what nobody confirms (FR-46)
NEWEST_AMONG = 0.8  # share of the best relevance from which on the newest comes first


def confidence(likely: float, check: Verification) -> float:
    """Confidence in [0, 1] that a memory can be relied on for the question.

    Contradicted: its chance times its share of the witnesses. A claim that the person's words
    confirm in what the question asks, or that they marked as verified: 1 (FR-46), or half of the
    way to 1 where it states nothing that is asked. The person's own words, which no other note
    confirms: the chance that they answer, half of the way to 1 where they state what is asked. A
    claim that nobody confirms: its chance, but under 0.7.
    """
    if check.status is Status.CONTRADICTED:
        return likely * check.score
    if not check.verified:
        return min(likely, UNVERIFIED_MOST)
    if check.by_person and not check.marked and not check.confirmed_by:
        return (1.0 + likely) / 2.0 if check.answers else likely
    return 1.0 if check.answers else (1.0 + likely) / 2.0


def settles(check: Verification) -> bool:
    """Whether a memory states what is asked, and for certain."""
    return check.verified and (check.answers or check.marked)


def newest_first(hits: list[Hit]) -> list[Hit]:
    """Of the hits that are nearly as relevant as the best the newest first; the others after."""
    if not hits:
        return hits
    least = NEWEST_AMONG * hits[0].relevance
    near = [hit for hit in hits if hit.relevance >= least]
    rest = [hit for hit in hits if hit.relevance < least]
    near.sort(key=lambda hit: hit.memory.date or hit.memory.created_at, reverse=True)
    return [*near, *rest]


def superseding_first(hits: list[Hit]) -> list[Hit]:
    """Each hit behind the hits that supersede it."""
    ordered: list[Hit] = []
    waiting = {hit.memory.id: hit for hit in hits}

    def put(hit: Hit) -> None:
        if waiting.pop(hit.memory.id, None) is None:
            return
        for evidence in hit.verification.contradicted_by:
            newer = waiting.get(evidence.note_id)
            if newer is not None and evidence.said == ConflictKind.SUPERSESSION.value:
                put(newer)
        ordered.append(hit)

    for hit in hits:
        put(hit)
    return ordered
