"""Captures a session into its note, as a change by the curator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from pathlib import Path

from memvault.capture.extract import Item, extract
from memvault.capture.session_note import CapturedSession, extended_note, new_note
from memvault.capture.transcripts import TranscriptTurn, read_turns
from memvault.curation.changes.curator import Curator
from memvault.curation.changes.plan import Attribution
from memvault.curation.changes.staging import Staging, numbered_paths
from memvault.model.change import ChangeKind


@dataclass(frozen=True, slots=True)
class CaptureProgress:
    """The part of a session that is captured already.

    Attributes:
        offset: bytes of the transcript that were read.
        path: the note's path when it was last written; None if there is no note yet.
    """

    offset: int = 0
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Captured:
    """The result of a capture; ``change`` is the hash to undo it, None if nothing was new."""

    progress: CaptureProgress
    change: str | None = None
    items: tuple[Item, ...] = ()


class Capturer:
    """Captures sessions into notes; the caller has the notes indexed.

    Captures of one session must not run at the same time.

    Args:
        path_of: gives the path of the note with an id, or None.
    """

    def __init__(
        self,
        curator: Curator,
        path_of: Callable[[str], str | None],
    ) -> None:
        self._curator = curator
        self._path_of = path_of

    def capture(
        self,
        session: CapturedSession,
        transcript: Path | None,
        progress: CaptureProgress,
        *,
        more: Sequence[TranscriptTurn] = (),
        files: Sequence[str] = (),
        known: Callable[[Item], bool] = lambda _: False,
    ) -> Captured:
        """Add the turns of the transcript after ``progress`` to the session's note.

        An interrupted capture may be repeated: lines that the note has are not added again. A note
        that the person removed is not written again.

        Args:
            more: turns that the transcript lacks, such as a subagent's last message.
            files: further paths that the assistant edited.
            known: whether an item only repeats text that the session was given from the vault.

        Raises:
            OSError: the transcript cannot be read.
            MalformedFrontmatter, StorageError, DiskFull, NoteConflict: nothing was written.
        """
        offset = progress.offset
        edited: list[str] = list(files)

        def turns() -> Iterator[TranscriptTurn]:
            nonlocal offset
            if transcript is not None:
                for turn, end in read_turns(transcript, offset):
                    offset = end
                    edited.extend(turn.files)
                    yield turn

        items = tuple(item for item in extract(chain(turns(), more)) if not known(item))
        return self.write(session, CaptureProgress(offset, progress.path), items, edited)

    def write(
        self,
        session: CapturedSession,
        progress: CaptureProgress,
        items: tuple[Item, ...],
        edited: Sequence[str],
    ) -> Captured:
        """Add items and edited files to the session's note; see `capture`."""
        if not items and not edited:
            return Captured(progress)

        def stage(staging: Staging) -> str | None:
            return self._stage(staging, session, progress.path, items, list(dict.fromkeys(edited)))

        performed = self._curator.perform(
            stage,
            ChangeKind.CAPTURED,
            (session.project or session.client,),
            (session.note_id,),
            Attribution(session.client, f"Captured from the session {session.id}."),
        )
        done = CaptureProgress(progress.offset, performed.result or progress.path)
        change = performed.change
        return Captured(done, change.reversal_hash if change else None, items)

    def _stage(
        self,
        staging: Staging,
        session: CapturedSession,
        known_path: str | None,
        items: Sequence[Item],
        files: Sequence[str],
    ) -> str | None:
        """Stage the note and return its path; None if nothing is new or the note was removed."""
        path = self._path_of(session.note_id)
        if path is None and known_path is not None and staging.exists(known_path):
            path = known_path  # just written and not indexed yet
        if path is not None and staging.exists(path):
            data = staging.read(path)
            staging.write(path, extended_note(session, path, data, items, files))
            return path
        if known_path is not None:
            return None
        folders = staging.vault.folders
        note = new_note(session, items, files, self._curator.now(), folders)
        if note is None:
            return None
        path, composed = staging.vault.new_note_path(note[0]), note[1]
        for taken in takewhile(staging.exists, numbered_paths(path, first=2)):
            data = staging.read(taken)
            if _is_of(session, data):
                staging.write(taken, extended_note(session, taken, data, items, files))
                return taken
        return staging.create(path, composed)


def _is_of(session: CapturedSession, data: bytes) -> bool:
    """Whether a note is the session's own, written by an earlier capture.

    That capture may have crashed before it saved its progress, or the note may be in quarantine and
    so not indexed.
    """
    return f"\nid: {session.note_id}\n".encode() in data.partition(b"\n---\n")[0] + b"\n"
