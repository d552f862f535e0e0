"""Writes what a session said into its note, through the one door of all changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, takewhile
from pathlib import Path

from memvault.capture.extract import Item, ItemKind, extract
from memvault.capture.session_note import Session, extended_note, new_note
from memvault.capture.transcripts import Turn, read_turns
from memvault.curation.changes.curator import Curator
from memvault.curation.changes.plan import Attribution
from memvault.curation.changes.staging import Staging, numbered_paths
from memvault.model.change import ChangeKind


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a session is captured.

    Attributes:
        offset: bytes of the transcript that were read.
        path: the note's path when it was last written; None while there is no note.
    """

    offset: int = 0
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Captured:
    """What one capture did; ``change`` is the hash that takes it back, None where nothing was new.

    ``decisions`` and ``preferences`` are the sentences that may deserve a note of their own.
    """

    progress: Progress
    change: str | None = None
    items: tuple[Item, ...] = field(default=())

    @property
    def lasting(self) -> tuple[Item, ...]:
        """The items that a person may want to keep for good."""
        kinds = (ItemKind.DECISION, ItemKind.PREFERENCE)
        return tuple(item for item in self.items if item.kind in kinds)


class Capturer:
    """Captures sessions into notes; whoever calls has the notes indexed.

    Captures of one session must not run at the same time.

    Args:
        path_of: the path of the note with this id, None where there is none.
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
        session: Session,
        transcript: Path | None,
        progress: Progress,
        *,
        more: Sequence[Turn] = (),
        files: Sequence[str] = (),
        known: Callable[[Item], bool] = lambda _: False,
    ) -> Captured:
        """Add what the transcript says beyond ``progress`` to the session's note.

        A capture that was cut off may be repeated: what the note says already is not added again.
        A note that the person removed is not written again.

        Args:
            more: turns that the transcript does not hold, such as a subagent's last message.
            files: further paths that the assistant edited.
            known: whether an item only repeats what the session was given from the vault.

        Raises:
            OSError: the transcript cannot be read.
            MalformedFrontmatter, StorageError, DiskFull, NoteConflict: nothing was written.
        """
        offset = progress.offset
        edited: list[str] = list(files)

        def turns() -> Iterator[Turn]:
            nonlocal offset
            if transcript is not None:
                for turn, end in read_turns(transcript, offset):
                    offset = end
                    edited.extend(turn.files)
                    yield turn

        items = tuple(item for item in extract(chain(turns(), more)) if not known(item))
        return self.write(session, Progress(offset, progress.path), items, edited)

    def write(
        self, session: Session, progress: Progress, items: tuple[Item, ...], edited: Sequence[str]
    ) -> Captured:
        """Add items and edited files to the session's note, as `capture` does."""
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
        done = Progress(progress.offset, performed.result or progress.path)
        change = performed.change
        return Captured(done, change.reversal_hash if change else None, items)

    def _stage(
        self,
        staging: Staging,
        session: Session,
        known_path: str | None,
        items: Sequence[Item],
        files: Sequence[str],
    ) -> str | None:
        """The note's path; None where there is nothing to write or the note was removed."""
        path = self._path_of(session.note_id)
        if path is None and known_path is not None and staging.exists(known_path):
            path = known_path  # written a moment ago and not indexed yet
        if path is not None and staging.exists(path):
            data = staging.read(path)
            staging.write(path, extended_note(session, path, data, items, files))
            return path
        if known_path is not None:
            return None
        note = new_note(session, items, files, self._curator.now())
        if note is None:
            return None
        path, composed = note
        for taken in takewhile(staging.exists, numbered_paths(path, first=2)):
            data = staging.read(taken)
            if _is_of(session, data):
                staging.write(taken, extended_note(session, taken, data, items, files))
                return taken
        return staging.create(path, composed)


def _is_of(session: Session, data: bytes) -> bool:
    """Whether a note is the session's own, which an earlier capture wrote: it did not live to tell,
    or the note is in no index, as it is in quarantine."""
    return f"\nid: {session.note_id}\n".encode() in data.partition(b"\n---\n")[0] + b"\n"
