"""The days on which tasks are due."""

from __future__ import annotations

import re
from datetime import date

from memvault.model.memory import Memory
from memvault.search.lists.overdue import DUE_WORDS
from memvault.search.times.time_expressions import single_days

_DUE = re.compile(
    rf"[📅⏳🛫]|\b(?:{DUE_WORDS}|scheduled|stichtag|spätestens|bis zum|date limite|à rendre|"
    r"avant le|au plus tard|d['’]ici|plazo|fecha límite|antes del|scade|entro|termine|"
    r"data limite|até|uiterlijk|inleveren|не позднее)\b|期限|締め?切り?|截止|到期",
    re.IGNORECASE,
)
_DAY_CHARS = 30  # characters after the marker in which the day is


def due_days(memory: Memory, task: str) -> list[date]:
    """The days on which a task of a note is due."""
    due = (task[match.end() :][:_DAY_CHARS] for match in _DUE.finditer(task))
    return [day for text in due for day in single_days(text, memory.day)[:1]]
