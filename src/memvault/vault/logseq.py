"""The names of Logseq's pages, which links use instead of file names.

Logseq writes the page ``A/B`` to ``pages/A___B.md`` (before version 0.8.9 to ``pages/A%2FB.md``),
and the journal of a day to ``journals/2026_03_01.md``. Properties in the page's first block may
give it a title and aliases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import PurePosixPath
from urllib.parse import unquote

from memvault.vault.markdown.blocks import Content

_ALIAS_KEYS = ("alias", "aliases")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_JOURNAL = re.compile(r"(\d{4})_(\d{2})_(\d{2})")


def page_name(path: str) -> str | None:
    """The page's name from its file name; None if the file is not in a folder of Logseq's."""
    file = PurePosixPath(path)
    if file.parent.name == "pages":
        return unquote(file.stem.replace("___", "/"))
    day = _day_of(file)
    return day.isoformat() if day else None


def link_names(path: str, content: Content, title: str) -> Iterator[str]:
    """The names of this note for links, in addition to its file name.

    They are the page's name, the day's names for a journal page, and the aliases.

    Args:
        title: the property ``title`` of the frontmatter, empty without one.
    """
    file, name = PurePosixPath(path), page_name(path)
    if name is not None:
        yield from (title, *_property(content, ("title",)))
        if name != file.stem:
            yield name
        if day := _day_of(file):
            yield from _names_of_day(day)
    yield from _property(content, _ALIAS_KEYS)


def _property(content: Content, keys: tuple[str, ...]) -> Iterator[str]:
    """The values of a property in the first block: link targets and names separated by commas."""
    if not content.blocks:
        return
    last_line = content.blocks[0].lines.last
    for field in content.fields:
        if field.line > last_line or not field.explicit or field.key.casefold() not in keys:
            continue
        links = [link for link in content.links if link.line == field.line]
        yield from (link.target for link in links)
        names = [field.value] if keys == ("title",) else field.value.split(",")
        names = [name.strip() for name in names]
        for shown in (link.shown or link.target.rpartition("/")[2] for link in links):
            if shown in names:
                names.remove(shown)
        yield from names


def _day_of(file: PurePosixPath) -> date | None:
    match = _JOURNAL.fullmatch(file.stem) if file.parent.name == "journals" else None
    try:
        return date(*map(int, match.groups())) if match else None
    except ValueError:
        return None


def _names_of_day(day: date) -> Iterator[str]:
    """The day in Logseq's default format, and in ISO format with the weekday."""
    last_digit = 0 if day.day in (11, 12, 13) else day.day % 10
    ordinal = {1: "st", 2: "nd", 3: "rd"}.get(last_digit, "th")
    yield f"{_MONTHS[day.month - 1]} {day.day}{ordinal}, {day.year}"
    yield f"{day.isoformat()} {_WEEKDAYS[day.weekday()]}"
