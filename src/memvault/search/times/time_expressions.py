"""Time expressions of a text: cut out of a question, or found in a note, as spans of days.

Reads English times relative to today, ISO dates, days and months named in eight other languages,
and in questions the times of ten languages (`time_translation`). `expression_spans` has their
days.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache, lru_cache
from itertools import islice

from memvault.model.east_asian_dates import with_english_dates, with_plain_years
from memvault.model.months import WEEKDAYS
from memvault.search.question_languages import languages_of
from memvault.search.times.expression_spans import (
    either_or_coming,
    may_be_last_years,
    names_no_year,
    next_such,
    span_of,
)
from memvault.search.times.ranges import (
    days_in,
    days_of_ranges,
    has_dash,
    may_name_day,
    range_between,
    ranges,
)
from memvault.search.times.relative_dates import number_of
from memvault.search.times.time_patterns import (
    AMBIGUOUS_DAY,
    ASKS_AHEAD,
    AT_END,
    DAY_OF_MONTH,
    EVENT,
    EXPRESSION,
    FEW,
    IN_LOWER_CASE,
    ONWARDS,
    PAST,
    SAYINGS,
    SAYINGS_AHEAD,
    WEEKDAY_AND_DAY,
    WEEKDAY_AT_END,
    WORD,
    YEAR,
)
from memvault.search.times.time_spans import Calendar, Span, moved_back, next_to, on_side_of
from memvault.search.times.time_translation import times_in
from memvault.stores.vectors.languages import is_foreign
from memvault.vault.lines import bare_lines

EventDay = Callable[[str], date | None]
_DAY_FORMS = ("iso", "d1", "d2", "dotted", "slashed")  # groups of `EXPRESSION`
_AFTER_WEEKDAY = re.compile(r",?\s+(?:(?:the|den|de[rmn]?|le|el|il|het|o|a) )?", re.I)
# The days of the last and the next weeks, the nearest first, and those to come before the past.
_NEAREST_FIRST = sorted(range(-45, 46), key=lambda away: (abs(away), -away))
MAX_DAYS = 1_000  # days named in one note; more are from a table or a log


@dataclass(frozen=True, slots=True)
class Cut:
    """A time expression that was cut out of a text.

    Attributes:
        at: number of characters before it in the remaining text.
        any_year: whether it names no year.
        coming: the next such time, if the text does not say which is meant.
    """

    at: int
    span: Span
    any_year: bool = False
    coming: Span | None = None

    @property
    def coming_only(self) -> Cut:
        """The same for a question that asks for what is to come."""
        return self if self.coming is None else replace(self, span=self.coming, coming=None)


def cut_times(
    text: str, calendar: Calendar, event_day: EventDay | None = None
) -> tuple[str, list[Cut]]:
    """The text without its time expressions, and the meaning of each.

    Args:
        event_day: the day of an event that the text names ("since the offsite"), or None.
    """
    if AMBIGUOUS_DAY.search(text):
        calendar = replace(calendar, day_first=languages_of(text).is_foreign)
    text = with_plain_years(text)  # days and months are translated with the words next to them
    names_event = event_day is not None and EVENT.search(text) is not None
    rest, cuts = (
        _cut(text, calendar, event_day) if names_event else _cut_without_events(text, calendar)
    )
    return rest, [*cuts]


@lru_cache(maxsize=64)  # a question is read several times
def _cut_without_events(text: str, calendar: Calendar) -> tuple[str, list[Cut]]:
    return _cut(text, calendar, None)


def _cut(text: str, calendar: Calendar, event_day: EventDay | None) -> tuple[str, list[Cut]]:
    cutter = _Cutter(text, calendar)
    cutter.cut_ranges()  # first, since otherwise one end alone is read in other languages
    cutter.cut_reworded(event_day or (lambda _: None))
    cutter.cut_counted()
    cutter.cut_ranges()
    cutter.cut_adjacent()
    cutter.cut_points()
    return cutter.text, cutter.cuts


def days_named(text: str, written: date) -> list[Span]:
    """The days and months that a text names; ``written`` is the day it was written on."""
    return _days_named(text, _calendar_of(text, written))


def _calendar_of(text: str, written: date) -> Calendar:
    """The calendar of a text: only English may write the month first."""
    return Calendar(written, day_first=bool(AMBIGUOUS_DAY.search(text)) and is_foreign(text))


def _days_named(text: str, calendar: Calendar, *, with_year: bool = False) -> list[Span]:
    spans: list[Span] = []
    text = with_english_dates(text)
    if not with_year:
        spans, text = days_of_ranges(text, calendar)
    for match in _expressions(text):
        if with_year and names_no_year(match):
            continue
        span = span_of(match, calendar)
        if span is not None:
            past_or_coming = span, next_such(match, span, calendar.today)
            span, coming = _on_its_weekday(match, *past_or_coming)
            meant = [span] if coming is None else either_or_coming(span, coming, calendar.today)
            spans += meant
            if match["numbered_week"] and not with_year:
                spans += [Span(day, day) for week in meant for day in days_in(week)]
    return spans


def years_named(text: str) -> list[Span]:
    """The years that a text names by their number, of the last five centuries."""
    years = map(int, YEAR.findall(text))
    return [Span(date(year, 1, 1), date(year, 12, 31)) for year in years]


def single_days(text: str, written: date, *, with_year: bool = False) -> tuple[date, ...]:
    """The days that a text names one by one, in order, at most `MAX_DAYS`; see `days_named`.

    Args:
        with_year: whether to leave out a day and month without a year.
    """
    days: set[date] = set()
    calendar = _calendar_of(text, written)
    for bare_line in bare_lines(text):
        line = with_english_dates(bare_line)
        if may_name_day(line):
            spans = _days_named(line, calendar, with_year=with_year)
            days.update(span.first for span in spans if span.first == span.last)
            days.update(day for _, day in _days_by_weekday(line, written))
    return tuple(sorted(days)[:MAX_DAYS])


def _days_by_weekday(line: str, written: date) -> Iterator[tuple[re.Match[str], date]]:
    """The days such as "Saturday 28th": that of the nearest month in which it is a Saturday."""
    for match in WEEKDAY_AND_DAY.finditer(line):
        weekday, number = WEEKDAYS[match[2].lower()], int(match[3])
        ordinals = (written.toordinal() + away for away in _NEAREST_FIRST)
        days = (date.fromordinal(n) for n in ordinals if 0 < n <= date.max.toordinal())
        of_month = (day for day in days if day.day == number)
        yield from islice(((match, d) for d in of_month if d.weekday() == weekday), 1)


def _expressions(text: str) -> Iterator[re.Match[str]]:
    """Like ``EXPRESSION.finditer``, but faster: places are searched for in lower case."""
    lower_text = text.lower()
    if len(lower_text) != len(text):  # a few capitals are two characters in lower case
        return EXPRESSION.finditer(text)
    matches = (
        EXPRESSION.match(text, place.start()) for place in IN_LOWER_CASE.finditer(lower_text)
    )
    return (match for match in matches if match is not None)


_MAX_CUTS = 40  # times of a question that are read


class _Cutter:
    """Cuts times out of a text, kind by kind; ``text`` is what remains."""

    def __init__(self, text: str, calendar: Calendar) -> None:
        self.text = text
        self.cuts: list[Cut] = []
        self._calendar = calendar

    def _cut(self, start: int, end: int, cut: Cut) -> None:
        """Cut out a part of the text, and move the earlier cuts behind it."""
        head, tail = self.text[:start].rstrip(), self.text[end:]
        gap = " " if tail and tail[0] not in " ?.,!" else ""
        shrunk = len(self.text) - len(head) - len(gap) - len(tail)
        moved = [replace(c, at=c.at - shrunk if c.at > len(head) else c.at) for c in self.cuts]
        self.text = head + gap + tail
        self.cuts = [*moved, replace(cut, at=len(head))]

    def cut_reworded(self, event_day: EventDay) -> None:
        """Cut out times in another language, in other words, or named by an event."""

        @cache
        def read(english: str) -> Cut | None:
            cutter = _Cutter(english, self._calendar)
            cutter.cut_ranges()
            cutter.cut_counted()
            cutter.cut_adjacent()
            cutter.cut_points()
            return cutter.cuts[0] if not cutter.text and len(cutter.cuts) == 1 else None

        translated = times_in(self.text, lambda english: read(english) is not None)
        times = sorted([*self._with_dates(translated), *self._sayings(), *self._events(event_day)])
        limit = len(self.text)
        for start, end, english in reversed(times[:_MAX_CUTS]):
            if end <= limit and (cut := read(english)):  # none overlaps another
                self._cut(start, end, cut)
                limit = start

    def _with_dates(self, times: Iterable[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
        """The times, each weekday with the date that follows it: "Freitag, den 18. September"."""
        date_end = 0
        for start, end, english in sorted(times):
            weekday = WEEKDAY_AT_END.search(english)
            gap = _AFTER_WEEKDAY.match(self.text, end) if weekday else None
            date = EXPRESSION.match(self.text, gap.end()) if gap else None
            if weekday and date and not date["prep"] and any(date[form] for form in _DAY_FORMS):
                date_end = date.end()
                yield start, date_end, f"{english} {date[0]}"
            elif start >= date_end:
                yield start, end, english

    def _sayings(self) -> Iterator[tuple[int, int, str]]:
        """English times in other words: first character, end, and their plain form."""
        may_be_ahead, today = self._may_be_ahead(), self._calendar.today
        for pattern, meaning in SAYINGS + (SAYINGS_AHEAD if may_be_ahead else []):
            for match in pattern.finditer(self.text):
                yield *match.span(), match.expand(meaning)
        for match, nearest in _days_by_weekday(self.text, today):
            if match[1] or AT_END.match(self.text, match.end()):  # not "Friday 13th birthday"
                yield *match.span(), f"{match[1] or 'on'} {nearest}"
        for match in DAY_OF_MONTH.finditer(self.text):
            days = (today + timedelta(n if may_be_ahead else -n) for n in range(62))
            if day := next((day for day in days if day.day == int(match[2])), None):
                yield *match.span(), f"{match[1]} {day}"

    def _events(self, event_day: EventDay) -> Iterator[tuple[int, int, str]]:
        """Events whose day is known ("since the offsite"): first character, end, and the day."""
        end = 0
        while match := EVENT.search(self.text, end):
            start, event = match.span("event")[0], match["event"]
            end = start
            for word in reversed(list(re.finditer(r"\S+", event))):
                if day := event_day(event[: word.end()]):
                    end = start + word.end()
                    yield match.start(), end, f"{self.text[match.start() : start]}{day}"
                    break

    def cut_counted(self) -> None:
        """Cut out the last or the next few days, weeks, months or years."""
        today = self._calendar.today
        while len(self.cuts) < _MAX_CUTS and (match := FEW.search(self.text)):
            if match["unit"]:
                count = number_of(match["count"] or ("few" if match["many"] else "one"))
                unit = match["unit"].lower()
                if unit == "hour":
                    count, unit = -(-count // 24), "day"
                span = Span(moved_back(today, count, unit), today)
            else:
                span = Span(
                    today, moved_back(today, -number_of(match["ahead"]), match["units"].lower())
                )
            self._cut(match.start(), match.end(), Cut(0, span))

    def cut_ranges(self) -> None:
        """Cut out the first time with a beginning and an end."""
        for match, beginning, ending in ranges(self.text):
            if (found := range_between(beginning, ending, self._calendar)) is not None:
                span, coming, after = found
                if has_dash(match):
                    today, preposition = self._calendar.today, (match["prep"] or "").lower()
                    span, coming = _on_side(preposition, span, coming, today)
                self._cut(match.start(), match.end() - after, Cut(0, span, coming=coming))
                return

    def cut_points(self) -> None:
        """Cut out days, months and other times that are named by themselves."""
        start = 0
        while len(self.cuts) < _MAX_CUTS and (match := EXPRESSION.search(self.text, start)):
            span = span_of(match, self._calendar)
            if span is None:
                start = match.end()
                continue
            end, cut = self._point_cut(match, span)
            self._cut(match.start(), end, cut)
            start = 0

    def _point_cut(self, match: re.Match[str], span: Span) -> tuple[int, Cut]:
        """Where a time that is named by itself ends, and the days on the side that is meant."""
        today = self._calendar.today
        preposition = (match["prep"] or "").lower()
        span, coming = _on_its_weekday(match, span, next_such(match, span, today))
        onwards = ONWARDS.match(self.text, match.end()) if preposition == "from" else None
        end = onwards.end() if onwards else match.end()
        if preposition == "from" and (onwards or span.last >= today):
            preposition = "since"
        is_ahead = preposition in ("by", "until", "till") or (
            preposition in ("since", "starting")
            and match["prep"].lower() != "since"
            and self._may_be_ahead()
        )
        is_sure = match["weekday"] or ASKS_AHEAD.search(self.text)
        if coming is not None and is_ahead and is_sure:
            span, coming = coming, None
        part_of_time = (match["end"] or match["part"] or "").lower()
        if preposition == "before" and part_of_time in ("end", "rest", "end of", "ende"):
            preposition = "by"
        bounded, coming = _on_side(preposition, span, coming, today)
        any_year = bounded == span and (
            names_no_year(match) or may_be_last_years(match, span, today)
        )
        return end, Cut(0, bounded, any_year, coming)

    def _may_be_ahead(self) -> bool:
        """Whether no word of the text says that it is about the past."""
        return PAST.isdisjoint(WORD.findall(self.text.lower()))

    def cut_adjacent(self) -> None:
        """Cut out the day, week, month or year next to a day: "the week after 3 March"."""
        match = EVENT.search(self.text)
        point = EXPRESSION.match(match["event"]) if match and match["unit"] else None
        span = span_of(point, self._calendar) if point else None
        if match and point and span and not span.is_open:
            with suppress(OverflowError):  # beyond the calendar
                span = next_to(match["prep"], match["unit"], span)
                self._cut(match.start(), match.start("event") + point.end(), Cut(0, span))


def _on_side(
    preposition: str, span: Span, coming: Span | None, today: date
) -> tuple[Span, Span | None]:
    """The days on that side of a time, and those on that side of the next such time."""
    if coming is not None:
        coming = on_side_of(preposition, coming, today)
        coming = coming if coming.last < date.max else None
    return on_side_of(preposition, span, today), coming


def _on_its_weekday(
    match: re.Match[str], span: Span, coming: Span | None
) -> tuple[Span, Span | None]:
    """The days that a date without a year may mean, without the one on another weekday than the
    date's own: "Friday 4 December"."""
    if match["its_weekday"] is None or coming is None:
        return span, coming
    weekday = WEEKDAYS[match["its_weekday"].lower()]
    is_past, is_coming = (day.first.weekday() == weekday for day in (span, coming))
    if is_past == is_coming:
        return span, coming
    return (span, None) if is_past else (coming, None)
