"""The vault as it would be: changes are tried here first, one upon another, and become one plan."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import PurePosixPath

from memvault.curation.changes.plan import Edit, Forgetting, Plan
from memvault.model.change import ChangeKind, Fact
from memvault.model.errors import NoteNotFound, StorageError
from memvault.vault.files import Vault

TRASH = ".trash"
MAX_SAME_NAME = 10_000


class Staging:
    """An overlay over the vault. Reading it shows what was staged; the vault stays as it is. Not
    thread-safe: each change has one of its own."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._before: dict[str, bytes | None] = {}  # as the vault has it
        self._now: dict[str, bytes | None] = {}
        self._origin: dict[
            str, str
        ] = {}  # by the place where a file is now, where the vault has it
        self._facts: list[Fact] = []
        self._forgets: list[Forgetting] = []
        self._restores: list[str] = []
        self._merged_from: list[str] = []
        self._undoes: list[str] = []

    def copy(self) -> Staging:
        """Another overlay that begins as this one is now."""
        other = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, dict | list):
                setattr(other, name, copy.copy(value))
        return other

    def read(self, path: str) -> bytes:
        """A note's bytes, as staged.

        Raises:
            NoteNotFound, OutsideVault, StorageError: as `Vault.read`.
        """
        data = self._look(path)
        if data is None:
            raise NoteNotFound(f"there is no note at {path}", path=path)
        return data

    def exists(self, path: str) -> bool:
        return self._look(path) is not None

    def is_file(self, path: str) -> bool:
        """Whether the vault has such a file, a note or not."""
        return self._vault.stat(path) is not None

    def write(self, path: str, data: bytes) -> None:
        """Give a note other bytes.

        Raises:
            NoteNotFound: there is no such note.
        """
        self.read(path)
        self._now[path] = data

    def create(self, path: str, data: bytes) -> str:
        """A new note, never over another: a taken name gets " 2", " 3", …. Gives its path."""
        path = self._free(path, first=2)
        self._look(path)
        self._now[path] = data
        return path

    def trash(self, path: str) -> str | None:
        """Send a note to the trash as it stands in the vault; gives its path there, None for one
        that was only staged. A file that was on its way out of the trash stays in it."""
        self.read(path)
        origin = self._origin.get(path)
        if origin is not None and is_in_trash(origin):
            return self.move(path, origin)
        if origin is None and self._before[path] is None:
            del self._now[path]
            return None
        return self.move(path, self._free(f"{TRASH}/{PurePosixPath(path).name}", first=1))

    def move(self, path: str, target: str) -> str:
        """Give a file another path as it stands in the vault; what was staged of it is dropped."""
        staged = self.read(path)
        self._look(target)
        origin = self._origin.pop(path, path)
        before = self._before[origin]
        self._now[path] = None
        self._now[target] = staged if before is None else before
        if before is not None and origin != target:
            self._origin[target] = origin
        return target

    def forget(self, forgetting: Forgetting) -> None:
        """Forget a note, which goes to the trash, or a concept without one."""
        if forgetting.path is not None:
            self.trash(forgetting.path)
        self.forget_staged(forgetting)

    def forget_staged(self, forgetting: Forgetting) -> None:
        """As `forget`, of a note that is on its way to the trash already."""
        self._forgets.append(forgetting)

    def note_fact(self, fact: Fact) -> None:
        self._facts.append(fact)

    def note_restored(self, reversal_hash: str) -> None:
        """What this tombstone is of is there again."""
        self._restores.append(reversal_hash)

    def note_undone(self, reversal_hash: str) -> None:
        """This change is taken back."""
        self._undoes.append(reversal_hash)

    def note_merged(self, node_ids: tuple[str, ...]) -> None:
        self._merged_from.extend(node_ids)

    def plan(
        self,
        kind: ChangeKind,
        names: tuple[str, ...],
        node_ids: tuple[str, ...],
    ) -> Plan:
        """Everything staged, as one change."""
        return Plan(
            kind=kind,
            names=names,
            node_ids=node_ids,
            edits=tuple(self._edits()),
            facts=tuple(self._facts),
            forgets=tuple(self._forgets),
            restores=tuple(self._restores),
            merged_from=tuple(dict.fromkeys(self._merged_from)),
            undoes=tuple(self._undoes),
        )

    def _edits(self) -> Iterator[Edit]:
        """What differs, each path once. A file that is as it was, elsewhere, has moved; where one
        leaves a place and another comes to it, both are written anew."""
        differing = {path for path, now in self._now.items() if now != self._before[path]}
        moves = {
            origin: target
            for target, origin in self._origin.items()
            if self._now[origin] is None
            and self._before[target] is None
            and self._now[target] == self._before[origin]
        }
        arrived = set(moves.values())
        for path in self._now:
            if path in moves:
                yield Edit(path, self._before[path], None, moves[path])
            elif path in differing and path not in arrived:
                yield Edit(path, self._before[path], self._now[path])

    def _look(self, path: str) -> bytes | None:
        if path not in self._now:
            try:
                found: bytes | None = self._vault.read(path)
            except NoteNotFound:
                found = None
            self._before[path] = self._now[path] = found
        return self._now[path]

    def _free(self, path: str, first: int) -> str:
        """The path, or the first with a number behind its name that nothing has."""
        if self._is_free(path):
            return path
        stem, dot, suffix = path.rpartition(".")
        for number in range(first, MAX_SAME_NAME):
            numbered = f"{stem} {number}{dot}{suffix}"
            if self._is_free(numbered):
                return numbered
        raise StorageError(f"there are too many notes named like {path}")

    def _is_free(self, path: str) -> bool:
        return self._now.get(path) is None and self._vault.stat(path) is None


def is_in_trash(path: str) -> bool:
    return path.startswith(f"{TRASH}/")
