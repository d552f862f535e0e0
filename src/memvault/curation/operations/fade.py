"""Replaces a session's text by its faded text, and restores the full text.

The full text is archived before the note changes (`VersionStore.archive`). The frontmatter stays
byte for byte, with the keys ``faded`` and ``archived`` added, and ``id`` if it had none, so that
the note is recognised after a rename. A faded note that the person edits fades no further, and
their additions stay when the full text is restored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memvault.curation.changes.history import History
from memvault.curation.changes.staging import Staging
from memvault.curation.targets import Target
from memvault.model.change import Change, ChangeKind
from memvault.model.errors import InvalidParams, MalformedFrontmatter, NoteConflict, StorageError
from memvault.model.memory import Memory, id_of_path
from memvault.text.diff import stretches
from memvault.vault.compose import appended
from memvault.vault.frontmatter.edit import body_of, remove_key, set_key, with_body
from memvault.vault.frontmatter.read import read_frontmatter
from memvault.vault.lines import lines_of, newline_of, note_text
from memvault.vault.parse import MAX_PARSED_BYTES, content_hash, decode, frontmatter_of
from memvault.vault.version_store import ARCHIVE, SUFFIX

FADED, ARCHIVED, ID = "faded", "archived", "id"
BLANK = "\r\n"
ADDED_HEADING = "Added while the text was archived"

# Keys of a change's memo.
ORIGINAL = "original"  # hash of the note before it faded
BODY = "body"  # hash of the body that fading left
KEYS = "keys"  # frontmatter keys that fading added
SINCE = "since"  # moment from which the age of the memory counted
SAME_MOMENT = timedelta(minutes=1)  # a file saved this much after a change was not saved by it


@dataclass(frozen=True, slots=True)
class FadedText:
    """The faded text that replaces the body of a note.

    Attributes:
        stage: the value of the note's property ``faded``.
        version: the hash of the note that the body was made from.
        since: the moment from which the age of the memory counts.
    """

    memory: Memory
    stage: str
    body: str
    version: str
    since: datetime


def stage_fading(staging: Staging, faded: FadedText, last: Change | None) -> str:
    """Replace the body of a note and archive its full text; returns its path.

    Args:
        last: the previous fading of the note.

    Raises:
        NoteConflict: the note was saved in the meantime, or edited since it last faded.
        MalformedFrontmatter: the note cannot be edited safely.
        InvalidParams: the faded note would not be shorter.
    """
    path = faded.memory.path
    data = staging.read(path)
    if content_hash(data) != faded.version:
        raise NoteConflict(f"{path} was saved in the meantime; it does not fade now", path=path)
    check_body(path, data)
    if last is not None and not body_is_unchanged(data, last):
        raise NoteConflict(f"{path} was edited since it faded, and fades no further", path=path)
    body, old_body = faded.body.replace("\n", newline_of(note_text(path, data))), body_of(data)
    blank = old_body[: len(old_body) - len(old_body.lstrip(BLANK.encode()))]
    text = with_body(data, blank + body.encode())
    original = last.memo[ORIGINAL] if last is not None else content_hash(data)
    keys = last.memo[KEYS].split() if last is not None else [FADED, ARCHIVED]
    text = set_key(set_key(text, FADED, str(faded.stage)), ARCHIVED, original)
    if last is None and ID not in {key.casefold() for key in frontmatter_of(data)}:
        text, keys = set_key(text, ID, faded.memory.id), [*keys, ID]
    if len(text) >= len(data):
        raise InvalidParams(f"{path} is too short to fade", path=path)
    if last is None:
        staging.archives.append(data)
    staging.write(path, text)
    staging.memo |= {
        ORIGINAL: original, KEYS: " ".join(keys), SINCE: faded.since.isoformat(),
        BODY: content_hash(body_of(text)),
    }  # fmt: skip
    return path


def stage_reconstruction(
    staging: Staging,
    target: Target,
    last: Change | None,
    content: Callable[[str], bytes | None],
) -> str:
    """Restore the full text of a faded note; returns its path.

    A note that nobody changed since is restored byte for byte. Otherwise the current frontmatter
    stays, and the lines that were added to the faded text follow under a heading.

    Args:
        last: the change by which the note faded.
        content: gives a kept version by its hash (`History.content`).

    Raises:
        InvalidParams: the note has not faded.
        StorageError: the archive does not have its full text.
        MalformedFrontmatter: the note cannot be edited safely.
    """
    if target.note is None or last is None:
        raise InvalidParams(f"{target.name} is whole: no text of it is archived")
    path = target.note.path
    data, original = staging.read(path), content(last.memo[ORIGINAL])
    if original is None:
        place = (ARCHIVE / f"{last.memo[ORIGINAL]}{SUFFIX}").as_posix()
        raise StorageError(
            f"The full text of {path} is missing: {place} does not exist or is damaged. Restore "
            "that file from a backup or another computer, then try again.",
            path=path,
        )
    if content_hash(data) == last.files[0].after:
        staging.write(path, original)
        return path
    check_body(path, data)
    with_old_properties = data
    for key in last.memo[KEYS].split():
        if key != ID or id_of_path(path) == target.note.id:  # a renamed note needs its id
            with_old_properties = remove_key(with_old_properties, key)
    restored = with_body(with_old_properties, body_of(original))
    if not body_is_unchanged(data, last):
        restored = _with_additions(path, restored, _added_lines(path, data, last, content))
    staging.write(path, restored)
    return path


def fadings_by_note(history: History) -> Mapping[str, Sequence[Change]]:
    """The changes by which notes faded or were restored, newest first, without the undone ones: by
    the note's id, and by the hash of the bytes that they wrote."""
    changes = history.changes(kinds=(ChangeKind.FADED, ChangeKind.RECONSTRUCTED))
    by_note: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        if change.undone_by is None:
            for key in {*change.node_ids, change.files[0].after or ""}:
                by_note[key].append(change)
    return by_note


