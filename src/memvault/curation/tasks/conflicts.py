"""Notes of which not both can hold, as tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from memvault.curation.targets import names_of_memory
from memvault.model.change import CurationTask, Priority, Settling, TaskType
from memvault.model.graph import SUPERSEDED, relation_name
from memvault.model.insights import Conflict, ConflictKind
from memvault.model.memory import Memory
from memvault.reasoning.conflicts import (
    Statement,
    different_values,
    stated_conflict,
    statements_of,
)
from memvault.stores.graph_view import GraphView
from memvault.text.words import name_key
from memvault.vault.links import wikilink

MemoryOf = Callable[[str], Memory | None]


@dataclass(frozen=True, slots=True)
class Stated:
    """What one note says that others may speak against."""

    conflicts: tuple[Conflict, ...] = ()
    statements: tuple[Statement, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.conflicts or self.statements)


def stated(memory: Memory, edges: GraphView) -> Stated:
    found = (stated_conflict(edge, edges) for edge in edges.stated_by(memory.id))
    return Stated(
        tuple(conflict for conflict in found if conflict is not None),
        tuple(statements_of(memory, edges)),
    )


def conflict_tasks(
    said: Iterable[Stated], edges: GraphView, memory_of: MemoryOf
) -> Iterator[CurationTask]:
    """A task for each pair of notes that a person has not decided between yet.

    A pair is decided when one of the two is superseded, or verified and the other not.
    """
    said = list(said)
    conflicts = [conflict for each in said for conflict in each.conflicts]
    outdated = {
        conflict.sides[1].thing.id
        for conflict in conflicts
        if conflict.kind is ConflictKind.SUPERSESSION
    }
    statements = [statement for each in said for statement in each.statements]
    conflicts += different_values(statements, edges, memory_of)
    seen: set[frozenset[str]] = set()
    for conflict in conflicts:
        one, other = (memory_of(side.thing.id) for side in conflict.sides)
        if one is None or other is None or one.id == other.id:
            continue
        if conflict.kind is ConflictKind.SUPERSESSION:
            if not _says_so(other, one, edges):
                yield _superseded(other, one)
            continue
        pair = frozenset((one.id, other.id))
        decided = one.verified != other.verified or pair & outdated
        if decided or pair in seen:
            continue
        seen.add(pair)
        yield _conflicting(conflict, one, other)


def _conflicting(conflict: Conflict, one: Memory, other: Memory) -> CurationTask:
    first, second = conflict.sides
    if conflict.kind is ConflictKind.CONTRADICTION:
        detail = f"{one.path} {conflict.about} {other.path}: verify the one that holds"
    else:
        detail = f"{conflict.about}: {first.text!r} here, {second.text!r} in {other.path}"
    same = {name_key(name) for name in names_of_memory(one)} & {
        name_key(name) for name in names_of_memory(other)
    }
    newer = max((one, other), key=lambda memory: (memory.date or memory.created_at, memory.id))
    older = other if newer is one else one
    decide = (
        Settling.by("merge_concepts", sources=[one.id, other.id], target=newer.id)
        if same
        else Settling.by("verify_memory", target=newer.id, verified=True)
    )
    return CurationTask(
        task_type=TaskType.CONFLICTING_FACTS,
        target_nodes=(one.id, other.id),
        paths=(one.path, other.path),
        priority=Priority.HIGH,
        detail=detail,
        settled_by=(decide, Settling.by("forget_concept", target=older.id, reason="outdated")),
    )


def _says_so(older: Memory, newer: Memory, edges: GraphView) -> bool:
    return any(
        edge.target == newer.id and relation_name(edge.relation) in SUPERSEDED
        for edge in edges.stated_by(older.id)
    )


def _superseded(older: Memory, newer: Memory) -> CurationTask:
    return CurationTask(
        task_type=TaskType.SUPERSEDED,
        target_nodes=(older.id, newer.id),
        paths=(older.path, newer.path),
        priority=Priority.LOW,
        detail=f"{newer.path} takes its place, and whoever reads it is not told",
        settled_by=(
            Settling.by(
                "annotate_node",
                target=older.id,
                note=f"Superseded by: {wikilink(newer.path, older.path)}",
            ),
            Settling.by("forget_concept", target=older.id, reason="outdated"),
        ),
    )
