"""Who is linked with whom, kept small: of an edge only its ends and what it denies."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable

from memvault.cognition.coherence import Surroundings
from memvault.model.graph import SUPERSEDED, SUPERSEDING, GraphEdge, contradicts, relation_name

NOTHING_AROUND = Surroundings()

# An edge is kept at both of its ends as the number of the other end and these marks.
_AGAINST, _SOURCE_OUTDATED, _TARGET_OUTDATED = 1, 2, 4
_MARK_BITS = 3


class Adjacency:
    """The edges by the nodes they join: 8 bytes an end, about 200 a node. Not thread-safe."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._ids: list[str] = []
        self._free: list[int] = []  # numbers of nodes that nothing joins any more
        self._stated: dict[int, array[int]] = {}  # by source
        self._stating: dict[int, array[int]] = {}  # the same edges, by target

    @classmethod
    def of(cls, edges: Iterable[GraphEdge]) -> Adjacency:
        """Of these edges alone."""
        made, by_source = cls(), dict[str, list[GraphEdge]]()
        for edge in edges:
            by_source.setdefault(edge.source, []).append(edge)
        for source, own in by_source.items():
            made.state(source, own)
        return made

    def state(self, source: str, edges: Collection[GraphEdge]) -> set[str]:
        """Make these the edges that this node states.

        Returns:
            The ids of the nodes whose surroundings that has changed.
        """
        if not edges and source not in self._numbers:
            return set()
        number = self._number(source)
        old = set(self._stated.pop(number, ()))
        marked = {(edge.target, _marks(edge.relation)) for edge in edges if edge.target != source}
        new = {self._number(target) << _MARK_BITS | marks for target, marks in marked}
        if new:
            self._stated[number] = array("q", sorted(new))
        for gone in old - new:
            self._forget_end(gone >> _MARK_BITS, _turned(gone, number))
        for come in new - old:
            stating = self._stating.setdefault(come >> _MARK_BITS, array("q"))
            stating.append(_turned(come, number))
        touched = {end >> _MARK_BITS for end in old ^ new}
        changed = {self._ids[each] for each in touched} | ({source} if touched else set())
        for each in (*touched, number):
            self._free_if_alone(each)
        return changed

    def around(self, node_id: str) -> Surroundings:
        """The surroundings of a node, of any edge, in either direction."""
        number = self._numbers.get(node_id)
        if number is None:
            return NOTHING_AROUND
        stated = self._stated.get(number, ())
        stating = self._stating.get(number, ())
        ids, bits = self._ids, _MARK_BITS
        neighbours = {ids[end >> bits] for end in stated}
        neighbours.update([ids[end >> bits] for end in stating])
        against = {ids[end >> bits] for ends in (stated, stating) for end in ends if end & _AGAINST}
        if not against:
            return Surroundings(frozenset(neighbours))
        outdated = {ids[end >> bits] for end in stated if end & _SOURCE_OUTDATED}
        outdated.update(ids[end >> bits] for end in stating if end & _TARGET_OUTDATED)
        return Surroundings(frozenset(neighbours), frozenset(against), frozenset(outdated))

    def _number(self, node_id: str) -> int:
        number = self._numbers.get(node_id)
        if number is None:
            if self._free:
                number = self._free.pop()
                self._ids[number] = node_id
            else:
                number = len(self._ids)
                self._ids.append(node_id)
            self._numbers[node_id] = number
        return number

    def _forget_end(self, number: int, end: int) -> None:
        stating = self._stating[number]
        stating.remove(end)
        if not stating:
            del self._stating[number]

    def _free_if_alone(self, number: int) -> None:
        joined = number in self._stated or number in self._stating
        if not joined and self._numbers.pop(self._ids[number], None) is not None:
            self._free.append(number)


def _turned(end: int, number: int) -> int:
    """An end with the same marks that names this node instead."""
    return number << _MARK_BITS | (end & ((1 << _MARK_BITS) - 1))


def _marks(relation: str) -> int:
    if not contradicts(relation):
        return 0
    name = relation_name(relation)
    if name in SUPERSEDED:
        return _AGAINST | _SOURCE_OUTDATED
    return _AGAINST | (_TARGET_OUTDATED if name in SUPERSEDING else 0)
