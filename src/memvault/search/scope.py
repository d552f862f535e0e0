"""The memories that a question may see, and wider searches if a filter leaves too few."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from datetime import date, datetime
from typing import Protocol

from memvault.model.memory import Memory
from memvault.model.search import Filters, Hit, Scope


class SavedNote(Protocol):
    """A note, and when its file was last saved."""

    @property
    def memory(self) -> Memory: ...

    @property
    def changed_at(self) -> datetime: ...


class MemoryLookup(Protocol):
    """Looks up the memories of indexed notes."""

    def by_id(self, memory_id: str) -> Memory | None: ...

    def by_path(self, path: str) -> Memory | None: ...

    def all(self) -> Iterable[Memory]: ...

    def types(self) -> Sequence[str]: ...

    def paths_of_type(self, kind: str) -> Set[str]: ...

    def groups(self) -> Sequence[str]: ...

    def paths_in_group(self, group: str) -> Set[str]: ...

    def property_keys(self) -> Sequence[str]: ...

    def paths_with_property(self, key: str) -> Set[str]: ...

    def paths_with_word(self, word: str) -> Set[str]: ...

    def by_paths(self, paths: Iterable[str]) -> list[Memory]: ...

    def days_named(self, path: str) -> Sequence[date]: ...

    def of_days(self, is_meant: Callable[[date], bool]) -> Sequence[Memory]: ...

    def with_open_tasks(self) -> Sequence[tuple[Memory, Sequence[str]]]: ...


def in_scope(memory: Memory, scope: Scope | None) -> bool:
    """Whether a memory passes every given filter (tags: at least one of them, or one within it) and
    belongs to the scope's project or to none."""
    if scope is None:
        return True
    elsewhere = (
        scope.project is not None
        and memory.project is not None
        and memory.project.casefold() != scope.project.casefold()
    )
    return not elsewhere and (scope.filters is None or _passes(memory, scope.filters))


def allowed_in(
    scope: Scope | None, memory_of: Callable[[str], Memory | None]
) -> Callable[[str], bool]:
    """A test of ids or paths: true unless they are of a memory outside the scope. Entities and
    files are in every scope."""
    if scope is None or scope == Scope():
        return lambda _: True

    def is_allowed(key: str) -> bool:
        memory = memory_of(key)
        return memory is None or in_scope(memory, scope)

    return is_allowed


def without_filters(scope: Scope | None) -> Scope | None:
    """The scope without its filters: a note that cannot answer may still confirm, contradict or
    explain, but not if it is of another project."""
    return Scope(project=scope.project) if scope is not None else None


def all_in_scope(memories: MemoryLookup, scope: Scope | None) -> Iterator[Memory]:
    """The memories in a scope, listed only when iterated: most questions use none."""
    for memory in memories.all():
        if in_scope(memory, scope):
            yield memory


def _passes(memory: Memory, filters: Filters) -> bool:
    kinds = {kind.casefold() for kind in filters.types or ()}
    tags = {tag.lstrip("#").casefold() for tag in filters.tags or ()}
    return all(
        (
            filters.min_importance is None or memory.importance >= filters.min_importance,
            filters.created_after is None or memory.created_at >= filters.created_after,
            filters.created_before is None or memory.created_at <= filters.created_before,
            filters.lifecycles is None or memory.lifecycle in filters.lifecycles,
            filters.types is None or memory.type.casefold() in kinds,
            filters.tags is None or not tags.isdisjoint(memory.tag_keys),
        )
    )


FIRST_LIMIT = 100  # results of the first search
WIDENING_FACTOR = 4  # factor by which each next search is larger

MemoryFilter = Callable[[Sequence[Memory]], Collection[str]]
"""Returns the ids of the memories that pass."""


def filtered(
    search: Callable[[int], Sequence[Hit]], memory_filter: MemoryFilter, count: int
) -> list[Hit]:
    """The ``count`` best hits that pass a filter which the stores cannot apply; fewer if there are
    no more.

    Args:
        search: returns so many hits, best first.
    """
    limit, previous_count = max(FIRST_LIMIT, count), -1
    while True:
        hits = search(limit)
        ids = memory_filter([hit.memory for hit in hits])
        passed = [hit for hit in hits if hit.memory.id in ids]
        if len(passed) >= count or len(hits) <= previous_count:
            return passed[:count]
        limit, previous_count = limit * WIDENING_FACTOR, len(hits)
