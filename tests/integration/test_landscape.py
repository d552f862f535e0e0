"""What is kept at hand of vectors, links and states is what the stores say, whatever is done."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Set
from dataclasses import dataclass
from pathlib import Path

import pytest

from indexer.indexer import Indexer
from memvault.cognition import similarity_index as landscape_module
from memvault.cognition.pulse import MemoryState, PulseMeter
from memvault.cognition.similarity_index import Landscape
from memvault.config.settings import Settings
from memvault.model.errors import StoreUnavailable
from memvault.text.embedding import Embedder
from tests.integration.edited_vault import Start, Steps, edited_vault, edits
from tests.waiting import until


def kept_at_hand(indexer: Indexer) -> Landscape:
    landscape = Landscape(indexer.stores, indexer)
    indexer.on_change.append(landscape.changed)
    landscape.warm_up()
    return landscape


def assert_same(one: Landscape, other: Landscape, indexer: Indexer) -> None:
    """That both say the same of everything there is, but for rounding."""
    nodes = [node.id for node in indexer.stores.graph.all_nodes()]
    assert one.around(nodes) == other.around(nodes)
    ids = other.memory_ids()
    assert one.memory_ids() == ids
    vectors, expected = one.vectors(ids), other.vectors(ids)
    states, measured = (PulseMeter(lambda each=each: each).states(ids) for each in (one, other))
    for key in ids:
        assert (vectors[key] is None) == (expected[key] is None)
        assert vectors[key] is None or vectors[key] == pytest.approx(expected[key], abs=1e-3)
        assert_close(states[key], measured[key])


def assert_close(one: MemoryState, other: MemoryState) -> None:
    assert one.entropy == pytest.approx(other.entropy, abs=1e-3)
    assert one.coherence == pytest.approx(other.coherence, abs=1e-3)


@edits(few=8, most_steps=6)
def test_what_is_kept_after_any_edits_is_what_a_fresh_look_sees(
    embedder: Embedder, settings: Settings, start: Start, steps: Steps
) -> None:
    with edited_vault(start, embedder, settings) as vault:
        kept = kept_at_hand(vault.live)
        meter = PulseMeter(lambda: kept)
        # each time so that there is something to forget
        vault.edit(steps, before=lambda: meter.states(kept.memory_ids()))
        fresh = kept_at_hand(vault.live)
        assert_same(kept, fresh, vault.live)
        ids = kept.memory_ids()
        anew = PulseMeter(lambda: fresh).states(ids)
        for key, remembered in meter.states(ids).items():
            assert_close(remembered, anew[key])


@dataclass
class Hub:
    """A note that others come to link to, in a landscape that is kept."""

    kept: Landscape
    id: str

    @property
    def neighbours(self) -> Set[str]:
        return self.kept.around([self.id])[self.id].neighbours


@pytest.fixture
def hub(write: Callable[..., Path], indexer: Indexer) -> Hub:
    write("Hub.md", "Everything meets in this note.")
    indexer.scan()
    kept = kept_at_hand(indexer)
    [id_] = kept.memory_ids()
    return Hub(kept, id_)


FAR = "Glaciers calve into the fjord."


def test_a_changed_note_costs_its_own_look_up_only(
    write: Callable[..., Path], indexer: Indexer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("Hub.md", "Everything meets in this note.")
    for number in range(20):
        write(f"Spoke {number}.md", f"Spoke {number} leads to the [[Hub]].")
    indexer.scan()
    kept = kept_at_hand(indexer)
    hub = indexer.catalogue.by_path("Hub.md")
    assert hub is not None
    assert len(kept.around([hub.id])[hub.id].neighbours) == 20
    read: list[int] = []
    stated_by, vectors = indexer.stores.graph.stated_by, indexer.stores.vectors.vectors
    monkeypatch.setattr(
        indexer.stores.graph, "stated_by", lambda ids: read.append(len(ids)) or stated_by(ids)
    )
    monkeypatch.setattr(
        indexer.stores.vectors,
        "vectors",
        lambda ids, size: read.append(len(ids)) or vectors(ids, size),
    )
    write("Spoke 3.md", FAR)
    indexer.index(["Spoke 3.md"])
    assert len(kept.around([hub.id])[hub.id].neighbours) == 19
    kept.vectors(kept.memory_ids())
    PulseMeter(lambda: kept).states(kept.memory_ids())
    assert read == [1, 1]


def test_what_was_saved_is_measured_again_before_anyone_asks(
    write: Callable[..., Path], indexer: Indexer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("Hub.md", "Everything meets in this note.")
    write("Spoke.md", "This leads to the [[Hub]].")
    indexer.scan()
    kept = kept_at_hand(indexer)
    meter = PulseMeter(lambda: kept)
    before = meter.states(kept.memory_ids())
    write("Spoke.md", FAR)
    indexer.index(["Spoke.md"])
    until(lambda: len(meter._states) == 2 and meter._states != before)
    with monkeypatch.context() as unasked:
        unasked.setattr(indexer.stores.graph, "stated_by", None)
        unasked.setattr(indexer.stores.vectors, "vectors", None)
        now = meter.states(kept.memory_ids())
    assert now == PulseMeter(lambda: kept_at_hand(indexer)).states(kept.memory_ids()) != before
    meter.close()
    kept.close(5)


def test_one_who_asks_while_a_change_is_read_waits_for_it(
    write: Callable[..., Path], indexer: Indexer, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    stated_by = indexer.stores.graph.stated_by
    is_read = threading.Event()

    def slow(ids: list[str]) -> object:
        is_read.set()
        time.sleep(0.2)
        return stated_by(ids)

    monkeypatch.setattr(indexer.stores.graph, "stated_by", slow)
    write("Spoke.md", "This leads to the [[Hub]].")
    saving = threading.Thread(target=indexer.index, args=(["Spoke.md"],))
    saving.start()
    assert is_read.wait(10)
    assert len(hub.neighbours) == 1
    saving.join(10)


def test_what_was_saved_is_at_hand_for_whoever_asks_next(
    write: Callable[..., Path], indexer: Indexer, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("Spoke.md", "This leads to the [[Hub]].")
    indexer.index(["Spoke.md"])
    monkeypatch.setattr(indexer.stores.graph, "stated_by", None)
    monkeypatch.setattr(indexer.stores.vectors, "vectors", None)
    assert len(hub.neighbours) == 1
    vectors = hub.kept.vectors(hub.kept.memory_ids())
    assert all(vector is not None for vector in vectors.values())


def test_many_changes_at_once_are_read_in_the_background_while_the_old_state_answers(
    write: Callable[..., Path], indexer: Indexer, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    stated_by = indexer.stores.graph.stated_by

    def slow(ids: list[str]) -> object:
        assert go_on.wait(10)
        return stated_by(ids)

    monkeypatch.setattr(indexer.stores.graph, "stated_by", slow)
    many = landscape_module.FEW + 1
    for number in range(many):
        write(f"Spoke {number}.md", f"Spoke {number} leads to the [[Hub]].")
    indexer.scan()
    assert hub.neighbours == frozenset()
    go_on.set()
    hub.kept.warm_up()
    assert len(hub.neighbours) == many


def test_without_a_graph_the_pulse_is_of_what_was_known_and_heals_when_it_answers_again(
    write: Callable[..., Path], indexer: Indexer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("Hub.md", "Everything meets in this note.")
    write("Spoke.md", "This leads to the [[Hub]].")
    indexer.scan()
    kept = kept_at_hand(indexer)
    hub = next(m.id for m in indexer.catalogue.all() if m.title == "Hub")
    monkeypatch.setattr(landscape_module, "RETRY_SECONDS", 0.0)
    with monkeypatch.context() as broken:

        def refuse(*_: object) -> None:
            raise StoreUnavailable("The graph does not answer.")

        broken.setattr(indexer.stores.graph, "stated_by", refuse)
        write("Spoke 2.md", "This leads to the [[Hub]] as well.")
        indexer.index(["Spoke 2.md"])
        assert len(kept.around([hub])[hub].neighbours) == 1
    assert len(kept.around([hub])[hub].neighbours) == 2


def test_before_it_is_warm_everything_is_read_through(
    write: Callable[..., Path], indexer: Indexer
) -> None:
    write("Hub.md", "Everything meets in this note.")
    write("Spoke.md", "This leads to the [[Hub]].")
    indexer.scan()
    cold = Landscape(indexer.stores, indexer)
    assert_same(cold, kept_at_hand(indexer), indexer)
    write("Spoke 2.md", "This leads to the [[Hub]] as well.")
    indexer.index(["Spoke 2.md"])
    assert_same(cold, kept_at_hand(indexer), indexer)
    assert not cold.is_resident
