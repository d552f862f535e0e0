"""The answers that a person may give to a curation task, with their actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from memvault.model.change import CurationTask, TaskAction, TaskType

FIRST_SECOND = ("the first", "the second")


@dataclass(frozen=True, slots=True)
class TaskAnswer:
    """An answer to a task; pressing ``key`` makes the ``calls``, one change each."""

    key: str
    label: str
    calls: tuple[TaskAction, ...]
    danger: bool = False

    @property
    def verifies(self) -> set[str]:
        """The ids of the notes that it marks as right."""
        return {call.arguments["target"] for call in self.calls if call.tool == "verify_memory"}

    @property
    def preview(self) -> str | None:
        """The page that previews a merge or an undo; None for other answers."""
        undoing = [call.arguments for call in self.calls if call.tool == "undo_change"]
        if undoing:
            return "/activity?" + urlencode(undoing[0])
        merges = [call.arguments for call in self.calls if call.tool == "merge_concepts"]
        if not merges:
            return None
        sources = [("source", source) for source in merges[0]["sources"]]
        return "/merge?" + urlencode(
            [*sources, ("target", merges[0]["target"]), ("then", "curate")]
        )


def answers_to(task: CurationTask) -> list[TaskAnswer]:
    """The answers to a task, the likeliest first. Any task can also be skipped or dismissed."""
    of_type = _OF_TYPE.get(task.task_type)
    return of_type(task) if of_type is not None else []


def _verify(target: str) -> TaskAction:
    return TaskAction.by("verify_memory", target=target, verified=True)


def _forget(target: str, reason: str) -> TaskAction:
    return TaskAction.by("forget_concept", target=target, reason=reason)


def _forgets(task: CurationTask, reason: str) -> list[TaskAnswer]:
    return [
        TaskAnswer(key, f"Forget {side}", (_forget(target, reason),), danger=True)
        for key, side, target in zip("34", FIRST_SECOND, task.target_nodes, strict=False)
    ]


def _merges(nodes: Sequence[str], keys: str) -> list[TaskAnswer]:
    return [
        TaskAnswer(
            key,
            f"Merge into {side}",
            (TaskAction.by("merge_concepts", sources=list(nodes), target=target),),
        )
        for key, side, target in zip(keys, FIRST_SECOND, nodes, strict=False)
    ]


def _duplicates(task: CurationTask) -> list[TaskAnswer]:
    return [*_merges(task.target_nodes, "12"), *_forgets(task, "duplicate")]


def _conflict(task: CurationTask) -> list[TaskAnswer]:
    holds = [
        TaskAnswer(key, f"{side.capitalize()} is right: verify it", (_verify(target),))
        for key, side, target in zip("12", FIRST_SECOND, task.target_nodes, strict=False)
    ]
    return [*holds, *_forgets(task, "outdated"), *_merges(task.target_nodes, "56")]


def _fact(task: CurationTask) -> list[TaskAnswer]:
    target = task.target_nodes[0]
    stale = task.task_type is TaskType.STALE_FACT
    return [
        TaskAnswer("1", "Still true: verify it" if stale else "True: verify it",
                   (_verify(target),)),
        TaskAnswer("3", "Forget it", (_forget(target, "outdated" if stale else "wrong"),),
                   danger=True),
    ]  # fmt: skip


def _older(task: CurationTask) -> list[TaskAnswer]:
    return _remark_or_forget(task, "Add a note to the older one", "Forget the older one")


def _orphan(task: CurationTask) -> list[TaskAnswer]:
    return _remark_or_forget(task, "Link it to the most similar note", "Forget it")


def _remark_or_forget(task: CurationTask, remark: str, forget: str) -> list[TaskAnswer]:
    remarks = [call for call in task.settled_by if call.tool == "annotate_node"][:1]
    forgetting = _forget(task.target_nodes[0], "outdated")
    return [
        *(TaskAnswer("1", remark, (call,)) for call in remarks),
        TaskAnswer("3", forget, (forgetting,), danger=True),
    ]


def _promotion(task: CurationTask) -> list[TaskAnswer]:
    return [
        TaskAnswer(key, f"Keep: {call.arguments['title']}", (call,))
        for key, call in zip("123", task.settled_by, strict=False)
    ]


def _only(label: str, *, danger: bool = False) -> Callable[[CurationTask], list[TaskAnswer]]:
    """One answer, which makes all calls that settle the task."""
    return lambda task: [TaskAnswer("1", label, task.settled_by, danger)]


_OF_TYPE: Mapping[TaskType, Callable[[CurationTask], list[TaskAnswer]]] = {
    TaskType.CLIENT_ACTIVITY: _only("Undo all its changes of that day", danger=True),
    TaskType.NEAR_DUPLICATES: _duplicates,
    TaskType.CONFLICTING_FACTS: _conflict,
    TaskType.STALE_FACT: _fact,
    TaskType.UNVERIFIED_CRITICAL: _fact,
    TaskType.SUPERSEDED: _older,
    TaskType.ORPHAN: _orphan,
    TaskType.PROMOTION: _promotion,
    TaskType.FINISHED_PROJECT: _only("Move its notes to the archive"),
    TaskType.MISSING_LINK: _only("Link the first to the second"),
    TaskType.CLUSTER_SUMMARY: _only("Keep it as a note"),
    TaskType.ANSWERED_QUESTION: _only("It does"),
}
