"""Memories: a note's metadata, its learning state and use, and the format they are stored in."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, TypeVar
from uuid import UUID, uuid5

import numpy as np
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    PlainSerializer,
    PlainValidator,
    ValidationError,
)
from pydantic_core import from_json

from memvault.model.errors import SerializationFailed, UnknownFormat
from memvault.model.note import Vector

Fields = dict[str, object]
Migration = Callable[[Fields], Fields]
Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Format:
    """The formats of one kind of value: ``migrations[0]`` leads from 1 to 2, and so on."""

    what: str  # what the value is of, for messages: "memory"
    migrations: Sequence[Migration] = ()

    @property
    def current(self) -> int:
        return len(self.migrations) + 1

    def write(self, value: BaseModel, *, sparse: bool = False) -> bytes:
        """The value in the current format; if ``sparse``, without what has its default."""
        return b"%d %s" % (self.current, value.model_dump_json(exclude_defaults=sparse).encode())

    def read(self, kind: type[Model], data: bytes, id: str | None = None) -> Model:
        """The value, migrated if it is older.

        Args:
            id: whose value it is, for messages.

        Raises:
            UnknownFormat: it has a format that there is no way from; the message names id and
                format (EC-CORE-018).
            SerializationFailed: it is no value at all (ERR-CORE-008).
        """
        number, _, rest = data.partition(b" ")
        if not number.isdigit():
            raise _unreadable(self.what, id)
        try:
            fields = from_json(rest)
        except ValueError as error:
            raise _unreadable(self.what, id) from error
        return self.migrated(kind, int(number), fields, id)

    def migrated(
        self, kind: type[Model], version: int, fields: object, id: str | None = None
    ) -> Model:
        """The value of fields that were stored in the format ``version``; raises as `read`."""
        if not isinstance(fields, dict):
            raise _unreadable(self.what, id)
        if not 1 <= version <= self.current:
            raise UnknownFormat(
                f"Internal error: Data serialization failed: {self.what} {id or fields.get('id')} "
                f"has format version {version}, but this memvault reads up to {self.current}. "
                "Update memvault.",
                node_id=id or fields.get("id"),
                format_version=version,
            )
        try:
            for migrate in self.migrations[version - 1 :]:
                fields = migrate(fields)
            return kind.model_validate(fields)
        except (ValidationError, KeyError, TypeError, ValueError) as error:
            raise _unreadable(self.what, id, version) from error


def _unreadable(what: str, id: str | None, version: int | None = None) -> SerializationFailed:
    told = {"node_id": id, "format_version": version, "kind": what}
    return SerializationFailed(
        "Internal error: Data serialization failed",
        **{key: value for key, value in told.items() if value is not None},
    )


MAX_CONTENT_CHARS = 65_536
NAMESPACE = UUID("6f9a5a86-52a4-5d52-9f0b-6d5f0f6b7c11")

IMPORTANCE_NAMES = {"critical": 1.0, "high": 0.8, "medium": 0.5, "low": 0.2}
DEFAULT_IMPORTANCE = 0.5


class Lifecycle(StrEnum):
    PERMANENT = "permanent"  # never expires; only a person promotes to it
    TEMPORARY = "temporary"  # a project's
    EPHEMERAL = "ephemeral"  # a session's; decays


class Memory(BaseModel):
    """What is known of a note without its text. One note is one memory.

    ``id`` is the frontmatter's UUID, else derived from the path (`id_of_path`).
    ``created_at`` and ``date`` are UTC; ``date`` is when the thing happened, if the note says so.
    ``importance`` lies in [0, 1].
    """

    model_config = ConfigDict(frozen=True)

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
    rationale: str | None = None
    content_hash: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)


def id_of_path(path: str) -> str:
    """The id of a note that carries none: UUIDv5 of its vault-relative path."""
    return str(uuid5(NAMESPACE, "note:" + path))


def id_of_entity(kind: str, key: str) -> str:
    """The id of an entity that has no note of its own: UUIDv5 of kind and normalised name."""
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


class UTLState(BaseModel):
    """Learning state, L = f((delta_s x delta_c) . w_e . cos phi)."""

    model_config = ConfigDict(frozen=True)

    delta_s: float = Field(0.5, ge=0.0, le=1.0)
    delta_c: float = Field(0.5, ge=0.0, le=1.0)
    w_e: float = Field(1.0, ge=0.5, le=1.5)
    phi: float = Field(0.0, ge=0.0, le=math.pi)

    @property
    def learning_score(self) -> float:
        """L in [0, 1], with f(x) = sqrt(x) between 0 and 1: the geometric mean of the two deltas
        while affect and phase are neutral; 0 where the phase is against learning."""
        drive = self.delta_s * self.delta_c * self.w_e * math.cos(self.phi)
        return math.sqrt(min(1.0, max(0.0, drive)))


class Tombstone(BaseModel):
    """One thing forgotten: a note that lies in the vault's trash, or a concept without a note.

    Attributes:
        reversal_hash: names this change, so that it can be taken back.
        node_ids: the memory's id, or the ids of the nodes that the concept had in the graph.
        kind: the memory's type, or the concept's kind.
        path, trash_path, content_hash: where the note was, where it is now, and its bytes'
            blake2b-128; None for a concept, which is only named in other notes.
        hidden: ids of the nodes without a note that the graph leaves out while this holds.
        restorable_until: when the note is deleted for good; None for a concept, of which nothing
            is kept that could be deleted.
        permanent: not to be restored at all.
        repeats: where this thing was forgotten before, restored, and that was taken back: the
            reversal hash by which it was forgotten first.
    """

    model_config = ConfigDict(frozen=True)

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
        """Whether it may still be brought back at this moment."""
        in_time = self.restorable_until is None or now < self.restorable_until
        return in_time and not self.permanent


GROWTH_FROM, MATURITY_FROM = 50, 500  # notes; the document names the stages, not their borders


class Stage(StrEnum):
    INFANCY = "infancy"  # most that comes is new
    GROWTH = "growth"
    MATURITY = "maturity"  # most that comes joins what is there

    @classmethod
    def of(cls, notes: int) -> Stage:
        """The stage of a vault with so many notes."""
        if notes < GROWTH_FROM:
            return cls.INFANCY
        return cls.GROWTH if notes < MATURITY_FROM else cls.MATURITY


class MemoryActivity(BaseModel):
    """``agent_id`` is the client that stored the memory and ``utl_state`` its learning state at
    that moment; both are None for a note that a person wrote."""

    model_config = ConfigDict(frozen=True)

    access_count: int = Field(0, ge=0)
    last_accessed: AwareDatetime | None = None
    agent_id: str | None = None
    utl_state: UTLState | None = None

    def merged(self, other: MemoryActivity) -> MemoryActivity:
        """Two accounts of one memory as one. Counts only grow, so the larger is the later."""
        moments = [each.last_accessed for each in (self, other) if each.last_accessed is not None]
        return MemoryActivity(
            access_count=max(self.access_count, other.access_count),
            last_accessed=max(moments, default=None),
            agent_id=self.agent_id or other.agent_id,
            utl_state=self.utl_state or other.utl_state,
        )


def _from_1(fields: Fields) -> Fields:
    """Format 1 kept the learning state as a list: delta_s, delta_c, w_e, phi."""
    values = fields.get("utl_state")
    if not isinstance(values, list):
        return fields
    return fields | {"utl_state": dict(zip(UTLState.model_fields, values, strict=True))}


ACTIVITY_FORMAT = Format("activity of memory", (_from_1,))


def _uuid(text: str) -> str:
    return str(UUID(text))


def _vector(value: Any) -> Vector:
    """From numbers, or from base64 of little-endian float32."""
    if isinstance(value, str):
        value = np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4")
    vector = np.array(value, dtype=np.float32)
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise ValueError("an embedding is one row of finite numbers")
    vector.setflags(write=False)
    return vector


def _as_base64(vector: Vector) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")


Id = Annotated[str, AfterValidator(_uuid)]
Embedding = Annotated[
    Vector,
    PlainValidator(_vector),
    PlainSerializer(_as_base64, return_type=str, when_used="json"),
]


class MemoryNode(BaseModel):
    """All that is known of one memory.

    Attributes:
        content: the note's text under its frontmatter, at most 65,536 characters.
        embedding: (dim,) float32 of any dimension, read-only; empty while there is none.
        last_accessed: when a client last read it; ``created_at`` if none ever did.
        importance: in [0, 1].
        agent_id: the client that stored it, where known.
        semantic_cluster: None so far: nothing computes clusters yet.
        metadata: the frontmatter's own keys.
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    id: Id
    content: str = Field(max_length=MAX_CONTENT_CHARS)
    embedding: Embedding = Field(default_factory=lambda: _vector(()))
    created_at: AwareDatetime
    last_accessed: AwareDatetime
    importance: float = Field(DEFAULT_IMPORTANCE, ge=0.0, le=1.0)
    access_count: int = Field(0, ge=0)
    johari_quadrant: JohariQuadrant = JohariQuadrant.UNKNOWN
    utl_state: UTLState = Field(default_factory=UTLState)
    agent_id: str | None = None
    semantic_cluster: Id | None = None
    metadata: dict[str, JsonValue] = Field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MemoryNode):
            return NotImplemented
        mine, theirs = (each.model_dump(exclude={"embedding"}) for each in (self, other))
        return mine == theirs and np.array_equal(self.embedding, other.embedding)

    def __hash__(self) -> int:
        return hash(self.id)

    def to_bytes(self) -> bytes:
        """In the current format (`memvault.model.memory`)."""
        return NODE_FORMAT.write(self)

    @classmethod
    def from_bytes(cls, data: bytes, id: str | None = None) -> MemoryNode:
        """Raises UnknownFormat, SerializationFailed."""
        return NODE_FORMAT.read(cls, data, id)


def _memory_node_from_1(fields: Fields) -> Fields:
    """Format 1 wrote the learning state as its four numbers side by side and the vector as
    decimal numbers; it knew of no clusters."""
    names = ("delta_s", "delta_c", "w_e", "phi")
    state = {name: fields[name] for name in names}
    rest = {key: value for key, value in fields.items() if key not in names}
    return rest | {"utl_state": state}


NODE_FORMAT = Format("memory", (_memory_node_from_1,))
