"""Ranks notes of the time that a question names first.

Notes of another time are less relevant, but stay: a question may name the day of an event and be
answered by a note of another day. A question only for a time gets all notes of that time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from functools import cache

from memvault.model.memory import Memory
from memvault.model.search import Filters, Hit, Scope
from memvault.search.question_languages import UNSPACED, languages_of
from memvault.search.scope import MemoryLookup
from memvault.search.task_words import OPEN_TASKS, asks_for_tasks, said_of_tasks, task_languages
from memvault.search.time_expressions import Cut, EventDay, cut_times, days_named, single_days
from memvault.search.time_patterns import PAST
from memvault.search.time_spans import Calendar, Span
from memvault.search.time_words import ASKING, HAPPENED, OCCASIONS
from memvault.stores.vectors.languages import LANGUAGES, is_function_word
from memvault.text.name_matcher import NameMatcher
from memvault.text.words import STOP_WORDS, composed, without_accents

LATER = 7  # days after a time in which notes about it are still written
OUTSIDE = 0.2  # share of the relevance that a note of another time loses
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
_WORD = re.compile(r"[^\W_]+")
# Words of questions that ask only for a time: "What happened last week?"
_ANYTHING_WORDS = (
    "happen happens happened happening go going went do did done doing note notes noted "
    "diary journal daily log logs entry entries "
    "memory memories morning afternoon evening night "
    "write wrote written save saved add added change changed talk talked discuss discussed decide "
    "decided agree agreed say "
    "said learn learned learnt work worked thing things anything everything something new recap "
    "summary summarise summarize session sessions show list tell give find task tasks finish "
    "finished complete completed tick ticked get got"
)
_ANYTHING = STOP_WORDS | frozenset(_ANYTHING_WORDS.split())
# Words of questions that ask only for a future time: "Which appointments do I have tomorrow?"
_PLAN_WORDS = (
    "agenda ahead appointment appointments calendar deadline deadlines dos due event events "
    "meeting meetings need open overdue plan planned plans reminder reminders schedule scheduled s "
    "todo todos upcoming still supposed left remain remains remaining"
)
_PLANS = _ANYTHING | frozenset(_PLAN_WORDS.split())


def asks_for_newest(question: str, asked: AskedTime | None = None) -> bool:
    """Whether a question asks for what is current; a time that it names ("l'année dernière") does
    not."""
    rest = question if asked is None else asked.rest
    return NEWEST.search(rest.casefold()) is not None


def asks_only_for_tasks(question: str) -> bool:
    """Whether a question asks only for open tasks."""
    if not asks_for_tasks(question):
        return False
    words, *_, plans = _words_of(question, question)
    return words <= plans


def words_beyond(others: Iterable[str], rest: str, question: str) -> set[str]:
    """The words of a part of a question, except ``others``, function words, and words that ask for
    anything at all."""
    words, _, anything, _ = _words_of(rest, question)
    return words - anything.union(others)


def words_beyond_plans(rest: str, question: str) -> set[str]:
    """The words of a part of a question beyond function words, and words that ask for whatever
    there is or is planned."""
    words, past, _, plans = _words_of(rest, question)
    return words - plans.union(past)


def day_named(names: NameMatcher, memories: MemoryLookup, text: str) -> date | None:
    """The day of the note whose name the text is; None if there is no such note or day."""
    name = names.lookup(text) or names.lookup(text.removeprefix("the "))
    memory = memories.by_id(name.target) if name is not None else None
    return memory.date.date() if memory is not None and memory.date is not None else None


@dataclass(frozen=True, slots=True)
class AskedTime:
    """The time that a question asked on ``today`` is about.

    Attributes:
        only_time: whether the question asks for anything of that time.
        past: whether it asks for what happened, so for nothing of future days.
        planned: whether it asks for what is to happen, so not for a past month of that name.
        rest: the question without its times.
    """

    today: date
    cuts: tuple[Cut, ...]
    only_time: bool
    past: bool = False
    planned: bool = False
    rest: str = ""

    @classmethod
    def of(
        cls, question: str, calendar: Calendar, event_day: EventDay = lambda _: None
    ) -> AskedTime | None:
        """The time that a question names; None if it names none."""
        rest, cuts = cut_times(" ".join(question.split()), calendar, event_day)
        if not cuts:
            return None
        words, past, anything, plans = _words_of(rest, question)
        may_be_past = any(cut.any_year or cut.span.first <= calendar.today for cut in cuts)
        is_past = may_be_past and not words.isdisjoint(past)
        if is_past:
            cuts = [replace(cut, coming=None) for cut in cuts]
        asked = cls(calendar.today, tuple(cuts), words <= anything, rest=rest)
        if asked._to_come():
            planned = not is_past and words <= plans and not words <= _ANYTHING | past
            return replace(asked, only_time=words <= plans, past=is_past, planned=planned)
        return replace(asked, past=True)

    def narrowed(self, scope: Scope) -> Scope:
        """The scope, limited to notes created from the first to the last day of that time."""
        spans = self._spans()
        first = min((span.first for span in spans), default=date.min)
        last = max((span.last for span in spans), default=date.max)
        filters = scope.filters or Filters()
        after = min(_there_and_here(first, time.min)) if first > date.min else None
        before = max(_there_and_here(last, time.max)) if last < date.max else None
        afters = [each for each in (filters.created_after, after) if each is not None]
        befores = [each for each in (filters.created_before, before) if each is not None]
        update = {
            "created_after": max(afters, default=None),
            "created_before": min(befores, default=None),
        }
        return replace(scope, filters=filters.model_copy(update=update))

    def first_of_it(self, hits: Sequence[Hit]) -> list[Hit]:
        """The hits, those of another time less relevant; unchanged if none is of this time."""

        @cache  # reading takes longer than all else
        def named(place: int) -> list[Span]:
            return days_named(hits[place].text, days[place])

        def concerns(place: int) -> bool:
            """Whether a memory is of this time or from the days after it, or its passage names a
            day of it."""
            return any(span.with_days_after(LATER).has(days[place]) for span in spans) or any(
                span.has(each.first) and span.has(each.last)
                for each in named(place)
                for span in spans
            )

        days = [hit.memory.day for hit in hits]
        for years_back in self._years():
            spans = self._meant(years_back)
            of_it = [concerns(place) for place in range(len(hits))]
            if any(of_it):
                break
        else:
            return list(hits)
        for hit, is_of_it in zip(hits, of_it, strict=True):
            if not is_of_it:
                hit.relevance *= 1.0 - OUTSIDE
        return sorted(hits, key=lambda hit: -hit.relevance)

    def all_of_it(
        self,
        memories: Iterable[Memory],
        named_in: Callable[[str], Sequence[date]],
        also: Sequence[Memory] = (),
    ) -> list[Memory]:
        """The memories of this time: future ones first, the soonest first, then the newest.

        Of a time that is past first come the notes with a date of their own, then those that were
        only saved then, then those that only name a day of it; of a time to come those that only
        their file says to be of it come last.

        Args:
            named_in: returns the days that the note at a path names.
            also: other memories asked for; put between these two groups.
        """
        known = list(memories)
        for years_back in self._years():
            spans, to_come, found = self._meant(years_back), not self.past, []
            if self.past:
                spans = [Span(each.first, min(each.last, self.today)) for each in spans]
            for memory in known:
                own, named = [memory.day], list(named_in(memory.path))
                order = [own, [], named] if _has_date(memory) else [[], own, named]
                if to_come and memory.date is None:  # today's file says nothing of a day to come
                    order = [named, [day for day in own if day < self.today]]
                elif to_come:
                    order = [own + named]
                for weight, days in enumerate(order):
                    of_it = [day for day in days if _in(spans, day)]
                    if of_it:
                        first = min((day < self.today, abs(day - self.today)) for day in of_it)
                        found.append(((weight, *first), memory))
                        break
            if found:
                found.sort(key=lambda each: each[1].moment, reverse=True)
                found.sort(key=lambda each: each[0])
                sure = sum(key[0] == 0 for key, _ in found)
                ordered = [memory for _, memory in found]
                every = [*ordered[:sure], *also, *ordered[sure:]]
                return list({memory.id: memory for memory in every}.values())
        return list(also)

    def day_within(self, day: date, *, every_year: bool = False) -> date | None:
        """The day if it is of this time, of what is to come if that may be meant.

        Args:
            every_year: the day recurs, so that it may be of this time in another year.
        """
        meant = self._meant()
        spans = [span for span in meant if span.last >= self.today] or meant
        years = range(self.today.year - 1, self.today.year + 2) if every_year else (day.year,)
        days = (_in_year(day, year) for year in years)
        return next((each for each in days if _in(spans, each)), None)

    def is_of_it(self, memory: Memory) -> bool:
        """Whether the memory itself is of this time."""
        return _in(self._meant(), memory.day)

    def names_a_day_of_it(self, memory: Memory, text: str) -> bool:
        """Whether a text of the memory names a day of this time."""
        return any(_in(self._meant(), day) for day in single_days(text, memory.day))

    def _years(self) -> Iterable[int]:
        """The numbers of years to look back, in this order."""
        may_be_earlier = not self.planned and any(cut.any_year for cut in self.cuts)
        return range(YEARS_BACK + 1 if may_be_earlier else 1)

    def _to_come(self) -> bool:
        """Whether part of that time is to come; "since March" is a time that is past."""
        return any(
            self.today < span.last < date.max or self.today <= span.first for span in self._meant()
        )

    def _meant(self, years_back: int = 0) -> list[Span]:
        """The times that are named, and the next such ones if the question may mean them."""
        coming = [cut.coming for cut in self.cuts if cut.coming is not None and not years_back]
        return self._spans(years_back) + coming

    def _spans(self, years_back: int = 0) -> list[Span]:
        """The times that are named, each within the limits that are named with them: "after
        March and before June" is one time, "in March or in June" are two."""
        spans = [cut.span.earlier(years_back) if cut.any_year else cut.span for cut in self.cuts]
        limits = [span for span in spans if span.is_open]
        first = max((span.first for span in limits), default=date.min)
        last = min((span.last for span in limits), default=date.max)
        named = [span for span in spans if not span.is_open] or [Span(first, last)]
        within = [Span(max(span.first, first), min(span.last, last)) for span in named]
        return [span for span in within if span.first <= span.last]


