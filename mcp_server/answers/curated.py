"""What was changed about memories and concepts, and how to take it back."""

from __future__ import annotations

from datetime import datetime

from mcp_server.answers.base import Answer, optional


class ForgottenAnswer(Answer):
    """``node_ids`` and ``paths`` are what no tool shows any more, or, in a preview, would not.

    ``restorable_until`` is left out where there is no such day: of a concept without a note
    nothing is deleted, and of what is deleted for good nothing can be restored. ``linked_from``
    are notes that link to it or name it; they are not changed.
    """

    name: str
    node_ids: list[str]
    paths: list[str]
    preview: bool
    restorable_until: datetime | None = optional()
    reversal_hash: str | None = optional()
    linked_from: list[str] | None = optional()


class RestoredAnswer(Answer):
    """``paths`` is where the note stands now; empty for a concept without one."""

    name: str
    node_ids: list[str]
    paths: list[str]
    reversal_hash: str
