"""How far the process is that indexes, told through the key-value store to those that follow."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from memvault.stores.keyvalue import KeyValueStore

NAMESPACE, KEY = "indexer", "standing"
KEPT_SECONDS = 30.0  # as long as a lease: an older one is of a process that has ended


@dataclass(frozen=True, slots=True)
class Standing:
    """Of one process since it began.

    Attributes:
        lag_seconds: how long the oldest change that is not indexed yet has waited.
        notes: written to the indexes; seconds: that this took.
        entities_waiting: notes that the trained pipeline has not read yet.
    """

    lag_seconds: float = 0.0
    notes: int = 0
    seconds: float = 0.0
    entities_waiting: int = 0


def tell(store: KeyValueStore, standing: Standing) -> None:
    value = json.dumps(asdict(standing)).encode()
    store.put(NAMESPACE, KEY, value, ttl_seconds=KEPT_SECONDS)


def told(store: KeyValueStore) -> Standing | None:
    """What was told last; None if no process has for a while, or one of another version."""
    value = store.get(NAMESPACE, KEY)
    try:
        return None if value is None else Standing(**json.loads(value))
    except (TypeError, ValueError):
        return None
