"""How answers show a change of the history."""

from __future__ import annotations

from typing import Literal

from mcp_server.answers.base import utc
from mcp_server.answers.operations import ActorShape, DoneShape
from memvault.curation.wording import description
from memvault.model.change import Change

_TYPES: dict[str, Literal["agent", "system", "user"]] = {
    "client": "agent", "person": "user", "system": "system",
}  # fmt: skip


def actor_shape(change: Change) -> ActorShape:
    """As graph-tools words it: a client is an agent, the person a user."""
    kind = _TYPES[change.actor.kind]
    return ActorShape(type=kind, id=change.actor.name or change.actor.kind)


def done_shape(change: Change) -> DoneShape:
    return DoneShape(
        reversal_hash=change.reversal_hash,
        kind=change.kind,
        timestamp=utc(change.at),
        actor=actor_shape(change),
        description=description(change),
        paths=list(change.paths),
    )
