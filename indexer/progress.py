"""How far a long piece of indexing has come."""

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


def silent(_: Progress) -> None:
    """Report to nobody."""


@dataclass(slots=True)
class ScanReport:
    """What a scan or a batch of changes came to."""

    indexed: int = 0
    relinked: int = 0  # unchanged notes whose edges changed because other notes did
    unfinished: bool = False  # whether something is left for `Indexer.finish_some`
    removed: int = 0
    unchanged: int = 0
    problems: list[str] = field(default_factory=list)
