"""A remark at a note's end, dated, under a heading of its own."""

from __future__ import annotations

import re
from datetime import date

from memvault.curation.changes.staging import Staging
from memvault.curation.targets import Target
from memvault.model.graph import NodeKind
from memvault.model.note import ParsedNote
from memvault.vault.compose import (
    appended,
    compose_note,
    inserted,
    lines_of,
    newline_of,
    note_text,
    safe_name,
    storable_text,
)
from memvault.vault.parse import parse_note

HEADING = "Annotations"
FOLDER = "permanent"  # of the note that a concept without one gets

_BLANK_LINES = re.compile(r"\n\s*\n")


def stage_annotation(staging: Staging, target: Target, text: str, day: date) -> str:
    """Add the remark to the target's note, and give its path. A concept that has no note gets
    one, named like it, so that the remark is found under its name.

    Raises:
        MalformedFrontmatter: the note is not UTF-8.
    """
    line = _item(text, day)
    if target.note is None:
        return staging.create(*_new_note(target, line))
    path = target.note.path
    data = staging.read(path)
    decoded = note_text(path, data)
    newline = newline_of(decoded)
    line = line.replace("\n", newline)
    note = parse_note(path, data)
    end = _section_end(note, lines_of(decoded))
    if end is None:
        changed = appended(decoded, f"## {HEADING}{newline * 2}{line}{newline}")
    else:
        changed = inserted(decoded, end, line + newline)
    staging.write(path, changed.encode("utf-8", "surrogateescape"))
    return path


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


def _item(text: str, day: date) -> str:
    """One list item; further lines are indented, so that they stay in it. The dot lets a remark
    such as ``Superseded by: [[New plan]]`` be read as a relation."""
    said = _BLANK_LINES.sub("\n", storable_text(text).strip())
    return f"- {day.isoformat()} · " + said.replace("\n", "\n  ")


def _section_end(note: ParsedNote, lines: list[str]) -> int | None:
    """The line, counted from 0, before which the next remark goes: behind the last text of the
    last section of this name. None without one."""
    found = [at for at, each in enumerate(note.headings) if each.text == HEADING]
    if not found:
        return None
    heading = note.headings[found[-1]]
    below = (each for each in note.headings[found[-1] + 1 :] if each.level <= heading.level)
    following = next(below, None)
    end = following.line - 1 if following else len(lines)
    while end > heading.line and not lines[end - 1].strip():
        end -= 1
    return end
