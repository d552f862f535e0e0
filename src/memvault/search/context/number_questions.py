"""Questions that a day, an amount or a name with a number answers."""

from __future__ import annotations

import re

_ASKS_DAY = re.compile(
    r"\b(?:when|wann|quand|cuándo|quando|wanneer|когда)\b|いつ|什么时候|何时", re.IGNORECASE
)
_ASKS_AMOUNT = re.compile(
    r"\bhow (?:much|many|long|far|old|large|big|heavy|high|tall)\b|"
    r"\b(?:wie ?viele?|combien|cuánt[oa]s?|quant[oaie]|hoeveel|сколько)\b|いくら|多少",
    re.IGNORECASE,
)
_ANSWERED_WITH_DIGITS = re.compile(
    r"\bhow (?:many|much|big|large|long|often|old|far|high|fast|soon|late)\b"
    r"|\b(?:cost|costs|price|fee|when|date|year|version|size|limit|number)\b"
    r"|\bwie (?:viele?|gro(?:ß|ss)|lang|oft|alt|weit|hoch|schnell)\b"
    r"|\b(?:kostet|kosten|preis|wann|datum|jahr|grenze|nummer)\b"
    r"|いくら|いくつ|何[日時年月回個件人台]|いつ|値段|料金|多少|几",
    re.IGNORECASE,
)


def asks_for_day(question: str) -> bool:
    return _ASKS_DAY.search(question) is not None


def asks_for_amount(question: str) -> bool:
    return _ASKS_AMOUNT.search(question) is not None


def is_answered_with_digits(question: str) -> bool:
    """Whether an amount, a day or a name with a number ("version 3") answers the question."""
    return _ANSWERED_WITH_DIGITS.search(question) is not None
