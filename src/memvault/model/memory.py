"""A memory: one note as the tools see it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid5

from pydantic import BaseModel, ConfigDict, Field

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
