"""Values that can be compared: money, shares, dates, times, spans of time, counts, versions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

_ROUGHLY = 0.15  # share by which "about 100" may differ from a value that it may mean


class AmountKind(StrEnum):
    MONEY = "money"
    SHARE = "share"
    DATE = "date"
    TIME = "time"
    SPAN = "span"
    MEASURE = "measure"
    COUNT = "count"
    VERSION = "version"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Amount:
    """A value in a text.

    Attributes:
        unit: a currency, ``day``, a measure's base unit, or a noun's stem; empty if missing.
        parts: (amount,); for a date (year, month, day), with None for a missing part.
        rough: whether the text says "about" or the like.
        earlier: whether it is a former value (changed *from* it).
        per: the period or unit per which it counts ("a month"); empty if missing.
        noun: other words between number and unit ("28 *vacation* days").
    """

    kind: AmountKind
    unit: str
    parts: tuple[float | None, ...]
    start: int
    end: int
    rough: bool = False
    earlier: bool = False
    per: str = ""
    noun: str = ""


def equal_amounts(first: Amount, second: Amount) -> bool | None:
    """Whether two values are equal; None if that is uncertain or they cannot be compared."""
    if first.kind is AmountKind.DATE and second.kind is AmountKind.DATE:
        return _equal_dates(first.parts, second.parts)
    if first.per != second.per or not _have_same_unit(first, second):
        return None
    if first.kind is AmountKind.VERSION:
        shorter = min(len(first.parts), len(second.parts))
        if first.parts[:shorter] != second.parts[:shorter]:
            return False
        return True if len(first.parts) == len(second.parts) else None
    rough = first.rough or second.rough
    number, other = first.parts[0] or 0.0, second.parts[0] or 0.0
    if number == other:
        return None if rough else True
    close = abs(number - other) <= _ROUGHLY * max(abs(number), abs(other))
    return None if rough and close else False


def _have_same_unit(first: Amount, second: Amount) -> bool:
    """Whether two values are of one kind and unit; a sum of money may lack its currency."""
    kinds, units = {first.kind, second.kind}, {first.unit, second.unit}
    if not kinds <= {AmountKind.MONEY, AmountKind.NUMBER}:
        return len(kinds) == len(units) == 1
    return len(units) == 1 or ("" in units and AmountKind.MONEY in kinds)


def _equal_dates(first: tuple[float | None, ...], second: tuple[float | None, ...]) -> bool | None:
    """Whether two dates are equal; None if that is uncertain.

    Different common parts make them unequal. They are equal if they have the same parts or both
    have a day.
    """
    pairs = list(zip(first, second, strict=True))
    common = [(a, b) for a, b in pairs if a is not None and b is not None]
    if any(a != b for a, b in common):
        return False
    same_parts = all((a is None) == (b is None) for a, b in pairs)
    both_days = first[2] is not None and second[2] is not None
    return True if common and (same_parts or both_days) else None
