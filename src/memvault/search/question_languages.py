"""The languages that a question may be in."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from memvault.model.months import MONTHS, WEEKDAYS
from memvault.search.times.cldr_times import MONTH_NAMES, relative_times, table_of
from memvault.search.times.time_words import ASKING, WORDS
from memvault.stores.vectors.languages import function_words_by_language, is_function_word
from memvault.text.words import STOP_WORDS, letter_runs, without_accents

_LATIN = ("german", "french", "spanish", "italian", "portuguese", "dutch", "polish")
UNSPACED = ("japanese", "chinese")


class QuestionLanguages(NamedTuple):
    """The languages other than English that a question may be in, likeliest first.

    ``is_foreign`` says that the question is certainly not in English.
    """

    names: tuple[str, ...]
    is_foreign: bool


@lru_cache(maxsize=256)  # a question is read several times
def languages_of(text: str) -> QuestionLanguages:
    """The languages other than English that a question may be in.

    Its script decides, else its function words. If it has as many English ones, only languages with
    a word for a time in it count, or with a word that asks for all of something.
    """
    if not text.isascii():
        if re.search("[\u3041-\u30ff]", text):
            return QuestionLanguages(("japanese",), is_foreign=True)
        if re.search("[\u4e00-\u9fff]", text):
            return QuestionLanguages(("chinese", "japanese"), is_foreign=True)
        if re.search("[\u0400-\u04ff]", text):
            return QuestionLanguages(("russian",), is_foreign=True)
    counts = function_words_by_language(text, ("english", *_LATIN))
    highest_count = max(counts.values())
    if counts["english"] < highest_count:
        likely = [name for name in _LATIN if counts[name] >= max(highest_count - 1, 1)]
        return QuestionLanguages(
            tuple(sorted(likely, key=lambda name: -counts[name])), is_foreign=True
        )
    words = re.findall(r"\w+", text.lower())
    possible = [name for name in _LATIN if counts[name] == highest_count]
    recognised = (name for name in possible if not _distinctive_words(name).isdisjoint(words))
    return QuestionLanguages(tuple(recognised), is_foreign=False)


def is_function_word_in(text: str, word: str) -> bool:
    """Whether a word is a function word of the language of a text that is not in English."""
    names, is_foreign = languages_of(text)
    return is_foreign and is_function_word(word, names[0])


def without_function_words(question: str) -> str:
    """The words of a question in lower case; of one that is not in English, those with content."""
    runs = letter_runs(question)
    return " ".join(word for word in runs if not is_function_word_in(question, word))


def is_name_in(question: str, word: str) -> bool:
    """Whether a question has a word as a name, with a capital letter; never in German."""
    name = re.escape(word[:1].upper() + word[1:])
    is_capital = re.search(rf"\b{name}\b", question) is not None
    return is_capital and "german" not in languages_of(question).names


def warm_up() -> None:
    """Collect the words for times of all languages whose function words may leave them open."""
    for name in _LATIN:
        _words_for_times(name)


@cache
def _words_for_times(language: str) -> frozenset[str]:
    """A language's words for days, months and times near today, except months in English."""
    table = table_of(language)
    times = [time.lower() for time, _ in relative_times(language)]
    times += [time.lower() for name in (*WEEKDAYS, *MONTH_NAMES) for time in table[name]]
    forms = (form for time in times for form in (time, without_accents(time)))
    words = {word for form in forms for word in re.findall(r"\w{3,}", form)}
    return frozenset(words - MONTHS.keys())


@cache
def _distinctive_words(language: str) -> frozenset[str]:
    """The words that show a language where its function words leave it open."""
    patterns = (WORDS[language][key] for key in ("christmas", "weekend"))
    names = re.findall(r"\w{6,}", " ".join(patterns))
    words = _words_for_times(language).union(names, ASKING[language].split())
    return words - STOP_WORDS - {"weekend"}
