"""A vault and all that changes it, without indexes: what is known of a note is read from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memvault.curation.changes.curator import ChangeResult, Curator, Result
from memvault.curation.changes.forgetting import Restored, stage_forgetting, stage_restoring
from memvault.curation.changes.plan import Attribution
from memvault.curation.changes.staging import Staging
from memvault.curation.changes.undo import UndoResult
from memvault.curation.operations.merge import MergeIndex, stage_merge
from memvault.curation.operations.move import Move, misled_note, stage_move
from memvault.curation.operations.move_folder import (
    FolderMove,
    notes_in,
    source_folder,
    stage_folder_move,
)
from memvault.curation.targets import Target
from memvault.model.change import Change, ChangeKind
from memvault.model.graph import GraphNode
from memvault.model.memory import Memory, Tombstone, id_of_entity
from memvault.vault.files import Rename, Vault
from memvault.vault.frontmatter.fences import claimed_id
from memvault.vault.frontmatter.properties import memory_of
from memvault.vault.journal import Journal
from memvault.vault.links import LinkIndex, link_key
from memvault.vault.parse import content_hash, parse_note

WHY = Attribution("a client", "They asked me to set it right.")
MORNING = datetime(2026, 3, 1, 8, tzinfo=UTC)


class Desk:
    """A curator of the vault at ``root``; ``clock`` is what it takes the time from."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.vault = Vault(root)
        self.journal = Journal(self.vault)
        self.now = MORNING
        self.open()

    def open(self) -> None:
        """As the engine does at its start."""
        self.deleted: list[str] = []
        self.curator = Curator(
            self.vault,
            self.journal,
            clock=self._clock,
            deleted=lambda tombstone: self.deleted.append(tombstone.path or ""),
            path_of_note=lambda note_id: _path(_Notes(self).by_id(note_id)),
            misled=lambda staging: misled_note(staging, self.known()),
        )
        self.recovered = self.curator.recover()

    def _clock(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def write(self, path: str, text: str | bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)

    def rename_outside(self, path: str, target: str) -> None:
        """As a person in Obsidian does; the indexer notices it."""
        data, note_id = self.vault.read(path), self.curator.moved.id_at(path)
        self.write(target, data)
        (self.root / path).unlink()
        if not claimed_id(data):
            rename = Rename(path, target, note_id, content_hash(data))
            self.curator.moved.record_renames([rename])

    def read(self, path: str) -> str:
        return (self.root / path).read_bytes().decode("utf-8", "surrogateescape")

    def tree(self) -> dict[str, bytes]:
        """The notes, by path."""
        return {stat.path: self.vault.read(stat.path) for stat in self.vault.walk()}

    def memory(self, path: str) -> Memory:
        return memory_of(parse_note(path, self.vault.read(path)), fallback_time=MORNING)

    def target(self, name: str) -> Target:
        """The note at a path, else the concept of this name."""
        if self.vault.stat(name) is not None:
            memory = self.memory(name)
            return Target(memory.title, memory)
        node = GraphNode(id_of_entity("concept", name.casefold()), "concept", name)
        return Target(name, nodes=(node,))

    def known(self) -> MergeIndex:
        links = LinkIndex()
        linked: dict[str, set[str]] = {}
        for path, data in self.tree().items():
            note = parse_note(path, data)
            links.add(path, note.aliases)
            linked[path] = {link_key(link.target) for link in note.links}

        def linking(keys: Iterable[str]) -> set[str]:
            wanted = set(keys)
            return {path for path, targets in linked.items() if targets & wanted}

        return MergeIndex(_Notes(self), links, linking)

    def do(
        self, kind: ChangeKind, target: Target, stage: Callable[[Staging], Result]
    ) -> ChangeResult[Result]:
        return self.curator.perform(stage, kind, (target.name,), target.node_ids, WHY)

    def merge(self, *sources: str, into: str) -> Change | None:
        return self.merge_known(
            self.known(), [self.target(each) for each in sources], self.target(into)
        )

    def merge_known(self, known: MergeIndex, found: list[Target], target: Target) -> Change | None:
        done = self.do(
            ChangeKind.MERGED, target, lambda staging: stage_merge(staging, known, found, target)
        )
        return done.change

    def move(self, path: str, destination: str, why: Attribution = WHY) -> ChangeResult[Move]:
        known, target = self.known(), self.target(path)
        return self.curator.perform(
            lambda staging: stage_move(staging, known, target, destination),
            ChangeKind.MOVED, (target.name,), target.node_ids, why,
        )  # fmt: skip

    def move_folder(self, folder: str, destination: str) -> ChangeResult[FolderMove]:
        known, folder = self.known(), source_folder(self.vault, folder)
        notes = notes_in(known.memories.all(), folder)
        return self.curator.perform(
            lambda staging: stage_folder_move(staging, known, folder, notes, destination),
            ChangeKind.MOVED, (folder,), tuple(note.id for note in notes), WHY,
        )  # fmt: skip

    def undo(self, reversal_hashes: list[str]) -> UndoResult:
        return self.curator.undo(reversal_hashes, WHY)

    def forget(
        self, target: str | Target, why: Attribution = WHY, *, permanent: bool = False
    ) -> Tombstone:
        """Forget a note by its path, or a target."""
        found = self.target(target) if isinstance(target, str) else target
        done = self.curator.perform(
            lambda staging: stage_forgetting(staging, found, permanent=permanent),
            ChangeKind.FORGOTTEN, (found.name,), found.node_ids, why,
        )  # fmt: skip
        assert done.change is not None
        return done.change.forgot[0]

    def restore(self, target: str) -> Restored:
        """Restore what a hash, path, id or name means."""
        curator = self.curator

        def stage(staging: Staging) -> tuple[Restored, tuple[str, ...], tuple[str, ...]]:
            found = stage_restoring(
                staging, curator.tombstones, curator.history, target, curator.now()
            )
            return found, (found.tombstone.name,), found.tombstone.node_ids

        return curator.perform_described(stage, ChangeKind.RESTORED, WHY).result

    def kept(self) -> list[Tombstone]:
        """What is forgotten and not restored."""
        return self.curator.tombstones.kept()


def _path(memory: Memory | None) -> str | None:
    return memory.path if memory is not None else None


class _Notes:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def by_id(self, memory_id: str) -> Memory | None:
        return next((each for each in self.all() if each.id == memory_id), None)

    def by_path(self, path: str) -> Memory | None:
        return self._desk.memory(path) if self._desk.vault.stat(path) else None

    def all(self) -> Iterator[Memory]:
        return (self._desk.memory(stat.path) for stat in self._desk.vault.walk())
