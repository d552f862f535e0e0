"""A vault under edits that Hypothesis draws, with indexes that are kept up to date all along."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from indexer.entity_cache import EntityCache
from indexer.indexer import Indexer
from memvault.config.settings import Settings
from memvault.curation.changes.curator import Curator
from memvault.curation.moved_paths import MovedPaths
from memvault.model.provenance import Provenance
from memvault.stores.open import open_stores
from memvault.text.encoders.embedding import Embedder
from memvault.vault.files import Examined, Rename, Vault
from memvault.vault.journal import Journal
from tests.integration.vault_moves import Hand, moves, tellings, vaults
from tests.property_examples import slow_property

Start = dict[str, bytes]  # notes by path
Steps = list[tuple[list[tuple[object, ...]], str]]  # some moves, and how they are told


def edits(few: int, most_steps: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a test `start` and `steps`: the same few in every run; MEMVAULT_EXAMPLES=500 looks for
    longer, and elsewhere."""
    step = st.tuples(st.lists(moves, min_size=1, max_size=3), tellings)
    drawn: Any = given(start=vaults, steps=st.lists(step, min_size=2, max_size=most_steps))
    often = slow_property(few)
    return lambda test: often(drawn(test))


@dataclass
class EditedVault:
    root: Path
    journal: Journal
    live: Indexer
    hand: Hand
    _state: Path
    _embedder: Embedder
    _settings: Settings

    def edit(self, steps: Steps, before: Callable[[], object] = lambda: None) -> None:
        """A scan, then all steps, with a look `before` each; in the end the indexer knows of
        everything."""
        self.hand.tell("scan")
        for done, notification in steps:
            before()
            for move in done:
                self.hand.do(move)
            self.hand.tell(notification)
        self.hand.tell("together")

    @contextmanager
    def built_anew(self) -> Iterator[Indexer]:
        vault = Vault(self.root)
        curator = Curator(vault, self.journal)
        fresh = _opened(vault, self._state / "fresh", curator, self._embedder, self._settings)
        try:
            fresh.scan()
            yield fresh
        finally:
            fresh.stores.close()


@contextmanager
def edited_vault(start: Start, embedder: Embedder, settings: Settings) -> Iterator[EditedVault]:
    """A vault of the notes of `start`, of which the live indexer does not know yet."""
    with tempfile.TemporaryDirectory() as home:
        root, state = Path(home, "vault"), Path(home, "state")
        root.mkdir()
        state.mkdir()
        vault = Vault(root)
        journal = Journal(vault)
        curator = Curator(vault, journal)
        live = _opened(vault, state / "live", curator, embedder, settings)
        hand = Hand(root, live, curator)
        try:
            for path, note in start.items():
                hand.write(path, note)
            yield EditedVault(root, journal, live, hand, state, embedder, settings)
        finally:
            live.stores.close()


class _IndexedVault(Vault):
    """A vault whose moved notes keep their ids, as in the engine's."""

    def __init__(self, vault: Vault, moved: MovedPaths) -> None:
        super().__init__(vault.root)
        self._moved = moved

    def examined(self, path: str) -> Examined:
        stamp, ids = self.stamps([(path, "")])[0], self._moved.ids_at(path)
        return Examined(self.read(path), Provenance(stamp=stamp), ids.inherited, ids.own)

    def own_id(self, path: str) -> str:
        return self._moved.ids_at(path).own

    def record_renames(self, renames: Collection[Rename]) -> None:
        self._moved.record_renames(renames)

    def stamps(self, notes: Iterable[tuple[str, str]]) -> list[str]:
        return [self._moved.inherited_ids().get(path, "") for path, _ in notes]


def _opened(
    vault: Vault, state: Path, curator: Curator, embedder: Embedder, settings: Settings
) -> Indexer:
    stores = open_stores(settings, state, embedder.dimension)
    found = EntityCache(state.parent / "found.sqlite")
    return Indexer(
        _IndexedVault(vault, curator.moved),
        stores,
        embedder,
        found,
        settings.index,
        forgotten=lambda: curator.tombstones.suppressed_ids,
        merged=lambda: curator.merged_concepts,
    )
