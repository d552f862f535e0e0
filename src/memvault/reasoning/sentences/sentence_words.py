"""Splits a sentence into words by kind (numbers, months, names, …) and finds the denied ones."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memvault.model.months import WEEKDAYS
from memvault.search.question_languages import languages_of
from memvault.search.times.cldr_times import weekday_of
from memvault.stores.vectors.languages import is_function_word
from memvault.verification.claims.amount_parsing import amounts_in
from memvault.verification.claims.amount_words import (
    NUMBER_WORDS,
    PERIODS_ELSEWHERE,
    month_named,
    number_named,
)
from memvault.verification.claims.amounts import Amount, AmountKind
from memvault.verification.claims.claim_stems import canonical_stem, stems_of
from memvault.verification.claims.clause_words import HEDGED, occurs
from memvault.verification.vault_names import FindNames

_NUMBERS = {**NUMBER_WORDS, "once": 1.0, "twice": 2.0, "free": 0.0, "nothing": 0.0}
KINDS = {
    "month": " ".join(calendar.month_name[1:]).lower(),
    "weekday": " ".join(WEEKDAYS),
    "ordinal": "first second third fourth fifth sixth last",
    "share": "all half none whole",
    "period": "hourly daily weekly monthly yearly",
    "number": " ".join(_NUMBERS),
    "shortcut": "",  # this kind and the next are recognised by their shape
    "ending": "",
}
_KIND_OF = {word: kind for kind, words in KINDS.items() for word in words.split()}
_PERIOD = re.compile(
    r"\b(?:every|each|per|once an?|twice an?|times an?|an?)\s+(\w+)", re.IGNORECASE
)
_PERIODS = {"hour", "day", "night", "morning", "evening", "week", "month", "year"}
_OPPOSITES = (
    "north south|east west|upper lower|top bottom|left right|inside outside|"
    "indoors outdoors|on off|enabled disabled|enable disable|open closed|"
    "compulsory optional|mandatory optional|required optional|allowed forbidden|"
    "allowed prohibited|permitted forbidden|always never|before after|more less|"
    "more fewer|older younger|bigger smaller|larger smaller|longer shorter|higher lower|"
    "heavier lighter|faster slower|warmer colder|cheaper dearer|better worse|"
    "earlier later|public private|included excluded|hot cold|warm cold|wet dry|damp dry|"
    "increase decrease|increased decreased|rises falls|rose fell|won lost|"
    "accepted rejected|accepted declined|accepted refused|begins ends|start end|"
    "minimum maximum|summer winter|spring autumn|"
    "morning evening|day night|adult child|new old|present absent|online offline|"
    "automatic manual|local remote|temporary permanent|light dark"
    "|kept lost|kept deleted|keeps deletes|remain deleted|remains deleted|beginning end"
)
OPPOSITE: dict[str, set[str]] = {}
for _word, _opposite in (pair.split() for pair in _OPPOSITES.split("|")):
    OPPOSITE.setdefault(_word, set()).add(_opposite)
    OPPOSITE.setdefault(_opposite, set()).add(_word)
# Words with little meaning.
LIGHT = stems_of(
    "take takes took taken place go goes come comes came went get gets got make makes made have "
    "has keep kept put puts use uses used stand stands stood run runs ran give gives gave let lets "
    "happen happens way thing things offer offers offered provide provides include includes "
    "included"
)
_MODIFIERS = {
    "ctrl": "ctrl", "control": "ctrl", "cmd": "ctrl", "command": "ctrl", "⌘": "ctrl",
    "alt": "alt", "option": "alt", "⌥": "alt", "shift": "shift", "⇧": "shift",
}  # fmt: skip
_MODIFIER = "|".join(_MODIFIERS)
_SHORTCUT = rf"(?<!\w)(?i:(?:(?:{_MODIFIER})(?: ?/ ?(?:{_MODIFIER}))?\s?\+\s?)+(?:\w+|[^\w\s]))"
_ENDING = r"(?<!\w)\.[A-Za-z]\w{0,9}\b"  # of a file's name
# "1,062", "1 062", "1'062.50", "1.062,50", and "1.062" before a symbol or a word for money, or "€".
_THOUSANDS = (
    r"(?:[1-9]\d{0,2}(?:(?:[,'’ \u00a0\u202f]\d{3})+|(?:\.\d{3}){2,}"
    r"|(?:\.\d{3})+(?=,\d{1,2}(?!\d)|\s?(?:[€$£]|(?i:eur|euros?|chf)\b)))"
    r"|(?:(?<=€)|(?<=€ ))[1-9]\d{0,2}(?:\.\d{3})+)"
    r"(?:[.,]\d{1,2}(?!\d))?(?!\d)"
)
_LETTERS = r"[^\W\d_ªº]+"  # without the marks of ordinals: "2ª mano"
TOKEN = re.compile(
    rf"{_SHORTCUT}|{_ENDING}|{_THOUSANDS}|\d+(?:[.,:]\d+)*|{_LETTERS}(?:['’]{_LETTERS})*|[,;:.!?()]"
)
_GROUPED = re.compile(_THOUSANDS)
_DECIMALS = re.compile(r"[.,](?=\d{1,2}$)")
_NEGATION = re.compile(
    r"\b(?:not|no longer|no|none of|never|nor|neither|cannot|without|instead of|rather than"
    r"|gave up|given up|stopped|quit|ceased|nicht|kein\w{0,2}|niemals|pas|jamais|non(?!-)|não|nunca"
    r"|niet|geen|nooit|не|нет)\b|\b\w+n['’]t\b",
    re.IGNORECASE,
)
_RULE = re.compile(r"\b(?:may|should|if)\b", re.IGNORECASE)  # affirmations, not doubts
_CLAUSE_END = re.compile(r"[,;:.!?]|\b(?:but|and)\b", re.IGNORECASE)
COMPARING = re.compile(
    r"\b(?P<how>\w{2,}er|more|less|fewer|better|worse|rather)\b(?: \w+)? than\b"
    r"|(?<=\w )(?P<order>before|after)\b"
    r"|\b(?P<choice>prefers?)\b(?P<chosen>[^,;.]+?) (?:to|over)\b",
    re.IGNORECASE,
)
BREAK = 6  # what a comma or "and" adds to a distance in words
_ONLY = re.compile(r"\bonly\b", re.IGNORECASE)


_VALUES = (AmountKind.DATE, AmountKind.MONEY)
# Citations, whose years and pages are not values: "(Danz 2022, p. 4)", "[@a]".
_CITATION = re.compile(
    r"\((?:[^()]*[A-Z][^()]*\W)?(?:19|20)\d\d[a-z]?(?:[,:;][^()]*)?\)|\[[^\[\]]*@[^\[\]]*\]"
    r"|\b(?:pp?|chap|ch|vol|eqs?|figs?|sec)\. ?\d+(?: ?[-–] ?\d+)?"
)


def _blank(citation: re.Match[str]) -> str:
    """Spaces in place of a citation; brackets with a day or a sum stay ("(31 May 2027)")."""
    has_value = any(amount.kind in _VALUES for amount in amounts_in(citation[0]))
    return citation[0] if has_value else " " * len(citation[0])


class Word(NamedTuple):
    """A content word of a sentence; ``place`` is its index among all words and punctuation."""

    kind: str  # one of `KINDS`, "name" or "word"
    key: str  # its stem, or its value
    text: str
    place: int
    clause: int
    start: int

    @property
    def is_content(self) -> bool:
        """Whether it is a word or a name, no value."""
        return self.kind in ("word", "name")

    def is_in(self, amounts: Iterable[Amount]) -> bool:
        """Whether it is part of one of these amounts."""
        return any(amount.start <= self.start < amount.end for amount in amounts)

    def distance(self, other: Word) -> int:
        """The words between two words, each comma or "and" counting as `BREAK`."""
        return abs(self.place - other.place) + BREAK * abs(self.clause - other.clause)


class SentenceWords:
    """A sentence as words by kind, with the words that its negations deny.

    Attributes:
        tokens: its content words, in order.
        words: by kind, the text of each word by its key (its stem or its value).
        lower_words: all its words and punctuation, in lower case.
        amounts: its values.
        denials: for each negation, the keys of the words that it denies; ``denied`` has them all.
        neighbours: for each word, the keys of the words before and after it in its clause, or "".
        is_hedged: whether it is a wish, a plan, a question or hearsay.
        says_only: whether it says "only".
    """

    def __init__(self, text: str, find_names: FindNames, exclude: str | None = None) -> None:
        text = _CITATION.sub(_blank, text)
        spans = find_names(text, exclude)
        self.text = text
        self.is_hedged = occurs(HEDGED, _RULE.sub(" ", text))
        self.says_only = _ONLY.search(text) is not None
        self.amounts = amounts_in(text)
        read = (_read_in_amount(self.amounts, word) for word in _words(text, spans))
        self.tokens = [word for word in read if word is not None]
        self.words: dict[str, dict[str, str]] = {}
        for word in self.tokens:
            self.words.setdefault(word.kind, {}).setdefault(word.key, word.text)
        self.lower_words = frozenset(match[0].lower() for match in TOKEN.finditer(text))
        self.denials = _denials(text, self.tokens)
        self.denied = frozenset[str]().union(*self.denials)
        order = [w for w in self.tokens if w.is_content and not w.is_in(self.amounts)]
        self.neighbours = {
            word.key: (_key_in_clause(before, word), _key_in_clause(after, word))
            for before, word, after in zip([None, *order], order, [*order[1:], None], strict=False)
        }

    def keys(self, kind: str) -> frozenset[str]:
        """The keys of the words of a kind."""
        return frozenset(self.words.get(kind, ()))

    def stems(self) -> frozenset[str]:
        """The stems of its words and of the words of its names."""
        names = self.words.get("name", {}).values()
        of_names = (stem for name in names for stem in stems_of(name))
        return self.keys("word") | self.keys("name") | frozenset(of_names)


def _read_in_amount(amounts: Sequence[Amount], word: Word) -> Word | None:
    """The word, read as another language's month, period or number if it is part of an amount.

    None for the words of a time of day: "Uhr".
    """
    amount = next((a for a in amounts if a.start <= word.start < a.end), None)
    if amount is None or not word.is_content:
        return word
    month = month_named(word.text) if amount.kind is AmountKind.DATE else None
    if month is not None:
        return word._replace(kind="month", key=calendar.month_name[month].lower())
    if amount.kind is AmountKind.TIME:
        return None
    period = PERIODS_ELSEWHERE.get(word.text.lower()) if amount.per else None
    if period is not None:
        return word._replace(kind="period", key=period)
    number = number_named(word.text) if word.start == amount.start else None
    if number is not None:
        return word._replace(kind="number", key=f"{number:g}")
    return (
        word._replace(kind="word", key=canonical_stem(word.text)) if word.kind == "name" else word
    )


def _key_in_clause(neighbour: Word | None, word: Word) -> str:
    """The key of a neighbour in the same clause, else an empty text."""
    return neighbour.key if neighbour is not None and neighbour.clause == word.clause else ""


def _words(text: str, spans: Sequence[tuple[int, int, str]]) -> Sequence[Word]:
    """The content words; capitalised words within a sentence also count as names."""
    words: list[Word] = []
    periods = {m.start(1) for m in _PERIOD.finditer(text) if m[1].lower() in _PERIODS}
    clause = 0
    name_at = {start: (end, key) for start, end, key in spans}
    name_end, is_first = -1, True
    languages, is_foreign = languages_of(text)
    language = languages[0] if is_foreign else "english"
    for index, match in enumerate(TOKEN.finditer(text)):
        word, start = match[0], match.start()
        if start < name_end:
            continue
        if word in ",;:.!?" or word.lower() in ("and", "but", "then"):
            clause += 1
            is_first = is_first or word in ".!?"
            continue
        if start in name_at:
            name_end, key = name_at[start]
            words.append(Word("name", key, text[start:name_end], index, clause, start))
        elif start in periods:
            words.append(Word("period", word.lower(), word, index, clause, start))
        elif language == "english" or not is_function_word(word.lower(), language):
            token = _without_separators(word) if _GROUPED.match(text, start) else word
            for kind, key in _read(token, languages, is_first=is_first):
                words.append(Word(kind, key, word, index, clause, start))
        is_first = False
    return words


def _without_separators(number: str) -> str:
    """The number as digits with a decimal point: "1062.5" for "1 062,5"."""
    integer, *decimals = _DECIMALS.split(number)
    return ".".join([re.sub(r"\D", "", integer), *decimals])


def _read(token: str, languages: Iterable[str], *, is_first: bool) -> list[tuple[str, str]]:
    """The kind and key of a token; none if it is a stop word.

    Args:
        languages: other languages than English that its sentence may be in.
        is_first: whether it begins a sentence, where a capital letter makes no name.
    """
    lower = token.lower()
    if "+" in lower:
        return [("shortcut", _shortcut(lower))]
    if lower[0] == ".":
        return [("ending", lower)]
    if lower[0].isdigit():
        return [("number", lower)]
    lower = _weekday(lower, languages) or lower
    kind = _KIND_OF.get(lower)
    if kind is not None and not (lower == "may" and token != "May"):
        return [(kind, f"{_NUMBERS[lower]:g}" if kind == "number" else lower)]
    stems = [("word", stem) for stem in stems_of(token)]
    if token[0].isupper() and not is_first and len(token) > 1 and stems:
        return [("name", lower.removesuffix("'s").removesuffix("’s"))]
    return stems


def _weekday(word: str, languages: Iterable[str]) -> str | None:
    """The English weekday that a word of these languages means ("mittwochs"); None for others."""
    forms = (word, word.removesuffix("s"))
    if (weekday := next((form for form in forms if form in WEEKDAYS), None)) is not None:
        return weekday
    named = (weekday_of(form, language) for language in languages for form in forms)
    return next((weekday for weekday in named if weekday is not None), None)


def _shortcut(token: str) -> str:
    """The normalised shortcut: "Ctrl/Cmd+Shift+P" and "shift + command + p" are equal."""
    *modifiers, key = re.split(r"\s?\+\s?(?=.)", token)
    names = {_MODIFIERS[modifier.partition("/")[0].strip()] for modifier in modifiers}
    return "+".join([*sorted(names), key])


def _denials(text: str, tokens: Sequence[Word]) -> list[frozenset[str]]:
    """The stems that each negation denies.

    These are the rest of its clause, or, if that is empty ("dogs are not"), the part before it.
    """
    denials = []
    for match in _NEGATION.finditer(text):
        clause_end = _CLAUSE_END.search(text, match.end())
        limit = clause_end.start() if clause_end is not None else len(text)
        scope = {word.key for word in tokens if match.end() <= word.start < limit}
        if not scope:
            clause_starts = [m.end() for m in _CLAUSE_END.finditer(text, 0, match.start())]
            clause_start = clause_starts[-1] if clause_starts else 0
            scope = {word.key for word in tokens if clause_start <= word.start < match.start()}
        denials.append(frozenset(scope))
    return denials


def mostly_deny(scopes: Iterable[frozenset[str]], stems: frozenset[str]) -> bool:
    """Whether a negation with one of these scopes denies mostly these words."""
    heavy = (scope - LIGHT or scope for scope in scopes)
    return any(2 * len(scope & stems) >= len(scope) > 0 for scope in heavy)


def terms_compared(sentence: SentenceWords) -> tuple[str, frozenset[str], frozenset[str]] | None:
    """The word that compares or orders two terms, and the words on both sides; None without one."""
    text = sentence.text
    match = COMPARING.search(text)
    if match is None:
        return None
    if match["choice"]:
        first, second = match["chosen"], text[match.end() :]
        return "prefer", stems_of(first), stems_of(re.split(r"[,;.]", second)[0])
    comparison = (match["how"] or match["order"]).lower()
    before = re.split(r"[,;.]", text[: match.start()])[-1]
    after = re.split(r"[,;.]", text[match.end() :])[0]
    return comparison, stems_of(before), stems_of(after)
