"""Reads a note's properties: its memory, its dates, and its domain of knowledge."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from datetime import date, datetime
from functools import lru_cache
from itertools import islice
from typing import Any

from memvault.model.distinct import distinct_by
from memvault.model.graph import uuid_of
from memvault.model.memory import (
    DEFAULT_IMPORTANCE,
    FOLDER_LIFECYCLES,
    IMPORTANCE_NAMES,
    Lifecycle,
    Memory,
    id_of_path,
)
from memvault.model.note import Domain, ParsedNote
from memvault.vault.frontmatter.dates import date_of_path, date_of_title, read_date
from memvault.vault.frontmatter.read import WrittenNumber, strings_of
from memvault.vault.markdown.wikilink import find_wikilinks
from memvault.vault.note_folders import PREFERENCES_NOTE
from memvault.vault.parse import moment_of_name, stem_of

ARCHIVE = "archive/projects"  # holds the folders of finished projects
CREATED_KEYS = (
    "created", "created_at", "date_created", "created_date", "created_on", "creation_date",
    "createdat", "creationdate", "datecreated",
)  # fmt: skip
UNDERSTOOD = frozenset({
    "id", "lifecycle", "type", "project", "importance", "tags", "tag", "aliases", "alias",
    "created", "created_at", "date", "verified", "pinned", "rationale",
    "faded", "archived",
})  # fmt: skip
MAX_FIELDS = 50  # of a note's text that are properties of the note
MAX_FIELD_CHARS = 80  # of such a field's value
_GAP = re.compile(r"[\s-]+")
_TRUE = frozenset({"true", "yes", "y", "on", "1"})
_HAPPENED_KEYS = (
    "date", "when", "day", "held", "held_on", "took_place", "took_place_on", "happened",
    "happened_on", "decided", "decided_on", "met_on",
)  # fmt: skip
_TOOK_PLACE = re.compile(r"\b(?:took place|(?:was|were) held|held (?:in|at|on)|happened)\b", re.I)
_DATE_CHARS = 80  # characters after `_TOOK_PLACE` in which the date is searched


def memory_of(note: ParsedNote, *, fallback_time: datetime, id: str | None = None) -> Memory:
    """A note's memory: its metadata from frontmatter, path and text.

    Args:
        fallback_time: the creation time, if the note states neither that nor its own date.
        id: overrides the id in the frontmatter or from the path.
    """
    values = _by_key(note.frontmatter)
    lifecycle, project = lifecycle_and_project(note.frontmatter, note.path)
    created = next((day for key in CREATED_KEYS if (day := read_date(values.get(key)))), None)
    happened, saved = _date_of(note, values), read_date(fallback_time) or fallback_time
    if created is None:
        started = moment_of_name(note.path) or happened
        created = started if started is not None and started <= saved else saved
    return Memory(
        id=id or _id(values.get("id"), note.path),
        path=note.path,
        title=note.title,
        lifecycle=lifecycle,
        type=_type(values.get("type"), note.path),
        project=project,
        importance=read_importance(values.get("importance")),
        tags=tuple(distinct_by((tag.name for tag in note.tags), str.casefold)),
        aliases=note.aliases,
        created_at=created,
        date=happened,
        verified=_flag(values.get("verified")),
        pinned=_flag(values.get("pinned")),
        faded=_text(values.get("faded")),
        rationale=_text(values.get("rationale")),
        content_hash=note.content_hash,
        metadata={
            key: as_json(value)
            for key, value in note.frontmatter.items()
            if key.casefold() not in UNDERSTOOD or _is_denial(key, value)
        },
        fields=_fields_of(note),
    )


def lifecycle_and_project(frontmatter: dict[str, Any], path: str) -> tuple[Lifecycle, str | None]:
    """The lifecycle and the project of a note with this frontmatter at this path."""
    values = _by_key(frontmatter)
    project = _text(values.get("project")) or folder_project(path)
    return _lifecycle(values.get("lifecycle"), path), project


def _by_key(frontmatter: dict[str, Any]) -> dict[str, Any]:
    """The values by `property_key` their keys; of equal keys the first counts."""
    return {property_key(key): value for key, value in reversed(frontmatter.items())}


def _fields_of(note: ParsedNote) -> dict[str, str]:
    """The first `MAX_FIELDS` fields of a note's text, by key.

    Without those that memvault reads itself, long ones, ones with a link, which is a relation, and
    keys that occur twice, as these are of a line rather than of the note.
    """
    fields = [
        field
        for field in note.fields
        if field.explicit and property_key(field.key) not in UNDERSTOOD
    ]
    counts = Counter(field.key for field in fields)
    shown_links: dict[int, list[str]] = defaultdict(list)
    for link in note.links:
        shown_links[link.line].append(link.shown or stem_of(link.target))
    single = (
        (field.key, field.value)
        for field in fields
        if counts[field.key] == 1
        and 0 < len(field.value) <= MAX_FIELD_CHARS
        and not any(shown in field.value for shown in shown_links[field.line])
    )
    return dict(islice(single, MAX_FIELDS))


def property_key(name: str) -> str:
    """A property's name for look-ups: "Created-At", "created at" and "created_at" are equal."""
    return _GAP.sub("_", name.strip().casefold())


def _is_denial(key: str, value: Any) -> bool:
    """Whether the person wrote ``verified: false``, which is kept as metadata."""
    return key.casefold() == "verified" and value is not None and not _flag(value)


def read_importance(value: Any) -> float:
    """The importance in [0, 1] of a name (critical, high, medium, low) or a number.

    Any other value means the default.
    """
    if isinstance(value, str):
        value_of_name = IMPORTANCE_NAMES.get(value.strip().casefold())
        if value_of_name is not None:
            return value_of_name
        try:
            value = float(value)
        except ValueError:
            return DEFAULT_IMPORTANCE
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or (isinstance(value, float) and math.isnan(value)):
        return DEFAULT_IMPORTANCE
    return float(min(1, max(0, value)))


