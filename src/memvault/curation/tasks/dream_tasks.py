"""Tasks from dreams: what a dream proposed, for the person to accept or to dismiss for good."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from memvault.consolidation.dreams.links import are_linked
from memvault.consolidation.dreams.record import Discovery, DiscoveryKind
from memvault.model.change import CurationTask, Priority, TaskAction, TaskType
from memvault.model.memory import Memory
from memvault.stores.graph_view import GraphView
from memvault.vault.links import wikilink

_TYPES = {
    DiscoveryKind.SUMMARY: TaskType.CLUSTER_SUMMARY,
    DiscoveryKind.ANSWER: TaskType.ANSWERED_QUESTION,
}


def dream_tasks(
    found: Iterable[Discovery], memory_of: Callable[[str], Memory | None], view: GraphView
) -> Iterator[CurationTask]:
    """The tasks of proposals whose notes still exist and are not linked yet."""
    for each in found:
        memories = [memory for key in each.notes if (memory := memory_of(key)) is not None]
        if each.is_link and are_linked(each.notes[0], each.notes[1], view):
            continue
        if memories and len(memories) == len(each.notes):
            yield CurationTask(
                task_type=type_of(each),
                target_nodes=tuple(memory.id for memory in memories),
                paths=tuple(memory.path for memory in memories),
                priority=Priority.LOW,
                detail=_detail(each),
                settled_by=_calls(each, memories),
                proposal=each.key,
            )


def summary_text(found: Discovery) -> str:
    """The draft of a summary: key sentences, each with a link to its note."""
    return "\n".join(f"- {each.sentence} ({wikilink(each.path, '')})" for each in found.evidence)


def type_of(found: Discovery) -> TaskType:
    """The kind of task that a proposal is."""
    if found.is_link:
        return TaskType.MISSING_LINK
    return _TYPES.get(found.kind, TaskType.OPEN_QUESTION)


def _detail(found: Discovery) -> str:
    """Without the sentences, which may be others' than the person's."""
    return f"{found.title}: {found.reason}" if found.title else found.reason


def _calls(found: Discovery, memories: list[Memory]) -> tuple[TaskAction, ...]:
    if found.is_link:
        link = wikilink(memories[1].path, memories[0].path)
        return (TaskAction.by("annotate_node", target=memories[0].id, note=f"Related: {link}"),)
    if found.kind is DiscoveryKind.ANSWER:
        return ()
    ids = [memory.id for memory in memories]
    return (TaskAction.by("store_memory", title=found.title, link_to=ids),)
