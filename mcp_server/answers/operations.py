"""What was set right, and what could be: every answer tells how to take it back."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from mcp_server.answers.base import Answer, Shape, optional


class LineShape(Shape):
    """A line as it is (``before``) and would be (``after``); each is left out where there is none.
    ``line`` is where it stands now, or after which it comes."""

    path: str
    line: int
    before: str | None = optional()
    after: str | None = optional()


class Operated(Answer):
    """``lines`` are the first lines that a preview would change; ``reversal_hash`` takes the
    change back, and is left out where nothing was changed."""

    preview: bool
    lines: list[LineShape] | None = optional()
    reversal_hash: str | None = optional()


class SetAnswer(Operated):
    """``path`` is left out for a concept without a note."""

    node_id: str
    path: str | None = optional()
    before: str | float | bool | None
    after: str | float | bool | None


class AnnotatedAnswer(Operated):
    node_id: str
    path: str
    before: str | None = optional()
    after: str


class MergedAnswer(Operated):
    """``node_id`` is what stays; ``notes_changed`` are paths, those in the trash by now too."""

    node_id: str
    path: str | None = optional()
    merged_from: list[str]
    notes_changed: list[str]


class ActorShape(Shape):
    type: Literal["agent", "system", "user"]
    id: str


class DoneShape(Shape):
    """A change as the history tells it."""

    reversal_hash: str
    kind: str
    timestamp: datetime
    actor: ActorShape
    description: str
    paths: list[str]


class ConflictShape(Shape):
    """A change that stays, since a note was changed after it: ``lines`` are where the note as it
    is differs from what it would be again. Both versions are kept."""

    reversal_hash: str
    path: str
    reason: str
    lines: list[LineShape] | None = optional()


class UndoneAnswer(Operated):
    undone: list[DoneShape]
    conflicts: list[ConflictShape]


class LineageEntry(Shape):
    timestamp: datetime
    change_type: Literal[
        "created", "merged", "annotated", "dreamed", "boosted", "pruned", "restored"
    ]
    actor: ActorShape
    description: str
    content_before: str | None = optional()
    content_after: str | None = optional()
    reversal_hash: str | None = optional()


class LineageAnswer(Answer):
    """``current_content`` is empty for what has no note, or none any more."""

    node_id: str
    current_content: str
    lineage: list[LineageEntry]
    merged_from: list[str]
    forked_to: list[str]


class LogEntry(Shape):
    timestamp: datetime
    action: Literal["quarantine", "prune", "merge", "dream_consolidation", "adversarial_block"]
    node_ids: list[str]
    reason: str
    details: str
    recoverable: bool
    recovery_tool: str | None = optional()


class LogsAnswer(Answer):
    entries: list[LogEntry]
    explanation_for_user: str
