"""Orders hits of known relevance by use, newness, verification, supersession, writer and session.

Each function takes hits, best first, and returns all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import UTC, datetime
from itertools import accumulate

from memvault.model.graph import GraphEdge
from memvault.model.memory import Memory, MemoryOf
from memvault.model.search import FoundBy, Hit
from memvault.search.association import descending
from memvault.text.words import name_key
from memvault.vault.file_names import original_of_copy

NEARLY_BEST = 0.9  # share of the best relevance from which on a hit is nearly as relevant
SESSION_BONUS = 0.1  # share that a memory's relevance grows by when the session has just seen it
LINKED_SHARE = 0.5  # of the bonus, for a memory that is only linked to one the session has seen


def preferred(hits: list[Hit], weights: Sequence[float], share: float) -> list[Hit]:
    """The hits by relevance times ``1 + share * weight``; the best match stays among the first two.

    A hit counts as at most as relevant as the one before it, so that the order of earlier stages
    holds unless a weight changes it.

    Args:
        weights: one for each hit, in [-1, 1]; empty if use prefers none.
    """
    if not any(weights):
        return hits
    bounded = accumulate((hit.relevance for hit in hits), min)
    preferences = [
        relevance * (1.0 + share * weight)
        for relevance, weight in zip(bounded, weights, strict=True)
    ]
    order = sorted(range(len(hits)), key=lambda index: -preferences[index])
    if order.index(0) > 1:
        order.remove(0)
        order.insert(1, 0)
    return [hits[index] for index in order]


def newest_first(hits: list[Hit]) -> list[Hit]:
    """The hits nearly as relevant as the best, newest first, then the others."""
    near_best, others = _near_best(hits)
    now = datetime.now(UTC)
    return sorted(near_best, key=lambda hit: _event_time(hit.memory, now), reverse=True) + others


def latest_first(memories: Iterable[Memory]) -> list[Memory]:
    """Newest first by the day of the event; for a future event, by the creation of the memory."""
    now = datetime.now(UTC)
    return sorted(memories, key=lambda memory: _event_time(memory, now), reverse=True)


def is_preference(memory: Memory) -> bool:
    return memory.type == "preference" or memory.title.casefold() == "preferences"


def by_importance(memories: Iterable[Memory]) -> list[Memory]:
    """Preferences first, then the most important, of these the latest."""
    return sorted(
        latest_first(memories),
        key=lambda memory: (not is_preference(memory), -memory.importance),
    )


def backlinks(memory_id: str, edges: Iterable[GraphEdge], memory_of: MemoryOf) -> list[GraphEdge]:
    """The edges that lead to a memory: those of the latest note first, of one note by line."""
    leading = [edge for edge in edges if edge.target == memory_id]
    linking = {edge.source: memory_of(edge.source) for edge in leading}
    by_path = sorted(filter(None, linking.values()), key=lambda memory: memory.path)
    places = {memory.id: index for index, memory in enumerate(latest_first(by_path))}
    return sorted(leading, key=lambda e: (places.get(e.source, len(places)), e.line, e.ordinal))


def _event_time(memory: Memory, now: datetime) -> datetime:
    return memory.moment if memory.moment <= now else memory.created_at


def verified_first(hits: list[Hit]) -> list[Hit]:
    """The hits nearly as relevant as the best, verified ones first, then the others."""
    near_best, others = _near_best(hits)
    return sorted(near_best, key=lambda hit: not hit.verification.verified) + others


def _near_best(hits: list[Hit]) -> tuple[list[Hit], list[Hit]]:
    """The hits nearly as relevant as the best, and the others."""
    threshold = NEARLY_BEST * hits[0].relevance if hits else 0.0
    near_best = [hit for hit in hits if hit.relevance >= threshold]
    return near_best, [hit for hit in hits if hit.relevance < threshold]


def superseding_first(hits: list[Hit], *, contradicting: bool = False) -> list[Hit]:
    """The hits, each after those that supersede it; a listed hit only after other listed ones.

    Args:
        contradicting: put an unverified hit after verified ones that contradict it, too.
    """
    ordered: list[Hit] = []
    waiting = {hit.memory.id: hit for hit in hits}

    def append(hit: Hit) -> None:
        if waiting.pop(hit.memory.id, None) is None:
            return
        for evidence in hit.verification.contradicted_by:
            newer = waiting.get(evidence.note_id)
            if newer is None or (_is_listed(hit) and not _is_listed(newer)):
                continue
            if evidence in hit.verification.superseding or (
                contradicting and newer.verification.verified and not hit.verification.verified
            ):
                append(newer)
        ordered.append(hit)

    for hit in hits:
        append(hit)
    return ordered


def originals_first(hits: Sequence[Hit]) -> list[Hit]:
    """The hits, each copy that a sync tool made of a note right behind that note."""
    paths = {hit.memory.path for hit in hits}
    groups: dict[str, list[Hit]] = {}
    for hit in hits:
        original = original_of_copy(hit.memory.path)
        groups.setdefault(original if original in paths else hit.memory.path, []).append(hit)
    return [
        hit
        for path, group in groups.items()
        for hit in sorted(group, key=lambda hit: hit.memory.path != path)
    ]


def _is_listed(hit: Hit) -> bool:
    return hit.found_by is FoundBy.LIST


def persons_notes_before_claims(hits: list[Hit], is_answer: Callable[[Hit], bool]) -> list[Hit]:
    """The hits, unconfirmed claims after the person's notes that answer.

    These are the first of the person's notes, and those that state what the question asks for.

    Args:
        is_answer: whether a hit would be an answer if it were the only one.
    """
    first_of_person = next((hit for hit in hits if not _is_claim(hit)), None)
    claims_end = 0
    for position, hit in enumerate(hits, 1):
        states_answer = hit.verification.answers or hit.verification.marked
        if not _is_claim(hit) and (states_answer or hit is first_of_person) and is_answer(hit):
            claims_end = position
    return sorted(hits[:claims_end], key=_is_claim) + hits[claims_end:]


def _is_claim(hit: Hit) -> bool:
    """Whether a hit is not by the person, and not verified."""
    return not (hit.verification.by_person or hit.verification.verified)


def has_only_title(hit: Hit) -> bool:
    """Whether a note has neither text nor properties."""
    return not hit.memory.properties and name_key(hit.text) == name_key(hit.memory.title)


def boosted_by_session(hits: Sequence[Hit], nearness: Mapping[str, float]) -> list[Hit]:
    """The memories, ordered by relevance * (1 + SESSION_BONUS * nearness).

    A memory overtakes another only if it is at least 1 / (1 + SESSION_BONUS), nine tenths, as
    relevant, and never one that supersedes it. No memory is added, and relevances change only to
    keep them in descending order.

    Args:
        hits: best first.
        nearness: by memory id, how near the session is to it, in [0, 1]; missing ids count as 0.
    """

    def boosted(hit: Hit) -> float:
        return hit.relevance * (1.0 + SESSION_BONUS * nearness.get(hit.memory.id, 0.0))

    return descending(superseding_first(sorted(hits, key=boosted, reverse=True)))


def session_nearness(
    ids: Sequence[str], working_set: Sequence[str], linked: Mapping[str, Set[str]]
) -> dict[str, float]:
    """1 for memories of the working set, LINKED_SHARE for those linked to one of it.

    Args:
        linked: for each of ``ids`` the ids it is linked to, in either direction.
    """
    working_ids = set(working_set)
    return {
        memory_id: 1.0 if memory_id in working_ids else LINKED_SHARE
        for memory_id in ids
        if memory_id in working_ids or linked[memory_id] & working_ids
    }
