"""What a question asks for: several answers, a day, an amount, a count, or a name with a number."""

from __future__ import annotations

import re

from memvault.text.words import STOP_WORDS, some_words

_ASKS_DAY = re.compile(
    r"\b(?:when|wann|quand|cuándo|quando|wanneer|когда)\b|いつ|什么时候|何时", re.IGNORECASE
)
_ASKS_COUNT = re.compile(
    r"\b(?:how many|number of|count(?! (?:as|on)\b)|wie ?viele|combien|cuánt[oa]s|quant[ie]|"
    r"quant[oa]s|hoeveel|(?<!l['’])ile|ilu|сколько)\b|いくつ|多少|几(?![乎何])",
    re.IGNORECASE,
)
_ASKS_AMOUNT = re.compile(
    r"\bhow (?:much|long|far|old|large|big|heavy|high|tall)\b|"
    r"\b(?:wie ?viel|cuánt[oa]|quant[oa])\b|いくら",
    re.IGNORECASE,
)
_NAMES_NUMBER = re.compile(
    r"\bhow (?:often|fast|soon|late)\b"
    r"|\b(?:cost|costs|price|fee|date|year|version|size|limit|number)\b"
    r"|\bwie (?:gro(?:ß|ss)|lang|oft|alt|weit|hoch|schnell)\b"
    r"|\b(?:kostet|kosten|preis|datum|jahr|grenze|nummer)\b"
    r"|何[日時年月回個件人台]|値段|料金",
    re.IGNORECASE,
)
_MAX_QUESTIONS = 4
_ASKING = (
    "what|which|who|whom|whose|where|when|why|how|is|are|was|were|do|does|did|can|could|will|would"
    "|should|has|have|welche[mnrs]?|wer|wen|wem|wessen|wo|wohin|wann|warum|wie|ist|sind|hat"
    "|haben|kann|darf|muss"
)
_BETWEEN_QUESTIONS = re.compile(
    rf"(?<=[.?!:;])\s+|(?<=[。？！])|,?\s+(?:and|or|und|oder)\s+(?=(?:\w+ )?(?:{_ASKING})\b)",
    re.IGNORECASE,
)
_IS_QUESTION = re.compile(
    rf"(?:\w+[ ,]+){{0,2}}(?:{_ASKING})\b|.*(?:[？か]|[吗呢])", re.IGNORECASE | re.DOTALL
)


def asks_for_day(question: str) -> bool:
    return _ASKS_DAY.search(question) is not None


def asks_for_count(question: str) -> bool:
    return _ASKS_COUNT.search(question) is not None


def asks_for_amount(question: str) -> bool:
    return asks_for_count(question) or _ASKS_AMOUNT.search(question) is not None


def is_answered_with_digits(question: str) -> bool:
    """Whether an amount, a day or a name with a number ("version 3") answers the question."""
    names_number = _NAMES_NUMBER.search(question) is not None
    return names_number or asks_for_day(question) or asks_for_amount(question)


def questions_in(query: str) -> list[str]:
    """The single questions in a text that asks several; empty if it asks only one."""
    parts = [part.strip() for part in _BETWEEN_QUESTIONS.split(query)]
    if len(parts) < 2:
        return []
    questions = [part for part in parts if _IS_QUESTION.match(part) and _has_content(part)]
    return questions[:_MAX_QUESTIONS]


def _has_content(question: str) -> bool:
    words = some_words(question)
    return any(word not in STOP_WORDS for word in words)