def last_fading(history: History, memory: Memory) -> Change | None:
    """The change by which a note faded; None if it never faded or was restored since."""
    return last_fading_in(fadings_by_note(history), memory)


def last_fading_in(by_note: Mapping[str, Sequence[Change]], memory: Memory) -> Change | None:
    """`last_fading`, given the `fadings_by_note` of the history.

    It is found by the note's id, or, if the note had another id, by its bytes. The note's own
    properties are not trusted: whoever can edit them could bring another note's text into it.
    """
    changes = {
        change.reversal_hash: change
        for key in (memory.id, memory.content_hash)
        for change in by_note.get(key, ())
    }
    fadings: list[Change] = []
    newest_first = sorted(
        changes.values(), key=lambda change: (change.order, change.reversal_hash), reverse=True
    )
    for change in newest_first:
        fadings.append(change)
        # A copy of a note has the same id, so changes of this file take precedence.
        is_same = change.files[0].after == memory.content_hash
        if is_same or memory.path in change.paths:
            if change.kind is ChangeKind.FADED or not memory.faded:
                fadings = [change]
            break
    return fadings[0] if fadings and fadings[0].kind is ChangeKind.FADED else None


def counted_from(last: Change | None, memory: Memory, saved: datetime) -> datetime | None:
    """The moment from which a faded memory's age counts; None if it was changed since it faded.

    Args:
        last: the change by which it faded.
        saved: when its note was last written.
    """
    if last is None or last.files[0].after != memory.content_hash:
        return None
    # Undoing a later step writes the same bytes again.
    return datetime.fromisoformat(last.memo[SINCE]) if saved <= last.at + SAME_MOMENT else None


def body_is_unchanged(data: bytes, last: Change) -> bool:
    """Whether the body is still the one that fading wrote."""
    return content_hash(body_of(data)) == last.memo[BODY]


def check_body(path: str, data: bytes) -> None:
    """Raise MalformedFrontmatter if the end of the frontmatter is ambiguous."""
    text = decode(data, MAX_PARSED_BYTES).text
    if decode(body_of(data), MAX_PARSED_BYTES).text != text[read_frontmatter(text).body_start :]:
        raise MalformedFrontmatter(
            f"{path}: the properties cannot be separated from the text", line=1
        )


def _added_lines(
    path: str, data: bytes, last: Change, content: Callable[[str], bytes | None]
) -> list[str]:
    """The lines of the body that fading did not write; all lines if the faded text is not kept."""
    before = content(last.files[0].after or "")
    old = lines_of(note_text(path, body_of(before))) if before is not None else []
    new = lines_of(note_text(path, body_of(data)))
    return [line for equal, _, _, j1, j2 in stretches(old, new) if not equal for line in new[j1:j2]]


def _with_additions(path: str, note: bytes, lines: list[str]) -> bytes:
    if not any(line.strip() for line in lines):
        return note
    text = note_text(path, note)
    newline = newline_of(text)
    section = f"## {ADDED_HEADING}{newline * 2}{''.join(lines).strip(BLANK)}{newline}"
    return appended(text, section).encode("utf-8", "surrogateescape")
