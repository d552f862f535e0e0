"""Times in questions."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.model.memory import Lifecycle, Memory
from memvault.model.moments import days_of_note
from memvault.model.search import Filters, Hit, Scope
from memvault.search.times.question_time import QuestionTime, asks_for_newest
from memvault.search.times.time_expressions import Cut, cut_times, days_named, single_days
from memvault.search.times.time_spans import Calendar, Span
from tests.timing import seconds_of

TODAY = date(2026, 11, 21)  # a Saturday
NOW = Calendar(TODAY)


def span_of(text: str) -> Span | None:
    cuts = cut_times(text, NOW)[1]
    return cuts[0].span if cuts else None


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("What did we plant after 2026-02-01?", date(2026, 2, 2), date.max),
        ("What did we plant since 1 March 2025?", date(2025, 3, 1), date.max),
        ("What is in the notes from last week?", date(2026, 11, 9), date(2026, 11, 15)),
        ("Notes from 2025-03-06", date(2025, 3, 6), date(2025, 3, 6)),
        ("What did we plant from May 2025 on?", date(2025, 5, 1), date.max),
        ("What changed from last week until now?", date(2026, 11, 9), date.max),
        ("Who works here from tomorrow?", date(2026, 11, 22), date.max),
        ("Which boats were sold before July 2025?", date.min, date(2025, 6, 30)),
        ("Which boats were sold until 30 June 2025?", date.min, date(2025, 6, 30)),
        ("Whom did I meet last month?", date(2026, 10, 1), date(2026, 10, 31)),
        ("Whom did I meet last week?", date(2026, 11, 9), date(2026, 11, 15)),
        ("What changed in the last two weeks?", date(2026, 11, 7), TODAY),
        ("What changed yesterday?", date(2026, 11, 20), date(2026, 11, 20)),
        ("Who joined in March?", date(2026, 3, 1), date(2026, 3, 31)),
        ("Who joined in December?", date(2025, 12, 1), date(2025, 12, 31)),
        ("Who joined on Feb 3rd?", date(2026, 2, 3), date(2026, 2, 3)),
        ("Who joined in Q2 2025?", date(2025, 4, 1), date(2025, 6, 30)),
        ("Who joined in 2024?", date(2024, 1, 1), date(2024, 12, 31)),
        ("What was built before 1790?", date.min, date(1789, 12, 31)),
        ("What was built between 1790 and 1804?", date(1790, 1, 1), date(1804, 12, 31)),
        ("What was built in 1612 on the hill?", date(1612, 1, 1), date(1612, 12, 31)),
        ("What was built in the 1640s?", date(1640, 1, 1), date(1649, 12, 31)),
        ("Who came between 3 May 2025 and 1 June 2025?", date(2025, 5, 3), date(2025, 6, 1)),
        ("Whom did I call three weeks ago?", date(2026, 10, 28), date(2026, 11, 3)),
        ("What did we sow last spring?", date(2026, 3, 1), date(2026, 5, 31)),
        ("What did we sow this autumn?", date(2026, 9, 1), date(2026, 11, 30)),
        ("What broke last autumn?", date(2025, 9, 1), date(2025, 11, 30)),
        ("What broke in the winter of 2024?", date(2024, 12, 1), date(2025, 2, 28)),
        ("Whom did I meet on Tuesday?", date(2026, 11, 17), date(2026, 11, 17)),
        ("Whom did I meet on Friday the 13th?", date(2026, 11, 13), date(2026, 11, 13)),
        ("What was left before Friday 13th?", date.min, date(2026, 11, 12)),
        ("from Monday 5 October to Friday 9 October", date(2026, 10, 5), date(2026, 10, 9)),
        ("from Monday 5 to Friday 9 October", date(2026, 10, 5), date(2026, 10, 9)),
        ("from Monday, 5 October, to Friday, 9 October", date(2026, 10, 5), date(2026, 10, 9)),
        ("from Monday to Friday 9 October", date(2026, 10, 5), date(2026, 10, 9)),
        ("von Montag, 5. Oktober bis Freitag, 9. Oktober", date(2026, 10, 5), date(2026, 10, 9)),
        ("vom 5. bis 9. Oktober", date(2026, 10, 5), date(2026, 10, 9)),
        ("du lundi 5 au vendredi 9 octobre", date(2026, 10, 5), date(2026, 10, 9)),
        ("del lunes 5 de octubre al viernes 9 de octubre", date(2026, 10, 5), date(2026, 10, 9)),
        ("Whom did I meet last Saturday?", date(2026, 11, 14), date(2026, 11, 14)),
        ("Where were we this weekend?", date(2026, 11, 21), date(2026, 11, 22)),
        ("What is on tomorrow?", date(2026, 11, 22), date(2026, 11, 22)),
        ("What is on the day after tomorrow?", date(2026, 11, 23), date(2026, 11, 23)),
        ("Whom do I meet next week?", date(2026, 11, 23), date(2026, 11, 29)),
        ("Whom do I meet next Saturday?", date(2026, 11, 28), date(2026, 11, 28)),
        ("Whom do I meet this Friday?", date(2026, 11, 20), date(2026, 11, 20)),
        ("What is due in the next ten days?", TODAY, date(2026, 12, 1)),
        ("What is due by Friday?", TODAY, date(2026, 11, 27)),
        ("What is due before 2026-12-01?", TODAY, date(2026, 11, 30)),
        ("What is due by the end of the month?", TODAY, date(2026, 11, 30)),
        ("Where do we go next spring?", date(2027, 3, 1), date(2027, 5, 31)),
        ("Where did we go last March?", date(2026, 3, 1), date(2026, 3, 31)),
        ("Where do we go next March?", date(2027, 3, 1), date(2027, 3, 31)),
        ("What is two weeks from now?", date(2026, 12, 2), date(2026, 12, 8)),
        ("Which meetings are coming up?", TODAY, date.max),
        ("What is due by end of month?", TODAY, date(2026, 11, 30)),
        ("What is left for the rest of the month?", TODAY, date(2026, 11, 30)),
        ("What do I have in two weeks?", date(2026, 12, 2), date(2026, 12, 8)),
        ("Where am I in 3 days' time?", date(2026, 11, 24), date(2026, 11, 24)),
        ("What is due within two weeks?", TODAY, date(2026, 12, 5)),
        ("What was said day before yesterday?", date(2026, 11, 19), date(2026, 11, 19)),
        ("What did I dream last night?", date(2026, 11, 20), date(2026, 11, 20)),
        ("Who calls this evening?", TODAY, TODAY),
        ("Where are we at the weekend?", TODAY, date(2026, 11, 22)),
        ("Who comes on Friday next week?", date(2026, 11, 27), date(2026, 11, 27)),
        ("Who came Monday last week?", date(2026, 11, 9), date(2026, 11, 9)),
        ("Who came the week before last?", date(2026, 11, 2), date(2026, 11, 8)),
        ("Who comes the week after next?", date(2026, 11, 30), date(2026, 12, 6)),
        ("Who came the month before last?", date(2026, 9, 1), date(2026, 9, 30)),
        ("Who came the weekend before last?", date(2026, 11, 7), date(2026, 11, 8)),
        ("Who came two weekends ago?", date(2026, 11, 7), date(2026, 11, 8)),
        ("Who came on the weekend of 13 June?", date(2026, 6, 13), date(2026, 6, 14)),
        ("Who came in the week of 2026-06-10?", date(2026, 6, 8), date(2026, 6, 14)),
        ("Who came in the first week of July?", date(2026, 7, 1), date(2026, 7, 7)),
        ("Who came in the last week of August 2025?", date(2025, 8, 25), date(2025, 8, 31)),
        ("Who came in the second half of February?", date(2026, 2, 16), date(2026, 2, 28)),
        ("Who came in 2026-W28?", date(2026, 7, 6), date(2026, 7, 12)),
        ("Who came in week 28 of 2026?", date(2026, 7, 6), date(2026, 7, 12)),
        ("What is due by the end of November?", date.min, date(2026, 11, 30)),
        ("What was sold in Q2?", date(2026, 4, 1), date(2026, 6, 30)),
        ("What was sold last quarter?", date(2026, 7, 1), date(2026, 9, 30)),
        ("What was sold in 2025-Q2?", date(2025, 4, 1), date(2025, 6, 30)),
        ("What was sold in the second quarter of 2025?", date(2025, 4, 1), date(2025, 6, 30)),
        ("What was sold in H1 2025?", date(2025, 1, 1), date(2025, 6, 30)),
        ("What came of the past three months of work?", date(2026, 8, 21), TODAY),
        ("What was sold in 2019 and 2021?", date(2019, 1, 1), date(2019, 12, 31)),
        ("What is due by 3 December?", TODAY, date(2026, 12, 3)),
        ("What had grown by 3 March?", date.min, date(2026, 3, 3)),
        ("Who came on 29 February?", date(2024, 2, 29), date(2024, 2, 29)),
        ("Who came in the last 24 hours?", date(2026, 11, 20), TODAY),
        ("Which decisions of the last 30 days hold?", date(2026, 10, 22), TODAY),
        ("Who came in the previous two weeks?", date(2026, 11, 7), TODAY),
        ("Who came between May and July 2025?", date(2025, 5, 1), date(2025, 7, 31)),
        ("Who came from December to February 2025?", date(2024, 12, 1), date(2025, 2, 28)),
        ("Who owned it from 1990 to 2005?", date(1990, 1, 1), date(2005, 12, 31)),
        ("The train from Paris to Rome in May 2025?", date(2025, 5, 1), date(2025, 5, 31)),
        ("O que fiz entre junho e agosto de 2024?", date(2024, 6, 1), date(2024, 8, 31)),
        ("O que fiz entre 14 e 17 de julho?", date(2026, 7, 14), date(2026, 7, 17)),
        ("Qu'ai-je fait entre juin et août 2024 ?", date(2024, 6, 1), date(2024, 8, 31)),
        ("Was habe ich von Juni bis August gemacht?", date(2026, 6, 1), date(2026, 8, 31)),
        ("¿Qué hice de junio a agosto de 2025?", date(2025, 6, 1), date(2025, 8, 31)),
        ("Who came on 15/12/2025?", date(2025, 12, 15), date(2025, 12, 15)),
        ("Who came on 12/15/2025?", date(2025, 12, 15), date(2025, 12, 15)),
        ("What was in Friday's meeting?", date(2026, 11, 20), date(2026, 11, 20)),
        ("Who came to dinner Tuesday?", date(2026, 11, 17), date(2026, 11, 17)),
        ("What do I do from Monday on?", date(2026, 11, 23), date.max),
        ("What happened from Monday on?", date(2026, 11, 16), date.max),
        ("Who signed on 4.12.2025?", date(2025, 12, 4), date(2025, 12, 4)),
        ("who joined in december?", date(2025, 12, 1), date(2025, 12, 31)),
        ("who joined in may?", date(2026, 5, 1), date(2026, 5, 31)),
        ("Who left at the end of October?", date(2026, 10, 21), date(2026, 10, 31)),
        ("Who left in early March?", date(2026, 3, 1), date(2026, 3, 10)),
        ("Who left mid-May 2025?", date(2025, 5, 11), date(2025, 5, 20)),
        ("Wer kam Ende Oktober?", date(2026, 10, 21), date(2026, 10, 31)),
        ("What is due before the end of December 2026?", TODAY, date(2026, 12, 31)),
        ("What is due before the end of the month?", TODAY, date(2026, 11, 30)),
        ("What do I have on the 28th?", date(2026, 11, 28), date(2026, 11, 28)),
        ("What was said on the 28th?", date(2026, 10, 28), date(2026, 10, 28)),
        ("What is due by the 31st?", TODAY, date(2026, 12, 31)),
        ("Who came a fortnight ago?", date(2026, 11, 4), date(2026, 11, 10)),
        ("What is due within a fortnight?", TODAY, date(2026, 12, 5)),
        ("What broke in the last fortnight?", date(2026, 11, 7), TODAY),
        ("Who comes next week on Friday?", date(2026, 11, 27), date(2026, 11, 27)),
        ("Who came last week Monday?", date(2026, 11, 9), date(2026, 11, 9)),
        ("What happened since Christmas?", date(2025, 12, 25), date.max),
        ("Where were we in the summer of last year?", date(2025, 6, 1), date(2025, 8, 31)),
        ("Who is away from 7 to 14 May 2025?", date(2025, 5, 7), date(2025, 5, 14)),
        ("Who is away between May 7 and 14?", date(2026, 5, 7), date(2026, 5, 14)),
        ("Who was away from Monday to Friday?", date(2026, 11, 16), date(2026, 11, 20)),
        ("Who was away between November and January?", date(2026, 11, 1), date(2027, 1, 31)),
        ("Where were we last weekend?", date(2026, 11, 14), date(2026, 11, 15)),
        ("What did I do on the fourth of January?", date(2026, 1, 4), date(2026, 1, 4)),
        ("Who came on the twenty-first of May 2025?", date(2025, 5, 21), date(2025, 5, 21)),
        ("Was geschah am 3. März 2025?", date(2025, 3, 3), date(2025, 3, 3)),
        ("Co se stalo 12. ledna 2025?", date(2025, 1, 12), date(2025, 1, 12)),
        ("who left at the end of october?", date(2026, 10, 21), date(2026, 10, 31)),
        ("who left in late march?", date(2026, 3, 21), date(2026, 3, 31)),
        ("Who left on 24 December last year?", date(2025, 12, 24), date(2025, 12, 24)),
        ("Who left on May 3rd, this year?", date(2026, 5, 3), date(2026, 5, 3)),
        ("Who left in March last year?", date(2025, 3, 1), date(2025, 3, 31)),
        ("Where were we at Christmas?", date(2025, 12, 24), date(2025, 12, 26)),
        ("Where were we at Christmas in 2024?", date(2024, 12, 24), date(2024, 12, 26)),
        ("Where were we at Christmas last year?", date(2025, 12, 24), date(2025, 12, 26)),
        ("What is due by Christmas this year?", TODAY, date(2026, 12, 25)),
        ("Who left on Christmas Eve?", date(2025, 12, 24), date(2025, 12, 24)),
        ("What is due at the beginning of next month?", date(2026, 12, 1), date(2026, 12, 10)),
        ("Who left in the middle of the week?", date(2026, 11, 18), date(2026, 11, 19)),
        ("Who was away from the 3rd to the 7th of May?", date(2026, 5, 3), date(2026, 5, 7)),
        ("What broke in the last days?", date(2026, 11, 18), TODAY),
        ("What broke in the past weeks?", date(2026, 10, 31), TODAY),
        ("Who called fifteen days ago?", date(2026, 11, 3), date(2026, 11, 9)),
        ("Was habe ich im Mai gelernt?", date(2026, 5, 1), date(2026, 5, 31)),
        ("was habe ich im april gelernt?", date(2026, 4, 1), date(2026, 4, 30)),
        ("Qu'ai-je appris en mars ?", date(2026, 3, 1), date(2026, 3, 31)),
        ("Cosa ho scritto in marzo?", date(2026, 3, 1), date(2026, 3, 31)),
        ("Qu'ai-je fait le 1er janvier 2025 ?", date(2025, 1, 1), date(2025, 1, 1)),
        ("¿Qué pasó el 4 de enero de 2025?", date(2025, 1, 4), date(2025, 1, 4)),
        ("O que publiquei em janeiro de 2025?", date(2025, 1, 1), date(2025, 1, 31)),
        ("Что я писал в феврале 2023 года?", date(2023, 2, 1), date(2023, 2, 28)),
    ],
)
def test_a_time_expression_is_the_days_that_people_mean(text: str, first: date, last: date) -> None:
    assert span_of(text) == Span(first, last)


@pytest.mark.parametrize(
    "text",
    [
        "May we go on a march?",
        "Is it the same in version 2. May I ask?",
        "Who came second of the four?",
        "How many moons has Mars, and what is mai tai?",
        "What do I know about life on Mars, and of the Mars 2020 rover?",
        "Who was treated in Mayo, and who cooks in Mai's kitchen?",
        "what happened in mars, and what is in mayo?",
        "Who was born on 31 June 2025?",
        "What did I read in two weeks?",
        "What do we do every Monday?",
        "Who wrote the note of 4/12/2025?",
        "may we march in?",
        "Which spring feeds the pond?",
        "Who made the boat used in Spring Regatta?",
        "Who is Tuesday Weld?",
        "Which of the 12 pumps leaks?",
        "Who owns version 2.5 of the plan?",
        "Who works on the 28th floor?",
        "Who paints on Christmas cards?",
        "Who counted 5/13/14/2025?",
        "The mail of Mai and Jan?",
        "Der Vergleich der Umsätze von Norden und Süden?",
        "What did I read within a week?",
        "Who bakes for the Christmas party?",
        "Who wrote it in 1500 words, and sold it for 1800?",
        "What is error 1603, and who is in room 1612?",
        "who was late may I ask?",
        "What is the film Friday the 13th about?",
        "Who won the Tuesday 1st prize?",
        "Who swims every Friday 13th?",
    ],
)
def test_words_and_numbers_that_are_no_dates_stay(text: str) -> None:
    assert cut_times(text, NOW) == (text, [])


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("What did I note on Tuesday 15 September?", "What did I note?"),
        ("What did I note on Tuesday, September 15, 2026?", "What did I note?"),
        ("What did I note on Tuesday the 15th of September?", "What did I note?"),
        ("What did I note on Tuesday 2026-09-15?", "What did I note?"),
        ("Was habe ich am Dienstag, den 15. September notiert?", "Was habe ich notiert?"),
        ("¿Qué hice el martes 15 de septiembre?", "¿Qué hice?"),
        ("wat deed ik op dinsdag 15 september", "wat deed ik"),
    ],
)
def test_a_weekday_before_a_date_names_no_other_day(question: str, rest: str) -> None:
    left, cuts = cut_times(question, NOW)
    assert left == rest
    assert [cut.span for cut in cuts] == [Span(date(2026, 9, 15), date(2026, 9, 15))]


@pytest.mark.parametrize(
    ("question", "day", "coming"),
    [
        ("What is on Friday 4 December?", date(2026, 12, 4), None),
        ("What is on next Friday, 4 December?", date(2026, 12, 4), None),
        ("Was ist am Freitag, 4. Dezember?", date(2026, 12, 4), None),
        ("What is on Thursday 4 December?", date(2025, 12, 4), None),
        ("What is on Monday 4 December?", date(2025, 12, 4), date(2026, 12, 4)),
    ],
)
def test_a_weekday_says_the_year_of_its_date(question: str, day: date, coming: date | None) -> None:
    (cut,) = cut_times(question, NOW)[1]
    assert cut.span == Span(day, day)
    assert cut.coming == (None if coming is None else Span(coming, coming))


def test_a_note_names_the_date_and_not_the_weekday_before_it() -> None:
    line = "We met on Tuesday 15 September 2026 at noon."
    assert single_days(line, TODAY) == (date(2026, 9, 15),)
    line = "The fair is on Saturday 17 April."
    assert single_days(line, TODAY) == (date(2027, 4, 17),)


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("What did I do from Monday to Friday in the shed?", "What did I do in the shed?"),
        ("notes from 3 to 7 May about bees", "notes about bees"),
        ("Was ist vom 2. bis 6. Dezember zu tun?", "Was ist zu tun?"),
    ],
)
def test_words_after_a_time_with_an_end_stay(question: str, rest: str) -> None:
    assert cut_times(question, NOW)[0] == rest


def test_a_time_to_come_ends_after_it_begins() -> None:
    (cut,) = cut_times("from Friday 13 November to Monday", NOW)[1]
    assert (cut.span, cut.coming) == (Span(date(2026, 11, 13), date(2026, 11, 16)), None)


def test_no_week_follows_a_time_without_an_end() -> None:
    assert cut_times("Who comes the week after upcoming?", NOW)[0] == "Who comes the week?"


def test_the_text_is_left_without_its_time_and_with_the_place_where_it_stood() -> None:
    text, cuts = cut_times("Which wells dug in 2024 went dry?", NOW)
    assert text == "Which wells dug went dry?"
    assert [text[: cut.at] for cut in cuts] == ["Which wells dug"]


def test_the_days_after_a_named_event_are_those_after_its_day() -> None:
    days = {"the harvest supper": date(2026, 9, 12)}
    text, cuts = cut_times("What broke since the harvest supper?", NOW, days.get)
    assert text == "What broke?"
    assert cuts == [Cut(10, Span(date(2026, 9, 12), date.max))]


def test_an_event_that_is_also_a_saying_is_cut_once() -> None:
    def event_day(name: str) -> date | None:
        return date(2025, 12, 24) if name.lower() == "christmas" else None

    rest, cuts = cut_times("Before Christmas, what did Ada decide?", NOW, event_day)
    assert rest == ", what did Ada decide?"
    assert len(cuts) == 1


def test_no_time_lies_beyond_the_calendar() -> None:
    assert cut_times("the week after 9999-12-30", NOW)[0] == "the week"


def test_each_of_several_events_that_a_question_names_is_read() -> None:
    days = {"the harvest supper": date(2026, 9, 12), "the regatta": date(2026, 6, 6)}
    text = "What broke before lunch, after the regatta and before the harvest supper?"
    left, cuts = cut_times(text, NOW, days.get)
    assert left == "What broke before lunch, and?"
    assert [cut.span for cut in cuts] == [
        Span(date.min, date(2026, 9, 11)),
        Span(date(2026, 6, 7), date.max),
    ]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("What broke the week after the harvest supper?", date(2026, 9, 13), date(2026, 9, 19)),
        ("What did we eat the day before the supper?", date(2026, 9, 11), date(2026, 9, 11)),
        ("What did we do in the month before 3 May 2026?", date(2026, 4, 3), date(2026, 5, 2)),
    ],
)
def test_the_week_next_to_an_event_or_a_day_is_meant(text: str, first: date, last: date) -> None:
    days = {"the harvest supper": date(2026, 9, 12), "the supper": date(2026, 9, 12)}
    assert cut_times(text, NOW, days.get)[1][0].span == Span(first, last)


@pytest.mark.parametrize(
    ("text", "last", "next_one"),
    [
        ("Who comes on Tuesday?", date(2026, 11, 17), date(2026, 11, 24)),
        ("Who comes Tuesday?", date(2026, 11, 17), date(2026, 11, 24)),
        ("Who comes from Tuesday to Friday?", date(2026, 11, 17), date(2026, 11, 24)),
        ("Who comes on 3 March?", date(2026, 3, 3), date(2027, 3, 3)),
        ("Who comes in March?", date(2026, 3, 1), date(2027, 3, 1)),
        ("Who comes in spring?", date(2026, 3, 1), date(2027, 3, 1)),
    ],
)
def test_a_time_that_could_be_past_or_to_come_is_read_both_ways(
    text: str, last: date, next_one: date
) -> None:
    (cut,) = cut_times(text, NOW)[1]
    assert cut.coming is not None
    assert (cut.span.first, cut.coming.first) == (last, next_one)


def test_the_days_that_a_note_names_are_listed_as_the_day_it_was_written_has_them() -> None:
    text = "Dentist tomorrow.\n- [ ] Invoice 📅 2026-12-04\nMet Ana on 3 March 2025, in 2024 too."
    days = (date(2025, 3, 3), date(2026, 11, 22), date(2026, 12, 4))
    assert single_days(text, TODAY) == days
    assert single_days("No day, 7 times, in 12-03 and version 2026.", TODAY) == ()


def test_a_day_without_a_year_that_is_soon_is_not_that_of_last_year() -> None:
    assert single_days("The dentist has time on 1 December.", TODAY) == (date(2026, 12, 1),)
    assert single_days("Ana comes on 3 March.", TODAY) == (date(2026, 3, 3), date(2027, 3, 3))
    assert single_days("The exam is on 9 January.", TODAY) == (date(2027, 1, 9),)


def test_of_the_days_that_a_text_names_those_without_a_year_can_be_left_out() -> None:
    text = "The keel was laid on 12 Oct, and the mast comes about 11 March 2027."
    assert date(2027, 10, 12) in single_days(text, date(2026, 11, 27))
    assert single_days(text, date(2026, 11, 27), with_year=True) == (date(2027, 3, 11),)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Look at the boat Saturday 28th, 10 o'clock", [date(2026, 11, 28)]),
        ("Regatta: Sunday the 15th. Rain.", [date(2026, 11, 15)]),
        ("Tuesday 28th", []),  # of no month near
        ("Saturday 28th of March", [date(2026, 3, 28)]),
    ],
)
def test_a_weekday_makes_a_day_without_its_month_certain(text: str, days: list[date]) -> None:
    assert list(single_days(text, TODAY)) == days


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Abgabe 3.2.27, fertig 12.4.26", [date(2026, 4, 12), date(2027, 2, 3)]),
        ("Version 1.14.20 at 10.1.12.26, Python 3.10.12, chapter 3.2.5", []),
        ("更新は2026年3月4日", [date(2026, 3, 4)]),
        ("平成元年１月８日に生まれた", [date(1989, 1, 8)]),
        ("납부일 2026년 3월 4일", [date(2026, 3, 4)]),
        ("| 12月5号 | 夜勤 |", [date(2026, 12, 5)]),
        ("第3月曜、13月40日", []),
        ("2026/3/4, 2026/11/25", [date(2026, 3, 4), date(2026, 11, 25)]),
        ("de keuring van 7-4-2026 en niet later", [date(2026, 4, 7)]),
        ("hielo en la puerta el 03/11/2026", [date(2026, 11, 3)]),
        ("between 4/12/2026 and 7-4-2026, on 12-31-2026", [date(2026, 12, 31)]),
        (
            "Lift: 29 maart 2026, 4 febr. 2027, 3 dic. 2025",
            [date(2025, 12, 3), date(2026, 3, 29), date(2027, 2, 4)],
        ),
        (
            "próba 5 września 2026 r., koncert 12 grudnia 2026",
            [date(2026, 9, 5), date(2026, 12, 12)],
        ),
        (
            "zkouška 12. ledna 2026, koncert 3. října 2026",
            [date(2026, 1, 12), date(2026, 10, 3)],
        ),
        (
            "3 maj 2026, 7. júna 2026, 5 лютого 2026, 4 noiembrie 2026, 24. desember 2026",
            [
                date(2026, 2, 5),
                date(2026, 5, 3),
                date(2026, 6, 7),
                date(2026, 11, 4),
                date(2026, 12, 24),
            ],
        ),
    ],
)
def test_a_note_names_days_as_they_are_written_elsewhere(text: str, days: list[date]) -> None:
    assert list(single_days(text, TODAY)) == days


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("Away 3-10 May 2027", date(2027, 5, 3), date(2027, 5, 10)),
        ("Away 3rd–10th of May 2027", date(2027, 5, 3), date(2027, 5, 10)),
        ("May 3-10, 2027: away", date(2027, 5, 3), date(2027, 5, 10)),
        ("Away 2027-05-03 - 2027-05-10", date(2027, 5, 3), date(2027, 5, 10)),
        ("Away from 3 to 10 May 2027", date(2027, 5, 3), date(2027, 5, 10)),
        ("Course Monday 3 - Friday 7 May 2027", date(2027, 5, 3), date(2027, 5, 7)),
        ("Course Mon 3 - Fri 7 May 2027", date(2027, 5, 3), date(2027, 5, 7)),
        ("Urlaub 3. - 10. Mai 2027", date(2027, 5, 3), date(2027, 5, 10)),
        ("Urlop od 3 do 10 maja 2027", date(2027, 5, 3), date(2027, 5, 10)),
        ("Отпуск с 3 по 10 мая 2027", date(2027, 5, 3), date(2027, 5, 10)),
        ("Vacances du 3 au 10 mai 2027", date(2027, 5, 3), date(2027, 5, 10)),
        ("Leave 21 Dec - 4 Jan", date(2026, 12, 21), date(2027, 1, 4)),
        ("Leave Dec 21 – Jan 4, 2027", date(2026, 12, 21), date(2027, 1, 4)),
        ("Leave 21.12.2026–4.1.2027", date(2026, 12, 21), date(2027, 1, 4)),
        ("Leave 21 Dec until 4 Jan 2027", date(2026, 12, 21), date(2027, 1, 4)),
        ("Flight 3 May 2027 07:10 – 10 May 2027", date(2027, 5, 3), date(2027, 5, 10)),
        ("Skiing, week 8 2027", date(2027, 2, 22), date(2027, 2, 28)),
        ("Skiing in 2027-W08", date(2027, 2, 22), date(2027, 2, 28)),
        ("Skiing, 2027 KW 8", date(2027, 2, 22), date(2027, 2, 28)),
        ("Away from 3-10 May 2027", date(2027, 5, 3), date(2027, 5, 10)),
        ("Away between 3 May - 10 May 2027", date(2027, 5, 3), date(2027, 5, 10)),
        ("Away 3-10 May last year", date(2025, 5, 3), date(2025, 5, 10)),
        ("Away May 3-10 of next year", date(2027, 5, 3), date(2027, 5, 10)),
        ("Leave 21 Dec - 4 Jan last year", date(2024, 12, 21), date(2025, 1, 4)),
        ("Away 3-6 may next year, to rest", date(2027, 5, 3), date(2027, 5, 6)),
    ],
)
def test_a_time_written_with_its_first_and_last_day_is_all_of_its_days(
    text: str, first: date, last: date
) -> None:
    cuts = cut_times(text, NOW)[1]
    days = [first + timedelta(n) for n in range((last - first).days + 1)]
    assert [cut.coming or cut.span for cut in cuts] == [Span(first, last)]
    assert list(single_days(text, TODAY)) == days
    assert {Span(day, day) for day in days} <= set(days_named(text, TODAY))


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Moved from 3 May 2027 to 10 May 2027", [date(2027, 5, 3), date(2027, 5, 10)]),
        ("The build: 1 Jan 2027 - 30 Sep 2027", [date(2027, 1, 1), date(2027, 9, 30)]),
        ("Part 3 - 10 May 2027", [date(2027, 5, 10)]),
        ("On 3 May 2027 - 2 boxes", [date(2027, 5, 3)]),
        ("10 May 2027 - 3 May 2027", [date(2027, 5, 3), date(2027, 5, 10)]),
        ("Lines 3-10 may be wrong", []),
        ("We won 28-3, May 2 being cold", [date(2026, 5, 2), date(2027, 5, 2)]),
        ("Away 28-3 May", []),
        ("Away 3-5 May 2026-27", []),
        ("The meetings of May 5-7 pm", [date(2026, 5, 5), date(2027, 5, 5)]),
        ("A charger of 11 kW 16 A, not 22 kw 32 A", []),
        ("Fees are €3-10 May 2027", []),
        ("Camp 3-5 May 2027, bring a tent", [date(2027, 5, day) for day in (3, 4, 5)]),
        (
            "We meet 1 to 3 May 2027, and then much later what was said may be changed by us",
            [date(2027, 5, day) for day in (1, 2, 3)],
        ),
    ],
)
def test_days_between_others_are_named_only_by_a_short_time(text: str, days: list[date]) -> None:
    assert list(single_days(text, TODAY)) == days


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What happened after 3-10 May 2026?", date(2026, 5, 11), date.max),
        ("What happened before 3 May 2026 - 10 May 2026?", date.min, date(2026, 5, 2)),
        ("What is due by May 3-10, 2027?", TODAY, date(2027, 5, 10)),
        ("What happened since 3 May 2026 until 10 May 2026?", date(2026, 5, 3), date(2026, 5, 10)),
    ],
)
def test_a_question_may_ask_for_one_side_of_some_days(
    question: str, first: date, last: date
) -> None:
    assert [cut.span for cut in cut_times(question, NOW)[1]] == [Span(first, last)]


def test_days_that_a_line_names_again_and_again_are_counted_once() -> None:
    assert len(days_named("1-31 May 2027; " * 1_000, TODAY)) == 31


@given(
    first=st.dates(date(2000, 1, 1), date(2040, 1, 1)),
    days=st.integers(1, 31),
    form=st.sampled_from(["%Y-%m-%d", "%d %B %Y", "%d.%m.%Y", "%B %d, %Y"]),
    dash=st.sampled_from([" - ", "–", " – ", " to "]),
)
def test_each_day_of_any_short_time_is_named(first: date, days: int, form: str, dash: str) -> None:
    last = first + timedelta(days)
    text = f"Away {first:{form}}{dash}{last:{form}}."
    assert len(single_days(text, TODAY)) == days + 1
    assert [cut.span for cut in cut_times(text, NOW)[1]] == [Span(first, last)]


def test_a_calendar_week_without_a_year_is_the_last_or_the_next_one() -> None:
    weeks = [Span(date(2026, 3, 30), date(2026, 4, 5)), Span(date(2027, 4, 5), date(2027, 4, 11))]
    days = [week.first + timedelta(n) for week in weeks for n in range(7)]
    named = days_named("Holidays in calendar week 14", TODAY)
    assert named == [*weeks, *(Span(day, day) for day in days)]


_SAID = ("Friday 13th", "on next Friday", "this weekend", "tomorrow", "in May", "3 May", "2 years ago", "last month",
         "next spring", "31 December", "two days from now", "before March")  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(_SAID)), st.dates())
def test_days_are_read_whenever_a_note_says_that_it_was_written(
    said: list[str], written: date
) -> None:
    days = single_days("\n".join(said), written)
    assert list(days) == sorted(set(days))


def test_weeks_and_seasons_are_those_of_the_persons_calendar() -> None:
    (week,) = cut_times("Whom did I meet last week?", Calendar(TODAY, week_starts=6))[1]
    assert week.span == Span(date(2026, 11, 8), date(2026, 11, 14))
    (season,) = cut_times("What did we sow last spring?", Calendar(TODAY, southern=True))[1]
    assert season.span == Span(date(2025, 9, 1), date(2025, 11, 30))


@pytest.mark.parametrize(
    ("today", "season", "first"),
    [
        (date(2026, 11, 25), "winter", date(2026, 12, 1)),
        (date(2026, 3, 10), "winter", date(2025, 12, 1)),
        (date(2026, 1, 10), "winter", date(2025, 12, 1)),
        (date(2026, 1, 10), "summer", date(2026, 6, 1)),
        (date(2026, 11, 25), "spring", date(2026, 3, 1)),
    ],
)
def test_this_season_is_that_of_this_year_and_this_winter_the_nearest(
    today: date, season: str, first: date
) -> None:
    (cut,) = cut_times(f"Where do we go this {season}?", Calendar(today))[1]
    assert cut.span.first == first


def test_what_happened_in_a_season_that_is_to_come_happened_a_year_before() -> None:
    memory = found("last summer", date(2025, 7, 1)).memory
    asked = QuestionTime.read("What did we do this summer?", Calendar(date(2026, 1, 10)))
    assert asked is not None
    assert asked.all_of_this_time([memory], lambda _: ()) == [memory]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80))
def test_no_text_is_refused_and_every_place_lies_in_what_is_left(text: str) -> None:
    left, cuts = cut_times(text, NOW)
    assert all(0 <= cut.at <= len(left) for cut in cuts)
    spans = [span for cut in cuts for span in (cut.span, cut.coming) if span is not None]
    assert all(span.first <= span.last for span in spans)


@settings(max_examples=40, deadline=None)
@given(st.dates(min_value=date(1950, 1, 1), max_value=date(2049, 12, 31)))
def test_a_day_is_found_however_it_is_written(day: date) -> None:
    for written in (
        day.isoformat(),
        f"{day.day} {day:%B} {day.year}",
        f"{day:%b} {day.day}, {day.year}",
    ):
        assert span_of(f"Who signed on {written}?") == Span(day, day)


DATED = ("3 March 2024", "on 2024-05-01", "q2 2025", "the 5th of may 2023", "İzmir", "10 août 2024")


@given(st.lists(st.sampled_from(DATED)), st.sampled_from((str, str.upper, str.lower, str.title)))
def test_a_passage_names_the_days_of_its_parts_in_whatever_case(parts: list[str], case) -> None:
    of_parts = [span for part in parts for span in days_named(part, TODAY)]
    assert days_named(". ".join(map(case, parts)), TODAY) == of_parts
    assert len(of_parts) == sum(part != "İzmir" for part in parts)


def found(title: str, written: date, text: str = "") -> Hit:
    moment = datetime(written.year, written.month, written.day, tzinfo=UTC)
    memory = Memory(
        id=title, path=f"{title}.md", title=title, lifecycle=Lifecycle.PERMANENT, created_at=moment
    )
    return Hit(memory, 0.5, text=text)


def of_the_time(question: str, *hits: Hit) -> list[str]:
    asked = QuestionTime.read(question, NOW, lambda _: None)
    assert asked is not None
    return [hit.memory.title for hit in asked.of_this_time_first(hits)]


def test_a_note_is_of_the_day_on_which_it_was_written_where_this_computer_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        written, stated = datetime(2026, 6, 9, 23, 30, tzinfo=UTC), datetime(2026, 6, 9, tzinfo=UTC)
        assert memory(written).day == date(2026, 6, 10)
        assert memory(stated).day == date(2026, 6, 9)
        asked = QuestionTime.read("What did I write today?", Calendar(date(2026, 6, 10)))
        assert asked is not None
        assert asked.has(memory(written)) and not asked.has(memory(stated))
        filters = asked.narrowed(Scope()).filters
        assert filters is not None and filters.created_after is not None
        assert filters.created_after <= written
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("day", ["2026-06-09", "2026-06-09T00:00:00+02:00"])
def test_a_question_for_a_time_is_narrowed_by_dates_with_and_without_a_zone(day: str) -> None:
    asked = QuestionTime.read("What did I write in June?", NOW)
    assert asked is not None
    scope = Scope(filters=Filters(created_after=day, created_before="2027-01-01"))
    filters = asked.narrowed(scope).filters
    assert filters is not None and filters.created_after is not None
    assert abs(filters.created_after - datetime(2026, 6, 9, tzinfo=UTC)) <= timedelta(hours=2)


def test_a_note_that_names_the_days_around_the_one_asked_for_comes_first() -> None:
    trip = found("Trip", date(2026, 3, 1), "Lisbon, 3-10 May 2027, with Ana.")
    other = found("Plan", date(2026, 3, 1), "Ana starts in May 2027, see 10 June 2027.")
    assert of_the_time("Where is Ana on 5 May 2027?", other, trip) == ["Trip", "Plan"]
    assert of_the_time("Where is Ana on 12 May 2027?", other, trip) == ["Plan", "Trip"]


def test_a_text_names_a_time_by_a_day_or_by_its_year() -> None:
    asked = QuestionTime.read("What happened between 1790 and 1804?", NOW)
    assert asked is not None and not asked.asks_for_notes
    for text in ("1791 – the mill", "The mill was opened on 4 May 1804.", "Mill | 1790 | oak"):
        assert asked.is_named_in(memory(datetime(2026, 6, 9)), text), text
    for text in ("1805 – the mill", "£1791", "1,791 bricks", "1791.50", "page-1791", "6 June"):
        assert not asked.is_named_in(memory(datetime(2026, 6, 9)), text), text


def memory(created: datetime) -> Memory:
    return Memory(
        id="1", path="a.md", title="a", lifecycle=Lifecycle.PERMANENT, created_at=created
    )  # fmt: skip


def test_a_weekly_note_is_of_each_day_of_its_week() -> None:
    monday, day = (
        datetime(2026, 11, 16, tzinfo=UTC),
        QuestionTime.read("Whom did I meet on 18 November?", NOW),
    )
    weekly = memory(monday).model_copy(update={"path": "log/2026-W47.md", "date": monday})
    other = memory(monday).model_copy(update={"path": "log/2026-W46.md", "date": monday})
    assert day is not None and day.has(weekly) and not day.has(other)
    assert day.all_of_this_time([weekly, other], lambda path: ()) == [weekly]
    assert len(days_of_note("2026-KW47", TODAY)) == 7


def test_what_is_of_the_time_or_names_it_comes_first() -> None:
    day = date(2025, 3, 4)
    hits = (
        found("other", date(2024, 1, 1), "On 5 March 2024 it rained."),
        found("about it", date(2024, 1, 1), "On 4 March 2025 we sail."),
        found("of it", day),
        found("after it", date(2025, 3, 9)),
        found("long after it", date(2025, 4, 9)),
    )
    first = ["about it", "of it", "after it", "other", "long after it"]
    assert of_the_time("Who sailed on 4 March 2025?", *hits) == first


def test_a_month_without_a_year_is_the_last_that_something_is_of() -> None:
    hits = (found("other", date(2026, 1, 1)), found("of it", date(2023, 3, 4)))
    assert of_the_time("Who sailed in March?", *hits) == ["of it", "other"]
    assert of_the_time("Who sailed in July?", *hits) == ["other", "of it"]


def test_of_a_past_week_its_diary_comes_before_what_was_only_saved_then() -> None:
    saved = found("saved", date(2026, 11, 14)).memory
    saved = saved.model_copy(update={"created_at": datetime(2026, 11, 14, 9, 30, tzinfo=UTC)})
    names = found("names a day of it", date(2020, 1, 1)).memory
    diary = [found(f"day {day}", date(2026, 11, day)).memory for day in (9, 12)]
    asked = QuestionTime.read("What happened last week?", NOW)
    assert asked is not None
    named = {names.path: [date(2026, 11, 10)], saved.path: [date(2026, 11, 10)]}
    of_it = asked.all_of_this_time([names, saved, *diary], lambda path: named.get(path, []))
    assert [each.title for each in of_it] == ["day 12", "day 9", "saved", "names a day of it"]


@pytest.mark.parametrize(
    ("question", "is_newest"),
    [
        ("Qui est venu l'année dernière ?", False),
        ("Chi è venuto negli ultimi giorni?", False),
        ("Quelle est la dernière version ?", True),
        ("Quelle était la dernière version en mars ?", True),
        ("What is the latest plan for next week?", True),
    ],
)
def test_a_time_that_is_past_asks_for_nothing_current(question: str, is_newest: bool) -> None:
    assert asks_for_newest(question, QuestionTime.read(question, NOW)) == is_newest


def test_what_happened_since_a_day_or_in_this_week_is_nothing_that_is_to_come() -> None:
    memories = [
        found("yesterday", date(2026, 11, 20)).memory,
        found("tomorrow", date(2026, 11, 22)).memory,
        found("in March", date(2026, 3, 3)).memory,
    ]
    for question in (
        "What happened since Monday?",
        "What was this week?",
        "Anything since Monday?",
    ):
        asked = QuestionTime.read(question, NOW)
        assert asked is not None
        assert asked.only_time
        of_it = asked.all_of_this_time(memories, lambda _: ())
        assert [memory.title for memory in of_it] == ["yesterday"], question


def test_a_question_for_plans_with_their_dates_asks_for_nothing_but_a_time() -> None:
    for question in ("What is the plan for December, with dates?", "What dates do I have in May?"):
        asked = QuestionTime.read(question, NOW)
        assert asked is not None
        assert asked.only_time
    concert = QuestionTime.read("What is the date of the concert in December?", NOW)
    assert concert is not None
    assert not concert.only_time


@pytest.mark.parametrize("part", ["morning", "afternoon", "evening", "night"])
def test_a_question_for_a_part_of_a_day_asks_for_nothing_but_a_time(part: str) -> None:
    asked = QuestionTime.read(f"What do I have tomorrow {part}?", NOW)
    assert asked is not None
    assert asked.only_time


@pytest.mark.parametrize(
    "words",
    ["vor ", "vor 3 ", "来週", "先週の", "q1 ", "2026 ", "!q1 after 2026-", "to of 2026 ", "since ",
     "when q1 's since until ", "il y a 3 ", "в прошлый ", "between 1 ", "last 3 ", "1. "],
)  # fmt: skip
def test_no_question_full_of_times_takes_long_to_read(words: str) -> None:
    today = Calendar(date(2026, 2, 11))
    cut_times(
        "vor 3 Tagen, il y a 3 jours, 来週", today
    )  # the words of the languages are read once
    question = (words * 4_096)[:4_096]
    assert seconds_of(lambda: cut_times(question, today), times=3) < 0.5
