"""What the finder is told of each note."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memvault.model.change import CurationTask, Priority, TaskType
from memvault.model.memory import Memory


@dataclass(frozen=True, slots=True)
class Noted:
    """A note as it is indexed: last ``saved`` then; ``problem`` is what is wrong with its
    frontmatter."""

    memory: Memory
    saved: datetime
    problem: str | None = None
    warnings: tuple[str, ...] = ()


def malformed(noted: Noted) -> list[CurationTask]:
    """What of this note cannot be read."""
    memory, found = noted.memory, []
    if noted.problem:
        found.append((TaskType.MALFORMED_FRONTMATTER, Priority.HIGH,
                      f"{noted.problem}; correct the YAML in your editor"))  # fmt: skip
    found += [
        (TaskType.MALFORMED_TEXT, Priority.MEDIUM, f"{warning} (in your editor)")
        for warning in noted.warnings
    ]
    return [
        CurationTask(
            task_type=task_type,
            target_nodes=(memory.id,),
            paths=(memory.path,),
            priority=priority,
            detail=detail,
        )
        for task_type, priority, detail in found
    ]
