"""Adds a dated remark to a note, below the heading "Annotations"."""

from __future__ import annotations

import re
from datetime import date

from memvault.curation.changes.staging import Staging
from memvault.curation.operations.editable_text import HIDES_REST, EditableText
from memvault.curation.targets import Target
from memvault.model.errors import InvalidParams
from memvault.model.graph import NodeKind
from memvault.model.memory import Lifecycle
from memvault.vault.compose import appended, compose_note, inserted, storable_text
from memvault.vault.file_names import safe_name
from memvault.vault.open_marks import hides_rest

HEADING = "Annotations"

_BLANK_LINES = re.compile(r"\n\s*\n")


def stage_annotation(
    staging: Staging,
    target: Target,
    text: str,
    day: date,
    *,
    lifecycle: Lifecycle | None = None,
) -> str:
    """Add a dated remark below the heading "Annotations"; returns the path of the note.

    A concept without a note gets one with its name.

    Args:
        lifecycle: of such a new note; None makes it permanent.

    Raises:
        MalformedFrontmatter: the note's properties cannot be read.
        InvalidParams: the remark would hide what follows it, or be in another encoding.
    """
    line = _annotation(text, day)
    if hides_rest(line):
        raise InvalidParams(HIDES_REST)
    if target.note is None:
        folder = staging.vault.folders.of(lifecycle or Lifecycle.PERMANENT, None, day)
        name, data = _new_note(target, line, lifecycle)
        return staging.create(staging.vault.new_note_path(f"{folder}/{name}.md"), data)
    path = target.note.path
    note = EditableText(path, staging.read(path))
    note.check_takes(line)
    newline = note.newline
    line = line.replace("\n", newline)
    headings = [heading for heading in note.parsed.headings if heading.text == HEADING]
    if headings:
        end = note.section_end(headings[-1].line)
        changed = inserted(note.text, end, line + newline)
    else:
        changed = appended(note.text, f"## {HEADING}{newline * 2}{line}{newline}")
    staging.write(path, changed.encode("utf-8", "surrogateescape"))
    return path


def _new_note(target: Target, line: str, lifecycle: Lifecycle | None) -> tuple[str, bytes]:
    """The name and bytes of a concept's new note."""
    kind = target.kind if target.kind not in (NodeKind.CONCEPT, NodeKind.TAG) else None
    name = target.name.removeprefix("#")
    properties: dict[str, object] = {"lifecycle": str(lifecycle)} if lifecycle else {}
    if kind:
        properties["type"] = kind
    stem = safe_name(name)
    if stem != name:
        properties["aliases"] = [name]
    body = f"# {name}\n\n## {HEADING}\n\n{line}\n"
    data = compose_note(properties, body) if properties else body.encode("utf-8")
    return stem, data


def _annotation(text: str, day: date) -> str:
    """A list item with the day and the remark; further lines are indented to stay in the item.

    The dot lets a remark such as ``Superseded by: [[New plan]]`` be read as a relation.
    """
    remark = _BLANK_LINES.sub("\n", storable_text(text).strip())
    return f"- {day.isoformat()} · " + remark.replace("\n", "\n  ")
