"""How far indexing is, and what a scan did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Progress:
    """``stage`` is reading, indexing, linking or entities; counts are notes."""

    stage: str
    done: int
    total: int


Report = Callable[[Progress], None]


def report_nothing(_: Progress) -> None:
    """Ignore the progress."""


@dataclass(slots=True)
class ScanReport:
    """The result of a scan or a batch of changes."""

    indexed: int = 0
    relinked: int = 0  # unchanged notes whose edges changed because other notes did
    unfinished: bool = False  # whether work is left for `Indexer.finish_some`
    removed: int = 0
    unchanged: int = 0
    problems: dict[str, str] = field(default_factory=dict)  # by path: why it was not read
