"""The one question whose answer would settle most in the vault.

Candidates are what curation found (contradictions, unconfirmed sensitive claims, outdated facts,
links without a note) and gaps: a relation that most notes of a type state and one does not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from memvault.model.change import CurationTask, TaskType
from memvault.model.graph import EdgeOrigin, relation_name
from memvault.model.memory import Memory
from memvault.stores.graph_view import GraphView

# How much one memory's question matters: a wrong answer more than a missing one.
WEIGHTS = {
    TaskType.CONFLICTING_FACTS: 3.0,
    TaskType.UNVERIFIED_CRITICAL: 2.0,
    TaskType.STALE_FACT: 1.0,
    TaskType.UNRESOLVED_LINKS: 0.5,
}
GAP_WEIGHT = 1.0
GAP_SHARE = 0.6  # of the notes of a type, that state a relation which is missing in another
GAP_NOTES = (3, 200)  # of a type, at least and at most
_GENERIC = frozenset({"note", "session"})  # types whose notes have nothing in common
_WORDED = {
    TaskType.CONFLICTING_FACTS: "Which of these holds?",
    TaskType.UNVERIFIED_CRITICAL: "Is this right?",
    TaskType.STALE_FACT: "Does this still hold?",
    TaskType.UNRESOLVED_LINKS: "What is this?",
}


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """``settles`` are ids of the memories that an answer would settle; ``score`` is their weight,
    by what else links to them."""

    text: str
    reason: str
    settles: tuple[str, ...]
    score: float


def best_question(
    tasks: Iterable[CurationTask],
    memories: Collection[Memory],
    view: GraphView,
    asked: Collection[str] = (),
) -> OpenQuestion | None:
    """The question that settles most; None where nothing is open.

    Args:
        asked: texts of questions that were asked already.
    """
    found = [*_of_tasks(tasks, view), *_gaps(memories, view)]
    fresh = [each for each in found if each.text not in asked]
    return max(fresh, key=lambda each: (each.score, each.text), default=None)


def _of_tasks(tasks: Iterable[CurationTask], view: GraphView) -> Iterator[OpenQuestion]:
    for task in tasks:
        weight = WEIGHTS.get(task.task_type)
        if weight is not None and task.target_nodes:
            detail = task.detail.strip().rstrip(".")
            text = f"{_WORDED[task.task_type]} {detail[:1].upper()}{detail[1:]}."
            score = weight * sum(_uses(key, view) for key in task.target_nodes)
            yield OpenQuestion(text, task.task_type.value, task.target_nodes, score)


def _gaps(memories: Collection[Memory], view: GraphView) -> Iterator[OpenQuestion]:
    """What most notes of a type state and one does not."""
    by_type: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        if memory.type not in _GENERIC:
            by_type[memory.type].append(memory)
    for kind, some in by_type.items():
        if not GAP_NOTES[0] <= len(some) <= GAP_NOTES[1]:
            continue
        stated: dict[str, set[str]] = defaultdict(set)
        for memory in some:
            for edge in view.stated_by(memory.id):
                if edge.origin is EdgeOrigin.FIELD:
                    stated[relation_name(edge.relation)].add(memory.id)
        for relation, having in stated.items():
            lacking = [memory for memory in some if memory.id not in having]
            if lacking and len(having) >= GAP_SHARE * len(some):
                memory = max(lacking, key=lambda each: (_uses(each.id, view), each.title))
                yield OpenQuestion(
                    f"What is the {relation} of {memory.title}? {len(having)} of {len(some)} notes "
                    f"of the type {kind} state one.",
                    "gap",
                    (memory.id,),
                    GAP_WEIGHT * _uses(memory.id, view),
                )


def _uses(node_id: str, view: GraphView) -> int:
    """One more than the notes that link to a memory."""
    return 1 + len({edge.source for edge in view.touching(node_id)} - {node_id})
