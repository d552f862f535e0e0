"""The vault as a folder of notes: listing, reading, creating and editing them."""

from __future__ import annotations

import contextlib
import errno
import os
import stat as stat_module
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from memvault.model.errors import (
    NoteConflict,
    NoteNotFound,
    OutsideVault,
    StorageError,
    VaultMissing,
)
from memvault.model.memory import id_of_path
from memvault.model.provenance import Provenance
from memvault.vault.documents import PDF, DocumentTexts, check_writable, is_canvas, is_document
from memvault.vault.file_names import folded_name
from memvault.vault.ignore import is_link_path
from memvault.vault.letter_case import finish_respelling, is_spelled, move_or_respell
from memvault.vault.note_folders import NoteFolders
from memvault.vault.vault_paths import VaultPaths, mode_of
from memvault.vault.walk import NoteStat, NoteWalk, is_unicode, note_stat
from memvault.vault.write import (
    NO_DRIVE,
    delete_unchanged,
    publish,
    replace_unchanged,
    storage_errors,
    sync_folder,
    temporary_path_for,
)
from memvault.vault.writer_lock import WriterLock

EDIT_ATTEMPTS = 5
EDIT_PAUSE_SECONDS = 0.02
MAX_DOCUMENT_BYTES = 20_000_000
_NO_FILE = (FileNotFoundError, NotADirectoryError, IsADirectoryError)


@dataclass(frozen=True, slots=True)
class Examined:
    """A note's bytes that may be shown, and their provenance.

    Attributes:
        inherited_id: its id if its frontmatter states none and it is not simply that of its path,
            because a note was moved; else "".
        own_id: its id if another note has the one that it claims.
    """

    data: bytes
    provenance: Provenance
    inherited_id: str = ""
    own_id: str = ""


class Rename(NamedTuple):
    """A note that was renamed.

    Attributes:
        note_id: the id that it had; "" if it is not known.
        version: the hash of the bytes with which it came to its new path; "" if it is not known.
    """

    path: str
    new_path: str
    note_id: str
    version: str


