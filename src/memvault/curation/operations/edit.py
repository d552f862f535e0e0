"""Edits of a note's text: everything outside the edited span keeps its bytes.

A section is the text below a heading, up to the next heading of the same or a higher level.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

from memvault.curation.changes.staging import Staging
from memvault.curation.operations.properties import path_of, property_of, set_property
from memvault.curation.targets import Target
from memvault.model.errors import InvalidParams, NoteConflict
from memvault.model.graph import NodeKind
from memvault.model.note import ParsedNote
from memvault.search.relations.values import sentences
from memvault.vault.compose import (
    appended,
    close_open_fence,
    compose_note,
    inserted,
    lines_of,
    newline_of,
    note_text,
    safe_name,
    storable_text,
)
from memvault.vault.frontmatter.read import read_value
from memvault.vault.frontmatter.yaml_text import malformed
from memvault.vault.parse import frontmatter_of, parse_note

HEADING = "Annotations"
FOLDER = "permanent"  # for the new note of an annotated concept that has none
GUARDED_KEYS = frozenset({"id", "created", "verified", "verified_by", "verified_on", "pinned"})
MAX_SHOWN = 10  # headings or lines that an error lists
HIDES_REST = (
    "The text opens a comment or code that it does not close (%%, <!-- or ```), which would hide "
    "what follows it; close it"
)

_BLANK_LINES = re.compile(r"\n\s*\n")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_HEADING_MARKS = re.compile(r"^#{1,6}[ \t]+|[ \t]+#+[ \t]*$")


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
class Edited:
    """The result of an edit.

    Attributes:
        before, after: the edited span.
        stated: the whole sentences that the edit wrote or changed.
    """

    path: str
    before: str
    after: str
    stated: str = ""


def stage_edit(staging: Staging, target: Target, edit: NoteEdit) -> Edited:
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
    note = _Text(path, staging.read(path))
    content = note.with_own_ends(storable_text(edit.content))
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
    if _hides_rest(after) and not _hides_rest(note.text[start:end]):
        raise InvalidParams(HIDES_REST)
    staging.write(path, note.replaced(start, end, after))
    return Edited(path, note.text[start:end], after, note.newly_stated(start, end, after))


def stage_annotation(staging: Staging, target: Target, text: str, day: date) -> str:
    """Add a dated remark below the heading "Annotations"; returns the path of the note.

    A concept without a note gets one with its name.

    Raises:
        MalformedFrontmatter: the note's properties cannot be read.
        InvalidParams: the remark would hide what follows it, or be in another encoding.
    """
    line = _annotation(text, day)
    if _hides_rest(line):
        raise InvalidParams(HIDES_REST)
    if target.note is None:
        return staging.create(*_new_note(target, line))
    path = target.note.path
    note = _Text(path, staging.read(path))
    note.check_takes(line)
    newline = note.newline
    line = line.replace("\n", newline)
    own = [each for each in note.parsed.headings if each.text == HEADING]
    if own:
        end = note.section_end(own[-1].line)
        changed = inserted(note.text, end, line + newline)
    else:
        changed = appended(note.text, f"## {HEADING}{newline * 2}{line}{newline}")
    staging.write(path, changed.encode("utf-8", "surrogateescape"))
    return path


class _Text:
    """The text of a note with its lines and headings."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self.text = note_text(path, data)
        self.newline = newline_of(self.text)
        self.lines = lines_of(self.text)
        self.parsed: ParsedNote = parse_note(path, data)

    def with_own_ends(self, content: str) -> str:
        """The content with the line endings of the note."""
        return content.replace("\n", self.newline)

    def appending(self, content: str, section: str | None) -> tuple[int, int, str]:
        if section is None:
            changed = appended(self.text, self._block(content))
            if self._continues_list(len(self.lines), content):
                changed = self._ended(self.text) + self._block(content)
            return len(self.text), len(self.text), changed[len(self.text) :]
        heading = self._heading(section)
        line = self.section_end(heading)
        at = self._offset(line)
        gap = "" if self._continues_list(line, content) else self.newline
        before = "" if self._ends_line(at) else self.newline
        return at, at, before + gap + self._block(content)

    def prepending(self, content: str, section: str | None) -> tuple[int, int, str]:
        line = self._heading(section) if section is not None else self._title_end()
        is_below_heading = line > self.parsed.body_line - 1
        while is_below_heading and line < len(self.lines) and not self.lines[line].strip():
            line += 1
        at = self._offset(line)
        before = "" if self._ends_line(at) else self.newline
        if is_below_heading and self.lines[line - 1].strip():
            before += self.newline
        after = self.newline if line < len(self.lines) else ""
        return at, at, before + self._block(close_open_fence(content)) + after

    def replacing_section(
        self, content: str, section: str | None, expected: str | None
    ) -> tuple[int, int, str]:
        if not section:
            raise InvalidParams("replace_section needs the section's heading", parameter="section")
        heading = self._heading(section)
        first, last = heading, self.section_end(heading)
        while first < last and not self.lines[first].strip():
            first += 1
        start, end = self._offset(first), self._offset(last)
        current = self.text[start:end]
        if expected is not None and _plain(current) != _plain(expected):
            raise NoteConflict(
                f"The section {section!r} of {self.path} has another text by now",
                path=self.path, current=current,
            )  # fmt: skip
        head, _, rest = content.partition(self.newline)
        if _HEADING_MARKS.match(head) and _heading_key(head) == _heading_key(section):
            content = rest  # the heading stays as it is
        block = close_open_fence(content.strip("\r\n"))
        if first == last:  # nothing below the heading yet
            before = "" if self._ends_line(start) else self.newline
            return start, end, f"{before}{self.newline}{block}{self.newline}"
        return start, end, block + (self.newline if current.endswith(("\n", "\r")) else "")

    def span_of(self, find: str | None) -> tuple[int, int]:
        """The start and end of a text that occurs once in the body."""
        wanted = self.with_own_ends(storable_text(find or ""))
        if not wanted.strip():
            raise InvalidParams("replace_text needs the text to find", parameter="find")
        body = self._offset(self.parsed.body_line - 1)
        at = self.text.find(wanted, body)
        if at < 0:
            raise NoteConflict(
                f"{self.path} does not contain the text to replace", path=self.path,
                nearest=self._nearest_lines(wanted),
            )  # fmt: skip
        count = self.text.count(wanted, body)
        if count > 1:
            raise NoteConflict(
                f"{self.path} contains the text to replace {count} times; give more of the text "
                "around it", path=self.path, count=count,
            )  # fmt: skip
        return at, at + len(wanted)

    def check_takes(self, text: str) -> None:
        """Check that a text may be written into the note.

        Raises:
            MalformedFrontmatter: the note's properties cannot be read.
            InvalidParams: the text would be in another encoding than the note.
        """
        if (problem := self.parsed.frontmatter_problem) is not None:
            raise malformed(problem.line - 2, problem.message)
        if not text.isascii() and not _is_utf8(self.data):
            raise InvalidParams(
                f"{self.path} is not in UTF-8, so that other letters than English ones cannot be "
                "added to it; save it as UTF-8 in an editor, then try again",
                path=self.path,
            )

    def replaced(self, start: int, end: int, after: str) -> bytes:
        """The note's bytes with this span replaced.

        Raises:
            MalformedFrontmatter, InvalidParams: see `check_takes`; also if the text would become
                part of the frontmatter.
        """
        self.check_takes(after)
        changed = (self.text[:start] + after + self.text[end:]).encode("utf-8", "surrogateescape")
        if frontmatter_of(changed) != frontmatter_of(self.data):
            raise InvalidParams("The text would become properties of the note; use set_property")
        return changed

    def newly_stated(self, start: int, end: int, after: str) -> str:
        """The whole sentences that are new in the note once this span is replaced."""
        before = self.text[self.text.rfind("\n", 0, start) + 1 : start]
        behind = self.text[end:].partition("\n")[0]
        known = set(sentences(self.text))
        new = (each for each in sentences(before + after + behind) if each not in known)
        return "\n".join(new)

    def section_end(self, heading: int) -> int:
        """The number of lines up to the end of a section, without trailing blank lines.

        Args:
            heading: the line of the section's heading, counted from 1.
        """
        own = next(each for each in self.parsed.headings if each.line == heading)
        below = (
            each.line - 1
            for each in self.parsed.headings
            if each.line > heading and each.level <= own.level
        )
        end = next(below, len(self.lines))
        while end > heading and not self.lines[end - 1].strip():
            end -= 1
        return end

    def _heading(self, section: str) -> int:
        key = _heading_key(section)
        found = [each for each in self.parsed.headings if _heading_key(each.text) == key]
        if len(found) == 1:
            return found[0].line
        headings = [each.text for each in self.parsed.headings][:MAX_SHOWN]
        what = f"has {len(found)} sections" if found else "has no section"
        raise NoteConflict(
            f"{self.path} {what} {section!r}; its headings are {', '.join(headings) or 'none'}",
            path=self.path, headings=headings,
        )  # fmt: skip

    def _title_end(self) -> int:
        """The number of lines of the frontmatter and of the title below it, if there is one."""
        first = self.parsed.headings[0] if self.parsed.headings else None
        body = self.parsed.body_line - 1
        if first is None or first.level != 1:
            return body
        is_first = not any(line.strip() for line in self.lines[body : first.line - 1])
        is_atx = self.lines[first.line - 1].lstrip().startswith("#")
        return first.line if is_first and is_atx else body

    def _offset(self, line: int) -> int:
        return sum(map(len, self.lines[:line]))

    def _ends_line(self, at: int) -> bool:
        return at == 0 or self.text[at - 1] in "\r\n"

    def _ended(self, text: str) -> str:
        return text if not text or text[-1] in "\r\n" else text + self.newline

    def _block(self, content: str) -> str:
        return content.strip("\r\n") + self.newline

    def _continues_list(self, line: int, content: str) -> bool:
        """Whether both the content and the line before it are list items."""
        is_item = _LIST_ITEM.match(content) is not None
        return is_item and line > 0 and _LIST_ITEM.match(self.lines[line - 1]) is not None

    def _nearest_lines(self, wanted: str) -> list[str]:
        lines = [line.strip() for line in self.lines[self.parsed.body_line - 1 :] if line.strip()]
        return get_close_matches(wanted.strip().split(self.newline)[0], lines, 3, cutoff=0.4)


