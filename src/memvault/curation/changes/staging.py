"""Stages changes: operations edit an overlay of the vault, whose differences become one plan."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from memvault.curation.changes.plan import Edit, Forgetting, Plan
from memvault.model.change import ChangeKind, Fact
from memvault.model.errors import NoteNotFound, OutsideVault, StorageError
from memvault.vault.documents import check_writable
from memvault.vault.file_names import folded_name, numbered_name, safe_name
from memvault.vault.files import Vault
from memvault.vault.vault_paths import NOTE_SUFFIX

TRASH = ".trash"
MAX_SAME_NAME = 10_000
MAX_REFUSED = 3  # ignored numbered names, after which no further number is tried


class Staging:
    """An overlay over the vault: reading shows the staged edits, while the vault stays unchanged.

    Not thread-safe: each change has its own.

    Args:
        earlier: files that are seen with these bytes instead, None for no file.

    Attributes:
        facts, forgets, restores, merged_from, undoes, archives, memo: those of the `Plan`; to
            forget a note, use `forget`, which also moves it to the trash.
    """

    def __init__(self, vault: Vault, earlier: Mapping[str, bytes | None] | None = None) -> None:
        self.vault = vault
        self._earlier = dict(earlier or {})
        self._before: dict[str, bytes | None] = dict(self._earlier)  # as the vault has it
        self._after: dict[str, bytes | None] = dict(self._earlier)
        self._origin: dict[str, str] = {}  # staged path of a moved file → its path in the vault
        self._place: dict[str, str] = {}  # the other way round
        # Names by folder, and staged paths, both folded, since some file systems ignore case.
        self._names: dict[str, frozenset[str]] = {}
        self._claimed: set[str] = set()
        self.facts: list[Fact] = []
        self.forgets: list[Forgetting] = []
        self.restores: list[str] = []
        self.merged_from: list[str] = []
        self.undoes: list[str] = []
        self.archives: list[bytes] = []
        self.memo: dict[str, str] = {}

    def copy(self) -> Staging:
        """A copy of this overlay; edits of one do not affect the other."""
        other = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, dict | list | set):
                setattr(other, name, copy.copy(value))
        return other

    def read(self, path: str) -> bytes:
        """The bytes of a note as staged; of a canvas its JSON.

        Raises:
            NoteNotFound, OutsideVault, StorageError: see `Vault.read`.
        """
        data = self._staged_bytes(path)
        if data is None:
            raise NoteNotFound(f"There is no note at {path}", path=path)
        return data

    def exists(self, path: str) -> bool:
        return self._staged_bytes(path) is not None

    def place_of(self, path: str) -> str:
        """The staged path of the file that the vault has at this path."""
        return self._place.get(path, path)

    def write(self, path: str, data: bytes) -> None:
        """Replace the bytes of a note.

        Raises:
            NoteNotFound: there is no such note.
            ReadOnlyDocument: it is a PDF file or a canvas.
        """
        check_writable(path)
        self.relink(path, data)

    def relink(self, path: str, data: bytes) -> None:
        """Replace the bytes of a note or canvas in which only links change. Raises NoteNotFound."""
        self.read(path)
        self._after[path] = data

    def create(self, path: str, data: bytes) -> str:
        """Create a file and return its path; a taken name gets " 2", " 3", …."""
        return self._create(self.free_path(path, first=2), data)

    def create_note(
        self, folder: str, title: str, data: bytes, *, suffix: str = NOTE_SUFFIX
    ) -> str:
        """Create a note in a folder, or an attachment with another suffix; returns its path.

        The name is `safe_name` of the title; a taken name gets a number.

        Raises:
            OutsideVault: the folder or the name is outside, hidden or ignored.
        """
        checked_folder, stem = self.vault.note_folder(folder), safe_name(title)
        path = f"{checked_folder}/{stem}{suffix}" if checked_folder else stem + suffix
        refused = 0
        for candidate in numbered_paths(path, first=2):
            if suffix == NOTE_SUFFIX and not self.vault.is_note(candidate):
                refused += 1
                if refused == MAX_REFUSED:
                    break
            elif self._is_free(candidate):
                return self._create(candidate, data)
        reason = self.vault.ignore_rules.why_excluded(path) or "its name is taken"
        raise OutsideVault(f"No note can be named {stem!r}: {reason}. Give another title.")

    def trash(self, path: str) -> None:
        """Move a note to the trash, without its staged edits.

        A note that was only staged is dropped. A file whose move out of the trash is staged stays
        in the trash.
        """
        self.read(path)
        origin = self._origin.get(path)
        if origin is not None and is_in_trash(origin):
            self.move(path, origin)
        elif origin is None and self._before[path] is None:
            del self._after[path]
        else:
            target = self.free_path(f"{TRASH}/{PurePosixPath(path).name}", first=1)
            self.move(path, self._claim(target))

    def free_path(self, path: str, first: int) -> str:
        """The path if it is free, else the first free one with a number after the name."""
        free = next(
            (candidate for candidate in numbered_paths(path, first) if self._is_free(candidate)),
            None,
        )
        if free is None:
            raise StorageError(f"There are too many notes named like {path}")
        return free

    def move(self, path: str, target: str, *, with_edits: bool = False) -> None:
        """Move a file, with the bytes that the vault has or with its staged edits.

        Raises ReadOnlyDocument: it is a PDF file or a canvas.
        """
        check_writable(path)
        staged = self.read(path)
        self._staged_bytes(target)
        origin = self._origin.pop(path, path)
        self._place.pop(origin, None)
        before = self._before[origin]
        self._after[path] = None
        self._after[target] = staged if before is None or with_edits else before
        if before is not None and origin != target:
            self._origin[target] = origin
            self._place[origin] = target

    def forget(self, forgetting: Forgetting) -> None:
        """Forget a note, which goes to the trash, or a concept without one."""
        if forgetting.path is not None:
            self.trash(forgetting.path)
        self.forgets.append(forgetting)

    def plan(
        self,
        kind: ChangeKind,
        names: tuple[str, ...],
        node_ids: tuple[str, ...],
    ) -> Plan:
        """The plan of one change with everything that is staged."""
        return Plan(
            kind=kind,
            names=names,
            node_ids=node_ids,
            edits=tuple(self._edits()),
            facts=tuple(self.facts),
            forgets=tuple(self.forgets),
            restores=tuple(self.restores),
            merged_from=tuple(dict.fromkeys(self.merged_from)),
            undoes=tuple(self.undoes),
            archives=tuple(self.archives),
            memo=self.memo,
        )

    def _edits(self) -> Iterator[Edit]:
        """The differences from the vault, each path once.

        If another file takes the path that a moved file leaves, both are written instead.
        """
        differing = {path for path, data in self._after.items() if data != self._before[path]}
        moves = {
            origin: target
            for target, origin in self._origin.items()
            if self._after[origin] is None
            and self._before[target] is None
            and self._after[target] is not None
        }
        arrived = set(moves.values())
        for path in self._after:
            if path in moves:
                before, after = self._before[path], self._after[moves[path]]
                yield Edit(path, before, None if after == before else after, moves[path])
            elif path in differing and path not in arrived:
                yield Edit(path, self._before[path], self._after[path])

    def _staged_bytes(self, path: str) -> bytes | None:
        if path not in self._after:
            try:
                data: bytes | None = self.vault.stored(path)
            except NoteNotFound:
                data = None
            self._before[path] = self._after[path] = data
        return self._after[path]

    def _create(self, path: str, data: bytes) -> str:
        self._after[self._claim(path)] = data
        return path

    def _claim(self, path: str) -> str:
        """Mark a free path as having no file, and return it.

        The path is not read again: a file that another process creates there now would count as
        one that this change replaces.
        """
        self._before.setdefault(path, None)
        self._after.setdefault(path, None)
        self._claimed.add(folded_name(path))
        return path

    def _is_free(self, path: str) -> bool:
        """Whether no file has this name or another spelling of it.

        Where case counts, the vault could have both, but not where it may be copied to.
        """
        if self._after.get(path) is not None or folded_name(path) in self._claimed:
            return False
        folder, _, name = path.rpartition("/")
        if folder not in self._names:
            self._names[folder] = frozenset(self.vault.spellings_in(folder))
        return path in self._earlier or folded_name(name) not in self._names[folder]


def is_in_trash(path: str) -> bool:
    return path.startswith(f"{TRASH}/")


def numbered_paths(path: str, first: int) -> Iterator[str]:
    """The path, then the same path with ascending numbers after the name."""
    folder, slash, name = path.rpartition("/")
    yield path
    for number in range(first, MAX_SAME_NAME):
        yield folder + slash + numbered_name(name, number)
