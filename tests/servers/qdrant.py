"""Qdrant's client without a server: its local mode, which answers as the server does, slowly and
to one thread at a time."""

from __future__ import annotations

import warnings
from typing import Any

from qdrant_client import QdrantClient


class LocalQdrant(QdrantClient):
    """In memory. Like a server, it keeps what it has when a client closes."""

    def __init__(self) -> None:
        super().__init__(":memory:")

    def create_payload_index(self, *args: Any, **kwargs: Any) -> Any:
        with warnings.catch_warnings(action="ignore"):  # it has none, and says so every time
            return super().create_payload_index(*args, **kwargs)

    def close(self, *args: Any, **kwargs: Any) -> None:
        """The next store is given the same."""
