"""Computers with a copy of one vault each, and a sync tool that carries files between two of them.

The tool works as Syncthing does: it carries whole files with their times, one by one and in any
order. A file that changed on both computers stays in two files; a change wins over a deletion.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from indexer.doctor import Problem, examine
from indexer.entity_cache import EntityCache
from indexer.indexer import Indexer
from memvault.config.settings import Settings
from memvault.curation.changes.curator import Curator
from memvault.curation.guarded_vault import GuardedVault
from memvault.curation.origins.provenance import Provenances
from memvault.curation.quarantine import Quarantine
from memvault.stores.open import open_stores
from memvault.text.encoders.embedding import Embedder
from memvault.vault.files import Vault
from memvault.vault.journal import FOLDER as JOURNAL
from memvault.vault.journal import Journal
from memvault.vault.write import TEMPORARY_SUFFIX
from memvault.verification.immunity.check import Immunity
from tests.integration.vault_moves import Hand

NOT_CARRIED = (".lock", ".writing", TEMPORARY_SUFFIX)


class File(NamedTuple):
    data: bytes
    mtime_ns: int


@dataclass
class Computer:
    """One computer's copy of the vault, with its indexes, which know what `notice` told them."""

    name: str
    root: Path
    state: Path
    embedder: Embedder
    settings: Settings
    opened: ExitStack = field(default_factory=ExitStack)
    touched: set[str] = field(default_factory=set)  # since the indexer last looked

    def start(self) -> None:
        """As the engine does, but for the first scan."""
        self.journal = Journal(Vault(self.root), writer=self.name)
        self.curator, self.live = self._open(self.journal, self.state / "live")
        self.quarantine = Quarantine(self.journal)
        self.hand = Hand(self.root, self.live, self.curator)

    def restart(self) -> None:
        """The engine was off, and looks at everything that was done since."""
        self.close()
        self.start()
        self.notice("scan")

    def close(self) -> None:
        self.opened.close()

    def _open(self, journal: Journal, state: Path) -> tuple[Curator, Indexer]:
        vault = Vault(self.root)
        quarantine, provenances = Quarantine(journal), Provenances(journal, vault)
        state.mkdir(parents=True, exist_ok=True)
        stores = self.opened.enter_context(_closing(self.settings, state, self.embedder))
        found = EntityCache(state / "found.sqlite")
        self.opened.callback(found.close)

        def path_of(note_id: str) -> str | None:
            memory = indexer.catalogue.by_id(note_id)
            return memory.path if memory else None

        curator = Curator(vault, journal, path_of_note=path_of)
        curator.recover()
        guarded = GuardedVault(vault, provenances, quarantine, Immunity(None), curator.moved)
        indexer = Indexer(
            guarded, stores, self.embedder, found, self.settings.index,
            forgotten=lambda: curator.tombstones.suppressed_ids,
            merged=lambda: curator.merged_concepts,
        )  # fmt: skip
        return curator, indexer

    @contextmanager
    def built_anew(self) -> Iterator[Indexer]:
        """Indexes that another engine makes of the vault as it is."""
        with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
            mine, self.opened = self.opened, opened
            try:
                _, fresh = self._open(Journal(Vault(self.root), writer=self.name), Path(folder))
            finally:
                self.opened = mine
            fresh.scan()
            yield fresh

    def notice(self, how: str = "together") -> None:
        """The indexer looks at what changed: as after a pause of events, path by path, or by a
        scan."""
        paths = sorted({*self.touched, *self.hand.touched})
        self.touched.clear()
        self.hand.touched.clear()
        if how == "scan":
            self.live.scan()
            return
        paths += sorted(self.live.comparison.with_new_provenance() - set(paths))
        for some in [[path] for path in paths] if how == "one by one" else [paths]:
            self.live.index(some)

    def do(self, *move: object) -> None:
        self.hand.do(move)

    def ids(self) -> dict[str, str]:
        return {memory.path: memory.id for memory in self.live.catalogue.all()}

    def notes(self) -> dict[str, bytes]:
        return {stat.path: (self.root / stat.path).read_bytes() for stat in Vault(self.root).walk()}

    def problems(self) -> list[Problem]:
        return examine(self.live)

    def file(self, path: str) -> File | None:
        return self.files().get(path)

    def files(self) -> dict[str, File]:
        files = (file for file in self.root.rglob("*") if file.is_file())
        return {
            file.relative_to(self.root).as_posix(): File(file.read_bytes(), file.stat().st_mtime_ns)
            for file in files
            if not file.name.endswith(NOT_CARRIED)
        }


