"""Legal, financial and policy facts that nobody has verified (triple 2.6: ask the person)."""

from __future__ import annotations

from datetime import datetime, timedelta

from memvault.curation.tasks.note_facts import Noted
from memvault.model.change import CurationTask, Priority, Settling, TaskType
from memvault.model.graph import NodeKind
from memvault.model.memory import Lifecycle, Memory
from memvault.text.names import kind_of
from memvault.vault.frontmatter.properties import read_date
from memvault.verification.sensitive_topics import Matter, matter_of

STALE_AFTER = timedelta(days=180)
IMPORTANT = 0.8
FACTS = frozenset({"fact", "facts"})
_CONFIRMED_KEYS = frozenset({"verified_on", "reviewed", "updated", "modified", "last_modified"})


def stale(noted: Noted, now: datetime) -> CurationTask | None:
    """A task if this note states something that goes stale, and it has."""
    held = ages_from(noted)
    return None if held is None else outlived(noted.memory, held, now)


def ages_from(noted: Noted) -> datetime | None:
    """The day on which this note was last known to hold; None if it does not go stale.

    Only facts and decisions go stale, of a permanent or temporary lifecycle; what is pinned never
    does, nor what another note supersedes, which the finder knows. The age counts from the latest
    day that the note states (created, date, verified_on, reviewed, updated), else from its last
    change on disk. A sync tool or memvault itself may touch the file without anybody having looked
    at what it says, so that alone does not make a dated fact fresh.
    """
    memory = noted.memory
    goes_stale = memory.type in FACTS or kind_of(memory) == NodeKind.DECISION
    if not goes_stale or memory.pinned or memory.lifecycle is Lifecycle.EPHEMERAL:
        return None
    return last_confirmed(noted)


def outlived(memory: Memory, held: datetime, now: datetime) -> CurationTask | None:
    """A task if nobody has confirmed this since the day on which it was last known to hold."""
    if now - held <= STALE_AFTER:
        return None
    days = (now - held).days
    return CurationTask(
        task_type=TaskType.STALE_FACT,
        target_nodes=(memory.id,),
        paths=(memory.path,),
        priority=Priority.MEDIUM if memory.importance >= IMPORTANT else Priority.LOW,
        detail=f"not confirmed for {days} days: does it still hold? If not, it can be forgotten",
        settled_by=(
            Settling.by("verify_memory", target=memory.id, verified=True),
            Settling.by("forget_concept", target=memory.id, reason="outdated"),
        ),
    )


def last_confirmed(noted: Noted) -> datetime:
    """The latest day of which the note says that it held; when it was saved, if it names none."""
    memory = noted.memory
    # A note that does not say when it was created counts as created when it was saved.
    created = memory.created_at if memory.created_at != noted.saved else None
    stated = [created, memory.date]
    stated += [
        read_date(value)
        for key, value in memory.metadata.items()
        if key.casefold() in _CONFIRMED_KEYS
    ]
    return max((day for day in stated if day is not None), default=noted.saved)


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
