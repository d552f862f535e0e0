"""Times in questions of other languages than English."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.search.times.cldr_times import relative_times, table_of
from memvault.search.times.question_time import QuestionTime
from memvault.search.times.time_expressions import Cut, cut_times
from memvault.search.times.time_meanings import in_english
from memvault.search.times.time_spans import Calendar, Span
from memvault.search.times.time_words import CODES
from tests.timing import seconds_of

TODAY = date(2026, 11, 18)  # a Wednesday
NOW = Calendar(TODAY)
OCTOBER = (date(2026, 10, 1), date(2026, 10, 31))
CHRISTMAS = (date(2025, 12, 24), date(2025, 12, 26))
SUMMER = (date(2026, 6, 1), date(2026, 8, 31))
LAST_DAYS = (date(2026, 11, 15), TODAY)
LAST_WEEK = (date(2026, 11, 9), date(2026, 11, 15))
NEXT_WEEK = (date(2026, 11, 23), date(2026, 11, 29))
FRIDAY = date(2026, 11, 20)


def times(text: str, calendar: Calendar = NOW) -> list[Cut]:
    return cut_times(text, calendar)[1]


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("Was steht kommende Woche an?", *NEXT_WEEK),
        ("Wen traf ich in der letzten Woche?", *LAST_WEEK),
        ("Was ist bis Freitag zu tun?", TODAY, FRIDAY),
        ("Wo waren wir vor drei Tagen?", date(2026, 11, 15), date(2026, 11, 15)),
        ("Was ist bis Ende des Monats fällig?", TODAY, date(2026, 11, 30)),
        ("Was geschah am Freitag letzter Woche?", date(2026, 11, 13), date(2026, 11, 13)),
        ("Was steht bis zum 24. Dezember 2026 an?", TODAY, date(2026, 12, 24)),
        ("Qu'y a-t-il la semaine prochaine ?", *NEXT_WEEK),
        ("Qui est venu vendredi dernier ?", date(2026, 11, 13), date(2026, 11, 13)),
        ("Qu’a-t-on fait l’année dernière ?", date(2025, 1, 1), date(2025, 12, 31)),
        ("Qu'a-t-on fait ces deux dernières semaines ?", date(2026, 11, 4), TODAY),
        ("¿Qué hay la semana que viene?", *NEXT_WEEK),
        ("¿Qué hicimos hace dos años?", date(2024, 5, 19), date(2025, 5, 20)),
        ("Che cosa c'è la prossima settimana?", *NEXT_WEEK),
        ("Che cosa va fatto entro venerdì?", TODAY, FRIDAY),
        ("O que há para fazer na próxima semana?", *NEXT_WEEK),
        ("Wat heb ik vorige week gedaan?", *LAST_WEEK),
        ("Что было на прошлой неделе?", *LAST_WEEK),
        ("Кто приходил неделю назад?", date(2026, 11, 8), date(2026, 11, 14)),
        ("Что нужно сделать до пятницы?", TODAY, FRIDAY),
        ("Kogo spotkałem w zeszłym tygodniu?", *LAST_WEEK),
        ("Co sadzimy w przyszłym tygodniu?", *NEXT_WEEK),
        ("Kto dzwonił trzy dni temu?", date(2026, 11, 15), date(2026, 11, 15)),
        ("Co mam kupić do piątku?", TODAY, FRIDAY),
        ("Kto był u nas w październiku?", *OCTOBER),
        ("Gdzie byliśmy w lecie?", *SUMMER),
        ("Ile wydałem na początku października 2025 roku?", date(2025, 10, 1), date(2025, 10, 10)),
        ("Kto przyjechał na Boże Narodzenie?", *CHRISTMAS),
        ("来週の予定は？", *NEXT_WEEK),
        ("来週末は何をする？", date(2026, 11, 21), date(2026, 11, 22)),
        ("2025年3月5日に何があった？", date(2025, 3, 5), date(2025, 3, 5)),
        ("上周我做了什么？", *LAST_WEEK),
        ("下周五有什么会议？", date(2026, 11, 27), date(2026, 11, 27)),
        ("前天谁来了？", date(2026, 11, 16), date(2026, 11, 16)),
        ("Was war in den letzten Tagen los?", *LAST_DAYS),
        ("Was war in den letzten Wochen?", date(2026, 10, 28), TODAY),
        ("Was war vor vierzehn Tagen?", date(2026, 11, 1), date(2026, 11, 7)),
        ("Was geschah naechste Woche?", *NEXT_WEEK),
        ("Was geschah an Weihnachten?", *CHRISTMAS),
        ("Was ist bis Monatsende fällig?", TODAY, date(2026, 11, 30)),
        ("Was steht am Wochenende an?", date(2026, 11, 14), date(2026, 11, 15)),
        ("Chi è venuto in questi giorni?", *LAST_DAYS),
        ("Chi è venuto ad agosto?", date(2026, 8, 1), date(2026, 8, 31)),
        ("Was geschah Ende Oktober letzten Jahres?", date(2025, 10, 21), date(2025, 10, 31)),
        ("Was ist Anfang des Monats fällig?", date(2026, 11, 1), date(2026, 11, 10)),
        ("Wen traf ich gestern Abend?", date(2026, 11, 17), date(2026, 11, 17)),
        ("Qui est venu la semaine derniere ?", *LAST_WEEK),
        ("Qui est venu en fevrier ?", date(2026, 2, 1), date(2026, 2, 28)),
        ("Qu'a-t-on fait fin octobre ?", date(2026, 10, 21), date(2026, 10, 31)),
        ("Qu'a-t-on fait début octobre 2025 ?", date(2025, 10, 1), date(2025, 10, 10)),
        ("Qu'a-t-on fait mi-octobre ?", date(2026, 10, 11), date(2026, 10, 20)),
        ("Qu'a-t-on fait au mois d'octobre ?", *OCTOBER),
        ("Qu'a-t-on fait pendant l'été ?", *SUMMER),
        ("Qu'a-t-on fait à Noël ?", *CHRISTMAS),
        ("Qu'a-t-on fait à Noël l'année dernière ?", *CHRISTMAS),
        ("Qu'a-t-on fait le 24 décembre de l'an dernier ?", *[date(2025, 12, 24)] * 2),
        ("Qui est venu ce matin ?", TODAY, TODAY),
        ("Qui est venu ces derniers jours ?", *LAST_DAYS),
        ("Qui est venu ces derniers mois ?", date(2026, 8, 18), TODAY),
        ("Qui est venu il y a une quinzaine de jours ?", date(2026, 10, 31), date(2026, 11, 6)),
        ("Qui est venu entre le 1er et le 15 octobre ?", OCTOBER[0], date(2026, 10, 15)),
        ("¿Qué hice a finales de octubre?", date(2026, 10, 21), date(2026, 10, 31)),
        ("¿Qué hice a mediados de octubre?", date(2026, 10, 11), date(2026, 10, 20)),
        ("¿Qué hice anoche?", date(2026, 11, 17), date(2026, 11, 17)),
        ("¿Qué hice hace dos anos?", date(2024, 5, 19), date(2025, 5, 20)),
        ("Cosa ho fatto a fine ottobre?", date(2026, 10, 21), date(2026, 10, 31)),
        ("Cosa ho fatto a metà ottobre?", date(2026, 10, 11), date(2026, 10, 20)),
        ("Cosa ho fatto dopo l'estate?", date(2026, 9, 1), date.max),
        ("Cosa ho fatto prima dell'estate?", date.min, date(2026, 5, 31)),
        ("Cosa ho fatto nell'estate del 2024?", date(2024, 6, 1), date(2024, 8, 31)),
        ("Cosa ho fatto nel weekend?", date(2026, 11, 14), date(2026, 11, 15)),
        ("Cosa ho fatto venerdi?", date(2026, 11, 13), date(2026, 11, 13)),
        ("Cosa ho fatto stamattina?", TODAY, TODAY),
        ("Cosa ho fatto quindici giorni fa?", date(2026, 10, 31), date(2026, 11, 6)),
        ("Cosa ho fatto tra il 3 e il 10 ottobre?", date(2026, 10, 3), date(2026, 10, 10)),
        ("Cosa ho fatto l'anno scorso a ottobre?", date(2025, 10, 1), date(2025, 10, 31)),
        ("O que fiz em meados de outubro?", date(2026, 10, 11), date(2026, 10, 20)),
        ("O que fiz no Natal do ano passado?", *CHRISTMAS),
        ("Wat deed ik begin oktober?", date(2026, 10, 1), date(2026, 10, 10)),
        ("Wat deed ik gisteravond?", date(2026, 11, 17), date(2026, 11, 17)),
        ("Что я делал в последние дни?", *LAST_DAYS),
        ("Что было в начале октября?", date(2026, 10, 1), date(2026, 10, 10)),
        ("今朝何をした？", TODAY, TODAY),
        ("最近几天我做了什么？", *LAST_DAYS),
        ("Was ist seit März passiert?", date(2026, 3, 1), date.max),
        ("Qu'a-t-on fait depuis mars ?", date(2026, 3, 1), date.max),
        ("¿Qué hice desde mayo?", date(2026, 5, 1), date.max),
        ("Was war in KW 14?", date(2026, 3, 30), date(2026, 4, 5)),
        ("Was war in der KW 53/2026?", date(2026, 12, 28), date(2027, 1, 3)),
        ("Was war am 12.4.26?", date(2026, 4, 12), date(2026, 4, 12)),
        ("Wat was er op 21 januari 2026?", date(2026, 1, 21), date(2026, 1, 21)),
        ("Wat was er op 7-4-2026?", date(2026, 4, 7), date(2026, 4, 7)),
        ("¿Qué pasó el 3/11/2026?", date(2026, 11, 3), date(2026, 11, 3)),
        ("Was war nach Ostern 2025?", date(2025, 4, 22), date.max),
        ("Qu'a-t-on fait à Pâques ?", date(2026, 4, 3), date(2026, 4, 6)),
        ("¿Qué hice en Semana Santa de 2024?", date(2024, 3, 29), date(2024, 4, 1)),
        ("去年のイースターに何をした？", date(2025, 4, 18), date(2025, 4, 21)),
        ("令和7年3月5日に何があった？", date(2025, 3, 5), date(2025, 3, 5)),
        ("２０２５年３月に何があった？", date(2025, 3, 1), date(2025, 3, 31)),
    ],
)
def test_a_time_in_another_language_is_the_days_that_people_mean(
    question: str, first: date, last: date
) -> None:
    assert [cut.span for cut in times(question)] == [Span(first, last)]


@pytest.mark.parametrize(
    "question",
    [
        "Was steht in der letzten Zeile?",
        "Wie sieht mein Plan am Morgen aus?",
        "Was war am letzten Tag des Projekts?",
        "Was machen wir jeden Montag?",
        "Wo steht, dass jeder Tag in einer Zeile steht?",
        "Was hat Frau Sommer gesagt?",
        "Quoi de neuf, et quelle est la dernière version ?",
        "Que fait-on le lundi et tous les étés ?",
        "Où est la maison d'été de Monsieur Avril ?",
        "¿Qué hago por la mañana y todos los lunes?",
        "¿Hace falta regar?",
        "Che cosa fa ogni lunedì?",
        "O que está na segunda tarefa?",
        "Ile płacimy co miesiąc za prąd?",
        "Co piekę w każdą sobotę?",
        "Gdzie leży klucz do piwnicy?",
        "Какая среда разработки в среднем лучше?",
        "Wer ist hier en route?",
        "Quel est le repas de Noël, et qui est le père Noël ?",
        "Qui passe lundis et mardis ?",
        "Où est le début du roman ?",
        "Quante sono le fini del libro?",
        "Wie ist der Anfang des Romans?",
        "Was steht im Buch über den Winter?",
        "1940年代の本はどこ？",
        "明日香さんは誰ですか？",
        "毎週月曜日に何をしますか？",
        "一周五次浇水吗？",
        "下周期怎么做？",
        "Where is the hier module, and who is Oggi Demain?",
        "Who planted the morgen rose?",
        "Morgen Stanley",
        "the hier of Mars",
        "Ottobre",
    ],
)
def test_words_that_name_no_time_are_left(question: str) -> None:
    assert cut_times(question, NOW) == (question, [])


def test_many_numbers_in_a_row_are_read_as_quickly_as_few() -> None:
    numbers = " ".join(str(number % 9 + 1) for number in range(60))
    question = f"Ist die Nummer {numbers} in der Notiz?"
    assert times(question) == []
    assert seconds_of(lambda: times(question)) < 5.0  # each number more doubled the time


def test_after_the_warm_up_no_question_reads_the_table_of_a_language() -> None:
    program = (
        "from datetime import date\n"
        "from memvault.search.times.time_expressions import Calendar, cut_times\n"
        "from memvault.search.times.cldr_times import table_of\n"
        "from memvault.search.times.time_translation import warm_up\n"
        "warm_up()\n"
        "read = table_of.cache_info().misses\n"
        "for question in ('para set die mars', 'Was war im März?', 'Что было в марте?', '三月'):\n"
        "    cut_times(question, Calendar(date(2026, 11, 18)))\n"
        "print(read, table_of.cache_info().misses)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.split() == [b"10", b"10"]


def test_a_time_is_cut_out_of_the_question_in_its_own_words() -> None:
    text, (cut,) = cut_times("Was habe ich nächste Woche vor?", NOW)
    assert (text, text[: cut.at]) == ("Was habe ich vor?", "Was habe ich")


def test_dates_in_english_keep_their_year() -> None:
    for question in ("Minutes April 04, 2019", "minutes of April 4, 2019", "4 April 2019"):
        assert [cut.span.first for cut in times(question)] == [date(2019, 4, 4)]


def test_a_day_of_the_week_may_be_past_or_to_come() -> None:
    (cut,) = times("Wer kommt am Freitag?")
    assert (cut.span.first, cut.coming) == (date(2026, 11, 13), Span(FRIDAY, FRIDAY))


def test_weeks_begin_as_the_person_has_set_it() -> None:
    (cut,) = times("Was war letzte Woche?", Calendar(TODAY, week_starts=6))
    assert cut.span == Span(date(2026, 11, 8), date(2026, 11, 14))


@pytest.mark.parametrize(
    ("question", "only_time"),
    [
        ("Was habe ich nächste Woche vor?", True),
        ("Was mache ich diese Woche?", True),
        ("Qu'est-ce que je fais demain ?", True),
        ("¿Qué tengo mañana?", True),
        ("Что у меня завтра?", True),
        ("Was steht nächste Woche an?", True),
        ("Was habe ich letzte Woche gemacht?", True),
        ("Welche Termine habe ich am Donnerstag?", True),
        ("Qu'est-ce qu'on a fait hier ?", True),
        ("¿Qué citas tengo mañana?", True),
        ("Cosa è successo ieri?", True),
        ("O que aconteceu ontem?", True),
        ("Wat staat er volgende week gepland?", True),
        ("Какие планы на завтра?", True),
        ("来週の予定は？", True),
        ("昨日は何をしましたか？", True),
        ("下周有什么安排？", True),
        ("昨天发生了什么事？", True),
        ("Welche Rosen pflanze ich nächste Woche?", False),
        ("Was habe ich gestern gekocht?", False),
        ("Was haben wir im Mai beschlossen?", True),
        ("Qu'avons-nous décidé en mai ?", True),
        ("¿Qué se decidió en marzo?", True),
        ("Cosa è cambiato la settimana scorsa?", True),
        ("O que decidimos em maio?", True),
        ("Wat deed ik gisteren?", True),
        ("Wat moet er deze week nog gebeuren?", True),
        ("Что я написал вчера?", True),
        ("昨日は何を決めた？", True),
        ("上周我们决定了什么？", True),
        ("¿Qué pasó el día 3 de mayo?", True),
        ("O que fiz no dia 3 de maio?", True),
        ("Cosa è successo il giorno 3 maggio?", True),
        ("Co się działo w dniu 3 maja?", True),
        ("O que comprei no dia 3 de maio?", False),
        ("Co się wydarzyło wczoraj?", True),
        ("Co ustaliliśmy w marcu?", True),
        ("Co ugotowałem wczoraj?", False),
        ("Wat kookte ik gisteren?", False),
        ("来週のバラの予定は何ですか？", False),
        ("下周的玫瑰花有什么安排？", False),
    ],
)
def test_a_question_of_words_for_what_happens_asks_for_all_of_its_time(
    question: str, only_time: bool
) -> None:
    asked = QuestionTime.read(question, NOW)
    assert asked is not None
    assert asked.only_time == only_time


def test_a_price_for_each_month_since_a_day_names_that_day_alone() -> None:
    rest, (cut,) = cut_times("Combien est la cotisation par mois depuis janvier 2026 ?", NOW)
    assert (rest, cut.span.first) == ("Combien est la cotisation par mois ?", date(2026, 1, 1))


def test_a_verb_that_lacks_only_an_accent_of_last_is_none() -> None:
    asked = QuestionTime.read("Qui passe jeudi ?", NOW)
    assert asked is not None and not asked.past


def test_what_is_done_tomorrow_is_not_past() -> None:
    """French says "fait" of both."""
    asked = QuestionTime.read("Qu'est-ce qu'on fait demain ?", NOW)
    assert asked is not None
    assert asked.only_time
    assert not asked.past


def test_what_happened_is_not_to_come() -> None:
    """Friday is also a day of the next week."""
    for question in (
        "Was habe ich am Freitag gemacht?",
        "Was war am Freitag?",
        "¿Qué hice el viernes?",
        "Что было в пятницу?",
    ):
        asked = QuestionTime.read(question, NOW)
        assert asked is not None and asked.past, question


# Beginnings that say which language a question is in.
ASKED = {
    "german": "Was ist das ", "french": "Qu'est-ce que nous avons ", "spanish": "¿Qué es lo que hay ",
    "italian": "Che cosa c'è ", "portuguese": "O que é que ele tem ", "dutch": "Wat is er dan ",
    "polish": "Co to jest, że mi ",
    "russian": "Что же было ", "japanese": "これは", "chinese": "我们",
}  # fmt: skip
NEAR = [(language, *each) for language in CODES for each in relative_times(language)]


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(NEAR), st.dates(date(1950, 1, 1), date(2049, 12, 31)))
def test_every_word_for_a_time_near_today_means_what_it_does_in_english(near, today) -> None:
    language, word, meaning = near
    english = in_english(meaning)
    assert english is not None
    (cut,) = times(ASKED[language] + word, Calendar(today))
    (same,) = times(english, Calendar(today))
    assert (cut.span, cut.coming) == (same.span, same.coming)


COUNTED = [
    (language, side, unit, words)
    for language in CODES
    for name, patterns in table_of(language)["relative-type-regex"].items()
    if (match := re.fullmatch(r"(in )?\\1 (day|week|month|year)(?: ago)?", name))
    for side, unit in [("from now" if match[1] else "ago", match[2])]
    for words in patterns
    if not words.startswith("–")  # Polish "–2 mies", which nobody asks
    for form in table_of(language)[unit]  # of patterns only those with a whole word of the unit
    if (len(form) > 1 or language in ("japanese", "chinese"))
    and re.search(rf"\)\s*{form.lower()}(?:\b|[前後后])", words)
]


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(COUNTED), st.integers(2, 99))
def test_every_counted_time_of_the_table_means_what_it_does_in_english(counted, number) -> None:
    language, side, unit, pattern = counted
    (cut,) = times(ASKED[language] + pattern.replace(r"(\d++[.,]?\d*+)", str(number)))
    (same,) = times(f"{number} {unit}s {side}")
    assert cut.span == same.span
