"""Finds the open question whose answer would settle most in the vault.

Candidates are curation tasks (contradictions, unconfirmed sensitive claims, outdated facts), names
that several notes link to and no note has, and gaps: a relation that most notes of a type state
and one does not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log2

from memvault.curation.tasks.note_tasks import missing_notes
from memvault.model.change import CurationTask, TaskType
from memvault.model.graph import EdgeOrigin, relation_name
from memvault.model.memory import Memory
from memvault.reasoning.bayes.source_weights import weight
from memvault.stores.graph_view import GraphView

# How much a question about one memory matters: a possible error more than an outdated fact.
WEIGHTS = {
    TaskType.CONFLICTING_FACTS: 3.0,
    TaskType.UNVERIFIED_CRITICAL: 2.0,
    TaskType.STALE_FACT: 1.0,
}
LINK_WEIGHT = 0.5
MIN_LINKING = 2  # notes that link to a name which no note has
GAP_WEIGHT = 1.0
GAP_SHARE = 0.6  # share of a type's notes that must state a relation for its lack to be a gap
GAP_NOTES = (3, 200)  # least and most notes of such a type
UNCONFIRMED = 0.69  # highest probability of a claim that nobody confirmed (triple FR-46)
_GENERIC = frozenset({"note", "session"})  # types whose notes have nothing in common
_WORDED = {
    TaskType.CONFLICTING_FACTS: "Which of these holds? {detail}.",
    TaskType.UNVERIFIED_CRITICAL: "Is “{title}” right? {detail}.",
    TaskType.STALE_FACT: "Does “{title}” still hold? {detail}.",
}


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that the person could answer.

    Attributes:
        settles: ids of the memories that an answer would settle.
        score: the weight of these memories, by the number of notes that link to them.
        entropy: how open the question is, in [0, 1]: the normalised entropy of its answers'
            probabilities, according to the notes.
        key: identifies the question, however its words change.
    """

    text: str
    reason: str
    settles: tuple[str, ...]
    score: float
    entropy: float
    key: tuple[str, ...]


def open_questions(
    tasks: Iterable[CurationTask], memories: Collection[Memory], view: GraphView
) -> list[OpenQuestion]:
    """All questions, the one that settles most first."""
    by_id = {memory.id: memory for memory in memories}
    questions = [*_of_tasks(tasks, by_id, view), *_missing(tasks, view), *_gaps(memories, view)]
    return sorted(questions, key=lambda question: (-question.score, question.text))


def _of_tasks(
    tasks: Iterable[CurationTask], by_id: dict[str, Memory], view: GraphView
) -> Iterator[OpenQuestion]:
    for task in tasks:
        value = WEIGHTS.get(task.task_type)
        concerned = [by_id[key] for key in task.target_nodes if key in by_id]
        if value is not None and concerned:
            detail = task.detail.partition(";")[0].strip().rstrip(".")
            text = _WORDED[task.task_type].format(
                title=concerned[0].title, detail=f"{detail[:1].upper()}{detail[1:]}"
            )
            score = value * sum(_uses(key, view) for key in task.target_nodes)
            key = (task.task_type.value, *task.target_nodes)
            entropy = _entropy(_chances(task.task_type, concerned))
            yield OpenQuestion(text, task.task_type.value, task.target_nodes, score, entropy, key)


def _chances(task_type: TaskType, concerned: Sequence[Memory]) -> list[float]:
    """The probability of each answer: each side of a conflict, or a claim being right or not."""
    if task_type is TaskType.CONFLICTING_FACTS:
        weights = [weight(memory, 1.0) for memory in concerned]
        return [value / sum(weights) for value in weights] if sum(weights) > 0.0 else []
    right = UNCONFIRMED if task_type is TaskType.UNVERIFIED_CRITICAL else 0.5
    return [right, 1.0 - right]


def _entropy(chances: Sequence[float]) -> float:
    """The normalised entropy of these probabilities, in [0, 1]."""
    if len(chances) < 2:
        return 0.0
    return -sum(chance * log2(chance) for chance in chances if chance > 0.0) / log2(len(chances))


def _missing(tasks: Iterable[CurationTask], view: GraphView) -> Iterator[OpenQuestion]:
    """The questions about names that several notes link to and no note describes."""
    ids_by_name: dict[str, set[str]] = defaultdict(set)
    for task in tasks:
        if task.task_type is TaskType.UNRESOLVED_LINKS:
            for memory_id in task.target_nodes:
                for name in missing_notes(memory_id, view):
                    ids_by_name[name].add(memory_id)
    for name, linking_ids in ids_by_name.items():
        if len(linking_ids) >= MIN_LINKING:
            yield OpenQuestion(
                f"What is {name}? {len(linking_ids)} notes link to it, and no note describes it.",
                TaskType.UNRESOLVED_LINKS.value,
                tuple(sorted(linking_ids)),
                LINK_WEIGHT * sum(_uses(key, view) for key in linking_ids),
                1.0,
                (TaskType.UNRESOLVED_LINKS.value, name),
            )


def _gaps(memories: Collection[Memory], view: GraphView) -> Iterator[OpenQuestion]:
    """The questions about relations that most notes of a type state and one does not."""
    by_type: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        if memory.type not in _GENERIC:
            by_type[memory.type].append(memory)
    for kind, notes in by_type.items():
        if not GAP_NOTES[0] <= len(notes) <= GAP_NOTES[1]:
            continue
        for relation, stating in _stating_notes(notes, view).items():
            lacking = [memory for memory in notes if memory.id not in stating]
            if not lacking or len(stating) < GAP_SHARE * len(notes):
                continue
            memory = max(lacking, key=lambda each: (_uses(each.id, view), each.title))
            yield OpenQuestion(
                f"What is the {relation} of {memory.title}? {len(stating)} of {len(notes)} "
                f"notes of the type {kind} state one.",
                "gap",
                (memory.id,),
                GAP_WEIGHT * _uses(memory.id, view),
                1.0,
                ("gap", relation, memory.id),
            )


def _stating_notes(notes: Iterable[Memory], view: GraphView) -> dict[str, set[str]]:
    """For each relation, the ids of the notes that state it in a field."""
    stating: dict[str, set[str]] = defaultdict(set)
    for memory in notes:
        for edge in view.stated_by(memory.id):
            if edge.origin is EdgeOrigin.FIELD:
                stating[relation_name(edge.relation)].add(memory.id)
    return stating


def _uses(node_id: str, view: GraphView) -> int:
    """One plus the number of notes that link to a memory."""
    return 1 + len({edge.source for edge in view.touching(node_id)} - {node_id})
