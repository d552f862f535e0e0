"""A vault that memvault has served for years: what grows with its notes does not grow with both
its notes and the months of its journal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memvault.vault.journal import Journal
from tests.integration.small_vault import opened


def looks_at_the_journal(monkeypatch: pytest.MonkeyPatch, does: Callable[[], object]) -> int:
    """How often its files are compared with what was read of them."""
    sizes, looks = Journal.sizes, [0]

    def counted(journal: Journal) -> dict[str, int]:
        looks[0] += 1
        return sizes(journal)

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "sizes", counted)
        does()
    return looks[0]


def test_a_scan_looks_at_the_journal_as_often_whether_a_vault_has_few_notes_or_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    for number in (3, 40):
        notes = {f"Boat {each}.md": f"Boat {each} has a mast.\n" for each in range(number)}
        container = opened(tmp_path, notes, f"vault of {number}")
        looks.append(looks_at_the_journal(monkeypatch, container.indexing.scan))
        container.close()
    assert looks[0] == looks[1]
