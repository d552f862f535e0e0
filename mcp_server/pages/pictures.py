"""The local graph of a memory, and entropy and coherence over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from memvault.cognition.pulse_history import Point
from memvault.reasoning.neighbours import neighbours
from memvault.stores.graph_view import GraphView

NEAR, FAR = 14, 24  # nodes one relation away, and in all


def local_graph(node_id: str, name: str, edges: GraphView) -> dict[str, Any]:
    """What is one and two relations away, as the page's script draws it: nodes, the centre first,
    and links between their numbers.

    Raises:
        StoreUnavailable, GraphQueryError: the graph does not answer.
    """
    near = neighbours(node_id, edges, hops=1, limit=NEAR)
    inside = {each.thing.id for each in near}
    both = neighbours(node_id, edges, hops=2, limit=FAR + NEAR)
    far = [each for each in both if each.distance == 2 and each.via.id in inside]
    far = [each for each in far if each.thing.id not in inside][: FAR - len(near)]
    nodes: list[dict[str, Any]] = [{"name": name, "centre": True, "href": None}]
    links: list[dict[str, Any]] = []
    number = {node_id: 0}
    for each in (*near, *far):
        number[each.thing.id] = len(nodes)
        is_far = each.distance == 2
        is_note = each.thing.path is not None
        href = f"/memory/{each.thing.id}" if is_note else None
        nodes.append({"name": each.thing.name, "href": href, "far": is_far})
        source = number.get(each.via.id, 0)
        target = number[each.thing.id]
        links.append({"source": source, "target": target, "relation": each.relation, "far": is_far})
    return {"nodes": nodes, "links": links}


PLOT_WIDTH, PLOT_HEIGHT, LEFT, BOTTOM = 640, 190, 30, 24


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines as SVG points, dots as places of the last values, and the first and last day."""

    entropy: str
    coherence: str
    last: tuple[float, float, float]  # x, and y of both
    first_day: str
    last_day: str
    width: int = PLOT_WIDTH
    height: int = PLOT_HEIGHT


def plotted(points: Sequence[Point]) -> Plot:
    """At least one point, oldest first. Time goes evenly from left to right; both values lie in
    [0, 1], from the bottom to the top."""
    start, end = points[0].at.timestamp(), points[-1].at.timestamp()
    span = max(end - start, 1.0)

    def x(point: Point) -> float:
        return round(LEFT + (PLOT_WIDTH - LEFT - 8) * (point.at.timestamp() - start) / span, 1)

    def y(value: float) -> float:
        return round(8 + (PLOT_HEIGHT - BOTTOM - 8) * (1.0 - value), 1)

    def line(value: Callable[[Point], float]) -> str:
        return " ".join(f"{x(point)},{y(value(point))}" for point in points)

    last = points[-1]
    return Plot(
        line(lambda point: point.entropy),
        line(lambda point: point.coherence),
        (x(last), y(last.entropy), y(last.coherence)),
        f"{points[0].at:%Y-%m-%d}",
        f"{last.at:%Y-%m-%d}",
    )
