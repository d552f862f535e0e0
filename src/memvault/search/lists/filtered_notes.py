"""Lists notes without a question: by folder, project, properties and dates, newest first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import Any

from memvault.model.errors import InvalidParams
from memvault.model.memory import Memory
from memvault.model.moments import in_utc
from memvault.model.search import Filters, Scope
from memvault.model.unicode_forms import without_invisible
from memvault.search.property_text import shown_value
from memvault.search.scope import SavedNote, in_scope
from memvault.text.words import composed
from memvault.vault.frontmatter.properties import property_key
from memvault.vault.markdown.wikilink import without_wikilinks

MAX_SHOWN_CHARS = 200  # of a value that no note has
MAX_NEAREST = 3  # similar values that an error names
MAX_NAMED = 10  # values that it names if none is similar
_DECIMAL = re.compile(r"[-+]?\d+\.\d+")


@dataclass(frozen=True, slots=True)
class NoteFilter:
    """Which notes to list; all given conditions must hold.

    Attributes:
        folder: the notes in this folder and below it; "" for the whole vault.
        project: only the notes of this project, unlike in a search.
        properties: values by key; an empty value means any. Of a list, one item suffices.
    """

    folder: str = ""
    project: str | None = None
    filters: Filters | None = None
    changed_after: datetime | None = None
    changed_before: datetime | None = None
    properties: Mapping[str, str] = field(default_factory=dict)

    def passes(self, memory: Memory, changed: datetime) -> bool:
        project = (memory.project or "").casefold()
        return (
            self._path_within(memory.path) is not None
            and (self.project is None or project == self.project.casefold())
            and in_scope(memory, Scope(self.filters))
            and (self.changed_after is None or changed >= in_utc(self.changed_after))
            and (self.changed_before is None or changed <= in_utc(self.changed_before))
            and all(_has(memory, key, value) for key, value in self.properties.items())
        )

    def subfolder(self, path: str) -> str | None:
        """The folder directly below `folder` that the note at this path is in, if any."""
        path_within = self._path_within(path) or ""
        name, slash, _ = path_within.partition("/")
        return path[: len(path) - len(path_within)] + name if slash else None

    def _path_within(self, path: str) -> str | None:
        """The path within the folder; None for a note elsewhere."""
        folder = self.folder.strip("/")
        prefix = f"{folder}/" if folder else ""
        is_in = _path_key(path).startswith(_path_key(prefix))
        return path.split("/", prefix.count("/"))[-1] if is_in else None


def _path_key(path: str) -> str:
    """Equal for paths that people see as equal, apart from their case."""
    return without_invisible(composed(path)).casefold()


@dataclass(frozen=True, slots=True)
class FolderCount:
    """A folder, and the number of listed notes in it and below it."""

    path: str
    notes: int


@dataclass(frozen=True, slots=True)
class NotePage:
    """A page of a list of ``total`` notes.

    Attributes:
        folders: those directly below the folder, by name, counting the notes of all pages.
        cursor: continues the list; None on the last page.
    """

    notes: tuple[SavedNote, ...]
    total: int
    folders: tuple[FolderCount, ...]
    cursor: str | None


def list_notes(
    notes: Iterable[SavedNote], note_filter: NoteFilter, limit: int, cursor: str | None = None
) -> NotePage:
    """A page of the notes that pass the filter, the latest created first.

    A note that is stored or deleted between two pages neither repeats nor skips another one.

    Args:
        cursor: that of the page before.

    Raises:
        InvalidParams: the cursor is not that of a page, or no note of the vault has the folder,
            type, tag, property or value.
    """
    notes = list(notes)
    passing = [note for note in notes if note_filter.passes(note.memory, note.changed_at)]
    if not passing and notes:
        _check_known([note.memory for note in notes], note_filter)
    counts = Counter(
        folder
        for note in passing
        if (folder := note_filter.subfolder(note.memory.path)) is not None
    )
    remaining = sorted(passing, key=_order, reverse=True)
    if cursor is not None:
        cursor_order = _order_of_cursor(cursor)
        remaining = [note for note in remaining if _order(note) < cursor_order]
    page = tuple(remaining[:limit])
    return NotePage(
        page,
        len(passing),
        tuple(FolderCount(path, counts[path]) for path in sorted(counts)),
        _cursor_of(page[-1]) if len(remaining) > limit else None,
    )


def _check_known(memories: Sequence[Memory], wanted: NoteFilter) -> None:
    """Raise InvalidParams, with the nearest known values, if no note has a value that is wanted."""
    filters = wanted.filters or Filters()
    parents = (PurePosixPath(memory.path).parents for memory in memories)
    folders = {str(folder) for each in parents for folder in each} - {"."}
    _check_any(folders, [wanted.folder.strip("/")], "is in the folder")
    _check_any({memory.type for memory in memories}, filters.types, "has the type")
    tags = [tag.lstrip("#") for tag in filters.tags or ()]
    known_tags = {tag for memory in memories for tag in (*memory.tags, *memory.tag_keys)}
    _check_any(known_tags, tags, "has the tag")
    for key, value in wanted.properties.items():
        values = [_values(memory) for memory in memories]
        _check_any(
            {name for each in values for name in each}, [property_key(key)], "has the property"
        )
        known = {
            shown
            for each in values
            for item in _items(each.get(property_key(key)))
            if (shown := without_wikilinks(shown_value(item) or ""))
        }
        _check_any(known, [value], f"has, as its {key},")


def _check_any(known: Iterable[str], wanted: Sequence[str] | None, says: str) -> None:
    """Raise InvalidParams if values are wanted and none of them is known."""
    keys = {_comparable(value): value for value in sorted(known)}
    missing = [value for value in wanted or () if value.strip()]
    if not missing or any(_comparable(value) in keys for value in missing):
        return
    unknown = missing[0][:MAX_SHOWN_CHARS]
    near = get_close_matches(_comparable(unknown), keys, MAX_NEAREST, cutoff=0.5)
    names = ", ".join(keys[key] for key in near or list(keys)[:MAX_NAMED])
    nearest = "" if not names else f"; the nearest: {names}" if near else f"; there are: {names}"
    raise InvalidParams(f"No note {says} {unknown!r}{nearest}", nearest=[keys[k] for k in near])


def _order(note: SavedNote) -> tuple[datetime, str]:
    return note.memory.created_at, note.memory.id


def _cursor_of(note: SavedNote) -> str:
    created, key = _order(note)
    return f"{created.isoformat()}_{key}"


def _order_of_cursor(cursor: str) -> tuple[datetime, str]:
    created, _, key = cursor.partition("_")
    try:
        return in_utc(datetime.fromisoformat(created)), key
    except ValueError as error:
        raise InvalidParams(f"{cursor!r} is not the cursor of an answer") from error


def _has(memory: Memory, key: str, value: str) -> bool:
    comparable = {_comparable(item) for item in _items(_values(memory).get(property_key(key)))} - {
        ""
    }
    return bool(comparable) and (not value.strip() or _comparable(value) in comparable)


def _values(memory: Memory) -> dict[str, Any]:
    """The properties of a note by their keys (`property_key`)."""
    fields = {"type": memory.type, "project": memory.project, "lifecycle": memory.lifecycle}
    flags = {"verified": memory.verified, "pinned": memory.pinned}
    properties = {property_key(name): value for name, value in memory.properties.items()}
    return {**fields, **flags, **properties}


def _items(value: Any) -> list[Any]:
    """The value, and if it is a list its items."""
    return [*value, value] if isinstance(value, list) else [value]


def _comparable(value: Any) -> str:
    """The value in small letters, a decimal number without zeros at its end."""
    text = composed(without_wikilinks(shown_value(value) or "")).casefold()
    return str(float(text)) if _DECIMAL.fullmatch(text) else text
