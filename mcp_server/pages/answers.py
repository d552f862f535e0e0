"""What a person can answer to a curation task, each with a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memvault.model.curation import CurationTask, Settling, TaskType

LEFT_RIGHT = ("the left", "the right")


@dataclass(frozen=True, slots=True)
class Answer:
    """``calls`` are made, one change each, when ``key`` is pressed."""

    key: str
    label: str
    calls: tuple[Settling, ...]
    danger: bool = False


def answers_to(task: CurationTask) -> list[Answer]:
    """The answers to a task, the likeliest first. Beside these, any task can be skipped, or left
    as it is."""
    return _OF_TYPE.get(task.task_type, _none)(task)


def called(task: CurationTask, key: str) -> Answer | None:
    return next((each for each in answers_to(task) if each.key == key), None)


def _none(_: CurationTask) -> list[Answer]:
    return []


def _verify(target: str) -> Settling:
    return Settling.by("verify_memory", target=target, verified=True)


def _forget(target: str, reason: str) -> Settling:
    return Settling.by("forget_concept", target=target, reason=reason)


def _forgets(task: CurationTask, reason: str) -> list[Answer]:
    return [
        Answer(key, f"Forget {side}", (_forget(target, reason),), danger=True)
        for key, side, target in zip("34", LEFT_RIGHT, task.target_nodes, strict=False)
    ]


def _merges(nodes: Sequence[str], keys: str) -> list[Answer]:
    return [
        Answer(
            key,
            f"Merge into {side}",
            (Settling.by("merge_concepts", sources=list(nodes), target=target),),
        )
        for key, side, target in zip(keys, LEFT_RIGHT, nodes, strict=False)
    ]


def _duplicates(task: CurationTask) -> list[Answer]:
    return [*_merges(task.target_nodes, "12"), *_forgets(task, "duplicate")]


def _conflict(task: CurationTask) -> list[Answer]:
    holds = [
        Answer(key, f"{side.capitalize()} holds: verify it", (_verify(target),))
        for key, side, target in zip("12", LEFT_RIGHT, task.target_nodes, strict=False)
    ]
    return [*holds, *_forgets(task, "outdated"), *_merges(task.target_nodes, "56")]


def _fact(task: CurationTask) -> list[Answer]:
    target = task.target_nodes[0]
    stale = task.task_type is TaskType.STALE_FACT
    return [
        Answer("1", "It still holds: verify it" if stale else "It is right: verify it",
               (_verify(target),)),
        Answer("3", "Forget it", (_forget(target, "outdated" if stale else "wrong"),), danger=True),
    ]  # fmt: skip


def _superseded(task: CurationTask) -> list[Answer]:
    remark = _first(task, "annotate_node")
    say = [Answer("1", "Say so in the older", (remark,))] if remark else []
    older = task.target_nodes[0]
    return [*say, Answer("3", "Forget the older", (_forget(older, "outdated"),), danger=True)]


def _orphan(task: CurationTask) -> list[Answer]:
    remark = _first(task, "annotate_node")
    join = [Answer("1", "Link it to the closest", (remark,))] if remark else []
    own = task.target_nodes[0]
    return [*join, Answer("3", "Forget it", (_forget(own, "outdated"),), danger=True)]


def _first(task: CurationTask, tool: str) -> Settling | None:
    return next((call for call in task.settled_by if call.tool == tool), None)


_OF_TYPE: Mapping[TaskType, Callable[[CurationTask], list[Answer]]] = {
    TaskType.NEAR_DUPLICATES: _duplicates,
    TaskType.CONFLICTING_FACTS: _conflict,
    TaskType.STALE_FACT: _fact,
    TaskType.UNVERIFIED_CRITICAL: _fact,
    TaskType.SUPERSEDED: _superseded,
    TaskType.ORPHAN: _orphan,
}