def as_json(value: Any) -> Any:
    """A frontmatter value in JSON types; dates become ISO 8601, other types become text."""
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    if isinstance(value, WrittenNumber):
        return value.text
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def as_text(value: Any) -> str:
    """A frontmatter value as a person writes it: ``true`` rather than ``True``, nothing for null,
    a list with commas."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ", ".join(as_text(item) for item in value if item is not None)
    return value.isoformat() if isinstance(value, date) else str(as_json(value))


def _id(value: Any, path: str) -> str:
    text = str(value).strip() if value is not None else ""
    return uuid_of(text) or id_of_path(path)


def _type(value: Any, path: str) -> str:
    is_preferences = path.casefold() == PREFERENCES_NOTE
    return (_text(value) or ("preference" if is_preferences else "note")).casefold()


def _lifecycle(value: Any, path: str) -> Lifecycle:
    try:
        return Lifecycle((_text(value) or "").casefold())
    except ValueError:
        return lifecycle_of_folder(path)


def lifecycle_of_folder(path: str) -> Lifecycle:
    """The lifecycle of a note at this path, unless its properties state another."""
    return folder_lifecycle(path) or Lifecycle.PERMANENT


def folder_lifecycle(path: str) -> Lifecycle | None:
    """The lifecycle that the folder of this path means; None for the person's own folders."""
    folder, _, path_within = _unarchived(path).partition("/")
    return FOLDER_LIFECYCLES.get(folder.casefold() if path_within else "")


def folder_project(path: str) -> str | None:
    """The project whose folder this path is in."""
    parts = _unarchived(path).split("/")
    return parts[1] if len(parts) > 2 and parts[0].casefold() == "projects" else None


def is_archived(path: str) -> bool:
    """Whether the path is in the archive of finished projects."""
    return path.casefold().startswith(f"{ARCHIVE}/")


def _unarchived(path: str) -> str:
    """The note's path before its project was archived."""
    return path.partition("/")[2] if is_archived(path) else path


def _date_of(note: ParsedNote, values: dict[str, Any]) -> datetime | None:
    """The date of the event that a note describes, or None.

    The first of: its frontmatter, a line such as ``When: 4 April 2025``, its path, a day in its
    title, the only date on which its text says that something took place.
    """
    candidates = [values.get(key) for key in _HAPPENED_KEYS]
    for field in note.fields:
        if property_key(field.key) in _HAPPENED_KEYS:
            candidates.append(field.value)
    stated = next((day for value in candidates if (day := read_date(value))), None)
    return (
        stated
        or date_of_path(note.path)
        or date_of_title(stem_of(note.path))
        or date_of_title(note.title)
        or _day_it_took_place(note)
    )


def _day_it_took_place(note: ParsedNote) -> datetime | None:
    days = {
        day
        for block in note.blocks
        for sentence in block.sentences
        if (match := _TOOK_PLACE.search(sentence.text))
        and (day := read_date(sentence.text[match.end() :][:_DATE_CHARS]))
    }
    return days.pop() if len(days) == 1 else None


def _text(value: Any) -> str | None:
    """The first string of a value; a wikilink is replaced by its shown text."""
    if isinstance(value, bool | int | float):
        value = str(value)
    for text in strings_of(value):
        links = find_wikilinks(text)
        plain = links[0].text if links else text.strip()
        if plain:
            return plain
    return None


def _flag(value: Any) -> bool:
    return value is True or str(value).strip().casefold() in _TRUE


_WORDS = {
    Domain.CODE: "api bug code codebase coding debugging development devops programming"
    " refactoring repo repository script snippet software",
    Domain.LEGAL: "agreement clause compliance contract court gdpr law lawsuit lawyer legal"
    " legislation licence license litigation patent regulation statute trademark",
    Domain.MEDICAL: "clinical clinic diagnosis disease doctor drug health hospital illness"
    " medical medication medicine patient pharmacy surgery symptom therapy vaccine",
    Domain.CREATIVE: "art artwork creative design drawing fiction illustration lyrics music novel"
    " painting photography poem poetry screenplay sketch song story storytelling worldbuilding",
    Domain.RESEARCH: "academic citation dataset dissertation experiment hypothesis literature"
    " lab paper preprint publication research science scientific study survey thesis",
}
_DOMAIN_OF = {word: domain for domain, words in _WORDS.items() for word in words.split()}
_WORD = re.compile(r"[^\W_]+")


def domain_of(memory: Memory) -> Domain:
    """The domain that a note's properties name, by default `Domain.GENERAL`.

    The properties are checked in this order: ``domain``, ``type``, tags, folders. The first whose
    words (singular or plural) belong to exactly one domain decides; a property that names several
    domains, such as the tags ``#research #code``, is skipped.
    """
    properties: tuple[Callable[[], Iterable[str]], ...] = (
        lambda: strings_of(memory.metadata.get("domain")),
        lambda: (memory.type,),
        lambda: memory.tags,
        lambda: memory.path.split("/")[:-1],
    )
    for words_of in properties:
        domains = {domain for text in words_of() for domain in _domains_in(text)}
        if len(domains) == 1:
            return domains.pop()
    return Domain.GENERAL


@lru_cache(maxsize=4096)  # notes of one vault share their types, tags and folders
def _domains_in(text: str) -> frozenset[Domain]:
    words = _WORD.findall(text.casefold())
    domains = (_DOMAIN_OF.get(word) or _DOMAIN_OF.get(word.removesuffix("s")) for word in words)
    return frozenset(domain for domain in domains if domain is not None)
