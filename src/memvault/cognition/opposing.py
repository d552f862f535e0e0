"""What notes themselves declare as contradicting or superseding others."""

from __future__ import annotations

from collections.abc import Collection

from memvault.cognition.landscape import Landscape
from memvault.model.errors import GraphQueryError, StoreUnavailable
from memvault.model.insights import Conflict
from memvault.reasoning.conflicts import stated_conflict
from memvault.reasoning.edges import EdgeIndex


def opposing(landscape: Landscape, edges: EdgeIndex, ids: Collection[str]) -> list[Conflict]:
    """The conflicts that these memories' notes or others state of them; none if the graph does not
    answer. Only memories that the landscape knows to be opposed are looked at."""
    try:
        around = landscape.around(ids)
        opposed = [key for key in ids if around[key].against]
        stated = (stated_conflict(edge, edges) for key in opposed for edge in edges.of(key))
        return [conflict for conflict in stated if conflict is not None]
    except (StoreUnavailable, GraphQueryError):
        return []