class Vault(VaultPaths):
    """A person's notes.

    Attributes:
        had_notes: returns whether notes of this vault are indexed. If so, an empty folder is the
            mount point of a drive that is not connected.
    """

    def __init__(
        self,
        root: Path,
        max_document_bytes: int = MAX_DOCUMENT_BYTES,
        folders: NoteFolders = NoteFolders(),
    ) -> None:
        super().__init__(root, folders)
        self.max_document_bytes = max_document_bytes
        self._documents = DocumentTexts()
        self.had_notes: Callable[[], bool] = lambda: False
        self._walk = NoteWalk(self.root, self.ignore_rules, max_document_bytes)
        self._writer = WriterLock(self.root)

    def is_missing(self) -> bool:
        """Whether the vault's folder does not exist, is empty although its notes are indexed, or
        is on a drive that does not answer."""
        try:
            with os.scandir(self.root) as entries:
                return next(entries, None) is None and self.had_notes()
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError as error:
            return error.errno in NO_DRIVE

    def check(self) -> None:
        """Check that the vault's folder exists. Raises VaultMissing."""
        if self.is_missing():
            raise vault_missing(self.root)

    def walk(self) -> Iterator[NoteStat]:
        """List every note to index once, ordered by path within each folder.

        A folder or file that cannot be read is recorded in `problems` and skipped.

        Raises:
            VaultMissing: the vault's folder does not exist, or disappeared meanwhile.
        """
        self.check()
        yield from self._walk.notes()
        self.check()

    @property
    def problems(self) -> dict[str, str]:
        """By path, why a file or folder could not be read in the last walk."""
        return self._walk.problems

    @property
    def unreadable(self) -> set[str]:
        """Folders that could not be read in the last walk; empty text for the vault's own."""
        return self._walk.unreadable

    def is_note(self, path: str) -> bool:
        """Whether `walk` lists this path, or would if the file existed."""
        try:
            file = self.unresolved(path)
        except OutsideVault:
            return False
        if not is_unicode(path) or self.ignore_rules.excludes(path):
            return False
        if (stat := self.stat(path)) and self._walk.is_too_large(stat):
            return False
        depth = len(self.root.parts)
        steps = (Path(*file.parts[:end]) for end in range(depth + 1, len(file.parts) + 1))
        return not any(map(is_link_path, steps)) and not stat_module.S_ISDIR(mode_of(file))

    def may_hold_notes(self, folder: Path) -> bool:
        """Whether `walk` enters the folder at this absolute path, or would if it existed."""
        relative = self.relative(folder)
        if relative is None:
            return False
        parts = relative.split("/") if relative != "." else []
        folders = ("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
        return not any(map(self.ignore_rules.excludes_folder, folders))

    def stat(self, path: str) -> NoteStat | None:
        """Size and modification time of a file, or None if none has exactly this name."""
        found = self._file_at(path)
        return note_stat(path, found) if found and is_spelled(self.root / path) else None

    def is_taken(self, path: str) -> bool:
        """Whether a file is found at this path, perhaps by another spelling of its name."""
        return self._file_at(path) is not None

    def _file_at(self, path: str) -> os.stat_result | None:
        try:
            stat = self.file_path(path).stat()
        except (OSError, OutsideVault):
            return None
        return stat if stat_module.S_ISREG(stat.st_mode) else None

    def examined(self, path: str) -> Examined:
        """A note as it may be shown: here the whole note, as the person's. Raises as `read`."""
        return Examined(self.read(path), Provenance(), own_id=id_of_path(path))

    def stamps(self, notes: Iterable[tuple[str, str]]) -> list[str]:
        """A text for each of these notes, given by path and id, that changes whenever its
        provenance or its first path may have; here they have none."""
        return [""] * len(list(notes))

    def unhidden(self) -> set[str]:
        """The paths of notes that were withheld as a whole and may be shown now; here none."""
        return set()

    def own_id(self, path: str) -> str:
        """The `Examined.own_id` of the note at this path."""
        return id_of_path(path)

    def record_renames(self, renames: Collection[Rename]) -> None:
        """Record renames that were made in another program, so that these notes keep their ids;
        here they do not. Those of notes whose frontmatter states the id are left out.

        Raises:
            StorageError, DiskFull: nothing was recorded.
        """

    def read(self, path: str) -> bytes:
        """A note's bytes, or the text of a PDF file or canvas (`documents.document_text`).

        Raises:
            NoteNotFound: there is no such file.
            OutsideVault: the path leads out of the vault.
            StorageError: it cannot be read.
            VaultMissing: the vault's folder does not exist.
        """
        return self._read(path, as_text=is_document(path))

    def stored(self, path: str) -> bytes:
        """The bytes of the file of exactly this name, of a canvas its JSON. Raises as `read`."""
        if not is_spelled(self.root / path):
            raise NoteNotFound(f"there is no note at {path}", path=path)
        return self._read(path, as_text=is_document(path) and not is_canvas(path))

    def _read(self, path: str, *, as_text: bool) -> bytes:
        file = self.file_path(path)
        try:
            with _note_errors(path):
                return self._documents.read(path, file) if as_text else file.read_bytes()
        except NoteNotFound:
            self.check()
            raise

    def create_at(self, path: str, data: bytes, saved_ns: int | None = None) -> bool:
        """Write a new file at exactly this path; returns False, without any effect, if it exists.

        Args:
            saved_ns: when it counts as saved, in ns; None for now.

        Raises:
            OutsideVault, DiskFull, StorageError: nothing was written.
        """
        self.check()
        file = self.file_path(path)
        with storage_errors(path), self._writer.held():
            file.parent.mkdir(parents=True, exist_ok=True)
            with temporary_path_for(file, data, saved_ns=saved_ns) as temporary:
                try:
                    publish(temporary, file)
                except FileExistsError:
                    return False
        return True

    def edit(
        self, path: str, change: Callable[[bytes], bytes], saved_ns: int | None = None
    ) -> bytes:
        """Replace a note's bytes by the result of `change`, atomically.

        If another program saves the note in the meantime, its version is read and changed
        instead, so `change` may be called several times.

        Args:
            saved_ns: when the note then counts as saved, in ns; None for now.

        Returns:
            the bytes as written.

        Raises:
            NoteConflict: the note kept changing.
            NoteNotFound, OutsideVault, DiskFull, StorageError: as `read` and `create_at`; errors of
                `change` pass through. The note is then unchanged.
        """
        self.check()
        check_writable(path, {PDF})
        file = self.file_path(path)
        with self._writer.held():
            for attempt in range(EDIT_ATTEMPTS):
                if attempt:
                    time.sleep(EDIT_PAUSE_SECONDS * attempt)
                before = self._read_settled(path)
                after = change(before)
                if after == before or self._swap(path, file, before, after, saved_ns):
                    return after
        raise NoteConflict(f"{path} keeps changing; try again when nobody is editing it", path=path)

    def move(self, source: str, target: str) -> bool:
        """Move a file in one step, with whatever content it has at that moment.

        The target's folder is created if missing. Returns False, without any effect, if the target
        exists.

        Raises:
            NoteNotFound, OutsideVault, DiskFull, StorageError: the file was not moved.
        """
        self.check()
        check_writable(source)
        old_file, new_file = self.file_path(source), self.file_path(target)
        if folded_name(source) == folded_name(target):  # else Windows resolves it to the old name
            new_file = old_file.with_name(PurePosixPath(target).name)
        with _note_errors(source), self._writer.held():
            new_file.parent.mkdir(parents=True, exist_ok=True)
            try:
                move_or_respell(old_file, new_file)
            except FileExistsError:
                return False
        return True

    def finish_respelling(self, path: str) -> None:
        """Complete a move to another spelling of a name that a crash interrupted."""
        with storage_errors(path), self._writer.held():
            finish_respelling(self.root / path)

    def delete(self, path: str, before: bytes | None = None) -> bool:
        """Delete a file, if it exists; returns False, without any effect, if it is not ``before``.

        Raises:
            OutsideVault, StorageError: the file was not deleted.
        """
        check_writable(path)
        file = self.file_path(path)
        with storage_errors(path), self._writer.held(), contextlib.suppress(FileNotFoundError):
            if before is not None:
                return delete_unchanged(file, before)
            file.unlink()
            sync_folder(file.parent)
        return True

    def remove_empty_folder(self, path: str) -> None:
        """Remove a folder if it is empty and not a link."""
        with contextlib.suppress(OSError):  # it is not empty, or gone
            if (absolute := self.file_path(path)) == self.root / path:
                absolute.rmdir()

    def _swap(
        self, path: str, file: Path, before: bytes, after: bytes, saved_ns: int | None
    ) -> bool:
        with _note_errors(path):
            if mode_of(file) and not os.access(file, os.W_OK):
                raise PermissionError(errno.EACCES, "read-only")
            with temporary_path_for(file, after, saved_ns=saved_ns) as temporary:
                return replace_unchanged(temporary, file, before, after)

    def _read_settled(self, path: str) -> bytes:
        """The note's bytes; waits if they are empty.

        Editors that save in place first empty the file.
        """
        for _ in range(EDIT_ATTEMPTS):
            if data := self.stored(path):
                return data
            time.sleep(EDIT_PAUSE_SECONDS)
        return self.stored(path)


def vault_missing(root: Path) -> VaultMissing:
    return VaultMissing(
        f'The vault folder "{root.name}" is missing: it was moved, renamed, or its drive is not '
        "connected. Bring it back, or write its new place as `vault` into memvault.toml. Until "
        "then nothing is written, and a running engine answers from the index as it was."
    )


@contextlib.contextmanager
def _note_errors(path: str) -> Iterator[None]:
    """As `storage_errors`; a missing file raises `NoteNotFound`."""
    try:
        with storage_errors(path):
            yield
    except StorageError as error:
        if isinstance(error.__cause__, _NO_FILE):
            raise NoteNotFound(f"there is no note at {path}", path=path) from error
        raise
