"""The key-value store: small values by key in namespaces, optionally expiring."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Protocol

from memvault.stores.server import CallRecorder

Rows = Mapping[str, Mapping[str, bytes]]  # values by key, by namespace
NOTHING: Mapping[str, Any] = MappingProxyType({})


class KeyValueStore(Protocol):
    """Stores values as bytes, which callers encode. Every call is atomic. Thread-safe.

    Raises:
        StoreUnavailable: the engine does not answer.
        DiskFull: there is no space for a write; none of it is visible.
    """

    calls: CallRecorder

    def get(self, namespace: str, key: str) -> bytes | None: ...

    def get_many(self, namespace: str, keys: Collection[str]) -> dict[str, bytes]: ...

    def put(
        self, namespace: str, key: str, value: bytes, *, ttl_seconds: float | None = None
    ) -> None: ...

    def put_many(self, namespace: str, items: Mapping[str, bytes]) -> None: ...

    def change(self, deleted: Mapping[str, Collection[str]], written: Rows) -> None:
        """Delete keys, then write values, both by namespace, all at once."""
        ...

    def delete(self, namespace: str, keys: Iterable[str]) -> None: ...

    def items(self, namespace: str, prefix: str = "") -> Iterator[tuple[str, bytes]]:
        """Keys and values whose key starts with the prefix, ordered by key."""
        ...

    def swap(self, namespace: str, items: Mapping[str, tuple[bytes | None, bytes]]) -> set[str]:
        """Compare and set: write each key's second value if its current value is the first (None:
        if it has none). Returns the keys that have another value."""
        ...

    def increment(self, namespace: str, key: str) -> int:
        """Add one to a counter (kept as decimal text) and return its new value."""
        ...

    def count(self, namespace: str) -> int: ...

    def lease(self, name: str, holder: str, seconds: float) -> bool:
        """Acquire or renew a lease for these seconds; False if another holder has it.

        Zero seconds release it. Leases belong to the vault, not to a generation or namespace.
        """
        ...

    def close(self) -> None: ...