@contextmanager
def _closing(settings: Settings, state: Path, embedder: Embedder) -> Iterator:
    stores = open_stores(settings, state, embedder.dimension)
    try:
        yield stores
    finally:
        stores.close()


@dataclass
class SyncTool:
    """Carries files between two computers; ``known`` is what both had when it last did."""

    computers: Sequence[Computer]
    known: dict[str, File] = field(default_factory=dict)
    copies: int = 0

    def waiting(self) -> list[str]:
        """The paths that differ."""
        here, there = (each.files() for each in self.computers)
        return sorted(path for path in here | there if here.get(path) != there.get(path))

    def carry(self, path: str) -> None:
        """Make the file at this path the same on both computers."""
        first, second = self.computers
        mine, yours, both = first.file(path), second.file(path), self.known.get(path)
        if mine != yours:
            if mine == both or (mine is None and yours != both):
                _copy(path, second, first)
            elif yours in (both, None):
                _copy(path, first, second)
            else:
                self._reconcile(path)
        final = first.file(path)
        self.known.pop(path, None)
        if final is not None:
            self.known[path] = final

    def _reconcile(self, path: str) -> None:
        """Let the newer file stay; the older one stays under another name if it has other bytes."""
        newer, older = sorted(self.computers, key=lambda each: -each.files()[path].mtime_ns)
        if newer.files()[path].data != older.files()[path].data:
            self.copies += 1
            stem, suffix = PurePosixPath(path).with_suffix(""), PurePosixPath(path).suffix
            copy = f"{stem}.sync-conflict-20260101-{self.copies:06}-ABCDEFG{suffix}"
            (older.root / path).replace(older.root / copy)
            older.touched.add(copy)
        _copy(path, newer, older)

    def carry_all(self) -> None:
        while paths := self.waiting():
            for path in paths:
                self.carry(path)


def _copy(path: str, source: Computer, target: Computer) -> None:
    place = target.root / path
    if not PurePosixPath(path).is_relative_to(JOURNAL):
        target.touched.add(path)
    if not (source.root / path).is_file():
        place.unlink(missing_ok=True)
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    arriving = place.with_name(f".syncthing.{place.name}.tmp")
    shutil.copy2(source.root / path, arriving)
    arriving.replace(place)


@contextmanager
def two_computers(
    start: dict[str, bytes], embedder: Embedder, settings: Settings
) -> Iterator[tuple[Computer, Computer, SyncTool]]:
    """Two computers that have both indexed these notes."""
    with tempfile.TemporaryDirectory() as home, ExitStack() as stack:
        computers = []
        for name in ("d1", "a2"):
            root = Path(home, name)
            root.mkdir()
            computer = Computer(name, root, Path(home, f"{name}-state"), embedder, settings)
            stack.callback(computer.close)
            computer.start()
            computers.append(computer)
        first, second = computers
        for path, note in start.items():
            first.hand.write(path, note)
        tool = SyncTool(computers)
        settle(tool)
        yield first, second, tool


def settle(tool: SyncTool, rounds: int = 8) -> None:
    """Carry everything, and let both computers look, until nothing is left to carry."""
    for _ in range(rounds):
        tool.carry_all()
        for computer in tool.computers:
            computer.notice()
        if not tool.waiting():
            return
    raise AssertionError(f"the computers do not agree: {tool.waiting()}")
