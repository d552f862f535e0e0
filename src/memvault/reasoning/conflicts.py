"""Finds conflicts between notes: contradictions, supersessions, different values of one field.

Insights use these rules for a few memories, curation for the whole vault: `stated_conflict` reads
one edge, `different_values` any number of statements.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import combinations

from memvault.model.errors import GraphQueryError, StoreUnavailable
from memvault.model.graph import (
    ABOUT,
    OPPOSING,
    SINGLE_VALUED,
    SUPERSEDED,
    SUPERSEDING,
    GraphEdge,
    relation_name,
)
from memvault.model.memory import Memory
from memvault.model.search import Conflict, ConflictKind, ConflictSide
from memvault.reasoning.causal import GIVEN
from memvault.stores.graph_view import GraphView, node_ref
from memvault.text.words import name_key

MemoryOf = Callable[[str], Memory | None]
_OWN_SUBJECT = re.compile(r"(?:^|[,;:] )\W*(?:(?:this|that|it|these) (?:\w+ ){0,3})?$")
LONGEST_VALUE = 80  # characters; longer is prose


@dataclass(frozen=True, slots=True)
class Statement:
    """A note's statement that a subject has a value.

    ``subject`` and ``relation`` are keys, ``value`` is as written; ``line`` is None for
    frontmatter.
    """

    memory_id: str
    subject: str
    relation: str
    value: str
    text: str
    line: int | None


def conflicts(
    ids: Sequence[str], edges: GraphView, memory_of: MemoryOf, most: int = 20
) -> tuple[Conflict, ...]:
    """The conflicts of these memories: stated ones first, then differing values."""
    found: dict[tuple[str, ...], Conflict] = {}
    for key in ids:
        for edge in edges.of(key):
            conflict = stated_conflict(edge, edges)
            if conflict is not None:
                ends = sorted((edge.source, edge.target))
                found.setdefault((conflict.kind, *ends), conflict)
    memories = [memory for key in ids if (memory := memory_of(key)) is not None]
    said = (each for memory in memories for each in statements_of(memory, edges))
    for conflict in different_values(said, edges, memory_of):
        ends = sorted(side.node.id for side in conflict.sides)
        found.setdefault((conflict.kind, conflict.about, *ends), conflict)
    return tuple(found.values())[:most]


def stated_conflict(edge: GraphEdge, edges: GraphView) -> Conflict | None:
    """The contradiction or supersession that an edge states, or None.

    Prose counts only if the note is its subject ("This contradicts …", not "A contradicts B").
    """
    name = relation_name(edge.relation)
    if name not in OPPOSING and name not in SUPERSEDING and name not in SUPERSEDED:
        return None
    node = edges.node(edge.source)
    if edge.origin not in GIVEN and not _is_of_the_note(edge, node.name if node else ""):
        return None
    stating = ConflictSide(
        node_ref(edge.source, edges), edge.sentence, node.path if node else None, edge.line
    )
    other = node_ref(edge.target, edges)
    told = ConflictSide(other, other.name, other.path, None)
    if name in OPPOSING:
        return Conflict(ConflictKind.CONTRADICTION, edge.relation, (stating, told))
    sides = (told, stating) if name in SUPERSEDED else (stating, told)
    return Conflict(ConflictKind.SUPERSESSION, edge.relation, sides)


def _is_of_the_note(edge: GraphEdge, title: str) -> bool:
    """Whether the sentence that states an edge has the note as its subject."""
    before = edge.sentence[: max(0, edge.place)].casefold()
    subject = before.partition(edge.relation.casefold())[0].removeprefix(title.casefold())
    return _OWN_SUBJECT.search(subject) is not None


def stated_conflicts(edges: GraphView, ids: Iterable[str]) -> list[Conflict]:
    """The conflicts that any notes state of these memories; empty if the graph does not answer."""
    try:
        # An edge between two of the memories touches both.
        touching = dict.fromkeys(edge for key in ids for edge in edges.touching(key))
        found = (stated_conflict(edge, edges) for edge in touching)
        return [conflict for conflict in found if conflict is not None]
    except (StoreUnavailable, GraphQueryError):
        return []


def statements_of(memory: Memory, edges: GraphView) -> Iterator[Statement]:
    """A note's statements in fields that have one value at a time.

    The subject is the note itself, by title and aliases, unless a field (``about::``) names one.
    """
    stated = [edge for edge in edges.stated_by(memory.id) if edge.origin in GIVEN]
    subjects = _subjects(memory, stated, edges)
    values: dict[str, dict[str, Statement]] = defaultdict(dict)
    for edge in stated:
        relation, node = relation_name(edge.relation), edges.node(edge.target)
        if relation in SINGLE_VALUED and node is not None:
            line = edge.line if edge.sentence else None
            values[relation].setdefault(
                name_key(node.name),
                Statement(memory.id, "", relation, node.name, edge.sentence, line),
            )
    for key, value in memory.metadata.items():
        relation, shown = relation_name(str(key)), _shown(value)
        if relation in SINGLE_VALUED and shown and relation not in values:
            values[relation][name_key(shown)] = Statement(
                memory.id, "", relation, shown, f"{key}: {shown}", None
            )
    for relation, given in values.items():
        if len(given) == 1:  # two values in one note: this field may hold several
            only = next(iter(given.values()))
            for subject in subjects:
                yield Statement(memory.id, subject, relation, only.value, only.text, only.line)


def different_values(
    statements: Iterable[Statement], edges: GraphView, memory_of: MemoryOf
) -> Iterator[Conflict]:
    """Pairs of notes that give one subject different values, the newer note of each pair first.

    Notes that only share a title count as the same subject if they have the same type and project
    and, if both are dated, the same day: two meetings with one title are different subjects.
    """
    groups: dict[tuple[str, str], dict[str, Statement]] = defaultdict(dict)
    for each in statements:
        groups[each.subject, each.relation].setdefault(each.memory_id, each)
    seen: set[tuple[str, str, str]] = set()
    for (_, relation), group in groups.items():
        for one, other in combinations(group.values(), 2):
            pair = (relation, *sorted((one.memory_id, other.memory_id)))
            if name_key(one.value) == name_key(other.value) or pair in seen:
                continue
            first, second = memory_of(one.memory_id), memory_of(other.memory_id)
            if first is None or second is None or not _one_thing(first, second, edges):
                continue
            seen.add((pair[0], pair[1], pair[2]))
            newer, older = sorted((one, other), key=lambda s: _when(memory_of, s), reverse=True)
            yield Conflict(
                ConflictKind.DIFFERENT_VALUES,
                relation,
                (_side(newer, edges), _side(older, edges)),
            )


def _one_thing(one: Memory, other: Memory, edges: GraphView) -> bool:
    if any(
        relation_name(edge.relation) in ABOUT and edge.origin in GIVEN
        for memory in (one, other)
        for edge in edges.stated_by(memory.id)
    ):
        return True
    days = {memory.date.date() for memory in (one, other) if memory.date is not None}
    return (one.type, one.project) == (other.type, other.project) and len(days) < 2


def _subjects(memory: Memory, stated: Sequence[GraphEdge], edges: GraphView) -> set[str]:
    about = {edge.target for edge in stated if relation_name(edge.relation) in ABOUT}
    if len(about) == 1:
        return {name_key(node_ref(about.pop(), edges).name)} - {""}
    if about:
        return set()
    return {name_key(name) for name in (memory.title, *memory.aliases)} - {""}


def _shown(value: object) -> str:
    """The text of a single plain value; empty for lists, mappings, prose and links."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | date | datetime):
        return ""
    text = str(value).strip()
    return text if len(text) <= LONGEST_VALUE and "[[" not in text else ""


def _when(memory_of: MemoryOf, statement: Statement) -> tuple[datetime, str]:
    memory = memory_of(statement.memory_id)
    if memory is None:
        return datetime.min.replace(tzinfo=UTC), ""
    return memory.moment, memory.id


def _side(statement: Statement, edges: GraphView) -> ConflictSide:
    node = node_ref(statement.memory_id, edges)
    return ConflictSide(node, statement.text, node.path, statement.line)
