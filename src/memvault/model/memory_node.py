"""A memory node: a memory with its text, vector, state and use (core REQ-CORE-001)."""

from __future__ import annotations

import base64
from typing import Annotated, Any
from uuid import UUID

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
)

from memvault.model.chunk import Vector
from memvault.model.johari import JohariQuadrant, UTLState
from memvault.model.memory import DEFAULT_IMPORTANCE, MAX_CONTENT_CHARS
from memvault.model.versioned import Fields, Format


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
        """In the current format (`memvault.model.versioned`)."""
        return FORMAT.write(self)

    @classmethod
    def from_bytes(cls, data: bytes, id: str | None = None) -> MemoryNode:
        """Raises UnknownFormat, SerializationFailed."""
        return FORMAT.read(cls, data, id)


def _from_1(fields: Fields) -> Fields:
    """Format 1 wrote the learning state as its four numbers side by side and the vector as
    decimal numbers; it knew of no clusters."""
    names = ("delta_s", "delta_c", "w_e", "phi")
    state = {name: fields[name] for name in names}
    rest = {key: value for key, value in fields.items() if key not in names}
    return rest | {"utl_state": state}


FORMAT = Format("memory", (_from_1,))
