"""Composes the note of a session when its first item is captured, and extends it later.

A person may edit the note at any time. Extending it only inserts lines, each at the end of its
section; existing lines are never changed, moved or repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePath
from uuid import UUID, uuid5

from memvault.capture.extract import Item
from memvault.model.memory import Lifecycle
from memvault.text.secrets import find_secrets
from memvault.vault.compose import appended, compose_note, inert, inserted
from memvault.vault.file_names import safe_name
from memvault.vault.lines import bare_lines, lines_of, newline_of, note_text
from memvault.vault.note_folders import NoteFolders
from memvault.vault.parse import parse_note
from memvault.vault.session_lines import ItemKind, without_speaker

FILES = "Files"
MAX_LINES = 600  # of a session note; reports are left out first

_NAMESPACE = UUID("6f1f7a52-3a04-4f0e-9d0c-5d2a1a7f7c11")
_ATTRIBUTED = frozenset({ItemKind.DECISION, ItemKind.OPEN_QUESTION})
_ORDER = (*ItemKind, FILES)
_NOT_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class CapturedSession:
    """A client's session, as its hooks name it; ``client`` is the origin of the captured text."""

    client: str
    id: str
    folder: str = ""
    project: str | None = None

    @property
    def note_id(self) -> str:
        """The id of its note, the same on every computer."""
        return str(uuid5(_NAMESPACE, f"{self.client}\n{self.id}"))


def new_note(
    session: CapturedSession,
    items: Sequence[Item],
    files: Sequence[str],
    now: datetime,
    folders: NoteFolders = NoteFolders(),
) -> tuple[str, bytes] | None:
    """The path and bytes of a new session note; None if there is nothing to write.

    The path is the same if the session is captured again from its start.

    Args:
        files: paths that the assistant edited.
    """
    lines = _lines_by_heading(session, items, files)
    if not lines:
        return None
    started = next((item.at for item in items if item.at is not None), now).astimezone()
    place = session.project or PurePath(session.folder).name or session.client
    title = f"Session in {place}, {started:%Y-%m-%d %H.%M}"
    properties = {
        "id": session.note_id,
        "lifecycle": str(Lifecycle.EPHEMERAL),
        "type": "session",
        "project": session.project,
        "created": now.astimezone(UTC),
        "source": session.client,
        "session": session.id,
        "folder": session.folder or None,
        "rationale": "Captured by hooks from the transcript; nothing in it is verified.",
    }
    kept = {key: value for key, value in properties.items() if value is not None}
    sections = (f"## {name}\n\n" + "\n".join(lines[name]) for name in _ORDER if name in lines)
    body = f"# {inert(title)}\n\n" + "\n\n".join(sections)
    name = safe_name(f"{place} {started:%Y-%m-%d %H.%M}")  # with the day: links name the file only
    folder = folders.of(Lifecycle.EPHEMERAL, session.project, started.date())
    return f"{folder}/{name}.md", compose_note(kept, body)


def extended_note(
    session: CapturedSession, path: str, data: bytes, items: Sequence[Item], files: Sequence[str]
) -> bytes:
    """The note with its new lines added; the same bytes if there are none.

    Raises:
        MalformedFrontmatter: the note is not UTF-8.
    """
    text = note_text(path, data)
    there = {_key(line) for line in bare_lines(text)}
    room = max(0, MAX_LINES - len(there))
    for heading, lines in _lines_by_heading(session, items, files).items():
        new = [line for line in lines if _key(line) not in there][:room]
        room -= len(new)
        if new:
            text = _with_lines(path, text, heading, new)
    return text.encode("utf-8", "surrogateescape")


def _with_lines(path: str, text: str, heading: str, lines: list[str]) -> str:
    newline = newline_of(text)
    block = newline.join(lines) + newline
    note = parse_note(path, text.encode("utf-8", "surrogateescape"))
    all_lines = lines_of(text)
    index = next((k for k, each in enumerate(note.headings) if each.text == heading), None)
    if index is None:
        later = _ORDER[_ORDER.index(heading) + 1 :]
        following = next((each for each in note.headings if each.text in later), None)
        if following is None:
            return appended(text, f"## {heading}{newline * 2}{block}")
        return inserted(text, following.line - 1, f"## {heading}{newline * 2}{block}{newline}")
    found = note.headings[index]
    below = (each for each in note.headings[index + 1 :] if each.level <= found.level)
    following = next(below, None)
    end = following.line - 1 if following else len(all_lines)
    while end > found.line and not all_lines[end - 1].strip():
        end -= 1
    return inserted(text, end, block)


def _lines_by_heading(
    session: CapturedSession, items: Iterable[Item], files: Iterable[str]
) -> dict[str, list[str]]:
    """The distinct list lines by heading, in the order of the headings."""
    by_heading: dict[str, list[str]] = {name: [] for name in _ORDER}
    seen: set[str] = set()
    for item in items:
        line = f"- {inert(item.text)}"
        if item.kind in _ATTRIBUTED:
            line += f" ({item.speaker})"
        if _key(line) not in seen and not find_secrets(line):
            seen.add(_key(line))
            by_heading[item.kind].append(line)
    for file in files:
        shown = path_from(session.folder, file).replace("`", "'")
        line = f"- `{shown}`"
        if _key(line) not in seen and "\n" not in file and not find_secrets(line):
            seen.add(_key(line))
            by_heading[FILES].append(line)
    return {name: lines[:MAX_LINES] for name, lines in by_heading.items() if lines}


def _key(line: str) -> str:
    """The key by which lines count as equal: their words, without the speaker."""
    return _NOT_WORD.sub(" ", without_speaker(line)).strip().casefold()


def path_from(folder: str, file: str) -> str:
    """The file's path relative to a folder if it lies in the folder, else unchanged."""
    base = folder.rstrip("/\\")
    return file[len(base) + 1 :] if base and file.startswith((base + "/", base + "\\")) else file
