"""The entities that the trained pipeline found in texts, cached by content hash."""

from __future__ import annotations

import logging
from pathlib import Path

from pydantic import TypeAdapter

from memvault.model.errors import StorageError
from memvault.stores.faults import is_corrupt
from memvault.stores.keyvalue.sqlite import SqliteKeyValueStore
from memvault.text.entities import FoundEntity

logger = logging.getLogger(__name__)
_ENTITIES = "entities:1"  # raise the number when the pipeline changes
_entities = TypeAdapter(tuple[FoundEntity, ...])


class EntityCache:
    """Lists of entities by content hash, in a file that outlives the indexes."""

    def __init__(self, file: Path) -> None:
        self._store = SqliteKeyValueStore(file)

    def get(self, content_hash: str) -> tuple[FoundEntity, ...] | None:
        """None if the pipeline has not read this text yet."""
        value = self._store.get(_ENTITIES, content_hash)
        return None if value is None else _entities.validate_json(value)

    def put(self, content_hash: str, entities: tuple[FoundEntity, ...]) -> None:
        self._store.put(_ENTITIES, content_hash, _entities.dump_json(entities))

    def remove(self, content_hash: str) -> None:
        """Delete the entities of a text that is permanently deleted."""
        self._store.delete(_ENTITIES, [content_hash])

    def close(self) -> None:
        self._store.close()


def open_entity_cache(file: Path) -> EntityCache:
    """The entity cache in this file; a damaged file is replaced by an empty one.

    Raises:
        StoreUnavailable: another process has the file open.
        DiskFull: the file cannot be created.
    """
    try:
        return EntityCache(file)
    except StorageError as error:
        if not is_corrupt(error):
            raise
        logger.error("The entity cache is damaged; starting with an empty one.")
    for suffix in ("", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    return EntityCache(file)
