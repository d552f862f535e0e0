"""The catalogue while its notes change, over a real store."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.catalogue import FORMAT, Catalogue, NoteRecord
from memvault.model.memory import Lifecycle, Memory, id_of_path
from memvault.stores.keyvalue.sqlite import SqliteKeyValueStore
from tests.threads import read_amid_writes

PATHS = ("kiln/Clay.md", "kiln/Oven.md", "Wheel.md")
WORDS = st.sampled_from(("ash", "slip", "glaze"))


def record(
    path: str, note_id: str, project: str | None = None, tags: tuple[str, ...] = ()
) -> NoteRecord:
    memory = Memory(
        id=note_id,
        path=path,
        title=Path(path).stem,
        lifecycle=Lifecycle.PERMANENT,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        project=project,
        tags=list(tags),
        metadata={tag: tag for tag in tags},
    )
    return NoteRecord(memory=memory, size=1, mtime_ns=1, link_keys=tags, format=FORMAT)


RECORDS = st.builds(
    lambda path, project, tags: record(path, id_of_path(path), project, tuple(tags)),
    st.sampled_from(PATHS),
    st.none() | WORDS,
    st.lists(WORDS, unique=True, max_size=2),
)


def look_ups(catalogue: Catalogue) -> dict[str, object]:
    """What every look-up finds, in no order."""
    words = ("ash", "slip", "glaze", "clay", "oven", "wheel", "kiln")
    return {
        "records": {each.memory.path: each for each in catalogue.records()},
        "ids": {path: catalogue.by_id(id_of_path(path)) for path in PATHS},
        "prefixes": {path: catalogue.ids_starting(id_of_path(path)[:6]) for path in PATHS},
        "types": set(catalogue.types()),
        "groups": set(catalogue.groups()),
        "keys": set(catalogue.property_keys()),
    } | {
        word: [
            set(find(word))
            for find in (
                catalogue.in_project, catalogue.paths_in_group, catalogue.paths_with_property,
                catalogue.paths_with_word,
            )
        ] + [catalogue.linking([word]), catalogue.naming([word])]
        for word in words
    }  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteKeyValueStore]:
    store = SqliteKeyValueStore(tmp_path / "keyvalue.sqlite")
    yield store
    store.close()


@given(st.lists(st.tuples(st.lists(RECORDS, max_size=3), st.lists(st.sampled_from(PATHS)))))
def test_changed_notes_are_found_as_by_a_catalogue_that_is_opened_anew(
    commits: list[tuple[list[NoteRecord], list[str]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteKeyValueStore(Path(folder) / "keyvalue.sqlite")
        catalogue = Catalogue(store)
        for records, removed in commits:
            catalogue.commit(records, removed)
        assert look_ups(catalogue) == look_ups(Catalogue(store))
        store.close()


def test_a_note_is_found_while_it_changes_and_moves(store: SqliteKeyValueStore) -> None:
    catalogue, clay = Catalogue(store), id_of_path("Clay.md")
    here, there = (record(path, clay, "kiln", ("ash",)) for path in PATHS[:2])
    stays = record("Wheel.md", id_of_path("Wheel.md"), "kiln", ("ash",))
    catalogue.commit([here, stays])

    def read() -> None:
        assert catalogue.by_id(clay) is not None
        assert catalogue.by_path("Wheel.md") is not None
        assert "Wheel.md" in catalogue.in_project("kiln")
        assert clay in catalogue.ids_starting(clay[:8])

    def write() -> None:
        for _ in range(150):
            catalogue.commit([there, stays], [here.memory.path])
            catalogue.commit([here, stays], [there.memory.path])

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # so that threads meet in the middle of a change
    try:
        read_amid_writes(read, [write], readers=2)
    finally:
        sys.setswitchinterval(interval)