def _set_property(staging: Staging, path: str, edit: NoteEdit) -> Edited:
    key = (edit.property or "").strip()
    if not key or ":" in key or not key.isprintable():
        raise InvalidParams("set_property needs the name of a property", parameter="property")
    if key.casefold() in GUARDED_KEYS:
        raise InvalidParams(f"{key} cannot be set: memvault keeps this property itself")
    before = property_of(staging, path, key)
    value = _value(edit.content) if edit.content.strip() else None
    set_property(staging, path, key, value)
    return Edited(path, _shown(before), _shown(property_of(staging, path, key)))


def _value(text: str) -> Any:
    """The value as YAML reads it, if it is a plain value or a list of them; else the text."""
    value = read_value(text)
    is_plain = not isinstance(value, list) or not any(isinstance(x, list | dict) for x in value)
    return value if is_plain else text.strip()


def _hides_rest(text: str) -> bool:
    """Whether this text would hide a paragraph below it."""
    rest = "rest"
    data = f"\n{text}\n\n{rest}\n".encode("utf-8", "surrogateescape")
    blocks = parse_note("", data).blocks
    return not blocks or blocks[-1].text != rest


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def _heading_key(text: str) -> str:
    return " ".join(_HEADING_MARKS.sub("", text.strip()).split()).casefold()


def _new_note(target: Target, line: str) -> tuple[str, bytes]:
    kind = target.kind if target.kind not in (NodeKind.CONCEPT, NodeKind.TAG) else None
    name = target.name.removeprefix("#")
    properties: dict[str, object] = {"type": kind} if kind else {}
    stem = safe_name(name)
    if stem != name:
        properties["aliases"] = [name]
    body = f"# {name}\n\n## {HEADING}\n\n{line}\n"
    data = compose_note(properties, body) if properties else body.encode("utf-8")
    return f"{FOLDER}/{stem}.md", data


def _annotation(text: str, day: date) -> str:
    """A list item with the day and the remark; further lines are indented to stay in the item.

    The dot lets a remark such as ``Superseded by: [[New plan]]`` be read as a relation.
    """
    remark = _BLANK_LINES.sub("\n", storable_text(text).strip())
    return f"- {day.isoformat()} · " + remark.replace("\n", "\n  ")
