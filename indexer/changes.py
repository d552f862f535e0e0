"""Which notes were indexed anew, told through the key-value store to processes elsewhere."""

from __future__ import annotations

import json
from collections.abc import Collection

from memvault.stores.keyvalue import KeyValueStore

NAMESPACE, NUMBER = "changes", "changes_number"
KEPT_SECONDS = 3600.0
MOST_PATHS = 1_000  # of a change told by its paths; a larger one says that anything may differ


class Changes:
    """A numbered list of changes in one generation's store, each kept for an hour."""

    def __init__(self, store: KeyValueStore) -> None:
        self._store = store

    def tell(self, paths: Collection[str] | None) -> None:
        """These notes have changed, or any, if None."""
        few = sorted(paths) if paths is not None and len(paths) <= MOST_PATHS else None
        number = self._store.increment(NUMBER, NUMBER)
        self._store.put(NAMESPACE, _key(number), json.dumps(few).encode(), ttl_seconds=KEPT_SECONDS)

    def number(self) -> int:
        """Of the last change."""
        return int(self._store.get(NUMBER, NUMBER) or b"0")

    def between(self, seen: int, last: int) -> set[str] | None:
        """The paths of the changes after the one seen, up to the last; None for any."""
        keys = [_key(number) for number in range(seen + 1, last + 1)]
        if last < seen or len(keys) > MOST_PATHS:
            return None
        found = self._store.get_many(NAMESPACE, keys)
        told = [json.loads(value) for value in found.values()]
        if len(told) < len(keys) or None in told:
            return None
        return {path for paths in told for path in paths}


def _key(number: int) -> str:
    return f"{number:015}"
