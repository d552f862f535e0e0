"""Dates as Japanese, Chinese and Korean write them: 令和8年3月4日, 3月4号, 3월 4일, in full-width
digits, too."""

from __future__ import annotations

import calendar
import re

_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925}  # the years before their first
_YEAR_OF_ERA = re.compile(rf"({'|'.join(_ERAS)}) ?(元|\d{{1,2}})(?=年)")
_FULL_WIDTH = {ord("０") + digit: ord("0") + digit for digit in range(10)}
_MONTH_OR_DAY = re.compile(
    r"(?:(?P<year>(?<!\d)\d{4})[年년] ?)?(?P<month>(?<!\d)\d{1,2})[月월]"
    r"(?: ?(?P<day>\d{1,2})[日号號일])?"
)


def with_plain_years(text: str) -> str:
    """The text with its digits in ASCII and years of Japanese eras in the common count."""
    if text.isascii():
        return text
    return _YEAR_OF_ERA.sub(_common_year, text.translate(_FULL_WIDTH))


def with_english_dates(text: str) -> str:
    """The text with its days, and months of a year, in English."""
    if "月" not in text and "월" not in text:
        return text
    return _MONTH_OR_DAY.sub(_in_english, with_plain_years(text))


def _common_year(match: re.Match[str]) -> str:
    return str(_ERAS[match[1]] + (1 if match[2] == "元" else int(match[2])))


def _in_english(match: re.Match[str]) -> str:
    year, month, day = match["year"] or "", int(match["month"]), match["day"] or ""
    if not 1 <= month <= 12 or not (year or day):
        return match[0]
    return " " + " ".join(f"{day} {calendar.month_name[month]} {year}".split()) + " "
