"""Preferences of the person, kept as lines of a note.

``permanent/preferences.md`` holds them as ``- Key: value`` (or ``key:: value``, or frontmatter).
It is in the folder that the person chose for new notes, or else at the vault's top; there it counts
in both places. Any other note of ``type: preference``, in ten languages, counts, too: each such
line in it, and the note itself, with its title as the key and its text as the value. If several
notes have the same key, preferences.md wins, then what the person wrote, then the first path. Keys
are compared without case, and with spaces, underscores and hyphens as equal; without its accents a
key is found, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter

from memvault.curation.changes.curator import ChangeResult, Curator, Described
from memvault.curation.changes.plan import Attribution
from memvault.curation.changes.staging import Staging
from memvault.curation.operations.draft import MAX_NAME_CHARS, RESERVED_KEYS, check_rationale
from memvault.curation.operations.note_types import known_type
from memvault.model.change import ChangeKind
from memvault.model.errors import InvalidParams, StorageError
from memvault.model.note import Block, ParsedNote
from memvault.model.unicode_forms import normalized
from memvault.stores.keyvalue import KeyValueStore
from memvault.text.words import without_accents
from memvault.vault.compose import compose_note
from memvault.vault.file_names import folded_name
from memvault.vault.frontmatter.edit import set_key
from memvault.vault.frontmatter.fences import claimed_id
from memvault.vault.lines import lines_of, newline_of, note_text
from memvault.vault.note_folders import PREFERENCES_NOTE, NoteFolders
from memvault.vault.parse import parse_note
from memvault.vault.readable import plain_text

NAMESPACE = "preferences"  # normalised key and path -> Preference as JSON
NOTES_NAMESPACE = "preference_notes"  # path -> the keys that it holds in NAMESPACE
MAX_VALUE_CHARS = 2_000
MAX_KEY_WORDS = 8

_OTHER_KEYS = frozenset(
    {"aliases", "alias", "tag", "created_at", "updated", "date", "title", "source"}
    | {"cssclasses", "cssclass", "publish"}
)
_KEY_LINE = re.compile(
    r"(?P<head>\ufeff?[ \t>]*(?:(?P<marker>[-*+]|\d+[.)])[ \t]+)?(?:\[.\][ \t]+)?(?:\*\*|__)?"
    r"(?P<key>[^:\s][^:\r\n]*?)(?:\*\*|__)?[ \t]*::?(?:\*\*|__)?[ \t]*)"
    r"(?P<value>.*?)(?P<tail>(?:[ \t]+\^[\w-]+)?[ \t]*)(?P<end>\r\n?|\n|\Z)"
)
_KEY = re.compile(r"[^\W\d_][^:\[\]()#`*|<>%^\r\n]*")
_STATED = re.compile(r"\s*(?P<key>[^\W\d_][^:\n]{0,99}?)\s*::?\s+(?P<value>\S.*?)\s*")
_NEW_NOTE = compose_note({"lifecycle": "permanent", "type": "preference"}, "# Preferences")
_keys = TypeAdapter(list[str])


class Preference(BaseModel):
    """A value and its place.

    ``line`` is 1 for a value of a frontmatter that cannot be read completely, and the first line of
    the text if the whole note is the preference. ``by_place``: its note counts only in the places
    of preferences.md."""

    model_config = ConfigDict(frozen=True)

    key: str  # normalised, see `preference_key`
    value: str
    path: str
    line: int
    is_whole_note: bool = False
    in_frontmatter: bool = False
    by_place: bool = False

    def continued(self, text: str) -> Preference:
        return self.model_copy(update={"value": f"{self.value} {text.strip()}"})


def preference_key(key: str) -> str:
    """The normalised key: equal for ``Writing_Style``, ``writing-style`` and ``writing style``."""
    words = re.sub(r"[\s_\-\u2010-\u2015]+", " ", normalized(key))
    return words.strip().casefold()


def _is_of_type(note: ParsedNote) -> bool:
    kind = note.frontmatter.get("type")
    return isinstance(kind, str) and known_type(kind) == "preference"


def read_preferences(note: ParsedNote) -> dict[str, Preference]:
    """The preferences of a note by normalised key; empty unless it is a preference note, or has the
    name of preferences.md in any folder (`get_preference` leaves out those in other folders).

    A key that occurs twice has the value of its last line.
    """
    is_of_type, is_named = _is_of_type(note), _has_name(note.path)
    if not is_of_type and not is_named:
        return {}
    preferences: list[Preference] = []
    if not is_named and note.blocks:
        text = "\n\n".join(block.text for block in note.blocks)
        first = note.blocks[0].lines.first
        preferences.append(
            Preference(key=note.title, value=text, path=note.path, line=first, is_whole_note=True)
        )
    for key, value in note.frontmatter.items():
        if key.casefold() not in RESERVED_KEYS | _OTHER_KEYS and _is_plain(value):
            line = note.key_lines.get(key, 1)
            preferences.append(
                Preference(
                    key=key, value=_shown(value), path=note.path, line=line, in_frontmatter=True
                )
            )
    preferences += [
        Preference(key=item.key, value=item.value.strip(), path=note.path, line=item.line)
        for item in note.fields
        if item.explicit and item.value.strip()
    ]
    for block in note.blocks:
        preferences += _stated(note.path, block)
    by_key = ((preference_key(preference.key), preference) for preference in preferences)
    return {
        key: preference.model_copy(update={"key": key, "by_place": not is_of_type})
        for key, preference in by_key
    }


def _stated(path: str, block: Block) -> list[Preference]:
    """The ``Key: value`` lines of a block; a line without a key continues the previous one."""
    stated: list[Preference] = []
    for number, line in enumerate(block.text.split("\n"), block.lines.first):
        match = _STATED.fullmatch(line)
        if match is not None and len(match["key"].split()) <= MAX_KEY_WORDS:
            stated.append(
                Preference(key=match["key"], value=match["value"], path=path, line=number)
            )
        elif stated:
            stated.append(stated.pop().continued(line))
    return stated


def preference_rows(
    store: KeyValueStore, notes: Mapping[str, ParsedNote | None]
) -> tuple[dict[str, list[str]], dict[str, dict[str, bytes]]]:
    """The rows to delete and to write, for `KeyValueStore.change`.

    Afterwards the store holds exactly the current preferences of these notes.

    Args:
        notes: the notes to index, by path; None for a removed note.
    """
    old = store.get_many(NOTES_NAMESPACE, notes)
    items: dict[str, bytes] = {}
    keys: dict[str, bytes] = {}
    for path, note in notes.items():
        preferences = read_preferences(note) if note is not None else {}
        own_rows = {
            f"{each.key}\t{each.path}": each.model_dump_json().encode()
            for each in preferences.values()
        }
        items |= own_rows
        if own_rows:
            keys[path] = _keys.dump_json(list(own_rows))
    old_keys = [key for value in old.values() for key in _keys.validate_json(value)]
    deleted = {NAMESPACE: old_keys, NOTES_NAMESPACE: list(old)}
    return deleted, {NAMESPACE: items, NOTES_NAMESPACE: keys}


def get_preference(
    store: KeyValueStore,
    folders: NoteFolders,
    key: str,
    is_persons: Callable[[Preference], bool] = lambda _: True,
) -> Preference | None:
    """The stored preference with this key, else one whose key differs in accents alone, or None.

    Args:
        folders: of new notes, with preferences.md.
        is_persons: whether the person wrote it; below preferences.md, theirs comes first.
    """
    wanted = preference_key(key)
    found = _stored(store, folders, wanted + "\t") or [
        preference for preference in _stored(store, folders) if _is_alike(preference.key, wanted)
    ]
    return min(
        found,
        key=lambda preference: (
            not _is_in_place(preference.path, folders),
            not is_persons(preference),
            preference.key,
            preference.path,
        ),
        default=None,
    )


def preference_keys(store: KeyValueStore, folders: NoteFolders) -> list[str]:
    """Every key that has a value, sorted."""
    return sorted({preference.key for preference in _stored(store, folders)})


def _stored(store: KeyValueStore, folders: NoteFolders, prefix: str = "") -> list[Preference]:
    """The stored preferences, without those of a namesake of preferences.md in another folder."""
    rows = (Preference.model_validate_json(value) for _, value in store.items(NAMESPACE, prefix))
    return [each for each in rows if not each.by_place or _is_in_place(each.path, folders)]


def set_preference(
    curator: Curator,
    key: str,
    value: str,
    why: Attribution,
    *,
    path: str | None = None,
) -> ChangeResult[Preference]:
    """Write one preference: change only its line, or add a line.

    Args:
        path: the note that holds the key now, if known; it is edited if the key is in a line or in
            the frontmatter. Otherwise preferences.md is edited or created.

    Raises:
        InvalidParams: the key, value or rationale is invalid.
        StorageError, NoteConflict, MalformedFrontmatter: the note cannot be edited safely.
    """
    shown_key, text = _checked(key, value)
    try:
        check_rationale(why.rationale)
    except ValueError as error:
        raise InvalidParams(str(error)) from error

    def stage(staging: Staging) -> Described[Preference]:
        place = _place(staging, preference_key(shown_key), path)
        if not staging.exists(place):
            staging.create(place, _NEW_NOTE)
        before = staging.read(place)
        old = _line_of(place, before, preference_key(shown_key))
        data = _with_value(place, before, shown_key, text, old)
        staging.write(place, data)
        preference = _named(read_preferences(parse_note(place, data)), preference_key(shown_key))
        assert preference is not None  # `_with_value` has looked
        note_id = claimed_id(data) or curator.moved.id_at(place)
        return preference, (preference.key,), (note_id,)

    # Alone, since another client might create the same note.
    return curator.perform_described(stage, ChangeKind.PREFERENCE_SET, why, alone=True)


def _checked(key: str, value: str) -> tuple[str, str]:
    """The key as a person would write it, and the trimmed value.

    Raises:
        InvalidParams: one of them is empty, too long, or has forbidden characters.
    """
    name = " ".join(key.replace("_", " ").split())
    is_short = len(name) <= MAX_NAME_CHARS and len(name.split()) <= MAX_KEY_WORDS
    if not is_short or not _KEY.fullmatch(name):
        raise InvalidParams(
            f"key must start with a letter and have at most {MAX_KEY_WORDS} words, "
            "without any of : [ ] ( ) # | < > * ` % ^"
        )
    text = value.strip()
    if not text:
        raise InvalidParams("value must not be empty")
    if len(text) > MAX_VALUE_CHARS or not all(c.isprintable() or c == "\t" for c in text):
        raise InvalidParams(
            f"value must be one line of at most {MAX_VALUE_CHARS} characters; "
            "store longer text as a memory of type preference"
        )
    return name[0].upper() + name[1:], text


def _place(staging: Staging, key: str, path: str | None) -> str:
    """The note to edit."""
    if path is not None and staging.exists(path) and _line_of(path, staging.read(path), key):
        return path
    return staging.vault.new_note_path(staging.vault.folders.within(PREFERENCES_NOTE))


def _line_of(path: str, data: bytes, key: str) -> Preference | None:
    preference = _named(read_preferences(parse_note(path, data)), key)
    return None if preference is None or preference.is_whole_note else preference


def _named(preferences: Mapping[str, Preference], key: str) -> Preference | None:
    """The one with this key, else the one whose key differs in accents alone."""
    alike = (preference for name, preference in preferences.items() if _is_alike(name, key))
    return preferences.get(key) or next(alike, None)


def _is_alike(key: str, other: str) -> bool:
    return without_accents(key) == without_accents(other)


def _with_value(path: str, data: bytes, key: str, value: str, old: Preference | None) -> bytes:
    if old is not None and old.in_frontmatter:
        note = parse_note(path, data)
        key = next(
            known_key for known_key in note.frontmatter if preference_key(known_key) == old.key
        )
        return set_key(data, key, value)
    lines = lines_of(note_text(path, data))
    if old is not None:
        lines[old.line - 1] = _changed_line(path, lines[old.line - 1], old, value)
    else:
        _add_line(parse_note(path, data), lines, f"{key}: {value}")
    changed = "".join(lines).encode("utf-8", "surrogateescape")
    now_there = _line_of(path, changed, preference_key(key))
    if now_there is None or not _reads_alike(now_there.value, value):
        raise StorageError(
            f"{path} cannot hold the preference {key!r} as a line. Write it there by hand."
        )
    return changed


def _changed_line(path: str, line: str, old: Preference, value: str) -> str:
    """The line with another value; its marker, key, block id and line ending are kept."""
    match = _KEY_LINE.fullmatch(line)
    if (
        match is None
        or preference_key(plain_text(match["key"])) != old.key
        or not _reads_alike(match["value"], old.value)
    ):
        raise StorageError(
            f"{path}, line {old.line}, has {old.key!r} together with other text. "
            "Put it on a line of its own, or change it there."
        )
    return f"{match['head']}{value}{match['tail']}{match['end']}"


def _add_line(note: ParsedNote, lines: list[str], text: str) -> None:
    """Add the text below the last preference, in its list style, or at the end of the note."""
    newline = newline_of(lines[0]) if lines else "\n"
    stated = (preference.line for block in note.blocks for preference in _stated(note.path, block))
    last = max(stated, default=0)
    match = _KEY_LINE.fullmatch(lines[last - 1]) if last else None
    if last and match is not None and match["marker"]:
        head = lines[last - 1][: match.end("marker")] if match["marker"] in "-*+" else "-"
        indent = len(head) - len(head.lstrip(" \t"))
        while last < len(lines) and _is_continuation(lines[last], indent):
            last += 1
        item = f"{head} {text}"
    else:
        last = len(lines)
        item = f"- {text}"
        if lines and lines[-1].strip():
            item = newline + item
    if last and not lines[last - 1].endswith(("\n", "\r")):
        lines[last - 1] += newline
    lines.insert(last, item + newline)


def _is_continuation(line: str, indent: int) -> bool:
    return bool(line.strip()) and len(line) - len(line.lstrip(" \t")) > indent


def _reads_alike(first: str, second: str) -> bool:
    """Whether two texts differ only in Markdown marks."""
    letters, other_letters = (re.sub(r"[\W_]+", "", plain_text(text)) for text in (first, second))
    return letters == other_letters


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping) or value is None:
        return False
    return not isinstance(value, list) or all(_is_plain(item) for item in value)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_shown(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _has_name(path: str) -> bool:
    return f"/{path}".casefold().endswith(f"/{PREFERENCES_NOTE}")


def _is_in_place(path: str, folders: NoteFolders) -> bool:
    """Whether this is preferences.md in the chosen folder or at the vault's top."""
    return _has_name(path) and folded_name(folders.relative(path)) == PREFERENCES_NOTE
