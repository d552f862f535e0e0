"""Memories: a note's metadata, its learning state, how it was used, and its tombstone."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import date as datetime_date
from datetime import datetime, time
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid5

from pydantic import AwareDatetime, BaseModel, Field

from memvault.model.formats import Fields, StorageFormat
from memvault.model.moments import day_of, days_of_note
from memvault.model.months import NAMED_MONTHS
from memvault.model.provenance import Provenance

MAX_CONTENT_CHARS = 65_536
NAMESPACE = UUID("6f9a5a86-52a4-5d52-9f0b-6d5f0f6b7c11")

IMPORTANCE_NAMES = {"critical": 1.0, "high": 0.8, "medium": 0.5, "low": 0.2}
DEFAULT_IMPORTANCE = 0.5


def checked_importance(value: object) -> float:
    """The importance in [0, 1] of one of `IMPORTANCE_NAMES`, or of a number.

    Raises:
        ValueError: it is neither.
    """
    if isinstance(value, str) and value.strip().casefold() in IMPORTANCE_NAMES:
        return IMPORTANCE_NAMES[value.strip().casefold()]
    number = -1.0
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        with suppress(ValueError):
            number = float(value)
    if not 0.0 <= number <= 1.0:
        names = ", ".join(IMPORTANCE_NAMES)
        raise ValueError(f"importance must be between 0 and 1, or one of {names}")
    return number


class Lifecycle(StrEnum):
    PERMANENT = "permanent"  # never expires; only a person promotes to it
    TEMPORARY = "temporary"  # a project's
    EPHEMERAL = "ephemeral"  # a session's; decays


FOLDER_LIFECYCLES = {
    "permanent": Lifecycle.PERMANENT,
    "projects": Lifecycle.TEMPORARY,
    "sessions": Lifecycle.EPHEMERAL,
}


# Numbers and symbols before a folder's name ("20 Projects", "10-19 Finance", "📁 Projects"), and
# the id that Notion's exports have after it.
SORTED_BY = re.compile(r"^[\W_]*(?:\d{1,3}[\W_]+)*(?=[^\W\d_])| [0-9a-f]{32}$")


class Memory(BaseModel, frozen=True):
    """A note's metadata. One note is one memory.

    ``id`` is the frontmatter's UUID, else derived from the path (`id_of_path`).
    ``created_at`` and ``date`` are UTC; ``date`` is the day of the event, if the note states one.
    ``importance`` lies in [0, 1]. ``faded`` is "summary" or "keys" where that is all that the note
    still holds, and its full text is archived. ``metadata`` is the rest of the frontmatter;
    ``fields`` are Dataview's fields (``key:: value``) that the text has once.
    """

    id: str
    path: str
    title: str
    lifecycle: Lifecycle
    type: str = "note"
    project: str | None = None
    importance: float = Field(DEFAULT_IMPORTANCE, ge=0.0, le=1.0)
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    created_at: datetime
    date: datetime | None = None
    verified: bool = False
    pinned: bool = False
    faded: str | None = None
    rationale: str | None = None
    content_hash: str = ""
    provenance: Provenance = Field(default_factory=Provenance)
    metadata: dict[str, Any] = Field(default_factory=dict)
    fields: dict[str, str] = Field(default_factory=dict)

    @property
    def properties(self) -> dict[str, Any]:
        """The note's values by key, of its frontmatter and of its text."""
        return {**self.fields, **self.metadata}

    @property
    def folder(self) -> str:
        """The name of the note's folder, in small letters; empty at the top of the vault."""
        return self.path.rpartition("/")[0].rpartition("/")[2].casefold()

    @property
    def groups(self) -> frozenset[str]:
        """The names by which the note belongs with others, in small letters: its tags, and its
        folder, without what sorts it, unless that only says its lifecycle or its day. Notes of the
        person's own that are directly in ``Projects/`` are projects."""
        folder = self.folder
        name = SORTED_BY.sub("", folder)
        tags = (tag.casefold() for tag in self.tags)
        is_own = self.provenance.is_person or self.provenance.is_mixed
        is_lifecycle = folder in FOLDER_LIFECYCLES and not (folder == "projects" and is_own)
        if not name or is_lifecycle or name[0].isdigit() or name in NAMED_MONTHS:
            return frozenset(tags)
        return frozenset((name, *tags))

    @property
    def moment(self) -> datetime:
        """The day of the event that the note states, else when it was created."""
        return self.date or self.created_at

    @property
    def day(self) -> datetime_date:
        """The day of `moment`: as the note states it, else in local time."""
        if self.date is not None or self.created_at.time() == time.min:
            return self.moment.date()
        return day_of(self.created_at)

    @property
    def days(self) -> list[datetime_date]:
        """The day, or all days of the week that a weekly note is named after ("2026-W35")."""
        return days_of_note(self.path.rpartition("/")[2], self.day)

    @property
    def tag_keys(self) -> set[str]:
        """The tags and those that they are within, in small letters: ``a/b`` is also ``a``."""
        keys: set[str] = set()
        for tag in self.tags:
            names = tag.casefold().split("/")
            keys.update("/".join(names[:depth]) for depth in range(1, len(names) + 1))
        return keys

    @property
    def is_marked_wrong(self) -> bool:
        """Whether the person marked the memory as wrong."""
        is_false = self.metadata.get("verified") is False
        return is_false and self.provenance.of_property("verified: false").is_person

    @property
    def is_trusted(self) -> bool:
        """Whether all of the memory counts as verified: the person wrote all of it and did not mark
        it as wrong, or they marked it as verified."""
        return self.verified or (self.provenance.is_person and not self.is_marked_wrong)

    @property
    def is_claim(self) -> bool:
        """Whether the person wrote none of the memory and did not verify it."""
        return not (self.verified or self.provenance.is_person or self.provenance.own)


