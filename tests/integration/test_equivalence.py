"""Indexes kept step by step equal indexes built anew, whatever was done in between."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from indexer.found import FoundEntities
from indexer.indexer import Indexer
from memvault.config.settings import Settings
from memvault.curation.forget import Forgetter
from memvault.curation.forgotten import Forgotten
from memvault.stores.open import open_stores
from memvault.text.embedding import Embedder
from memvault.vault.files import Vault
from memvault.vault.journal import Journal
from tests.integration.vault_moves import Hand, moves, tellings, vaults
from tests.snapshot import differences, snapshot

# A few in every run; MEMVAULT_EXAMPLES=500 looks for longer.
EXAMPLES = int(os.environ.get("MEMVAULT_EXAMPLES", "12"))


def opened(
    vault: Vault,
    state: Path,
    forgotten: Forgotten,
    embedder: Embedder,
    settings: Settings,
) -> Indexer:
    stores = open_stores(settings, state, embedder.dimension)
    found = FoundEntities(state.parent / "found.sqlite")
    return Indexer(
        vault, stores, embedder, found, settings.index, forgotten=lambda: forgotten.hidden
    )


@given(
    vaults,
    st.lists(st.tuples(st.lists(moves, min_size=1, max_size=3), tellings), min_size=2, max_size=7),
)
@examples(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize="MEMVAULT_EXAMPLES" not in os.environ,
    database=None,
)
def test_indexes_kept_step_by_step_equal_indexes_built_anew(
    embedder: Embedder,
    settings: Settings,
    start: dict[str, bytes],
    steps: list[tuple[list[tuple[object, ...]], str]],
) -> None:
    with tempfile.TemporaryDirectory() as home:
        vault, state = Path(home, "vault"), Path(home, "state")
        vault.mkdir()
        state.mkdir()
        notes = Vault(vault)
        journal = Journal(notes)
        forgetter = Forgetter(notes, journal, Forgotten.read(journal))
        live = opened(notes, state / "live", forgetter.forgotten, embedder, settings)
        hand = Hand(vault, live, forgetter)
        for path, note in start.items():
            hand.write(path, note)
        hand.tell("scan")
        for done, telling in steps:
            for move in done:
                hand.do(move)
            hand.tell(telling)
        hand.tell("together")
        told = Forgotten.read(journal)
        fresh = opened(Vault(vault), state / "fresh", told, embedder, settings)
        fresh.scan()
        try:
            assert differences(snapshot(live), snapshot(fresh)) == []
        finally:
            live.stores.close()
            fresh.stores.close()