def _in_year(day: date, year: int) -> date:
    try:
        return day.replace(year=year)
    except ValueError:  # 29 February
        return date(year, 2, 28)


def _there_and_here(day: date, at: time) -> tuple[datetime, datetime]:
    """A time of a day in UTC, in which days that notes state are stored, and in local time."""
    there = datetime.combine(day, at, UTC)
    try:
        return there, datetime.combine(day, at).astimezone(UTC)
    except (OverflowError, OSError, ValueError):  # at the ends of the calendar
        return there, there


def _words_of(
    rest: str, question: str
) -> tuple[set[str], frozenset[str], frozenset[str], frozenset[str]]:
    """The words of a part of a question, and the words in its languages that ask for the past, for
    anything at all, and for anything planned."""
    words = {word.casefold() for word in _WORD.findall(rest)}
    past, anything, plans = PAST, _ANYTHING, _PLANS
    tasks = said_of_tasks(question)
    for language in languages_of(question).names or (task_languages(question) if tasks else ()):
        happened, others = HAPPENED[language].split(), _asking_words(language)
        if language in LANGUAGES:  # those whose function words are known
            idle = {word for word in words if is_function_word(word, language)}
            words -= idle.difference(happened)
        if language in UNSPACED:
            words = set(_parted(words, (*others, *tasks, *OPEN_TASKS)))
        words = {word for word in words if not word.startswith(OPEN_TASKS)}
        past, anything, plans = past.union(happened), anything | others, plans | others
    if tasks:
        words = {word for word in words if not word.startswith(OPEN_TASKS)}
    return words, past, anything, plans | tasks


@cache
def _asking_words(language: str) -> frozenset[str]:
    """With their accents, and without them, as many people type."""
    words = f"{HAPPENED[language]} {OCCASIONS[language]} {ASKING[language]}"
    return frozenset(f"{words} {composed(without_accents(words))}".split())


def _parted(texts: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    """The known words in texts without spaces, and the rest of each text."""
    words = re.compile("|".join(sorted(known, key=len, reverse=True)))
    for text in texts:
        yield from words.findall(text)
        if rest := words.sub("", text):
            yield rest


def _has_date(memory: Memory) -> bool:
    """Whether a note itself says its day, rather than when its file was saved."""
    return memory.date is not None or memory.created_at.time() == time.min


def _in(spans: Iterable[Span], day: date) -> bool:
    for span in spans:  # noqa: SIM110 - called for all notes; this takes half the time
        if span.first <= day <= span.last:
            return True
    return False
