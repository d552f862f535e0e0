"""Edits of a note's text or of one property: everything else keeps its bytes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memvault.curation.changes.staging import Staging
from memvault.curation.operations.editable_text import HIDES_REST, EditableText
from memvault.curation.operations.properties import path_of, property_of, set_property
from memvault.curation.targets import Target
from memvault.model.errors import InvalidParams, NoteConflict
from memvault.vault.compose import storable_text
from memvault.vault.frontmatter.properties import as_text
from memvault.vault.frontmatter.read import WrittenNumber, read_value
from memvault.vault.open_marks import hides_rest
from memvault.vault.parse import content_hash

GUARDED_KEYS = frozenset(
    {"id", "created", "verified", "verified_by", "verified_on", "pinned", "faded"}
)


class EditOperation(StrEnum):
    APPEND = "append"
    PREPEND = "prepend"
    REPLACE_SECTION = "replace_section"
    REPLACE_TEXT = "replace_text"
    SET_PROPERTY = "set_property"


@dataclass(frozen=True, slots=True)
class NoteEdit:
    """One edit of a note.

    Attributes:
        content: the new text; for SET_PROPERTY the new value, empty to remove the property.
        section: a heading; required for REPLACE_SECTION, optional for APPEND and PREPEND.
        find: the text to replace; for REPLACE_SECTION the text that the section must still have.
        property: for SET_PROPERTY, the key.
    """

    operation: EditOperation
    content: str
    section: str | None = None
    find: str | None = None
    property: str | None = None

    def sets(self, key: str) -> bool:
        """Whether the edit sets or removes this property, ignoring case."""
        is_set = self.operation is EditOperation.SET_PROPERTY
        return is_set and (self.property or "").strip().casefold() == key


@dataclass(frozen=True, slots=True)
class EditResult:
    """The result of an edit.

    Attributes:
        before, after: the edited span.
        stated: the whole sentences that the edit wrote or changed.
    """

    path: str
    before: str
    after: str
    stated: str = ""


def stage_edit(staging: Staging, target: Target, edit: NoteEdit) -> EditResult:
    """Stage one edit of the target's note.

    Raises:
        InvalidParams: an argument is missing, the target has no note, or the text would hide what
            follows it.
        NoteConflict: the section or the text to replace does not occur exactly once; ``data`` has
            the headings, lines or text found instead.
        MalformedFrontmatter: the note cannot be edited safely.
    """
    path = path_of(target, "text")
    if edit.operation is EditOperation.SET_PROPERTY:
        return _set_property(staging, path, edit)
    note = EditableText(path, staging.read(path))
    content = note.with_line_endings(storable_text(edit.content))
    match edit.operation:
        case EditOperation.APPEND:
            start, end, after = note.appending(content, edit.section)
        case EditOperation.PREPEND:
            start, end, after = note.prepending(content, edit.section)
        case EditOperation.REPLACE_SECTION:
            start, end, after = note.replacing_section(content, edit.section, edit.find)
        case EditOperation.REPLACE_TEXT:
            start, end = note.span_of(edit.find)
            after = content
    if hides_rest(content) and not hides_rest(note.text[start:end]):
        raise InvalidParams(HIDES_REST)
    staging.write(path, note.replaced(start, end, after))
    return EditResult(path, note.text[start:end], after, note.new_sentences(start, end, after))


def stage_rewriting(
    staging: Staging, target: Target, rewritten: Callable[[bytes], bytes], version: str
) -> None:
    """Stage a new text of the target's note, made from its bytes.

    Raises NoteConflict: its content hash is no longer ``version``.
    """
    path = path_of(target, "a text")
    data = staging.read(path)
    if content_hash(data) != version:
        raise NoteConflict(f"{path} was saved elsewhere in the meantime", path=path)
    staging.write(path, rewritten(data))


def _set_property(staging: Staging, path: str, edit: NoteEdit) -> EditResult:
    key = (edit.property or "").strip()
    if not key or ":" in key or not key.isprintable():
        raise InvalidParams(
            "set_property needs the property's name in `property`", parameter="property"
        )
    if key.casefold() in GUARDED_KEYS:
        raise InvalidParams(f"{key} cannot be set: memvault keeps this property itself")
    before = property_of(staging, path, key)
    value = _value(edit.content) if edit.content.strip() else None
    if isinstance(before, str) and _is_of_kind(before, value):
        value = edit.content.strip()  # the person quoted it to be a text
    set_property(staging, path, key, value)
    return EditResult(path, as_text(before), as_text(property_of(staging, path, key)))


def _is_of_kind(text: str, value: Any) -> bool:
    """Whether a text would be of the same kind as the value, such as a number, without quotes."""
    return not isinstance(value, str | list | None) and _kind(_value(text)) is _kind(value)


def _kind(value: Any) -> type:
    """The type of a value; that of all numbers is float."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float if is_number else type(value)


def _value(text: str) -> Any:
    """The value as YAML reads it, if it is a plain value or a list of them; else the text."""
    value = read_value(text)
    if isinstance(value, float) and math.isfinite(value):
        return WrittenNumber(text.strip())
    is_plain = not isinstance(value, list) or not any(isinstance(x, list | dict) for x in value)
    return value if is_plain else text.strip()
