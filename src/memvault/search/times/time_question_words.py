"""The words of a question beyond its time, and those of questions that ask only for a time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from memvault.search.question_languages import UNSPACED, languages_of
from memvault.search.task_words import (
    OPEN_TASKS,
    asks_for_tasks,
    asks_what_is_open,
    task_languages,
    words_for_open_tasks,
)
from memvault.search.times.time_patterns import PAST
from memvault.search.times.time_words import ASKING, HAPPENED, OCCASIONS
from memvault.stores.vectors.languages import LANGUAGES, is_function_word
from memvault.text.words import STOP_WORDS, composed, without_accents

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
ANYTHING = STOP_WORDS | frozenset(_ANYTHING_WORDS.split())
# Words of questions that ask only for a future time: "Which appointments do I have tomorrow?"
_PLAN_WORDS = (
    "agenda ahead appointment appointments calendar date dates deadline deadlines dos due event "
    "events meeting meetings need needs open overdue plan planned plans reminder reminders "
    "schedule scheduled s todo todos upcoming still supposed left remain remains remaining "
    "outstanding pending unfinished"
)
_PLANS = ANYTHING | frozenset(_PLAN_WORDS.split())


def asks_only_for_tasks(question: str) -> bool:
    """Whether a question asks only for open tasks."""
    if asks_what_is_open(question):
        return True
    if not asks_for_tasks(question):
        return False
    words = time_question_words(question, question)
    return words.words <= words.plans


def words_beyond(ignored: Iterable[str], part: str, question: str) -> set[str]:
    """The words of a part of a question, except ``ignored``, function words, and words that ask for
    anything at all."""
    words = time_question_words(part, question)
    return words.words - words.anything.union(ignored)


def words_beyond_plans(part: str, question: str) -> set[str]:
    """The words of a part of a question, except function words, and words that ask for anything at
    all or anything planned."""
    words = time_question_words(part, question)
    return words.words - words.plans.union(words.past)


class TimeQuestionWords(NamedTuple):
    """The words of a part of a question, and words in its languages that name no subject.

    Attributes:
        words: without function words.
        past: ask for what happened.
        anything: ask for anything at all.
        plans: ask for anything planned.
    """

    words: set[str]
    past: frozenset[str]
    anything: frozenset[str]
    plans: frozenset[str]


def time_question_words(part: str, question: str) -> TimeQuestionWords:
    words = {word.casefold() for word in _WORD.findall(part)}
    past, anything, plans = PAST, ANYTHING, _PLANS
    tasks = words_for_open_tasks(question)
    for language in languages_of(question).names or (task_languages(question) if tasks else ()):
        happened, general = HAPPENED[language].split(), _general_words(language)
        if language in LANGUAGES:  # those whose function words are known
            function_words = {word for word in words if is_function_word(word, language)}
            words -= function_words.difference(happened)
        if language in UNSPACED:
            words = set(_split(words, (*general, *tasks, *OPEN_TASKS)))
        words = {word for word in words if not word.startswith(OPEN_TASKS)}
        past, anything, plans = past.union(happened), anything | general, plans | general
    if tasks:
        words = {word for word in words if not word.startswith(OPEN_TASKS)}
    return TimeQuestionWords(words, past, anything, plans | tasks)


@cache
def _general_words(language: str) -> frozenset[str]:
    """A language's words that name no subject, with and without their accents."""
    words = f"{HAPPENED[language]} {OCCASIONS[language]} {ASKING[language]}"
    return frozenset(f"{words} {composed(without_accents(words))}".split())


def _split(texts: Iterable[str], known_words: Iterable[str]) -> Iterator[str]:
    """The known words in texts without spaces, and the rest of each text."""
    words = re.compile("|".join(sorted(known_words, key=len, reverse=True)))
    for text in texts:
        yield from words.findall(text)
        if remainder := words.sub("", text):
            yield remainder
