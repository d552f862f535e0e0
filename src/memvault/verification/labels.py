"""The labels of a memory that an answer shows next to its text: type, tags, day, project, reason.

They may state something, too. Next to the person's words only the person's labels are shown, and
none with a text that is withheld.
"""

from __future__ import annotations

from typing import Any

from memvault.model.memory import Memory
from memvault.model.provenance import plain_words
from memvault.model.search import Hit
from memvault.verification.claims.claim_sources import is_own_day

NO_TYPE = "note"  # of a note without a type
LABELS = ("type", "tags", "date", "project", "rationale")


def hidden_labels(hit: Hit) -> dict[str, Any]:
    """The labels of a hit that an answer must leave out (None) or show with fewer values."""
    memory = hit.memory
    if hit.withheld:
        return dict.fromkeys(LABELS)
    if memory.verified or not memory.provenance.is_mixed:
        return {}
    type_line, day = f"type: {memory.type}", memory.date
    is_own_type = memory.type == NO_TYPE or memory.provenance.of_property(type_line).is_person
    return {
        "type": memory.type if is_own_type else None,
        "tags": [tag for tag in memory.tags if _is_own_tag(tag, memory)],
        "date": day if day is not None and is_own_day(day.date(), memory) else None,
        "rationale": None,
    }


def _is_own_tag(tag: str, memory: Memory) -> bool:
    """Whether the person's properties have the tag, or their sentences have it as one word."""
    words = f" {plain_words(tag)} "
    lines = list(memory.provenance.own_properties)
    if " " not in words.strip():
        lines += memory.provenance.own.split("\n")
    return any(words in f" {line} " for line in lines)
