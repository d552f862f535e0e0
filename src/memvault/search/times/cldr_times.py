"""The names of days, months, units and times near today in ten languages.

They are those of Unicode CLDR, as the package dateparser lists them.
"""

from __future__ import annotations

import calendar
import importlib.util
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from memvault.model.months import WEEKDAYS
from memvault.search.times.time_meanings import Meaning
from memvault.search.times.time_words import CODES

NEAR_DAYS = {
    "0 ago": "today", "1 ago": "yesterday", "2 ago": "day before yesterday",
    "1 from now": "tomorrow", "2 from now": "day after tomorrow",
}  # fmt: skip
_NEAR_UNITS = {"0 ago": "this", "1 ago": "last", "1 from now": "next"}
MONTH_NAMES = [name.lower() for name in calendar.month_name[1:]]


@cache
def table_of(language: str) -> dict[str, Any]:
    """The names of times in a language, as dateparser lists them.

    Its table is loaded without the package, since importing that takes 0.1 s.

    Raises:
        ModuleNotFoundError: dateparser is not installed.
    """
    package = importlib.util.find_spec("dateparser")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("No module named 'dateparser'", name="dateparser")
    folder = Path(package.origin).with_name("data") / "date_translation_data"
    path = folder / f"{CODES[language]}.py"
    spec = importlib.util.spec_from_file_location(f"times_in_{language}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return dict(module.info)


@cache
def weekday_of(name: str, language: str) -> str | None:
    """The English weekday that a language's name means; None if it is none. In lower case."""
    names = {day: {form.lower() for form in table_of(language)[day]} for day in WEEKDAYS}
    return next((day for day in WEEKDAYS if name in names[day]), None)


def relative_times(language: str) -> Iterator[tuple[str, Meaning]]:
    """A language's words for times near today ("letzte woche"), with their meanings."""
    for name, words in table_of(language)["relative-type"].items():
        match = re.fullmatch(r"(in )?(\d) (day|week|month|year)(?: ago)?", name)
        if match is None:
            continue
        unit, direction = match[3], "from now" if match[1] else "ago"
        distance = f"{match[2]} {direction}"
        meaning: Meaning = (("number", match[2]), ("unit", unit), (direction, ""))
        if unit == "day" and distance in NEAR_DAYS:
            meaning = (("day", NEAR_DAYS[distance]),)
        elif distance in _NEAR_UNITS:
            meaning = (("which", _NEAR_UNITS[distance]), ("unit", unit))
        yield from ((word.lower(), meaning) for word in words)
