"""How a memory has been used: what no note says (the notes are not rewritten for it)."""

from __future__ import annotations

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from memvault.model.johari import UTLState
from memvault.model.versioned import Fields, Format


class MemoryActivity(BaseModel):
    """``agent_id`` is the client that stored the memory and ``utl_state`` its learning state at
    that moment; both are None for a note that a person wrote."""

    model_config = ConfigDict(frozen=True)

    access_count: int = Field(0, ge=0)
    last_accessed: AwareDatetime | None = None
    agent_id: str | None = None
    utl_state: UTLState | None = None

    def merged(self, other: MemoryActivity) -> MemoryActivity:
        """Two accounts of one memory as one. Counts only grow, so the larger is the later."""
        moments = [each.last_accessed for each in (self, other) if each.last_accessed is not None]
        return MemoryActivity(
            access_count=max(self.access_count, other.access_count),
            last_accessed=max(moments, default=None),
            agent_id=self.agent_id or other.agent_id,
            utl_state=self.utl_state or other.utl_state,
        )


def _from_1(fields: Fields) -> Fields:
    """Format 1 kept the learning state as a list: delta_s, delta_c, w_e, phi."""
    values = fields.get("utl_state")
    if not isinstance(values, list):
        return fields
    return fields | {"utl_state": dict(zip(UTLState.model_fields, values, strict=True))}


FORMAT = Format("activity of memory", (_from_1,))
