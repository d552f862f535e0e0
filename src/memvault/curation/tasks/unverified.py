"""Legal, financial and policy facts that nobody has verified (triple 2.6: ask the person)."""

from __future__ import annotations

from memvault.curation.tasks.noted import Noted
from memvault.curation.tasks.stale import FACTS
from memvault.model.curation import CurationTask, Priority, Settling, TaskType
from memvault.model.graph import NodeKind
from memvault.model.memory import Lifecycle, Memory
from memvault.reasoning.verification.critical import Matter, matter_of
from memvault.text.names import kind_of

CRITICAL_TYPES = frozenset({*(matter.value for matter in Matter), "contract", "invoice"})


def unverified(noted: Noted) -> CurationTask | None:
    """A task if this note states such a fact, and neither the person nor a day of confirmation
    stands behind it.

    Only facts, decisions and notes of a critical type count, and none that passes by itself. What
    it is about is read from its title, its tags and the names of its properties.
    """
    memory = noted.memory
    if memory.verified or memory.lifecycle is Lifecycle.EPHEMERAL:
        return None
    is_critical = memory.type in CRITICAL_TYPES
    if not is_critical and memory.type not in FACTS and kind_of(memory) != NodeKind.DECISION:
        return None
    matter = _matter(memory)
    if matter is None:
        return None
    return CurationTask(
        task_type=TaskType.UNVERIFIED_CRITICAL,
        target_nodes=(memory.id,),
        paths=(memory.path,),
        priority=Priority.MEDIUM,
        detail=f"a {matter} matter that nobody has verified: clients are not told what it says",
        settled_by=(
            Settling.by("verify_memory", target=memory.id, verified=True),
            Settling.by("forget_concept", target=memory.id, reason="wrong"),
        ),
    )


def _matter(memory: Memory) -> str | None:
    if memory.type in CRITICAL_TYPES:
        return memory.type
    named = matter_of(" ".join((memory.title, *memory.tags, *memory.metadata)).replace("_", " "))
    return named.value if named else None
