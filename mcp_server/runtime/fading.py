"""Lets old sessions fade in the background while no request runs."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from memvault.curation.session_fading import SessionFading
from memvault.model.change import TaskType
from memvault.model.errors import DiskFull, MemvaultError
from memvault.model.memory import Memory

if TYPE_CHECKING:
    from indexer.catalogue import NoteRecord
    from mcp_server.runtime.container import Container

logger = logging.getLogger(__name__)
FADE = "fade old sessions"
FIRST_SECONDS = 60.0  # after the start
EVERY_SECONDS = 3600.0
QUIET_SECONDS = 20.0  # without a call, before a session fades
RETRY_SECONDS = 10.0  # while requests run
_CONFLICTS = {
    TaskType.MALFORMED_FRONTMATTER, TaskType.MALFORMED_TEXT, TaskType.CONFLICTING_FACTS,
}  # fmt: skip


def open_fading(container: Container) -> SessionFading:
    """The fading of this container's notes."""

    def notes() -> Iterator[NoteRecord]:
        for record in container.live.catalogue.records():
            if not (record.frontmatter_problem or record.warnings):
                yield record

    def is_disputed(memory: Memory) -> bool:
        if container.curation.kinds([memory.id]) & _CONFLICTS:
            return True
        return any(text.path == memory.path for text in container.quarantine.held_texts())

    return SessionFading(
        container.curator,
        container.indexed_vault,
        container.indexing.index_written,
        log=container.fading_log,
        settings=container.settings.fading,
        notes=notes,
        is_disputed=is_disputed,
        last_read=lambda memory_id: container.activity.of(memory_id).last_accessed,
        is_disk_low=lambda: bool(container.upkeep.low_disk()),
        embed=container.embedder.embed,
        is_order=lambda text: container.immunity.check(text).adversarial,
    )


def fade_due_sessions(container: Container) -> float:
    """Announce and fade memories that are due, one after another, until a request comes.

    Returns the seconds until the next step.
    """
    fading = container.fading
    if not (fading.is_on and container.indexing.is_settled):
        return EVERY_SECONDS
    fading.announce()
    if not (due := fading.due()):
        return EVERY_SECONDS
    rarity = fading.rarity()
    for each in due:
        if container.worker.stopped or container.requests.idle_seconds() < QUIET_SECONDS:
            return RETRY_SECONDS
        try:
            fading.fade(each, rarity)
        except DiskFull as error:
            logger.warning("fading waits: %s", error.message)
            break
        except MemvaultError as error:
            logger.warning("%s does not fade now: %s", each.memory.path, error.message)
    return EVERY_SECONDS
