"""What a session is about colours what it is told: of memories that answer about as well, those it
has seen, or that are linked to such, come first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from memvault.model.query import Recalled

BONUS = 0.1  # share that a memory's relevance grows by when the session has just seen it
LINKED = 0.5  # share of the bonus for a memory that is only linked to one it has seen


def coloured(found: Sequence[Recalled], near: Mapping[str, float]) -> list[Recalled]:
    """The same memories, ordered by relevance * (1 + BONUS * nearness).

    A memory overtakes another only if it is at least 1 / (1 + BONUS), nine tenths, as relevant.
    Nothing joins that was not found, and relevances stay what they were, but for keeping order.

    Args:
        found: best first.
        near: how near the session is to a memory, in [0, 1]; 0 for one that is not named.
    """

    def worth(each: Recalled) -> float:
        return each.relevance * (1.0 + BONUS * near.get(each.note_id, 0.0))

    ordered: list[Recalled] = []
    for each in sorted(found, key=worth, reverse=True):
        most = ordered[-1].relevance if ordered else 1.0
        ordered.append(replace(each, relevance=min(each.relevance, most)))
    return ordered


def nearness(
    ids: Sequence[str], working_set: Sequence[str], linked: Mapping[str, Set[str]]
) -> dict[str, float]:
    """1 for memories of the working set, LINKED for those linked to one of it.

    Args:
        linked: for each of ``ids`` the ids it is linked to, in either direction.
    """
    seen = set(working_set)
    return {key: 1.0 if key in seen else LINKED for key in ids if key in seen or linked[key] & seen}
