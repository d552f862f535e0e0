"""Something in the memory that a person could put right."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict


class Priority(StrEnum):
    HIGH = "high"  # answers may be wrong
    MEDIUM = "medium"
    LOW = "low"  # answers may lack something


class TaskType(StrEnum):
    """In the order in which tasks of one priority are shown."""

    MALFORMED_FRONTMATTER = "malformed_frontmatter"
    MALFORMED_TEXT = "malformed_text"
    CONFLICTING_FACTS = "conflicting_facts"
    UNVERIFIED_CRITICAL = "unverified_critical"
    NEAR_DUPLICATES = "near_duplicates"
    STALE_FACT = "stale_fact"
    SUPERSEDED = "superseded"
    UNRESOLVED_LINKS = "unresolved_links"
    ORPHAN = "orphan"


class Settling(BaseModel):
    """A call that settles a task once a person agrees. Still to be added are a rationale and, where
    a note is to be stored, what it says."""

    model_config = ConfigDict(frozen=True)

    tool: str
    arguments: dict[str, Any]

    @classmethod
    def by(cls, tool: str, **arguments: Any) -> Settling:
        return cls(tool=tool, arguments=arguments)


_PRESSING = {priority: place for place, priority in enumerate(Priority)}
_FIRST = {task_type: place for place, task_type in enumerate(TaskType)}


class CurationTask(BaseModel):
    """``target_nodes`` are memory ids and ``paths`` their notes, in the same order.

    Each of ``settled_by`` settles it, the best first. Where no tool can, ``detail`` says what does.
    """

    model_config = ConfigDict(frozen=True)

    task_type: TaskType
    target_nodes: tuple[str, ...]
    paths: tuple[str, ...]
    priority: Priority
    detail: str
    settled_by: tuple[Settling, ...] = ()

    @property
    def order(self) -> tuple[int, int, tuple[str, ...]]:
        """Most pressing first, then by kind and path."""
        return _PRESSING[self.priority], _FIRST[self.task_type], self.paths
