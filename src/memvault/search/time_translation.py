"""Translates times in questions from nine languages into English.

The names of days, months, units and times near today are those of Unicode CLDR, as the package
dateparser lists them. Adjacent words are translated one by one. Their meaning depends on their
kinds, not on their order, and the reader of English times decides whether the result is a time.
"""

from __future__ import annotations

import calendar
import importlib.util
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from memvault.model.months import MONTHS
from memvault.search.time_words import ASKING, CODES, WORDS
from memvault.stores.vectors.languages import (
    LANGUAGES,
    function_words_by_language,
    is_function_word,
)
from memvault.text.words import STOP_WORDS, without_accents

_LATIN = ("german", "french", "spanish", "italian", "portuguese", "dutch")
UNSPACED = ("japanese", "chinese")
_DAYS_BARE = ("french", "italian")  # where "Monday" is written for "on Monday"
_NEAR_DAYS = {
    "0 ago": "today", "1 ago": "yesterday", "2 ago": "day before yesterday",
    "1 from now": "tomorrow", "2 from now": "day after tomorrow",
}  # fmt: skip
_NEAR_UNITS = {"0 ago": "this", "1 ago": "last", "1 from now": "next"}
# The day of a feast, and what is meant by "at" it.
_FEASTS = {
    "christmas": ("25 december", "between 24 and 26 december"),
    "new year": ("1 january", "1 january"),
}
_PARTS = {"begin": "the beginning of", "middle": "the middle of", "end": "the end of"}
_UNITS = ("day", "week", "month", "year")
_WEEKDAYS = [name.lower() for name in calendar.day_name]
_MONTHS = [name.lower() for name in calendar.month_name[1:]]
_KINDS = (
    dict.fromkeys(("last", "next", "this"), "which")
    | dict.fromkeys(("until", "since", "starting", "before", "after"), "bound")
    | dict.fromkeys(("spring", "summer", "autumn", "winter"), "season")
    | dict.fromkeys(_UNITS, "unit")
    | dict.fromkeys(_NEAR_DAYS.values(), "day")
    | dict.fromkeys(("begin", "middle", "end"), "part")
    | dict.fromkeys(_FEASTS, "feast")
)
_AROUND = ("bound", "on", "the")
_LONGEST = 8  # most words of a time
_MOST_WORDS = 200  # of a question that may belong to times; no question of a person has more
_RUSSIAN_ENDINGS = {"weekday": "(?:ь?[ауыяю]|ье)?", "month": r"\w{0,2}"}
_WITH_ACCENTS = ("dès", "passé", "passés")  # words that are others without their accents
_OF_THEIR_OWN = frozenset(
    (
        "each",
        "apart",
        "number",
        "units",
        "last few days",
        "last few months",
        "a unit",
        "end of month",
        "end of year",
    )
)
_ONE_SIGN = re.compile(r"\[.*?\]|\\d(?:\{.*?\})?")
# The meaning of adjacent words, by their kinds.
_MEANINGS = {
    "day": "{day}",
    "unit which": "{which} {unit}",
    "number unit which": "the {which} {number} {unit}s",
    "ago number unit": "{number} {unit}s ago",
    "from now number unit": "{number} {unit}s from now",
    "weekday which": "{which} {weekday}",
    "unit weekday which": "{weekday} {which} {unit}",
    "season year": "{season} of {year}",
    "season which": "{which} {season}",
    "season unit which": "{season} of {which} {unit}",
    "weekend which": "{which} weekend",
    "unit weekend which": "{which} weekend",
    "month which": "{which} {month}",
    "part unit": "{part} the {unit}",
    "part unit which": "{part} {which} {unit}",
    "month part": "{part} {month}",
    "month part year": "{part} {month} {year}",
    "month part which": "{part} {which} {month}",
    "month part unit which": "{part} {month} {which} {unit}",
    "units which": "the {which} few {units}s",
    "number units which": "the {which} {number} {units}s",
    "date month": "{date} {month}",
    "date month year": "{date} {month} {year}",
    "date month unit which": "{date} {month} {which} {unit}",
    "feast": "{feast}",
    "feast year": "{feast} {year}",
    "feast unit which": "{feast} {which} {unit}",
}
# Meanings of words with a word like "on" or "until" before them.
_MEANINGS_WITH_ON = {
    "weekday": ("on", "{weekday}"),
    "weekend": ("on", "the weekend"),
    "season": ("in", "{season}"),
    "month": ("in", "{month}"),
    "month year": ("in", "{month} {year}"),
    "month unit": ("in", "{month}"),
    "month unit year": ("in", "{month} {year}"),
    "month unit which": ("in", "{month} {which} {unit}"),
    "year": ("in", "{year}"),
}

