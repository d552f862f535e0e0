"""Upkeep: what it removes, what it never touches, and what it reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.engine.startup import Startup
from mcp_server.runtime import upkeep
from mcp_server.runtime.container import Container
from memvault.config.paths import StateFolder
from memvault.config.settings import Settings, UpkeepSettings
from memvault.consolidation.upkeep import is_nearly_full, packs_to_drop
from memvault.curation.changes.curator import Curator
from memvault.curation.changes.plan import Attribution
from memvault.model.errors import MemvaultError
from memvault.model.graph import GraphNode, NoteGraph, NotesIndexed
from memvault.text.encoders.embedding_cache import Embedded, EmbeddingCache
from memvault.vault.journal import Journal
from memvault.vault.version_store import VersionStore
from tests.snapshot import differences, snapshot

NOW = datetime(2026, 5, 1, tzinfo=UTC)
WHY = Attribution("you", "a test of upkeep", kind="person")


@given(
    st.dictionaries(st.text("abcdef", min_size=1, max_size=4), st.integers(1, 100), max_size=12),
    st.lists(st.integers(0, 400), min_size=12, max_size=12),
    st.integers(0, 600),
    st.integers(30, 200),
)
def test_only_old_versions_of_known_changes_go_oldest_first_and_no_more_than_needed(
    sizes: dict[str, int], ages: list[int], budget: int, days: int
) -> None:
    known = [pack for at, pack in enumerate(sizes) if at % 3]
    made = {pack: NOW - timedelta(days=age) for pack, age in zip(known, ages, strict=False)}
    dropped = packs_to_drop(sizes, made, NOW, budget, days)
    assert all(made[pack] <= NOW - timedelta(days=days) for pack in dropped)
    left = sum(sizes.values()) - sum(sizes[pack] for pack in dropped)
    if dropped:
        assert left + sizes[dropped[-1]] > budget
    old = {pack for pack in made if made[pack] <= NOW - timedelta(days=days)}
    assert left <= budget or old == set(dropped)
    kept = old - set(dropped)
    assert all(made[one] <= made[other] for one in dropped for other in kept)


def test_a_disk_is_nearly_full_below_five_percent_and_two_gigabytes() -> None:
    gigabyte = 1024**3
    assert is_nearly_full(gigabyte, 100 * gigabyte)
    assert not is_nearly_full(gigabyte, 4 * gigabyte)  # a small disk
    assert not is_nearly_full(20 * gigabyte, 1000 * gigabyte)


@pytest.fixture
def clock() -> list[datetime]:
    """The time, which a test can move."""
    return [datetime.now(UTC)]


@pytest.fixture
def container(
    vault_folder: Path, state: StateFolder, settings: Settings, clock: list[datetime]
) -> Iterator[Container]:
    (vault_folder / "Yard.md").write_text("The yard is by the water.\n", encoding="utf-8")
    small = settings.model_copy(update={"upkeep": UpkeepSettings(history_megabytes=0)})
    one = Container(vault_folder, small, state, clock=lambda: clock[0])
    one.start(watch=False)
    yield one
    one.close()


def test_old_versions_beyond_the_budget_go_and_their_change_says_so_on_undo(
    container: Container, vault_folder: Path, clock: list[datetime]
) -> None:
    done = container.actions.annotate("Yard", "It floods in March.", WHY)
    assert done.change is not None
    key = done.change.reversal_hash
    versions = VersionStore(container.vault)
    container.upkeep.run()
    assert key in versions.packs()  # younger than 90 days
    clock[0] += timedelta(days=91)
    report = container.upkeep.run()
    assert report.removed["old versions"] == 1 and key not in versions.packs()
    text = (vault_folder / "Yard.md").read_bytes()
    undone = container.actions.undo([key], WHY)
    assert undone.change is None and "no longer kept" in str(undone.conflicts)
    assert (vault_folder / "Yard.md").read_bytes() == text


def test_a_change_made_while_the_clock_was_behind_keeps_its_old_versions(
    container: Container, clock: list[datetime]
) -> None:
    earlier = container.actions.annotate("Yard", "It floods in March.", WHY).change
    right = clock[0]
    clock[0] -= timedelta(days=9_000)
    later = container.actions.annotate("Yard", "The gate is green.", WHY).change
    clock[0] = right
    assert earlier is not None and later is not None
    container.upkeep.run()
    versions = VersionStore(container.vault)
    assert set(versions.packs()) == {earlier.reversal_hash, later.reversal_hash}
    clock[0] += timedelta(days=91)
    assert container.upkeep.run().removed["old versions"] == 2 and versions.packs() == {}


def test_months_of_the_journal_are_compressed_and_nothing_else_changes(
    container: Container, vault_folder: Path, clock: list[datetime]
) -> None:
    done = container.actions.annotate("Yard", "It floods in March.", WHY)
    assert done.change is not None
    history = container.curator.history
    known = history.changes(limit=None)
    clock[0] += timedelta(days=93)
    container.upkeep.run()
    folder = vault_folder / ".memvault/journal"
    assert not list(folder.glob(f"{done.change.at:%Y-%m}.jsonl"))
    assert (
        history.changes(limit=None)
        == known
        == Curator(container.vault, Journal(container.vault)).history.changes(limit=None)
    )
    kept = snapshot(container.live.indexer)
    container.indexing.rebuild()
    assert differences(kept, snapshot(container.live.indexer)) == []


def test_orphans_in_the_indexes_go_and_notes_stay(container: Container) -> None:
    live = container.live
    lost = NoteGraph(GraphNode("lost", "note", "Lost", path="Lost.md"))
    live.stores.graph.replace([lost])
    live.graph_view.apply(NotesIndexed(graphs=(lost,)))
    assert container.upkeep.run().removed["orphans in the indexes"] == 1
    assert {node.name for node in live.stores.graph.all_nodes() if node.path} == {"Yard"}
    assert [memory.title for memory in live.catalogue.all()] == ["Yard"]
    assert container.indexing.doctor() == []
    (found,) = Startup.of(container).doctor(fix=False)
    assert found.severity == "note" and "removed 1 orphans in the indexes" in found.what


def test_the_embeddings_of_links_are_kept_too(
    container: Container, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "MIN_VECTORS", 0)
    trades = ["baker", "cooper", "tanner", "weaver", "miller", "mason", "smith", "potter"]
    write("Street.md", "".join(f"The {each} lives near the [[Yard]].\n\n" for each in trades))
    container.indexing.scan()
    container.live.searcher.warm_up()
    assert "cached embeddings" not in container.upkeep.run().removed


def test_the_cache_of_embeddings_keeps_its_budget(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "cache.sqlite", "model")
    texts = [f"text {number}" for number in range(700)]
    cache.put({text: Embedded(np.ones(8, np.float32) / np.sqrt(8)) for text in texts})
    while cache.trim(100):
        pass
    assert len(cache.get(texts)) == 100
    cache.close()


def test_a_vault_that_went_away_loses_nothing(container: Container, vault_folder: Path) -> None:
    done = container.actions.annotate("Yard", "It floods in March.", WHY)
    assert done.change is not None
    away = vault_folder.rename(vault_folder.with_name("away"))
    try:
        with pytest.raises(MemvaultError):
            VersionStore(container.vault).drop_pack(done.change.reversal_hash)
        container.upkeep.run()
    finally:
        away.rename(vault_folder)
    assert done.change.reversal_hash in VersionStore(container.vault).packs()
