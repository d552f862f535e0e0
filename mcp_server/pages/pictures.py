"""Entropy and coherence over time as two lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memvault.cognition.pulse_history import Point
from memvault.model.insights import Neighbour
from memvault.reasoning.neighbours import neighbours
from memvault.stores.graph_view import GraphView

NEAR, FAR = 14, 24  # nodes of the first ring, and of both
MAP_WIDTH, MAP_HEIGHT = 760, 420
NEAR_RING, FAR_RING = (150, 110), (235, 188)  # across and down from the middle
MOST_CHARS = 22  # of a name


@dataclass(frozen=True, slots=True)
class Spot:
    """A node at a place; ``id`` is set where a note stands for it."""

    name: str
    whole_name: str
    x: float
    y: float
    id: str | None
    far: bool
    relation: str
    anchor: str
    text_x: float


@dataclass(frozen=True, slots=True)
class Picture:
    """Spots, and lines as (x1, y1, x2, y2)."""

    spots: list[Spot]
    lines: list[tuple[float, float, float, float]]
    width: int = MAP_WIDTH
    height: int = MAP_HEIGHT


def picture_of(node_id: str, edges: GraphView) -> Picture:
    """Raises StoreUnavailable, GraphQueryError: the graph does not answer."""
    near = neighbours(node_id, edges, hops=1, limit=NEAR)
    inside = {each.thing.id for each in near}
    both = neighbours(node_id, edges, hops=2, limit=FAR + NEAR)
    far = [each for each in both if each.distance == 2 and each.via.id in inside]
    far = [each for each in far if each.thing.id not in inside][: FAR - len(near)]
    return laid_out(node_id, near, far)


def laid_out(node_id: str, near: Sequence[Neighbour], far: Sequence[Neighbour]) -> Picture:
    """The first ring evenly spread; the second in the order of what leads there, so that few
    lines cross."""
    centre = (MAP_WIDTH / 2, MAP_HEIGHT / 2)
    places = {node_id: centre}
    spots: list[Spot] = []
    lines: list[tuple[float, float, float, float]] = []
    order = {each.thing.id: at for at, each in enumerate(near)}
    by_road = sorted(far, key=lambda each: order.get(each.via.id, 0))
    for ring, (across, down) in ((near, NEAR_RING), (by_road, FAR_RING)):
        is_far = ring is by_road
        turned = math.pi / len(ring) if is_far and ring else 0.0
        for at, each in enumerate(ring):
            angle = turned + 2 * math.pi * at / len(ring) - math.pi / 2
            x = round(centre[0] + math.cos(angle) * across, 1)
            y = round(centre[1] + math.sin(angle) * down, 1)
            places[each.thing.id] = (x, y)
            lines.append((*places.get(each.via.id, centre), x, y))
            spots.append(_spot(each, x, y, is_far, x < centre[0]))
    return Picture(spots, lines)


def _spot(each: Neighbour, x: float, y: float, far: bool, left: bool) -> Spot:
    name = each.thing.name
    short = name if len(name) <= MOST_CHARS else name[: MOST_CHARS - 1].rstrip() + "…"
    key = each.thing.id if each.thing.path is not None else None
    anchor, text_x = ("end", x - 8) if left else ("start", x + 8)
    return Spot(short, name, x, y, key, far, each.relation, anchor, text_x)


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