def claimant(memory: Memory | None) -> str:
    """The author of an unverified memory that the person did not write; "" for any other."""
    if memory is None or memory.verified or memory.provenance.is_person:
        return ""
    partly = "partly " if memory.provenance.own else ""
    return partly + memory.provenance.claimant.writer


MemoryOf = Callable[[str], Memory | None]
"""Gives the memory with an id; None if the id is not a memory's."""

IMPORTANCE_HALF_LIFE_DAYS = 30.0
MAX_CLIENT_VARIANCE = 0.15  # greatest variance of the importance that clients set
_MAX_DEVIATION = 0.38  # from the default; its square stays below that variance


def importance_is_own(memory: Memory) -> bool:
    """Whether a memory's importance is the person's: set by them, or left at the default."""
    lines = memory.provenance.own_properties
    return memory.provenance.is_person or any(line.startswith("importance ") for line in lines)


def balanced_importance(memory: Memory, now: datetime) -> float:
    """The effective importance of a memory.

    One that a client set halves its distance from the default every 30 days; one that the person
    set stays.
    """
    deviation = memory.importance - DEFAULT_IMPORTANCE
    if not deviation or importance_is_own(memory):
        return memory.importance
    age = max(0.0, (now - memory.created_at).total_seconds() / 86_400)
    bounded = max(-_MAX_DEVIATION, min(_MAX_DEVIATION, deviation))
    return DEFAULT_IMPORTANCE + bounded * math.exp2(-age / IMPORTANCE_HALF_LIFE_DAYS)


def id_of_path(path: str, number: int = 0) -> str:
    """The id of a note without one in its frontmatter: UUIDv5 of its vault-relative path.

    Args:
        number: of notes that were first at this path and have left it.
    """
    return str(uuid5(NAMESPACE, f"note:{path}\n{number}" if number else f"note:{path}"))


def id_of_entity(kind: str, key: str) -> str:
    """The id of an entity without a note: UUIDv5 of its kind and normalised name."""
    return str(uuid5(NAMESPACE, f"entity:{kind}:{key}"))


class JohariQuadrant(StrEnum):
    OPEN = "open"  # low entropy, high coherence: direct recall
    BLIND = "blind"  # high entropy, low coherence: discovery zone
    HIDDEN = "hidden"  # low entropy, low coherence: private knowledge
    UNKNOWN = "unknown"  # high entropy, high coherence: exploration frontier

    @classmethod
    def from_metrics(cls, entropy: float, coherence: float) -> JohariQuadrant:
        """Low entropy is < 0.5, high coherence is > 0.5 (core, appendix A)."""
        low, high = entropy < 0.5, coherence > 0.5
        if low:
            return cls.OPEN if high else cls.HIDDEN
        return cls.UNKNOWN if high else cls.BLIND


