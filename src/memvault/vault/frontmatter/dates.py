"""Dates and times as properties, titles and paths give them, in the forms of several languages."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from pathlib import PurePosixPath
from typing import Any

from memvault.model.east_asian_dates import with_english_dates
from memvault.model.moments import WEEK_IN_NAME, full_year, in_utc
from memvault.model.months import NAMED_MONTHS

_MONTH = r"(?P<month>[^\W\d_]{3,10})\.?"
_DAY = r"(?<!\d)(?P<d>\d{1,2})(?:st|nd|rd|th|er|º|°)?"
_YEAR_FIRST = re.compile(r"(?<!\d)(?P<y>\d{4})[-/.](?P<m>\d{1,2})(?:[-/.](?P<d>\d{1,2}))?(?!\d)")
_DAY_FIRST = re.compile(
    r"(?<![\w.])(?P<a>\d{1,2})(?P<gap>[./-])(?P<b>\d{1,2})(?P=gap)(?P<y>\d{4}|(?<=\.)\d{2}(?![\d.]))"
)
_WRITTEN = (
    re.compile(_DAY + r"\.?(?: of| de)? " + _MONTH + r"(?: de)?,? (?P<y>\d{4})"),
    re.compile(_MONTH + " " + _DAY + r",? (?P<y>\d{4})"),
)
_TIME = re.compile(
    r"(?<![\d:.])(?P<h>\d{1,2}):(?P<min>\d{2})(?::(?P<s>\d{2}))?\s*(?P<half>[ap]\.?m\.?)?",
    re.IGNORECASE,
)
_WHOLE_DAY = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")
_IN_DIGITS = re.compile(r"(?<![^\W_])(?<![./–-])\d{1,2}([.-])\d{1,2}\1(?:19|20)\d\d(?![\d.-])")

_STEM_DATE = re.compile(  # with _ in Logseq; eight digits alone only of these centuries
    r"(?:(?=19|20)|(?=\d{4}[-_.]))(?P<y>\d{4})(?P<gap>[-_.]?)(?P<m>\d\d)(?P=gap)(?P<d>\d\d)"
    r"(?!\d|(?<=\.\d\d)\.\d)"
)
_PATH_DATE = re.compile(
    r"(?:^|.*/)(?P<y>(?:19|20)\d\d)/(?P<m>\d\d)(?:[ _-]+(?P<month>[^\W\d_]+))?/(?P<d>\d\d)\.\w+"
)


def read_date(value: Any) -> datetime | None:
    """Parse a date or time as UTC; None if the value is not a date.

    Supported are YAML dates, ISO 8601, 2026/03/01, 1.3.2026, 25/12/2026 (if only one order is
    possible), 1.3.26, "1 March 2026" and "March 1st, 2026", also with names of months of seven
    other languages ("1. März 2026") and as in East Asia (令和8年3月1日), each with or without a
    time such as "7:38 pm"; 2026-03 means its first day. A time without a zone is UTC, so that a
    note has the same dates on every machine.
    """
    if isinstance(value, datetime):
        return in_utc(value)
    if isinstance(value, date):
        return datetime.combine(value, time.min, UTC)
    if isinstance(value, list) and len(value) == 1:
        return read_date(value[0])
    if not isinstance(value, str) or len(value) > 100:
        return None
    text = with_english_dates(value).strip().strip("[]").strip()
    try:
        return in_utc(datetime.fromisoformat(text)) if not text.isdigit() else None
    except ValueError:
        pass
    day = _day(text)
    if day is None:
        return None
    return datetime.combine(day, _time(text), UTC)


def _day(text: str) -> date | None:
    if match := _YEAR_FIRST.search(text):
        return _valid_date(match["y"], match["m"], match["d"] or "1")
    if match := _DAY_FIRST.search(text):
        first, second = match["a"], match["b"]
        if match["gap"] == "." or int(first) > 12 or first == second:
            return _valid_date(match["y"], second, first)
        return _valid_date(match["y"], first, second) if int(second) > 12 else None
    for pattern in _WRITTEN:
        if match := pattern.search(text):
            month = NAMED_MONTHS.get(match["month"].lower())
            return _valid_date(match["y"], str(month), match["d"]) if month else None
    return None


def _valid_date(year: str, month: str, day: str) -> date | None:
    try:
        return date(full_year(int(year), date.today()), int(month), int(day))
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


def date_of_title(title: str) -> datetime | None:
    """The full date in a title ("Walk of 8 May 2023", "27-11-2026"); a month alone is none."""
    text = with_english_dates(title)
    patterns = (_WHOLE_DAY, *_WRITTEN, _IN_DIGITS)
    days = [match[0] for pattern in patterns if (match := pattern.search(text))]
    return next((day for day_text in days if (day := read_date(day_text))), None)


def date_of_path(path: str) -> datetime | None:
    """The date at the start of a file name or of a session's folder name, or in ``2026/11/27.md``.

    For a weekly note ("2026-W35") it is the Monday.
    """
    stem = PurePosixPath(path).stem
    if match := _STEM_DATE.match(stem):
        return _day_in(match)
    if match := _PATH_DATE.fullmatch(path):
        month = match["month"]  # its name, unlike that of a chapter
        is_month = month is None or NAMED_MONTHS.get(month.lower()) == int(match["m"])
        return _day_in(match) if is_month else None
    if match := WEEK_IN_NAME.match(stem):
        try:
            monday = date.fromisocalendar(int(match[1]), int(match[2]), 1)
        except ValueError:
            return None
        return read_date(monday)
    parts = path.split("/")
    in_session = len(parts) > 2 and parts[0].casefold() == "sessions"
    match = _STEM_DATE.match(parts[1]) if in_session else None
    return _day_in(match) if match else None


def _day_in(match: re.Match[str]) -> datetime | None:
    return read_date(f"{match['y']}-{match['m']}-{match['d']}")
