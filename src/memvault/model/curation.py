"""Something in the memory that a person could put right."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Priority(StrEnum):
    HIGH = "high"  # answers may be wrong
    MEDIUM = "medium"
    LOW = "low"  # answers may lack something


class TaskType(StrEnum):
    """In the order in which tasks of one priority are shown."""

    MALFORMED_FRONTMATTER = "malformed_frontmatter"
    MALFORMED_TEXT = "malformed_text"
    CONFLICTING_FACTS = "conflicting_facts"
    NEAR_DUPLICATES = "near_duplicates"
    STALE_FACT = "stale_fact"
    SUPERSEDED = "superseded"
    UNRESOLVED_LINKS = "unresolved_links"
    ORPHAN = "orphan"


class CurationTask(BaseModel):
    """``target_nodes`` are memory ids and ``paths`` their notes, in the same order.

    ``suggested_tool`` with ``suggested_arguments`` is the call that settles it, once a person
    agrees; a rationale is still to be added. Where no tool can, ``detail`` says what does.
    """

    model_config = ConfigDict(frozen=True)

    task_type: TaskType
    target_nodes: tuple[str, ...]
    paths: tuple[str, ...]
    priority: Priority
    detail: str
    suggested_tool: str | None = None
    suggested_arguments: dict[str, Any] = Field(default_factory=dict)

    @property
    def order(self) -> tuple[int, int, tuple[str, ...]]:
        """Most pressing first, then by kind and path."""
        return (list(Priority).index(self.priority), list(TaskType).index(self.task_type),
                self.paths)  # fmt: skip