Meaning = tuple[tuple[str, str], ...]  # kinds of words, each with its word in English


def times_in(text: str, is_time: Callable[[str], bool]) -> list[tuple[int, int, str]]:
    """The times of a question that is not in English: first character, end, and English words.

    Args:
        is_time: whether an English text is a time and nothing else.
    """
    low = text.lower().replace("\u2019", "'")
    if len(low) != len(text):  # a few capitals are two characters in lower case
        return []
    names, sure = languages_of(text)
    for place, name in enumerate(names):
        likelier = [other for other in names[:place] if other in LANGUAGES]
        found = []
        for first, end, english in _language(name).times_in(low, text, is_time):
            here = any(is_function_word(low[first:end], other) for other in likelier)
            doubtful = not sure and " " not in text[first:end] and not text[first:end].islower()
            if not here and not doubtful:  # German "hier", "Morgen Stanley"
                found.append((first, end, english))
        if found:
            return found
    return []


@lru_cache(maxsize=256)  # a question is read several times
def languages_of(text: str) -> tuple[tuple[str, ...], bool]:
    """The languages other than English that a question may be in, likeliest first, and whether it
    is surely not English.

    Its script decides, else its function words. If it has as many English ones, only languages with
    a word for a time in it count, or with a word that asks for all of something.
    """
    if not text.isascii():
        if re.search("[\u3041-\u30ff]", text):
            return ("japanese",), True
        if re.search("[\u4e00-\u9fff]", text):
            return ("chinese", "japanese"), True
        if re.search("[\u0400-\u04ff]", text):
            return ("russian",), True
    counts = function_words_by_language(text, ("english", *_LATIN))
    most = max(counts.values())
    if counts["english"] < most:
        near = [name for name in _LATIN if counts[name] >= max(most - 1, 1)]
        return tuple(sorted(near, key=lambda name: -counts[name])), True
    words = re.findall(r"\w+", text.lower())
    near = [name for name in _LATIN if counts[name] == most]
    told = [name for name in near if not _telling_words(name).isdisjoint(words)]
    return tuple(told), False


