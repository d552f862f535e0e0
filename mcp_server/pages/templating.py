"""The templates, and how moments, numbers and lines are worded in them."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from memvault.model.memory import IMPORTANCE_NAMES

FOLDER = Path(__file__).parent / "views"
_UNITS = ((86_400 * 365, "year"), (86_400 * 30, "month"), (86_400, "day"), (3_600, "hour"),
          (60, "minute"))  # fmt: skip


@cache
def environment() -> Environment:
    """Everything that is shown is escaped, and a name that is not given is an error."""
    found = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    for each in (ago, day, moment, percent, worded, sentence):
        found.filters[each.__name__] = each
    found.filters["importance"] = importance_name
    return found


def ago(at: datetime, now: datetime | None = None) -> str:
    """How long a moment is past, in its greatest unit."""
    seconds = ((now or datetime.now(UTC)) - at).total_seconds()
    for size, name in _UNITS:
        count = int(seconds // size)
        if count >= 1:
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now"


def day(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"


def moment(at: datetime) -> str:
    """In this machine's time."""
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


def percent(share: float) -> str:
    return f"{share * 100:.0f}%"


def worded(name: str) -> str:
    """``near_duplicates`` as a person would write it."""
    return name.replace("_", " ")


def sentence(text: str) -> str:
    """With a great letter first, unless it begins with a path."""
    return text if "/" in text.split(" ", maxsplit=1)[0] else text[:1].upper() + text[1:]


def importance_name(value: float) -> str:
    """The word for an importance, or its number where no word is meant."""
    return next(
        (name for name, number in IMPORTANCE_NAMES.items() if number == value), f"{value:g}"
    )