class UTLState(BaseModel, frozen=True):
    """Learning state of a memory: L = f((delta_s x delta_c) . w_e . cos phi)."""

    delta_s: float = Field(0.5, ge=0.0, le=1.0)
    delta_c: float = Field(0.5, ge=0.0, le=1.0)
    w_e: float = Field(1.0, ge=0.5, le=1.5)
    phi: float = Field(0.0, ge=0.0, le=math.pi)

    @property
    def learning_score(self) -> float:
        """L in [0, 1], with f(x) = sqrt(x) between 0 and 1.

        It is the geometric mean of the two deltas while affect and phase are neutral, and 0 for
        phases above pi / 2.
        """
        drive = self.delta_s * self.delta_c * self.w_e * math.cos(self.phi)
        return math.sqrt(min(1.0, max(0.0, drive)))


class Tombstone(BaseModel, frozen=True):
    """A forgotten note in the vault's trash, or a forgotten concept without a note.

    Attributes:
        reversal_hash: identifies the change; undo and restore take it.
        node_ids: the memory's id, or the ids of the concept's nodes in the graph.
        kind: the memory's type, or the concept's kind.
        path, trash_path, content_hash: the note's former path, its path in the trash, and the
            blake2b-128 hash of its bytes; None for a concept, which only other notes name.
        hidden: ids of nodes without a note that the graph omits until restoration.
        restorable_until: when the note is deleted permanently; None for a concept, which has
            nothing to delete.
        permanent: it cannot be restored.
        repeats: if undoing a restoration forgot it again, the reversal hash of the first
            forgetting.
    """

    reversal_hash: str
    name: str
    kind: str
    node_ids: tuple[str, ...]
    path: str | None = None
    trash_path: str | None = None
    content_hash: str | None = None
    hidden: tuple[str, ...] = ()
    forgotten_at: datetime
    restorable_until: datetime | None = None
    permanent: bool = False
    repeats: str | None = None
    reason: str | None = None
    rationale: str

    def restorable(self, now: datetime) -> bool:
        """Whether it can still be restored at this time."""
        in_time = self.restorable_until is None or now < self.restorable_until
        return in_time and not self.permanent


GROWTH_FROM, MATURITY_FROM = 50, 500  # notes; the specification names no limits


class Stage(StrEnum):
    INFANCY = "infancy"  # most new notes are novel
    GROWTH = "growth"
    MATURITY = "maturity"  # most new notes relate to known ones

    @classmethod
    def of(cls, notes: int) -> Stage:
        """The stage of a vault with this number of notes."""
        if notes < GROWTH_FROM:
            return cls.INFANCY
        return cls.GROWTH if notes < MATURITY_FROM else cls.MATURITY


class MemoryActivity(BaseModel, frozen=True):
    """How a memory was used.

    ``agent_id`` is the client that stored the memory and ``utl_state`` its learning state at that
    time; both are None for a note that a person wrote.
    """

    access_count: int = Field(0, ge=0)
    last_accessed: AwareDatetime | None = None
    agent_id: str | None = None
    utl_state: UTLState | None = None

    def merged(self, other: MemoryActivity) -> MemoryActivity:
        """Combine two records of one memory. Counts only grow, so the larger one is newer."""
        times = [use.last_accessed for use in (self, other) if use.last_accessed is not None]
        return MemoryActivity(
            access_count=max(self.access_count, other.access_count),
            last_accessed=max(times, default=None),
            agent_id=self.agent_id or other.agent_id,
            utl_state=self.utl_state or other.utl_state,
        )


def _from_1(fields: Fields) -> Fields:
    """Format 1 kept the learning state as a list: delta_s, delta_c, w_e, phi."""
    values = fields.get("utl_state")
    if not isinstance(values, list):
        return fields
    return fields | {"utl_state": dict(zip(UTLState.model_fields, values, strict=True))}


ACTIVITY_FORMAT = StorageFormat("activity of memory", (_from_1,))
