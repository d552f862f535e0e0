"""Entities that the trained pipeline found, cached by a note's content hash."""

from __future__ import annotations

import logging
from pathlib import Path

from pydantic import TypeAdapter

from memvault.model.errors import StorageError
from memvault.stores.faults import is_corrupt
from memvault.stores.keyvalue.sqlite import SqliteKeyValueStore
from memvault.text.spacy_pipeline import FoundEntity

logger = logging.getLogger(__name__)
NAMESPACE = "entities:1"  # raise the number when the pipeline finds something else in a text


_entities = TypeAdapter(tuple[FoundEntity, ...])


class EntityCache:
    """Lists of entities by content hash, in a file that outlives the indexes."""

    def __init__(self, file: Path) -> None:
        self._store = SqliteKeyValueStore(file)

    def get(self, content_hash: str) -> tuple[FoundEntity, ...] | None:
        """None if the pipeline has not read this text yet."""
        value = self._store.get(NAMESPACE, content_hash)
        return None if value is None else _entities.validate_json(value)

    def put(self, content_hash: str, entities: tuple[FoundEntity, ...]) -> None:
        self._store.put(NAMESPACE, content_hash, _entities.dump_json(entities))

    def remove(self, content_hash: str) -> None:
        """Forget what was found in a text that is deleted for good."""
        self._store.delete(NAMESPACE, [content_hash])

    def close(self) -> None:
        self._store.close()


def open_found(file: Path) -> EntityCache:
    """What was found, begun anew where the file is damaged.

    Raises:
        StoreUnavailable: another process has the file open.
        DiskFull: there is no room for it.
    """
    try:
        return EntityCache(file)
    except StorageError as error:
        if not is_corrupt(error):
            raise
        logger.error("the entity cache is damaged: beginning a new one")
    for suffix in ("", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    return EntityCache(file)
