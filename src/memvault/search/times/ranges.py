"""Times with a beginning and an end, such as "from 7 to 14 December" or "7-14 Dec", whose ends may
lack a month or a year, or say a weekday."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from memvault.model.dates_in_words import is_weekday
from memvault.model.months import WEEKDAYS
from memvault.search.times.expression_spans import (
    either_or_coming,
    names_no_year,
    next_such,
    span_of,
)
from memvault.search.times.time_patterns import (
    BETWEEN,
    DAY_IN_DIGITS,
    DAY_WORDS,
    EXPRESSION,
    MOVED,
    UNTIL,
    WORD,
    WRITTEN_RANGE,
)
from memvault.search.times.time_spans import Calendar, Span

Point = tuple[re.Match[str], Span]
LONGEST_RANGE = timedelta(31)  # of a longer time, as of a project, a note names only the ends
_NEAR = 40  # characters
_LONGEST = timedelta(366)  # of a range whose ends name no year
_YEAR_AT_END = re.compile(r"\b(?:\d{4}|(?:last|this|next) year)$", re.I)
_BARE_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|º|°|\.)?", re.I)
_ARTICLE = re.compile(r"^(?:the|l[eao]s?|el|il|de[rmns]|das|het|os?|as?) |^l['’]", re.I)
_ITS_WEEKDAY = re.compile(r"([^\W\d_]+)(?:-feira)?\.?,? (?:(?:the|de[mnr]|il|le) )?(?=\d)", re.I)
_WORDS_FOR_IN = ("on", "im", "en", "in", "em", "w", "в")


def days_of_ranges(text: str, calendar: Calendar) -> tuple[list[Span], str]:
    """Each day of the times with a beginning and an end in a text ("away 3-10 May"), and the text
    without these, but not of one time that became another ("moved from 3 May to 10 May")."""
    days, lines = dict[Span, None](), text.split("\n")  # each once, however often it is named
    for index, line in enumerate(lines):
        if not may_name_day(line):
            continue
        characters = list(line)  # which, unlike a text, change in place
        for match, beginning, ending in ranges(line):
            if not has_dash(match) and MOVED.search(line, *_around(match)):
                continue
            if (found := range_between(beginning, ending, calendar)) is not None:
                span, coming, after = found
                meant = either_or_coming(span, coming, calendar.today) if coming else [span]
                days |= dict.fromkeys(Span(day, day) for one in meant for day in days_in(one))
                start, end = match.start(), match.end() - after
                characters[start:end] = " " * (end - start)
        lines[index] = "".join(characters)
    return [*days], "\n".join(lines)


def _around(match: re.Match[str]) -> tuple[int, int]:
    """Where the words before and after a time begin and end that may say that it was moved."""
    return max(0, match.start() - _NEAR), match.end() + _NEAR


def may_name_day(line: str) -> bool:
    is_in_digits = DAY_IN_DIGITS.search(line) is not None
    return is_in_digits or not DAY_WORDS.isdisjoint(WORD.findall(line.lower()))


def days_in(span: Span) -> list[date]:
    """Each day of a time; of a long one the first and the last."""
    length = span.last - span.first
    if length > LONGEST_RANGE:
        return [span.first, span.last]
    return [span.first + timedelta(days) for days in range(length.days + 1)]


def ranges(text: str) -> Iterator[tuple[re.Match[str], str, str]]:
    """The places that may be a time with a beginning and an end, and these."""
    for pattern in BETWEEN:
        for match in pattern.finditer(text):
            yield match, match[1], match[2]
    for match in WRITTEN_RANGE.finditer(text):
        yield match, *_ends_of(match)


def has_dash(match: re.Match[str]) -> bool:
    """Whether a match of a time with a beginning and an end has a dash between them, no word."""
    return match.re is WRITTEN_RANGE and UNTIL.search(match[0]) is None


def _ends_of(written: re.Match[str]) -> tuple[str, str]:
    """The beginning and the ending of a match of `WRITTEN_RANGE`; one of them may be a number."""
    if written["day"]:
        return written["day"], written["of_month"]
    if written["of"]:
        return f"{written['of']} {written['from']}{written['year']}", written["to"]
    return written["first"], written["last"]


def range_between(
    beginning: str, ending: str, calendar: Calendar
) -> tuple[Span, Span | None, int] | None:
    """The days from a beginning to an ending; the next such ones, if the text does not say which
    are meant; and how many characters after the ending are not part of it. None if it is no time.
    """
    if (both := points(beginning, ending, calendar)) is None:
        return None
    (start, first_span), (end, last_span), after = both
    if names_no_year(start) and (year := _YEAR_AT_END.search(ending)):  # "May and July 2025"
        start, first_span = point(f"{start[0]} {year[0]}", calendar) or both[0]
        first_span = first_span.earlier(1) if last_span.last < first_span.first else first_span
    if (before := weekday_before(start, end, last_span)) is not None:
        first_span = before
    if last_span.last < first_span.first and not _BARE_DAY.fullmatch(beginning):
        last_span = next_such(end, last_span, calendar.today) or last_span
    is_too_long = names_no_year(start) and last_span.last - first_span.first > _LONGEST
    if last_span.last < first_span.first or is_too_long:
        return None
    coming, next_last = None, next_such(end, last_span, calendar.today)
    if next_last is not None:
        next_first = weekday_before(start, end, next_last) or next_such(
            start, first_span, calendar.today
        )
        if next_first is not None and next_first.first <= next_last.last:
            coming = Span(next_first.first, next_last.last)
    return Span(first_span.first, last_span.last), coming, after


def points(beginning: str, ending: str, calendar: Calendar) -> tuple[Point, Point, int] | None:
    """The ends of a time, and how many characters after it are not part of it; None if one of them
    is no time. A date counts without its weekday."""
    whole = _ARTICLE.sub("", beginning), _ARTICLE.sub("", ending)
    first, last = map(_without_weekday, whole)
    start = point(_with_month(first, last), calendar) or point(whole[0], calendar)
    end = point(_with_month(last, first), calendar) or point(whole[1], calendar)
    if start is None or end is None:
        return None
    is_bare = _BARE_DAY.fullmatch(last) is not None  # what follows is then of the beginning
    return start, end, 0 if is_bare else len(end[0].string) - end[0].end()


def point(text: str, calendar: Calendar) -> Point | None:
    """The first point in time of a text, in which it needs no preposition: "Monday", "junho"."""
    for phrase in (text, *(f"{word} {text}" for word in _WORDS_FOR_IN)):
        match = EXPRESSION.match(phrase)
        if match is not None and (span := span_of(match, calendar)) is not None:
            return match, span
    return None


def weekday_before(start: re.Match[str], end: re.Match[str], last: Span) -> Span | None:
    """The Monday of "from Monday to Friday 13 November"; None if the first day is no mere weekday
    or the last is no date."""
    if start["weekday"] is None or start["which"] or start["week"] or end["weekday"]:
        return None
    if last.first != last.last:
        return None
    days = (last.first.weekday() - WEEKDAYS[start["weekday"].lower()] - 1) % 7 + 1
    first = last.first - timedelta(days)
    return Span(first, first)


def _without_weekday(date: str) -> str:
    match = _ITS_WEEKDAY.match(date)
    return date[match.end() :] if match and is_weekday(match[1].lower()) else date


def _with_month(day: str, whole_day: str) -> str:
    """A day that is only a number, written in the form of another day."""
    bare = _BARE_DAY.fullmatch(day)
    return re.sub(r"\b\d{1,2}(?!\d)", bare[1], whole_day, count=1) if bare else day
