"""Tasks about notes that contradict or supersede another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memvault.curation.targets import names_of_memory
from memvault.curation.tasks.note_tasks import remarks
from memvault.model.change import CurationTask, Priority, TaskAction, TaskType
from memvault.model.graph import SUPERSEDED, relation_name
from memvault.model.memory import Memory, MemoryOf
from memvault.model.search import Conflict
from memvault.model.verification import ConflictKind
from memvault.reasoning.conflicts import (
    Triple,
    different_values,
    stated_conflict,
    triples_of,
)
from memvault.stores.graph_view import GraphView
from memvault.text.words import name_key
from memvault.vault.links import wikilink
from memvault.verification.claims.claim_sources import is_outdating


@dataclass(frozen=True, slots=True)
class NoteStatements:
    """The triples of one note that other notes may contradict."""

    conflicts: tuple[Conflict, ...] = ()
    triples: tuple[Triple, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.conflicts or self.triples)


def note_statements(memory: Memory, edges: GraphView) -> NoteStatements:
    """What this note states that other notes may contradict."""
    stated = (stated_conflict(edge, edges) for edge in edges.stated_by(memory.id))
    return NoteStatements(
        tuple(conflict for conflict in stated if conflict is not None),
        tuple(triples_of(memory, edges)),
    )


def conflict_tasks(
    stated_by_notes: Iterable[NoteStatements], edges: GraphView, memory_of: MemoryOf
) -> Iterator[CurationTask]:
    """A task for each pair of contradicting notes that a person has not decided yet.

    A pair is decided if one of the two is superseded, or if only one is verified.
    """
    notes = list(stated_by_notes)
    conflicts = [conflict for note in notes for conflict in note.conflicts]
    outdating = {
        (conflict.sides[0].node.id, conflict.sides[1].node.id)
        for conflict in conflicts
        if conflict.kind is ConflictKind.SUPERSESSION and is_outdating(conflict, memory_of)
    }
    outdated = {older for _, older in outdating}
    triples = [triple for note in notes for triple in note.triples]
    conflicts += different_values(triples, edges, memory_of)
    handled: set[frozenset[str]] = set()
    for conflict in conflicts:
        first, second = (memory_of(side.node.id) for side in conflict.sides)
        if first is None or second is None or first.id == second.id:
            continue
        if conflict.kind is ConflictKind.SUPERSESSION:
            if (first.id, second.id) not in outdating:
                detail = f"not confirmed by you: {first.path} replaces this note"
                yield _superseded(second, first, detail)
            elif not _names_successor(second, first, edges):
                detail = f"{first.path} replaces this note, which does not say so"
                yield _superseded(second, first, detail)
            continue
        pair = frozenset((first.id, second.id))
        is_decided = first.verified != second.verified or pair & outdated
        if is_decided or pair in handled:
            continue
        handled.add(pair)
        yield _conflicting(conflict, first, second)


def _conflicting(conflict: Conflict, first: Memory, second: Memory) -> CurationTask:
    side, other_side = conflict.sides
    if conflict.kind is ConflictKind.CONTRADICTION:
        detail = f"{first.path} {conflict.about} {second.path}: verify the correct one"
    else:
        detail = f"{conflict.about}: {side.text!r} here, {other_side.text!r} in {second.path}"
    shared_names = {name_key(name) for name in names_of_memory(first)} & {
        name_key(name) for name in names_of_memory(second)
    }
    # What a client claims against the person's note is not proposed as right, however new it is.
    right = max((first, second), key=lambda each: (not each.is_claim, each.moment, each.id))
    decide = (
        TaskAction.by("merge_concepts", sources=[first.id, second.id], target=right.id)
        if shared_names
        else TaskAction.by("verify_memory", target=right.id, verified=True)
    )
    return CurationTask.about(
        [first, second], TaskType.CONFLICTING_FACTS, Priority.HIGH, detail, decide
    )


def _names_successor(older: Memory, newer: Memory, edges: GraphView) -> bool:
    return any(
        edge.target == newer.id and relation_name(edge.relation) in SUPERSEDED
        for edge in edges.stated_by(older.id)
    )


def _superseded(older: Memory, newer: Memory, detail: str) -> CurationTask:
    calls = remarks(older, f"Superseded by: {wikilink(newer.path, older.path)}")
    return CurationTask.about([older, newer], TaskType.SUPERSEDED, Priority.LOW, detail, *calls)
