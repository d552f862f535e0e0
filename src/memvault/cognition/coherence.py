"""How well a set of memories hangs together: links among them, agreement, contradictions.

Each pair of memories holds together as far as it is linked or says alike (noisy-or of the two),

    hold(i, j) = 1 - (1 - link(i, j)) * (1 - max(0, cos(i, j)))

where ``link`` is 1 for a direct edge and else the share of neighbours the two have in common
(Salton index). Coherence is the weighted mean of ``hold`` over all pairs, times the share of the
memories, by weight, that contradict none of the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

import numpy as np

from memvault.cognition.entropy import Floats, shares

# Standard names of relations that say "not both": the first group holds both ways, the second
# makes the note at the end of the edge outdated, the third the note at its start.
OPPOSING = frozenset(
    {
        "contradicts",
        "contradicted by",
        "conflicts",
        "conflicts with",
        "disagrees with",
        "disputes",
        "disputed by",
        "refutes",
        "refuted by",
        "opposes",
    }
)
SUPERSEDING = frozenset({"supersedes", "replaces", "invalidates", "obsoletes", "retracts"})
SUPERSEDED = frozenset(
    {"superseded by", "replaced by", "invalidated by", "obsoleted by", "retracted by"}
)


def relation_name(relation: str) -> str:
    """``Superseded_by`` and ``superseded-by`` are one relation: ``superseded by``."""
    return " ".join(relation.replace("_", " ").replace("-", " ").casefold().split())


def contradicts(relation: str) -> bool:
    """Whether an edge of this name says that its two ends do not both hold."""
    name = relation_name(relation)
    return name in OPPOSING or name in SUPERSEDING or name in SUPERSEDED


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around one memory in the graph, by node id.

    ``against`` are the neighbours it contradicts or is contradicted by; ``outdated_by`` those of
    them that say it no longer holds.
    """

    neighbours: Set[str] = field(default_factory=frozenset)
    against: Set[str] = field(default_factory=frozenset)
    outdated_by: Set[str] = field(default_factory=frozenset)


def link_matrix(ids: Sequence[str], around: Mapping[str, Surroundings]) -> Floats:
    """(n, n) strength of the link of each pair, in [0, 1]; symmetric, the diagonal is 0."""
    sets = [around[key].neighbours if key in around else frozenset[str]() for key in ids]
    column: dict[str, int] = {}
    rows = [row for row, own in enumerate(sets) for _ in own]
    columns = [column.setdefault(key, len(column)) for own in sets for key in own]
    has = np.zeros((len(ids), len(column)))
    has[rows, columns] = 1.0
    sizes = np.maximum(has.sum(axis=1), 1.0)
    links: Floats = (has @ has.T) / np.sqrt(np.outer(sizes, sizes))
    for place, key in enumerate(ids):
        if key in column:
            direct = has[:, column[key]] > 0.0
            links[direct, place] = links[place, direct] = 1.0
    np.fill_diagonal(links, 0.0)
    return links


def coherence(
    ids: Sequence[str],
    kernel: Floats,
    around: Mapping[str, Surroundings],
    weights: Sequence[float] | None = None,
) -> float:
    """Coherence in [0, 1] of the memories named by ``ids``.

    Args:
        ids: n node ids.
        kernel: (n, n) cosines, in the order of ``ids``.
        around: the surroundings of each id; an id without any counts as unlinked.
        weights: (n,) not negative, how much each counts; equal when absent.

    Nothing at all has coherence 0, a single memory 1.
    """
    count = len(ids)
    if count == 0:
        return 0.0
    if count == 1:
        return 1.0
    part = shares(weights, count)
    hold = 1.0 - (1.0 - link_matrix(ids, around)) * (1.0 - np.clip(kernel, 0.0, 1.0))
    pairs = np.outer(part, part)
    np.fill_diagonal(pairs, 0.0)
    total = float(pairs.sum())
    mean = float((hold * pairs).sum()) / total if total > 0.0 else 1.0
    return min(1.0, max(0.0, mean * (1.0 - _opposed_share(ids, around, part))))


def _opposed_share(ids: Sequence[str], around: Mapping[str, Surroundings], part: Floats) -> float:
    present = set(ids)
    return sum(
        float(share)
        for key, share in zip(ids, part, strict=True)
        if key in around and not present.isdisjoint(around[key].against)
    )
