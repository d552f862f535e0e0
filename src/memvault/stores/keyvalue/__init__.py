"""Small values by key, in namespaces, some of which expire."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Protocol

from memvault.stores.server import CallRecorder


class KeyValueStore(Protocol):
    """Values are bytes (callers encode). A call is atomic: all of its keys or none.

    Raises:
        StoreUnavailable: the engine does not answer.
        DiskFull: a write found no space; nothing of it is visible.
    """

    calls: CallRecorder

    def get(self, namespace: str, key: str) -> bytes | None: ...

    def get_many(self, namespace: str, keys: Collection[str]) -> dict[str, bytes]: ...

    def put(
        self, namespace: str, key: str, value: bytes, *, ttl_seconds: float | None = None
    ) -> None: ...

    def put_many(self, namespace: str, items: Mapping[str, bytes]) -> None: ...

    def delete(self, namespace: str, keys: Iterable[str]) -> None: ...

    def items(self, namespace: str, prefix: str = "") -> Iterator[tuple[str, bytes]]:
        """Keys that start with the prefix, in order."""
        ...

    def swap(self, namespace: str, items: Mapping[str, tuple[bytes | None, bytes]]) -> set[str]:
        """Put each key's second value where its first still stands (None: where there is none),
        whoever else writes; gives the keys where something else does."""
        ...

    def increment(self, namespace: str, key: str, by: int = 1) -> int:
        """Add to a counter (kept as decimal text) and return its new value."""
        ...

    def count(self, namespace: str) -> int: ...

    def clear(self, namespace: str) -> None: ...

    def lease(self, name: str, holder: str, seconds: float) -> bool:
        """Let the holder have what is named for so long, counted from now; False if another has
        it. With no seconds, give it back. A lease is the vault's: no generation's, no
        namespace's."""
        ...

    def close(self) -> None: ...
