"""Decisions and preferences of captured sessions that may deserve a note of their own.

Sessions fade. What was decided in one is proposed to the person, who keeps it, or leaves it to
fade; nothing captured is promoted by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from memvault.model.change import CurationTask, Priority, Settling, TaskType
from memvault.model.memory import Lifecycle, Memory
from memvault.vault.compose import title_of

MOST_PROPOSED = 3  # of one session, so that nobody is flooded
_TYPES = {"Decisions": "decision", "Preferences of the person": "preference"}
_SPEAKER = re.compile(r" \((?:person|assistant)\)$")
_ESCAPE = re.compile(r"\\([\[#<^:%])")


def is_captured(memory: Memory) -> bool:
    """Whether hooks captured this session."""
    return memory.type == "session" and "session" in memory.metadata


def promotion(memory: Memory, data: bytes, linking: Iterable[bytes]) -> CurationTask | None:
    """A task if a captured session holds decisions or preferences that no linking note states.

    Args:
        data: the session's note.
        linking: the notes that link to it, which its promoted sentences do.
    """
    kept = " ".join(" ".join(each.decode("utf-8", "replace").split()) for each in linking)
    proposed = [(kind, text) for kind, text in _lasting(data) if text not in kept]
    if not proposed:
        return None
    calls = tuple(
        Settling.by(
            "store_memory",
            content=text,
            title=title_of(text),
            type=kind,
            lifecycle=str(Lifecycle.PERMANENT),
            project=memory.project,
            link_to=[memory.id],
        )
        for kind, text in proposed[:MOST_PROPOSED]
    )
    count = "1 decision or preference" if len(proposed) == 1 else f"{len(proposed)} decisions"
    return CurationTask(
        task_type=TaskType.PROMOTION,
        target_nodes=(memory.id,),
        paths=(memory.path,),
        priority=Priority.LOW,
        detail=f"{count} of this session may be worth keeping: “{proposed[0][1]}”",
        settled_by=calls,
    )


def _lasting(data: bytes) -> list[tuple[str, str]]:
    """Type and sentence of each decision and preference, the last ones first."""
    found: list[tuple[str, str]] = []
    kind: str | None = None
    for line in data.decode("utf-8", "replace").splitlines():
        if line.startswith("## "):
            kind = _TYPES.get(line[3:].strip())
        elif kind is not None and line.startswith("- "):
            text = _ESCAPE.sub(r"\1", _SPEAKER.sub("", line[2:]))
            found.append((kind, " ".join(text.split())))
    return found[::-1]
