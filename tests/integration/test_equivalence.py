"""Indexes kept step by step equal indexes built anew, whatever was done in between."""

from __future__ import annotations

from memvault.config.settings import Settings
from memvault.text.encoders.embedding import Embedder
from tests.integration.edited_vault import Start, Steps, edited_vault, edits
from tests.snapshot import differences, snapshot


@edits(few=12, most_steps=7)
def test_indexes_updated_step_by_step_equal_rebuilt_indexes(
    embedder: Embedder, settings: Settings, start: Start, steps: Steps
) -> None:
    with edited_vault(start, embedder, settings) as vault:
        vault.edit(steps)
        with vault.built_anew() as fresh:
            assert differences(snapshot(vault.live), snapshot(fresh)) == []
