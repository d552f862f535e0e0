"""A memory with its text, vector, state and use, and its stored format."""

from __future__ import annotations

import base64
from typing import Annotated, Any
from uuid import UUID

import numpy as np
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    Field,
    JsonValue,
    PlainSerializer,
    PlainValidator,
)

from memvault.model.formats import Fields, StorageFormat
from memvault.model.memory import (
    DEFAULT_IMPORTANCE,
    MAX_CONTENT_CHARS,
    JohariQuadrant,
    UTLState,
)
from memvault.model.note import Vector


def _uuid(text: str) -> str:
    return str(UUID(text))


def _vector(value: Any) -> Vector:
    """A (dim,) float32 vector from numbers, or from base64 of little-endian float32."""
    if isinstance(value, str):
        value = np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4")
    vector = np.array(value, dtype=np.float32)
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise ValueError("an embedding must be a list of finite numbers")
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


class MemoryNode(BaseModel, frozen=True, arbitrary_types_allowed=True):
    """A memory with its text, vector, state and use (core REQ-CORE-001).

    Attributes:
        content: the note's text below its frontmatter, at most 65,536 characters.
        embedding: (dim,) float32, read-only; empty if there is none.
        last_accessed: when a client last read it; ``created_at`` if none did.
        importance: in [0, 1].
        agent_id: the client that stored it, where known.
        semantic_cluster: always None; no clusters are computed yet.
        metadata: the frontmatter's own keys.
    """

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
        fields, other_fields = (node.model_dump(exclude={"embedding"}) for node in (self, other))
        return fields == other_fields and np.array_equal(self.embedding, other.embedding)

    def __hash__(self) -> int:
        return hash(self.id)

    def to_bytes(self) -> bytes:
        """The node in the current `StorageFormat`."""
        return NODE_FORMAT.write(self)

    @classmethod
    def from_bytes(cls, data: bytes, id: str | None = None) -> MemoryNode:
        """Decode a node; raises as `StorageFormat.read` does."""
        return NODE_FORMAT.read(cls, data, id)


def _memory_node_from_1(fields: Fields) -> Fields:
    """Format 1 stored the four numbers of the learning state as separate fields."""
    names = ("delta_s", "delta_c", "w_e", "phi")
    state = {name: fields[name] for name in names}
    other_fields = {key: value for key, value in fields.items() if key not in names}
    return other_fields | {"utl_state": state}


NODE_FORMAT = StorageFormat("memory", (_memory_node_from_1,))
