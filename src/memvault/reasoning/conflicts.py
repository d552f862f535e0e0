"""Finds conflicts between notes: contradictions, supersessions, different values of one field.

Insights use these rules for a few memories, curation for the whole vault: `stated_conflict` reads
one edge, `different_values` any number of triples.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import combinations

from memvault.model.errors import GraphQueryError, StoreUnavailable
from memvault.model.graph import (
    ABOUT,
    NAMED_ORIGINS,
    OPPOSING,
    SINGLE_VALUED,
    SUPERSEDED,
    GraphEdge,
    contradicts,
    relation_name,
)
from memvault.model.memory import Memory, MemoryOf
from memvault.model.search import Conflict, ConflictSide
from memvault.model.verification import ConflictKind
from memvault.stores.graph_view import GraphView, node_ref
from memvault.text.words import name_key

_NOTE_IS_SUBJECT = re.compile(r"(?:^|[,;:] )\W*(?:(?:this|that|it|these) (?:\w+ ){0,3})?$")
MAX_CONFLICTS = 20
MAX_VALUE_CHARS = 80  # longer is prose


@dataclass(frozen=True, slots=True)
class Triple:
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
    ids: Sequence[str],
    edges: GraphView,
    memory_of: MemoryOf,
    limit: int = MAX_CONFLICTS,
    allowed: Callable[[str], bool] = lambda _: True,
) -> tuple[Conflict, ...]:
    """The conflicts of these memories with nodes for which ``allowed`` is true: stated ones first,
    then differing values."""
    by_ends: dict[tuple[str, ...], Conflict] = {}
    for key in ids:
        for edge in edges.of(key):
            conflict = stated_conflict(edge, edges)
            if conflict is not None and allowed(edge.source) and allowed(edge.target):
                ends = sorted((edge.source, edge.target))
                by_ends.setdefault((conflict.kind, *ends), conflict)
    memories = [memory for key in ids if (memory := memory_of(key)) is not None]
    triples = (triple for memory in memories for triple in triples_of(memory, edges))
    for conflict in different_values(triples, edges, memory_of):
        ends = sorted(side.node.id for side in conflict.sides)
        by_ends.setdefault((conflict.kind, conflict.about, *ends), conflict)
    return tuple(by_ends.values())[:limit]


def stated_conflict(edge: GraphEdge, edges: GraphView) -> Conflict | None:
    """The contradiction or supersession that an edge states, or None.

    Prose counts only if the note is its subject ("This contradicts …", not "A contradicts B").
    """
    if not contradicts(edge.relation):
        return None
    name = relation_name(edge.relation)
    node = edges.node(edge.source)
    if edge.origin not in NAMED_ORIGINS and not _has_note_as_subject(
        edge, node.name if node else ""
    ):
        return None
    stating = ConflictSide(
        node_ref(edge.source, edges), edge.sentence, node.path if node else None, edge.line
    )
    target = node_ref(edge.target, edges)
    opposed = ConflictSide(target, target.name, target.path, None)
    if name in OPPOSING:
        return Conflict(ConflictKind.CONTRADICTION, edge.relation, (stating, opposed))
    sides = (opposed, stating) if name in SUPERSEDED else (stating, opposed)
    return Conflict(ConflictKind.SUPERSESSION, edge.relation, sides)


def _has_note_as_subject(edge: GraphEdge, title: str) -> bool:
    """Whether the sentence that states an edge has the note as its subject."""
    before = edge.sentence[: max(0, edge.place)].casefold()
    subject = before.partition(edge.relation.casefold())[0].removeprefix(title.casefold())
    return _NOTE_IS_SUBJECT.search(subject) is not None


def stated_conflicts(edges: GraphView, ids: Iterable[str]) -> list[Conflict]:
    """The conflicts that any notes state of these memories; empty if the graph does not answer."""
    try:
        touching = (edge for key in ids for edge in edges.touching(key))
        # An edge between two of the memories touches both. Most edges of a hub state no conflict.
        opposing = dict.fromkeys(edge for edge in touching if contradicts(edge.relation))
        stated = (stated_conflict(edge, edges) for edge in opposing)
        return [conflict for conflict in stated if conflict is not None]
    except (StoreUnavailable, GraphQueryError):
        return []


def triples_of(memory: Memory, edges: GraphView) -> Iterator[Triple]:
    """A note's triples in fields that have one value at a time.

    The subject is the note itself, by title and aliases, unless a field (``about::``) names one.
    """
    stated = [edge for edge in edges.stated_by(memory.id) if edge.origin in NAMED_ORIGINS]
    subjects = _subjects(memory, stated, edges)
    values: dict[str, dict[str, Triple]] = defaultdict(dict)  # by field, each value once
    for edge in stated:
        relation, node = relation_name(edge.relation), edges.node(edge.target)
        if relation in SINGLE_VALUED and node is not None:
            line = edge.line if edge.sentence else None
            triple = Triple(memory.id, "", relation, node.name, edge.sentence, line)
            values[relation].setdefault(name_key(node.name), triple)
    for key, value in memory.metadata.items():
        relation, text = relation_name(str(key)), _plain_value(value)
        if relation in SINGLE_VALUED and text and relation not in values:
            triple = Triple(memory.id, "", relation, text, f"{key}: {text}", None)
            values[relation][name_key(text)] = triple
    for values_of_field in values.values():
        if len(values_of_field) == 1:  # two values in one note: this field may hold several
            (only,) = values_of_field.values()
            for subject in subjects:
                yield replace(only, subject=subject)


def different_values(
    triples: Iterable[Triple], edges: GraphView, memory_of: MemoryOf
) -> Iterator[Conflict]:
    """Pairs of notes that give one subject different values, the newer note of each pair first.

    Notes that only share a title count as the same subject if they have the same type and project
    and, if both are dated, the same day: two meetings with one title are different subjects.
    """
    groups: dict[tuple[str, str], dict[str, Triple]] = defaultdict(dict)
    for triple in triples:
        key = (triple.subject, triple.relation)
        groups[key].setdefault(triple.memory_id, triple)
    reported: set[tuple[str, str, str]] = set()
    for (_, relation), group in groups.items():
        for triple, other in combinations(group.values(), 2):
            pair = (relation, *sorted((triple.memory_id, other.memory_id)))
            if name_key(triple.value) == name_key(other.value) or pair in reported:
                continue
            first_memory, second_memory = memory_of(triple.memory_id), memory_of(other.memory_id)
            if (
                first_memory is None
                or second_memory is None
                or not _have_same_subject(first_memory, second_memory, edges)
            ):
                continue
            reported.add((pair[0], pair[1], pair[2]))
            sides = _side(triple, edges), _side(other, edges)
            if _age_key(first_memory) < _age_key(second_memory):
                sides = sides[::-1]
            yield Conflict(ConflictKind.DIFFERENT_VALUES, relation, sides)


def _have_same_subject(first: Memory, second: Memory, edges: GraphView) -> bool:
    """Whether two notes that share a title or a subject's name are about the same subject."""
    if any(
        relation_name(edge.relation) in ABOUT and edge.origin in NAMED_ORIGINS
        for memory in (first, second)
        for edge in edges.stated_by(memory.id)
    ):
        return True
    days = {memory.date.date() for memory in (first, second) if memory.date is not None}
    return (first.type, first.project) == (second.type, second.project) and len(days) < 2


def _subjects(memory: Memory, stated: Sequence[GraphEdge], edges: GraphView) -> set[str]:
    """The names of the subject of a note's fields; empty if the note names several subjects."""
    about = {edge.target for edge in stated if relation_name(edge.relation) in ABOUT}
    if len(about) == 1:
        return {name_key(node_ref(about.pop(), edges).name)} - {""}
    if about:
        return set()
    return {name_key(name) for name in (memory.title, *memory.aliases)} - {""}


def _plain_value(value: object) -> str:
    """The text of a single plain value; empty for lists, mappings, prose and links."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | date | datetime):
        return ""
    text = str(value).strip()
    return text if len(text) <= MAX_VALUE_CHARS and "[[" not in text else ""


def _age_key(memory: Memory) -> tuple[datetime, str]:
    return memory.moment, memory.id


def _side(triple: Triple, edges: GraphView) -> ConflictSide:
    node = node_ref(triple.memory_id, edges)
    return ConflictSide(node, triple.text, node.path, triple.line)
