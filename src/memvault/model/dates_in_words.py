"""Recognises a text that is nothing but a date, in the languages of `months`.

The year is what such a text may lack: "Friday 18 September", "Freitag, den 18. September".
"""

from __future__ import annotations

import re

from memvault.model.months import NAMED_MONTHS, WEEKDAYS

# German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian, Czech, Slovak, Ukrainian,
# Swedish, Danish with Norwegian, and Romanian.
_NAMES = """
montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag
lundi mardi mercredi jeudi vendredi samedi dimanche
lunes martes miércoles jueves viernes sábado domingo
lunedì martedì mercoledì giovedì venerdì sabato domenica
segunda terça quarta quinta sexta feira
maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
poniedziałek wtorek środa czwartek piątek sobota niedziela
понедельник вторник среда четверг пятница суббота воскресенье
pondělí úterý středa čtvrtek pátek neděle pondelok utorok streda štvrtok piatok nedeľa
понеділок вівторок середа четвер п'ятниця субота неділя
måndag tisdag onsdag torsdag fredag lördag söndag
mandag tirsdag lørdag søndag
luni marți miercuri joi vineri sâmbătă duminică
"""
_WEEKDAYS = (*WEEKDAYS, *_NAMES.split())
_PARTICLES = frozenset(
    ("the", "of", "den", "der", "de", "del", "di", "le", "la", "el", "il", "am", "på")
)  # fmt: skip
_WEEKS = frozenset(
    ("week", "woche", "kw", "semaine", "semana",
     "settimana", "tydzień", "týden", "vecka", "uge")
)  # fmt: skip
_WHOLE_NAMES = {*_WEEKDAYS, *NAMED_MONTHS, *_WEEKS}
_ORDINAL = re.compile(r"\d{1,2}(?:st|nd|rd|th|er)?")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_LEAST_LETTERS = 2  # of an abbreviated weekday: "Mo", "Fri"


def is_date_without_year(text: str) -> bool:
    """Whether each word of a text is a weekday, a month, "week", a small number, or joins these.

    Without a number, only whole names count: "We do" has no abbreviated weekdays.
    """
    words = _WORD.findall(text.lower().replace("’", "'"))
    if not any(word[0].isdigit() for word in words):
        return bool(words) and _WHOLE_NAMES.issuperset(words)
    return all(map(_is_of_a_date, words))


def is_weekday(word: str) -> bool:
    """Whether a word in lower case is a weekday or its abbreviation."""
    if len(word) < _LEAST_LETTERS or word in NAMED_MONTHS:
        return False
    return any(name.startswith(word) for name in _WEEKDAYS)


def _is_of_a_date(word: str) -> bool:
    if word[0].isdigit():
        return _ORDINAL.fullmatch(word) is not None
    return word in _WHOLE_NAMES or word in _PARTICLES or is_weekday(word)
