"""What was written down."""

from __future__ import annotations

from datetime import datetime

from mcp_server.answers.base import Answer
from memvault.model.johari import JohariQuadrant, UTLState


class StoredAnswer(Answer):
    node_id: str
    path: str
    created_at: datetime
    johari_quadrant: JohariQuadrant
    utl_state: UTLState


class PreferenceAnswer(Answer):
    """``value`` and ``path`` are null for a preference that the person never stated."""

    key: str
    value: str | None
    path: str | None
