"""The name of a change, by which it is taken back."""

from __future__ import annotations

import json
from datetime import datetime
from hashlib import blake2b
from typing import Any


def reversal_hash(kind: str, when: datetime, target: str, before: Any) -> str:
    """blake2b-128 of what was done, when, to what, and what was there before, in hex.

    Two changes of one thing differ by their moment, which is recorded to the microsecond.
    """
    said = json.dumps([kind, when.isoformat(), target, before], sort_keys=True, default=str)
    return blake2b(said.encode(), digest_size=16).hexdigest()