@cache
def table_of(language: str) -> dict[str, Any]:
    """The names of times in a language, as dateparser lists them. Its package is not imported,
    which would take 0.1 s.

    Raises:
        ModuleNotFoundError: dateparser is not installed.
    """
    package = importlib.util.find_spec("dateparser")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("No module named 'dateparser'", name="dateparser")
    folder = Path(package.origin).with_name("data") / "date_translation_data"
    path = folder / f"{CODES[language]}.py"
    spec = importlib.util.spec_from_file_location(f"times_in_{language}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return dict(module.info)


def relative_times(language: str) -> Iterator[tuple[str, Meaning]]:
    """A language's words for times near today ("letzte woche"), with their meanings."""
    for name, words in table_of(language)["relative-type"].items():
        match = re.fullmatch(r"(in )?(\d) (day|week|month|year)(?: ago)?", name)
        if match is None:
            continue
        unit, side = match[3], "from now" if match[1] else "ago"
        near = f"{match[2]} {side}"
        meaning: Meaning = (("number", match[2]), ("unit", unit), (side, ""))
        if unit == "day" and near in _NEAR_DAYS:
            meaning = (("day", _NEAR_DAYS[near]),)
        elif near in _NEAR_UNITS:
            meaning = (("which", _NEAR_UNITS[near]), ("unit", unit))
        yield from ((word.lower(), meaning) for word in words)


def in_english(parts: Meaning) -> str | None:
    """The English time that adjacent words mean; None if they do not mean one time."""
    kinds = {kind for kind, _ in parts if kind not in _AROUND}
    known = dict(sorted(parts, key=lambda part: part[1] != "this"))
    if "which" in kinds and known.get("number") == "1":
        kinds.remove("number")
    if known.get("which") == "this" and kinds & {"number", "units"}:
        known["which"] = "last"
    known["part"] = _PARTS.get(known.get("part", ""), "")
    known["feast"] = _FEASTS.get(known.get("feast", ""), ("", ""))["bound" not in known]
    if kinds in ({"month", "unit"}, {"month", "unit", "year"}) and known["unit"] != "month":
        return None  # "nel mese di ottobre"
    key = " ".join(sorted(kinds))
    if key in _MEANINGS:
        return f"{known.get('bound', '')} {_MEANINGS[key].format(**known)}".strip()
    if key in _MEANINGS_WITH_ON:
        on, meaning = _MEANINGS_WITH_ON[key]
        return f"{known.get('bound', on)} {meaning.format(**known)}"
    return None


@cache
def _words_for_times(language: str) -> frozenset[str]:
    """A language's words for days, months and times near today, except months in English."""
    known = [word for word, _ in relative_times(language)]
    known += [word for name in (*_WEEKDAYS, *_MONTHS) for word in table_of(language)[name]]
    forms = [form for each in known for form in (each.lower(), without_accents(each.lower()))]
    words = {word for each in forms for word in re.findall(r"\w{3,}", each)}
    return frozenset(words - MONTHS.keys())


@cache
def _telling_words(language: str) -> frozenset[str]:
    """Words by which a language is told where its function words leave it open."""
    own = (WORDS[language][key] for key in ("christmas", "weekend"))
    names = re.findall(r"\w{6,}", " ".join(own))
    words = _words_for_times(language).union(names, ASKING[language].split())
    return words - STOP_WORDS - {"weekend"}


@cache
def _language(name: str) -> _Language:
    return _Language(name)


def warm_up() -> None:
    """Read all languages now rather than each at the first question that may be in it."""
    for name in WORDS:
        _language(name)
    for name in _LATIN:
        _words_for_times(name)


class _Language:
    """Reads the times of one language."""

    def __init__(self, name: str) -> None:
        self._name, self._spaced = name, name not in UNSPACED
        entries: dict[str, list[Meaning]] = {}
        for word, meaning in self._known():
            entries.setdefault(_with_or_without_accents(word), []).append(meaning)
        longest_first = sorted(
            entries, key=lambda word: (-word.count(r"\s"), -len(_ONE_SIGN.sub("x", word)))
        )
        before, behind = (r"(?<!\w)", r"(?:(?!\w)|(?<='))") if self._spaced else ("", "")
        self._word = re.compile(f"{before}(?:{'|'.join(longest_first)}){behind}")
        each, apart = (
            _with_or_without_accents(_any_of(WORDS[name].get(key, "(?!)")))
            for key in ("each", "apart")
        )
        self._each = re.compile(rf"{before}(?:{each})\s*$")
        self._apart = re.compile(rf"{before}(?:{apart})\s+$" if self._spaced else apart)
        self._meanings = [(re.compile(word), known) for word, known in entries.items()]
        self._meanings_of = lru_cache(maxsize=1_000)(self._read)
        self._in_order_of = lru_cache(maxsize=1_000)(self._read_in_order)

    def _known(self) -> Iterator[tuple[str, Meaning]]:
        """Patterns of words with their meanings."""
        table, words = table_of(self._name), WORDS[self._name]
        near = list(relative_times(self._name))
        yield from ((_pattern(re.escape(word)), meaning) for word, meaning in near)
        for unit, many in zip(_UNITS, words.get("units", "").split(), strict=False):
            yield many, (("units", unit),)  # before what may mean one: "letzten Wochen"
            for word in words.get(f"last few {unit}s", "").split():
                yield _pattern(word), (("which", "last"), ("units", unit))
        for unit in _UNITS:
            forms = [word.lower() for word in table[unit] if len(word) > 1 or not self._spaced]
            yield from ((re.escape(word), (("unit", unit),)) for word in forms)
        days = [(word, (("weekday", day),)) for day in _WEEKDAYS for word in self._names(day)]
        yield from days
        for month in _MONTHS:
            yield from ((word, (("month", month),)) for word in self._names(month))
        if not self._spaced:  # 下周 and 周五 are written 下周五
            days.append((words["weekend"], (("weekend", ""),)))
            yield from (
                (week + day[1:], (*which, *what))
                for week, which in near
                for day, what in days
                if week[-1] == day[0]
            )
        for unit in _UNITS:
            for word in words.get(f"end of {unit}", "").split():
                yield word, (("part", "end"), ("unit", unit))
        for key in words.keys() - _OF_THEIR_OWN:
            for word in words[key].split():
                english = "behind" if word[0] == "_" else key
                yield _pattern(word.removeprefix("_")), ((_KINDS.get(key, key), english),)
        for number, word in enumerate(words["number"].split(), 1):
            yield _pattern(word), (("number", str(number)),)
        for unit, word in zip(_UNITS, words.get("a unit", "").split(), strict=False):
            yield word, (("number", "1"), ("unit", unit))
        yield r"\d{1,3}", (("number", ""),)
        yield r"\d{4}" if self._spaced else r"\d{4}年", (("year", ""),)
        date = r"(?:\.|er|º|°)?" if self._spaced else "[日号](?![前后後])"
        yield rf"\d{{1,2}}{date}", (("date", ""),)

    def _names(self, day_or_month: str) -> list[str]:
        """Patterns of the full names of a day or month."""
        known = {word.lower() for word in table_of(self._name)[day_or_month] if word[-1] != ")"}
        full = sorted(word for word in known if len(word) >= max(map(len, known)) - 1)
        stem = full[0].rstrip("аеийоуыьюя")
        if self._name == "russian" and len(stem) > 2:
            return [stem + _RUSSIAN_ENDINGS["weekday" if day_or_month in _WEEKDAYS else "month"]]
        return [re.escape(word) for word in full if self._spaced or len(word) > 1]

    def _read(self, word: str) -> list[Meaning]:
        """The possible meanings of a word; numbers mean themselves."""
        found = [m for pattern, known in self._meanings if pattern.fullmatch(word) for m in known]
        digits = "".join(re.findall(r"\d", word))
        return [tuple((kind, english or digits) for kind, english in each) for each in found]

    def times_in(
        self, low: str, text: str, is_time: Callable[[str], bool]
    ) -> Iterator[tuple[int, int, str]]:
        """Like the function of this name; ``low`` is the text in lower case."""
        for run in self._runs(low):
            first = 0
            while first < len(run):
                for last in range(min(len(run), first + _LONGEST), first, -1):
                    english = self._time(run[first:last], low, text)
                    if english is not None and is_time(english):
                        yield run[first].start(), run[last - 1].end(), english
                        first = last
                        break
                else:
                    first += 1

    def _runs(self, low: str) -> Iterator[list[re.Match[str]]]:
        """Runs of words for times, with only spaces or hyphens between them."""
        run: list[re.Match[str]] = []
        for word in islice(self._word.finditer(low), _MOST_WORDS):
            if run and low[run[-1].end() : word.start()].strip(" -"):
                yield run
                run = []
            run.append(word)
        yield run

    def _time(self, words: list[re.Match[str]], low: str, text: str) -> str | None:
        """The English time that adjacent words mean in this text; None if they mean none."""
        for meanings in self._in_order_of(tuple(word[0] for word in words)):
            parts = tuple(part for meaning in meanings for part in meaning)
            core = next(n for n, meaning in enumerate(meanings) if meaning[0][0] not in _AROUND)
            english = in_english(parts)
            if english and self._fits(parts, words[core].start(), words[-1].end(), low, text):
                return english
        return None

    def _read_in_order(self, words: tuple[str, ...]) -> list[tuple[Meaning, ...]]:
        """The meanings of adjacent words that follow each other as those of one time do."""
        known: list[tuple[Meaning, ...]] = [()]
        for word in words:  # none of which a kind is there twice, since they would be too many
            longer = ((*each, new) for each in known for new in self._meanings_of(word))
            known = [each for each in longer if _names_each_once(each)]
        return [each for each in known if self._in_order(tuple(p for m in each for p in m))]

    def _in_order(self, parts: Meaning) -> bool:
        """Whether words follow each other as those of one time do."""
        core = [part for part in parts if part[0] not in _AROUND]
        kinds = [kind for kind, _ in core]
        if not core:
            return False
        if parts[-1][0] in (_AROUND if self._spaced else ("on", "the")):
            return False
        if not self._spaced and (parts[0][0] == "the" or "which" in kinds[1:]):
            return False
        if self._spaced and "date" in kinds and kinds[:2] != ["date", "month"]:
            return False
        place = parts.index(core[0])
        if self._spaced and any(kind == "bound" for kind, _ in parts[place:]):
            return False  # "per month since May"
        if "number" in kinds:
            before = core[: kinds.index("number")]
            if "unit" in dict(before) or ("which", "this") in core[len(before) :]:
                return False
        sides = [(kind, word) for kind, word in core if kind in ("ago", "from now") and word]
        return all(kinds[-1 if word == "behind" else 0] == kind for kind, word in sides)

    def _fits(self, parts: Meaning, start: int, end: int, low: str, text: str) -> bool:
        """Whether words that can mean a time mean one in this text: not in "am Morgen", "am letzten
        Tag", "jeden Montag" and 明日香."""
        known = dict(parts)
        kinds = known.keys() - set(_AROUND)
        if not self._spaced and self._apart.match(low, end):
            return False
        if " ".join(sorted(kinds)) not in _MEANINGS_WITH_ON and "feast" not in kinds:
            if known.get("day") == "tomorrow" and self._spaced:
                return self._apart.search(low[:start]) is None
            return kinds != {"unit", "which"} or known["unit"] != "day"
        if self._each.search(low[:start]):
            return False
        if not self._spaced:
            return kinds != {"season"}
        if "feast" in kinds:
            return "bound" in known or "on" in known
        if self._name != "german" and text[start].isupper():  # Mars, Avril
            return False
        if kinds == {"weekday"} and (self._name in _DAYS_BARE or not low[end:].strip(" ?.!")):
            return True
        return "bound" in known or "on" in known


def _names_each_once(meanings: tuple[Meaning, ...]) -> bool:
    """Whether each kind of the words of one time, but "which", is there once at most."""
    kinds = [kind for each in meanings for kind, _ in each if kind not in (*_AROUND, "which")]
    return len(set(kinds)) == len(kinds)


def _any_of(words: str) -> str:
    return "|".join(words.split())


def _pattern(word: str) -> str:
    """A pattern of a word, or of several joined by "_" or by escaped spaces."""
    return re.sub(r"_|\\ ", r"\\s+", word)


def _with_or_without_accents(pattern: str) -> str:
    """A pattern that a text may match that is typed without some of its accents."""
    found, in_brackets = [], False
    for letter in pattern:
        in_brackets = letter == "[" or (in_brackets and letter != "]")
        plain = without_accents(letter) if "LATIN" in unicodedata.name(letter, "") else letter
        if plain != letter and pattern not in _WITH_ACCENTS:
            both = letter + plain
            others = f"|{plain}e" if letter in "äöü" else ""  # "naechste Woche"
            found.append(both if in_brackets else f"(?:[{both}]{others})")
        else:
            found.append(letter)
    return "".join(found)
