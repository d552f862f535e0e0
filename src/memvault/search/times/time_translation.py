"""Translates times in questions from ten languages into English.

Adjacent words are translated one by one (`cldr_times`, `time_words`) and put together by their
kinds (`time_meanings`). Whether the result is a time is for the reader of English times to say.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from itertools import islice

from memvault.model.months import WEEKDAYS
from memvault.search import question_languages
from memvault.search.question_languages import UNSPACED, languages_of
from memvault.search.times.cldr_times import (
    MONTH_NAMES,
    NEAR_DAYS,
    relative_times,
    table_of,
)
from memvault.search.times.time_meanings import (
    AUXILIARY_KINDS,
    FEASTS,
    MEANINGS_WITH_PREPOSITION,
    Meaning,
    in_english,
)
from memvault.search.times.time_words import WORDS
from memvault.stores.vectors.languages import LANGUAGES, is_function_word
from memvault.text.words import without_accents

_WEEKDAYS_WITHOUT_ON = ("french", "italian")  # where "Monday" is written for "on Monday"
_UNITS = ("day", "week", "month", "year")
_KIND_OF_KEY = (  # of a key of `WORDS` that is not its own kind
    dict.fromkeys(("last", "next", "this"), "which")
    | dict.fromkeys(("until", "since", "starting", "before", "after"), "bound")
    | dict.fromkeys(("spring", "summer", "autumn", "winter"), "season")
    | dict.fromkeys(_UNITS, "unit")
    | dict.fromkeys(NEAR_DAYS.values(), "day")
    | dict.fromkeys(("begin", "middle", "end"), "part")
    | dict.fromkeys(FEASTS, "feast")
    | dict.fromkeys(WEEKDAYS, "weekday")
    | dict.fromkeys(MONTH_NAMES, "month")
)
_MAX_WORDS = 8  # of a time; reading it takes twice as long for each number among them
_MAX_TIME_WORDS = 200  # of a question that may belong to times; no question of a person has more
_RUSSIAN_ENDINGS = {"weekday": "(?:ь?[ауыяю]|ье)?", "month": r"\w{0,2}"}
_ACCENTS_REQUIRED = ("dès", "passé", "passés")  # without them these are other words
# Keys of `WORDS` whose values are not simply words of one kind.
_SPECIAL_KEYS = frozenset(
    ("each", "apart", "number", "units", "last few days", "last few months", "a unit",
     "end of month", "end of year")
)  # fmt: skip
_BEHIND = "behind"  # in place of its English: a word that follows the time ("_ago")
_ONE_CHARACTER = re.compile(r"\[.*?\]|\\d(?:\{.*?\})?")


def times_in(text: str, is_time: Callable[[str], bool]) -> list[tuple[int, int, str]]:
    """The times of a question that is not in English: first character, end, and English words.

    Args:
        is_time: whether an English text is a time and nothing else.
    """
    lower_text = text.lower().replace("\u2019", "'")
    if len(lower_text) != len(text):  # a few capitals are two characters in lower case
        return []
    names, is_foreign = languages_of(text)
    for index, name in enumerate(names):
        likelier = [language for language in names[:index] if language in LANGUAGES]
        times = []
        for start, end, english in _translator(name).times_in(lower_text, text, is_time):
            words = text[start:end]
            is_other = any(
                is_function_word(lower_text[start:end], language) for language in likelier
            )
            is_doubtful = not is_foreign and " " not in words and not words.islower()
            if not is_other and not is_doubtful:  # German "hier", "Morgen Stanley"
                times.append((start, end, english))
        if times:
            return times
    return []


@cache
def _translator(language: str) -> _Translator:
    return _Translator(language)


def warm_up() -> None:
    """Read all languages now rather than each at the first question that may be in it."""
    for name in WORDS:
        _translator(name)
    question_languages.warm_up()


class _Translator:
    """Translates the times of one language."""

    def __init__(self, language: str) -> None:
        self._language, self._spaced = language, language not in UNSPACED
        meanings_of: dict[str, list[Meaning]] = {}
        for pattern, meaning in self._patterns():
            meanings_of.setdefault(_with_or_without_accents(pattern), []).append(meaning)
        longest_first = sorted(
            meanings_of,
            key=lambda pattern: (-pattern.count(r"\s"), -len(_ONE_CHARACTER.sub("x", pattern))),
        )
        word_start, word_end = (r"(?<!\w)", r"(?:(?!\w)|(?<='))") if self._spaced else ("", "")
        self._word = re.compile(f"{word_start}(?:{'|'.join(longest_first)}){word_end}")
        every, apart = (
            _with_or_without_accents("|".join(WORDS[language].get(key, "(?!)").split()))
            for key in ("each", "apart")
        )
        self._every = re.compile(rf"{word_start}(?:{every})\s*$")
        self._apart = re.compile(rf"{word_start}(?:{apart})\s+$" if self._spaced else apart)
        self._meanings = meanings_of
        self._meanings_of = lru_cache(maxsize=1_000)(self._read)
        self._in_order_of = lru_cache(maxsize=1_000)(self._read_in_order)

    def _patterns(self) -> Iterator[tuple[str, Meaning]]:
        """Patterns of words with their meanings; the earlier ones are tried first."""
        relative = list(relative_times(self._language))
        yield from ((_pattern_of(re.escape(word)), meaning) for word, meaning in relative)
        yield from self._unit_patterns()
        yield from self._day_patterns(relative)
        yield from self._word_patterns()
        yield from self._number_patterns()

    def _unit_patterns(self) -> Iterator[tuple[str, Meaning]]:
        table, words = table_of(self._language), WORDS[self._language]
        for unit, plural in zip(_UNITS, words.get("units", "").split(), strict=False):
            yield plural, (("units", unit),)  # before what may mean one: "letzten Wochen"
            for word in words.get(f"last few {unit}s", "").split():
                yield _pattern_of(word), (("which", "last"), ("units", unit))
        for unit in _UNITS:
            forms = [word.lower() for word in table[unit] if len(word) > 1 or not self._spaced]
            yield from ((re.escape(word), (("unit", unit),)) for word in forms)

    def _day_patterns(
        self, relative: Sequence[tuple[str, Meaning]]
    ) -> Iterator[tuple[str, Meaning]]:
        """Patterns of days of the week and months."""
        days = [(word, (("weekday", day),)) for day in WEEKDAYS for word in self._full_names(day)]
        yield from days
        for month in MONTH_NAMES:
            yield from ((word, (("month", month),)) for word in self._full_names(month))
        if not self._spaced:  # 下周 and 周五 are written 下周五
            days.append((WORDS[self._language]["weekend"], (("weekend", ""),)))
            yield from (
                (week + day[1:], (*week_meaning, *day_meaning))
                for week, week_meaning in relative
                for day, day_meaning in days
                if week[-1] == day[0]
            )

    def _word_patterns(self) -> Iterator[tuple[str, Meaning]]:
        words = WORDS[self._language]
        for unit in _UNITS:
            for word in words.get(f"end of {unit}", "").split():
                yield word, (("part", "end"), ("unit", unit))
        for key in words.keys() - _SPECIAL_KEYS:
            for word in words[key].split():
                english = _BEHIND if word[0] == "_" else key
                yield _pattern_of(word.removeprefix("_")), ((_KIND_OF_KEY.get(key, key), english),)

    def _number_patterns(self) -> Iterator[tuple[str, Meaning]]:
        """Patterns of numbers, years and days of the month, in words and in digits."""
        words = WORDS[self._language]
        for number, word in enumerate(words["number"].split(), 1):
            yield _pattern_of(word), (("number", str(number)),)
        for unit, word in zip(_UNITS, words.get("a unit", "").split(), strict=False):
            yield word, (("number", "1"), ("unit", unit))
        yield r"\d{1,3}", (("number", ""),)
        yield r"\d{4}" if self._spaced else r"\d{4}年", (("year", ""),)
        date = r"(?:\.|er|º|°)?" if self._spaced else "[日号](?![前后後])"
        yield rf"\d{{1,2}}{date}", (("date", ""),)

    def _full_names(self, day_or_month: str) -> list[str]:
        """Patterns of the full names of a day or month."""
        table = table_of(self._language)
        names = {name.lower() for name in table[day_or_month] if name[-1] != ")"}
        full = sorted(name for name in names if len(name) >= max(map(len, names)) - 1)
        stem = full[0].rstrip("аеийоуыьюя")
        if self._language == "russian" and len(stem) > 2:
            kind = "weekday" if day_or_month in WEEKDAYS else "month"
            return [stem + _RUSSIAN_ENDINGS[kind]]
        return [re.escape(name) for name in full if self._spaced or len(name) > 1]

    @cached_property
    def _compiled_meanings(self) -> list[tuple[re.Pattern[str], list[Meaning]]]:
        """`_meanings` with compiled patterns. Compiling those of all languages takes 50 ms, for
        which the start of an engine does not wait."""
        return [(re.compile(pattern), meanings) for pattern, meanings in self._meanings.items()]

    def _read(self, word: str) -> list[Meaning]:
        """The possible meanings of a word; numbers mean themselves."""
        digits = "".join(re.findall(r"\d", word))
        return [
            tuple((kind, english or digits) for kind, english in meaning)
            for pattern, meanings in self._compiled_meanings
            if pattern.fullmatch(word)
            for meaning in meanings
        ]

    def times_in(
        self, lower_text: str, text: str, is_time: Callable[[str], bool]
    ) -> Iterator[tuple[int, int, str]]:
        """The times of a text, as the function `times_in` returns them.

        Args:
            lower_text: the text in lower case.
        """
        for run in self._runs(lower_text):
            first = 0
            while first < len(run):
                for last in range(min(len(run), first + _MAX_WORDS), first, -1):
                    english = self._translate(run[first:last], lower_text, text)
                    if english is not None and is_time(english):
                        yield run[first].start(), run[last - 1].end(), english
                        first = last
                        break
                else:
                    first += 1

    def _runs(self, lower_text: str) -> Iterator[list[re.Match[str]]]:
        """Runs of words for times, with only spaces or hyphens between them."""
        run: list[re.Match[str]] = []
        for word in islice(self._word.finditer(lower_text), _MAX_TIME_WORDS):
            if run and lower_text[run[-1].end() : word.start()].strip(" -"):
                yield run
                run = []
            run.append(word)
        yield run

    def _translate(self, words: list[re.Match[str]], lower_text: str, text: str) -> str | None:
        """The English time that adjacent words mean in this text; None if they mean none."""
        for meanings in self._in_order_of(tuple(word[0] for word in words)):
            parts = tuple(part for meaning in meanings for part in meaning)
            start = next(
                word.start()
                for word, meaning in zip(words, meanings, strict=True)
                if meaning[0][0] not in AUXILIARY_KINDS
            )
            english = in_english(parts)
            if english and self._is_meant(parts, start, words[-1].end(), lower_text, text):
                return english
        return None

    def _read_in_order(self, words: tuple[str, ...]) -> list[tuple[Meaning, ...]]:
        """The meanings of adjacent words that follow each other as those of one time do."""
        readings: list[tuple[Meaning, ...]] = [()]
        for word in words:  # none of which a kind is there twice, since they would be too many
            longer = (
                (*reading, meaning) for reading in readings for meaning in self._meanings_of(word)
            )
            readings = [reading for reading in longer if _names_each_once(reading)]
        return [
            reading for reading in readings if self._in_order(tuple(p for m in reading for p in m))
        ]

    def _in_order(self, parts: Meaning) -> bool:
        """Whether words follow each other as those of one time do."""
        core = [part for part in parts if part[0] not in AUXILIARY_KINDS]
        kinds = [kind for kind, _ in core]
        if not core:
            return False
        if parts[-1][0] in (AUXILIARY_KINDS if self._spaced else ("on", "the")):
            return False
        if not self._spaced and (parts[0][0] == "the" or "which" in kinds[1:]):
            return False
        if self._spaced and "date" in kinds and kinds[:2] != ["date", "month"]:
            return False
        index = parts.index(core[0])
        if self._spaced and any(kind == "bound" for kind, _ in parts[index:]):
            return False  # "per month since May"
        if "number" in kinds:
            before_number = core[: kinds.index("number")]
            if "unit" in dict(before_number) or ("which", "this") in core[len(before_number) :]:
                return False
        directions = [(kind, word) for kind, word in core if kind in ("ago", "from now") and word]
        return all(kinds[-1 if word == _BEHIND else 0] == kind for kind, word in directions)

    def _is_meant(self, parts: Meaning, start: int, end: int, lower_text: str, text: str) -> bool:
        """Whether words that can mean a time mean one in this text: not in "am Morgen", "am letzten
        Tag", "jeden Montag" and 明日香."""
        word_of = dict(parts)
        kinds = word_of.keys() - set(AUXILIARY_KINDS)
        has_preposition = "bound" in word_of or "on" in word_of
        if not self._spaced and self._apart.match(lower_text, end):
            return False
        if " ".join(sorted(kinds)) not in MEANINGS_WITH_PREPOSITION and "feast" not in kinds:
            if word_of.get("day") == "tomorrow" and self._spaced:
                return self._apart.search(lower_text[:start]) is None
            return kinds != {"unit", "which"} or word_of["unit"] != "day"
        if self._every.search(lower_text[:start]):
            return False
        if not self._spaced:
            return kinds != {"season"}
        if "feast" in kinds:
            return has_preposition
        if self._language != "german" and text[start].isupper():  # Mars, Avril
            return False
        if kinds == {"weekday"} and (
            self._language in _WEEKDAYS_WITHOUT_ON or not lower_text[end:].strip(" ?.!")
        ):
            return True
        return has_preposition


def _names_each_once(meanings: tuple[Meaning, ...]) -> bool:
    """Whether each kind of the words of one time, but "which", is there once at most."""
    often = (*AUXILIARY_KINDS, "which")
    kinds = [kind for meaning in meanings for kind, _ in meaning if kind not in often]
    return len(set(kinds)) == len(kinds)


def _pattern_of(word: str) -> str:
    """A pattern of a word, or of several joined by "_" or by escaped spaces."""
    return re.sub(r"_|\\ ", r"\\s+", word)


def _with_or_without_accents(pattern: str) -> str:
    """A pattern that a text may match that is typed without some of its accents."""
    parts, in_brackets = [], False
    for letter in pattern:
        in_brackets = letter == "[" or (in_brackets and letter != "]")
        plain = without_accents(letter) if "LATIN" in unicodedata.name(letter, "") else letter
        if plain != letter and pattern not in _ACCENTS_REQUIRED:
            either = letter + plain
            with_umlaut_as_e = f"|{plain}e" if letter in "äöü" else ""  # "naechste Woche"
            parts.append(either if in_brackets else f"(?:[{either}]{with_umlaut_as_e})")
        else:
            parts.append(letter)
    return "".join(parts)
