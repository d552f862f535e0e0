"""The entities that the trained pipeline found in texts, cached by content hash."""

from __future__ import annotations

from pathlib import Path

from pydantic import TypeAdapter

from memvault.stores.keyvalue.cache_file import open_cache_file
from memvault.text.entities import FoundEntity

_ENTITIES = "entities:1"  # raise the number when the pipeline changes
_entities = TypeAdapter(tuple[FoundEntity, ...])


class EntityCache:
    """Lists of entities by content hash, in a file that outlives the indexes.

    Raises:
        StoreUnavailable: another process has the file open.
        DiskFull: the file cannot be created.
    """

    def __init__(self, file: Path) -> None:
        self._store = open_cache_file(file)

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
