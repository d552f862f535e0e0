"""Whether a memory may be seen by a question; the vector stores hold their chunks to the same."""

from __future__ import annotations

from datetime import UTC, datetime

from memvault.model.memory import Memory
from memvault.model.query import Filters, Scope


def in_scope(memory: Memory, scope: Scope | None) -> bool:
    """Every given filter holds (tags: at least one of them), and the memory belongs to the
    project asked in or to none."""
    if scope is None:
        return True
    elsewhere = (
        scope.project is not None
        and memory.project is not None
        and memory.project.casefold() != scope.project.casefold()
    )
    return not elsewhere and (scope.filters is None or _passes(memory, scope.filters))


def _passes(memory: Memory, filters: Filters) -> bool:
    kinds = {kind.casefold() for kind in filters.types or ()}
    tags = {tag.lstrip("#").casefold() for tag in filters.tags or ()}
    return all(
        (
            filters.min_importance is None or memory.importance >= filters.min_importance,
            filters.created_after is None or memory.created_at >= utc(filters.created_after),
            filters.created_before is None or memory.created_at <= utc(filters.created_before),
            filters.lifecycles is None or memory.lifecycle in filters.lifecycles,
            filters.types is None or memory.type.casefold() in kinds,
            filters.tags is None or any(tag.casefold() in tags for tag in memory.tags),
        )
    )


def utc(moment: datetime) -> datetime:
    """A moment without a time zone is taken as UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
