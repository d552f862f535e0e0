"""The time that a question names, and the notes of that time.

Notes of another time are less relevant, but stay: a question may name the day of an event and be
answered by a note of another day. A question only for a time gets all notes of that time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache, cached_property, partial

from memvault.model.memory import Memory
from memvault.model.search import Filters, Hit, Scope
from memvault.search.scope import MemoryLookup
from memvault.search.task_words import asks_for_tasks
from memvault.search.times.time_expressions import (
    Cut,
    EventDay,
    cut_times,
    days_named,
    single_days,
    years_named,
)
from memvault.search.times.time_patterns import ASKS_AHEAD, YEAR
from memvault.search.times.time_question_words import ANYTHING, time_question_words
from memvault.search.times.time_spans import Calendar, Span
from memvault.text.name_matcher import NameMatcher
from memvault.text.words import composed

DAYS_AFTER = 7  # days after a time in which notes about it are still written
OUTSIDE_LOSS = 0.2  # share of the relevance that a note of another time loses
SHORT_DAYS = 2  # a day, or a weekend
FIRST_NOTES = date(1900, 1, 1)  # no note is dated earlier
YEARS_BACK = 10  # years in which a month without a year is looked for

NEWEST = re.compile(
    r"\b(?:latest|newest|most recent(?:ly)?|recent(?:ly)?|lately|current(?:ly)?|"
    r"up[- ]to[- ]date|these days|nowadays|now|at the moment|last (?:time|meeting|call)|"
    r"when (?:did|have|has|was|were) (?:\w+ ){1,4}?last(?! (?:week|month|year|night))|"
    r"aktuell(?:e[mnrs]?)?|neueste[mnrs]?|derzeit|zurzeit|momentan|zuletzt|"
    r"actuel(?:s|les?|lement)?|derni(?:er|ère)s?|más recientes?|actualmente|últim[ao]s?|"
    r"attual[ei]|attualmente|ultim[aoei]|plus récent(?:e?s?)|mais recentes?|più recent[ei]|"
    r"nieuwste|meest recente)\b|最新|最近|現在|现在|目前"
)
_POSSESSIVE = re.compile(r"['’]s\b")


def asks_for_newest(question: str, question_time: QuestionTime | None = None) -> bool:
    """Whether a question asks for what is current, apart from its time ("l'année dernière")."""
    question_without_time = question if question_time is None else question_time.rest
    return NEWEST.search(question_without_time.casefold()) is not None


def without_newest(text: str) -> str:
    """The text in lower case, without words for what is current and endings of possessives."""
    return _POSSESSIVE.sub("", NEWEST.sub(" ", composed(text).casefold()))


def day_named(names: NameMatcher, memories: MemoryLookup, text: str) -> date | None:
    """The day of the note whose name the text is; None if there is no such note or day."""
    name = names.lookup(text) or names.lookup(text.removeprefix("the "))
    memory = memories.by_id(name.target) if name is not None else None
    return memory.date.date() if memory is not None and memory.date is not None else None


@dataclass(frozen=True)
class QuestionTime:
    """The time that a question of ``today`` is about.

    Attributes:
        cuts: the time expressions of the question.
        only_time: whether the question asks for anything of that time.
        past: whether it asks for what happened, so for nothing of future days.
        planned: whether it asks for what is to happen, so not for a past month of that name.
        ahead: whether it asks for what is due or to do, so not for the diary of that time.
        rest: the question without its times.
    """

    today: date
    cuts: tuple[Cut, ...]
    only_time: bool
    past: bool = False
    planned: bool = False
    ahead: bool = False
    rest: str = ""

    @classmethod
    def read(
        cls, question: str, calendar: Calendar, event_day: EventDay = lambda _: None
    ) -> QuestionTime | None:
        """The time that a question names; None if it names none."""
        rest, cuts = cut_times(" ".join(question.split()), calendar, event_day)
        if not cuts:
            return None
        words, past, anything, plans = time_question_words(rest, question)
        may_be_past = any(cut.any_year or cut.span.first <= calendar.today for cut in cuts)
        is_past = may_be_past and not words.isdisjoint(past)
        ahead = bool(asks_for_tasks(question) or ASKS_AHEAD.search(question))
        if is_past:
            cuts = [replace(cut, coming=None) for cut in cuts]
        elif ahead:
            cuts = [cut.coming_only if cut.span.is_open else cut for cut in cuts]
        time = cls(calendar.today, tuple(cuts), words <= anything, ahead=ahead, rest=rest)
        if time._is_to_come():
            planned = not is_past and words <= plans and not words <= ANYTHING | past
            return replace(time, only_time=words <= plans, past=is_past, planned=planned)
        return replace(time, past=True)

    @property
    def asks_for_notes(self) -> bool:
        """Whether the question asks for any notes of that time; for a time that is limited by a day
        before all notes, texts that name it are meant."""
        limits = (day for span in self._meant for day in (span.first, span.last))
        return self.only_time and not any(date.min < day < FIRST_NOTES for day in limits)

    def subject_words(self, question: str) -> set[str]:
        """The words of the question besides its times, function words, and words that ask for
        anything at all, or anything planned if part of the time is to come."""
        words = time_question_words(self.rest, question)
        general = words.anything if self.past else words.plans
        return words.words - general.union(words.past)

    def narrowed(self, scope: Scope) -> Scope:
        """The scope, limited to notes created from the first to the last day of that time."""
        spans = self._spans()
        first = min((span.first for span in spans), default=date.min)
        last = max((span.last for span in spans), default=date.max)
        filters = scope.filters or Filters()
        after = min(_in_utc_and_local(first, time.min)) if first > date.min else None
        before = max(_in_utc_and_local(last, time.max)) if last < date.max else None
        afters = [limit for limit in (filters.created_after, after) if limit is not None]
        befores = [limit for limit in (filters.created_before, before) if limit is not None]
        update = {
            "created_after": max(afters, default=None),
            "created_before": min(befores, default=None),
        }
        return replace(scope, filters=filters.model_copy(update=update))

    def of_this_time_first(
        self, hits: Sequence[Hit], has_subject: Callable[[Hit], bool] = lambda hit: False
    ) -> list[Hit]:
        """The hits, those of another time less relevant; unchanged if none is of this time.

        Args:
            has_subject: whether a hit has all that the question names besides the time. If it is
                also dated within a time of at most `SHORT_DAYS` days, it comes first.
        """

        spans, inside_ids = self._spans_with_notes(hits)
        if not inside_ids:
            return list(hits)
        for hit in hits:
            if hit.memory.id not in inside_ids:
                hit.relevance *= 1.0 - OUTSIDE_LOSS
        short = [span for span in spans if (span.last - span.first).days < SHORT_DAYS]
        first_ids = {
            hit.memory.id
            for hit in hits
            if any(_is_in_any(short, day) for day in hit.memory.days)
            and says_its_day(hit.memory)
            and has_subject(hit)
        }
        best_relevance = max(hit.relevance for hit in hits)
        for hit in hits:
            if hit.memory.id in first_ids:
                hit.relevance = best_relevance
        return sorted(hits, key=lambda hit: (-hit.relevance, hit.memory.id not in first_ids))

    def _spans_with_notes(self, hits: Sequence[Hit]) -> tuple[list[Span], set[str]]:
        """The times that are meant, in the latest year in which a hit is of one, and these hits.

        A memory is of a time, too, if it is from the days after it, or if its passage names a day
        of it.
        """

        @cache  # reading takes longer than all else
        def named_spans(index: int) -> list[Span]:
            text = hits[index].text
            return [*days_named(text, hits[index].memory.day), *years_named(text)]

        spans: list[Span] = []
        for years_back in self._years_back():
            spans = self._meant_spans(years_back)
            longer = [span.with_days_after(DAYS_AFTER) for span in spans]
            inside_ids = {
                hit.memory.id
                for index, hit in enumerate(hits)
                if any(_is_in_any(longer, day) for day in hit.memory.days)
                or any(span.contains(named) for named in named_spans(index) for span in spans)
            }
            if inside_ids:
                return spans, inside_ids
        return spans, set()

    def all_of_this_time(
        self,
        memories: Iterable[Memory],
        days_named_in: Callable[[str], Sequence[date]],
        others: Sequence[Memory] = (),
    ) -> list[Memory]:
        """The memories of this time: future ones first, the soonest first, then the newest.

        Of a past time, notes with a date of their own come first, then notes that were only saved
        then, then notes that only name a day of it. Of a coming time, notes whose only date is
        that of their file come last.

        Args:
            days_named_in: returns the days that the note at a path names.
            others: other memories asked for; put after the first group.
        """
        candidates = list(memories)
        for years_back in self._years_back():
            spans = self._meant_spans(years_back)
            ranked = [
                (rank, memory)
                for memory in candidates
                if (rank := self._rank(memory, days_named_in(memory.path), spans)) is not None
            ]
            if ranked:
                ranked.sort(key=lambda entry: entry[1].moment, reverse=True)
                ranked.sort(key=lambda entry: entry[0])
                in_first_group = sum(rank[0] == 0 for rank, _ in ranked)
                ordered = [memory for _, memory in ranked]
                all_memories = [*ordered[:in_first_group], *others, *ordered[in_first_group:]]
                return list({memory.id: memory for memory in all_memories}.values())
        return list(others)

    def _rank(
        self, memory: Memory, days_named: Sequence[date], spans: Sequence[Span]
    ) -> tuple[int, bool, timedelta] | None:
        """The group of a memory, whether its first day is past, and how far that is from today.

        None if it is not of the time.
        """
        own_days, named_days = memory.days, list(days_named)
        groups = [own_days, [], named_days] if says_its_day(memory) else [[], own_days, named_days]
        if not self.past and memory.date is None:  # today's file says nothing of a day to come
            groups = [named_days, [day for day in own_days if day < self.today]]
        elif not self.past:
            own_days = [day for day in own_days if day >= self.today or not self.ahead]
            groups = [own_days + named_days]
        for group, days in enumerate(groups):
            days_inside = [day for day in days if _is_in_any(spans, day)]
            if days_inside:
                return group, *min((day < self.today, abs(day - self.today)) for day in days_inside)
        return None

    def day_within(self, day: date, *, every_year: bool = False) -> date | None:
        """The day if it is within this time; of a past and a coming one, the coming one counts.

        Args:
            every_year: the day recurs, so that it may be of this time in another year.
        """
        meant_spans = self._meant
        spans = [span for span in meant_spans if span.last >= self.today] or meant_spans
        years = range(self.today.year - 1, self.today.year + 2) if every_year else (day.year,)
        days = (_in_year(day, year) for year in years)
        return next((day for day in days if _is_in_any(spans, day)), None)

    @property
    def last_day(self) -> date:
        """The last day of this time; today if it has no end. "On Friday" is the coming one, unless
        the question is for what is past."""
        spans = self._meant
        return max((span.last for span in spans if span.last < date.max), default=self.today)

    def days_meant(self) -> Callable[[date], bool]:
        """A function that says whether a day may be of this time, in any year that it may mean."""
        spans = [span for back in self._years_back() for span in self._meant_spans(back)]
        return partial(_is_in_any, spans)

    def has(self, memory: Memory) -> bool:
        """Whether the memory itself is of this time."""
        spans = self._meant
        return any(_is_in_any(spans, day) for day in memory.days)

    def is_named_in(self, memory: Memory, text: str) -> bool:
        """Whether a text of the memory names a day or a year of this time."""
        spans = self._meant
        if any(_is_in_any(spans, day) for day in single_days(text, memory.day)):
            return True
        years = years_named(text)
        return any(span.contains(year) for year in years for span in spans)

    def is_in_title(self, memory: Memory) -> bool:
        """Whether a note's title names this time or a part of it, with the year ("Plans 2027")."""
        title = memory.title
        if YEAR.search(title) is None:  # as most titles, of the whole vault
            return False
        named = days_named(title, memory.day) or years_named(title)
        return any(span.contains(part) for part in named for span in self._meant)

    def _years_back(self) -> Iterable[int]:
        """The numbers of years to look back, in this order."""
        may_be_earlier = not self.planned and any(cut.any_year for cut in self.cuts)
        return range(YEARS_BACK + 1 if may_be_earlier else 1)

    def _is_to_come(self) -> bool:
        """Whether part of that time is to come; "since March" is a time that is past."""
        return any(
            self.today < span.last < date.max or self.today <= span.first for span in self._meant
        )

    @cached_property
    def _meant(self) -> list[Span]:
        """`_meant_spans` in the years that are named; read for each sentence of many notes."""
        return self._meant_spans()

    def _meant_spans(self, years_back: int = 0) -> list[Span]:
        """The times that are named, and the next such ones if the question may mean them; of a
        question for what happened only up to today."""
        coming = [cut.coming for cut in self.cuts if cut.coming is not None and not years_back]
        spans = self._spans(years_back) + coming
        return (
            [Span(span.first, min(span.last, self.today)) for span in spans] if self.past else spans
        )

    def _spans(self, years_back: int = 0) -> list[Span]:
        """The times that are named, each within the limits that are named with them: "after
        March and before June" is one time, "in March or in June" are two."""
        spans = [cut.span.earlier(years_back) if cut.any_year else cut.span for cut in self.cuts]
        limits = [span for span in spans if span.is_open]
        first = max((span.first for span in limits), default=date.min)
        last = min((span.last for span in limits), default=date.max)
        named_spans = [span for span in spans if not span.is_open] or [Span(first, last)]
        limited = [Span(max(span.first, first), min(span.last, last)) for span in named_spans]
        return [span for span in limited if span.first <= span.last]


def _in_year(day: date, year: int) -> date:
    try:
        return day.replace(year=year)
    except ValueError:  # 29 February
        return date(year, 2, 28)


def _in_utc_and_local(day: date, time_of_day: time) -> tuple[datetime, datetime]:
    """A time of a day in UTC, in which days that notes state are stored, and in local time."""
    in_utc = datetime.combine(day, time_of_day, UTC)
    try:
        return in_utc, datetime.combine(day, time_of_day).astimezone(UTC)
    except (OverflowError, OSError, ValueError):  # at the ends of the calendar
        return in_utc, in_utc


def says_its_day(memory: Memory) -> bool:
    """Whether a note itself says its day, rather than when its file was saved."""
    return memory.date is not None or memory.created_at.time() == time.min


def _is_in_any(spans: Iterable[Span], day: date) -> bool:
    for span in spans:  # noqa: SIM110 - called for all notes; this takes half the time
        if span.first <= day <= span.last:
            return True
    return False
