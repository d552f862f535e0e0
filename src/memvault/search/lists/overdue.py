"""When notes and tasks are due, and questions for what is overdue.

A note is overdue if one of its properties names a day to be done by that is past, and none says
that it is done.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from memvault.model.memory import Memory
from memvault.search.property_text import day_of_value, is_no, words_of_key
from memvault.search.times.time_expressions import single_days
from memvault.text.words import composed, some_words

_OVERDUE = re.compile(
    r"\b(?:overdue|past due|überfällig\w*|en retard|échue?s?|vencid[oa]s?|atrasad[oa]s?|"
    r"scadut[oaie]|achterstallig\w*|просрочен\w*)\b|期限切れ|逾期",
    re.IGNORECASE,
)
# Of properties and of tasks, as an expression.
_DUE_WORDS = (
    "due|deadline|fällig(?:keit)?|frist|échéance|vencimiento|vence|scadenza|vencimento|prazo|"
    "vervaldatum|срок"
)
_DUE_KEY = re.compile(
    rf"\b(?:{_DUE_WORDS}|fällig\w*|pay(?:able)? by|return by)\b|期限|截止", re.IGNORECASE
)
_DUE_TASK = re.compile(
    rf"[📅⏳🛫]|@\{{|\b(?:{_DUE_WORDS}|scheduled|stichtag|spätestens|bis zum|date limite|à rendre|"
    r"avant le|au plus tard|d['’]ici|plazo|fecha límite|antes del|scade|entro|termine|"
    r"data limite|até|uiterlijk|inleveren|не позднее)\b|期限|締め?切り?|截止|到期",
    re.IGNORECASE,
)
_DAY_CHARS = 30  # characters after a task's marker in which the day is
# Keys and values of what is no longer due.
_DONE_WORDS = (
    "paid done completed complete closed settled finished cancelled canceled returned received "
    "bezahlt erledigt abgeschlossen storniert payée payé réglée réglé terminée terminé annulée "
    "annulé pagada pagado cerrada cerrado cancelada cancelado pagata pagato chiusa chiuso pago "
    "paga betaald afgerond оплачен оплачено 支払済 已付"
)
DONE = frozenset(_DONE_WORDS.split())
_NOT = frozenset(["not", "nicht", "pas", "non", "no", "não", "niet", "не"])


def asks_for_overdue(question: str) -> bool:
    """Whether a question has a word for "overdue"."""
    return _OVERDUE.search(composed(question)) is not None


def without_overdue(question: str) -> str:
    """The question without its words for "overdue"."""
    return _OVERDUE.sub(" ", composed(question))


def overdue_since(fields: Mapping[str, str], day: date) -> date | None:
    """The first day on which a note was due, if that is before a day and no property says that it
    was done by then.

    Args:
        fields: the shown value of each property, by its key.
    """
    due_on = (
        day_of_value(value) for key, value in fields.items() if _DUE_KEY.search(words_of_key(key))
    )
    past_days = [due for due in due_on if due is not None and due < day]
    return (
        min(past_days)
        if past_days and not any(_is_done(*item, day) for item in fields.items())
        else None
    )


def due_days(memory: Memory, task: str) -> list[date]:
    """The days on which a task of a note is due."""
    due = (task[match.end() :][:_DAY_CHARS] for match in _DUE_TASK.finditer(task))
    return [day for text in due for day in single_days(text, memory.day)[:1]]


def _is_done(key: str, value: str, day: date) -> bool:
    if not DONE.isdisjoint(words_of_key(key).casefold().split()):
        day_done = day_of_value(value)
        return not is_no(value) if day_done is None else day_done <= day
    words = some_words(value)
    return not DONE.isdisjoint(words) and _NOT.isdisjoint(words)
