"""Dates as people write them in frontmatter."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from typing import Any

_MONTHS = {
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6,
    "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
}  # fmt: skip
_MONTH = r"(?P<month>[A-Za-z]{3,9})\.?"
_YEAR_FIRST = re.compile(r"(?P<y>\d{4})[-/.](?P<m>\d{1,2})(?:[-/.](?P<d>\d{1,2}))?(?!\d)")
_DAY_FIRST = re.compile(r"(?<!\d)(?P<a>\d{1,2})(?P<gap>[./-])(?P<b>\d{1,2})(?P=gap)(?P<y>\d{4})")
_WRITTEN = (
    re.compile(r"(?<!\d)(?P<d>\d{1,2})(?:st|nd|rd|th)?\.?(?: of)? " + _MONTH + r",? (?P<y>\d{4})"),
    re.compile(_MONTH + r" (?P<d>\d{1,2})(?:st|nd|rd|th)?,? (?P<y>\d{4})"),
)
_TIME = re.compile(
    r"(?<![\d:.])(?P<h>\d{1,2}):(?P<min>\d{2})(?::(?P<s>\d{2}))?\s*(?P<half>[ap]\.?m\.?)?",
    re.IGNORECASE,
)


def read_date(value: Any) -> datetime | None:
    """A date or time as UTC, or None if the value is none.

    Known are YAML's own dates, ISO 8601, 2026/03/01, 1.3.2026, 25/12/2026 (where only one order
    is possible), "1 March 2026", "March 1st, 2026", each with or without a time such as
    "7:38 pm"; 2026-03 is its first day. A time without a zone is taken for UTC, so that the same
    note reads the same everywhere.
    """
    if isinstance(value, datetime):
        return _utc(value)
    if isinstance(value, date):
        return datetime.combine(value, time.min, UTC)
    if isinstance(value, list) and len(value) == 1:
        return read_date(value[0])
    if not isinstance(value, str) or len(value) > 100:
        return None
    text = value.strip().strip("[]").strip()
    try:
        return _utc(datetime.fromisoformat(text)) if not text.isdigit() else None
    except ValueError:
        pass
    day = _day(text)
    if day is None:
        return None
    return datetime.combine(day, _time(text), UTC)


def _utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return moment.replace(tzinfo=UTC)


def _day(text: str) -> date | None:
    if match := _YEAR_FIRST.search(text):
        return _checked(match["y"], match["m"], match["d"] or "1")
    if match := _DAY_FIRST.search(text):
        first, second = match["a"], match["b"]
        if match["gap"] == "." or int(first) > 12 or first == second:
            return _checked(match["y"], second, first)
        return _checked(match["y"], first, second) if int(second) > 12 else None
    for pattern in _WRITTEN:
        if match := pattern.search(text):
            month = _MONTHS.get(match["month"][:3].lower())
            return _checked(match["y"], str(month), match["d"]) if month else None
    return None


def _checked(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def _time(text: str) -> time:
    match = _TIME.search(text)
    if match is None:
        return time.min
    hour = int(match["h"])
    if match["half"]:
        hour = hour % 12 + (12 if match["half"].lower().startswith("p") else 0)
    try:
        return time(hour, int(match["min"]), int(match["s"] or 0))
    except ValueError:
        return time.min
