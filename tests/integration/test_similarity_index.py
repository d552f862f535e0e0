"""Vectors, surroundings and states in memory equal those of the stores, whatever is done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.indexer import Indexer
from mcp_server.runtime.worker import Worker
from memvault.cognition.pulse import MemoryState, PulseMeter
from memvault.cognition.similarity_index import SimilarityIndex
from memvault.config.settings import Settings
from memvault.model.errors import StoreUnavailable
from memvault.stores.graph_view import GraphView
from memvault.text.encoders.embedding import Embedder
from tests.integration.edited_vault import Start, Steps, edited_vault, edits
from tests.waiting import until

ROUNDING = 5e-3  # the store keeps 8 bits of a dimension, memory 16


def opened_index(indexer: Indexer) -> SimilarityIndex:
    view = GraphView(indexer.stores.graph, indexer.catalogue.by_id)
    indexer.on_change.append(view.apply)
    return SimilarityIndex(view, indexer.stores.vectors, indexer.catalogue)


def loaded_index(indexer: Indexer) -> SimilarityIndex:
    index = opened_index(indexer)
    index.load()
    return index


def assert_same(one: SimilarityIndex, other: SimilarityIndex, indexer: Indexer) -> None:
    """That both say the same of everything there is, but for rounding."""
    nodes = [node.id for node in indexer.stores.graph.all_nodes()]
    assert one.around(nodes) == other.around(nodes)
    ids = other.memory_ids()
    assert one.memory_ids() == ids
    vectors, expected = one.vectors(ids), other.vectors(ids)
    states, measured = (PulseMeter(lambda each=each: each).measures(ids) for each in (one, other))
    for key in ids:
        assert (vectors[key] is None) == (expected[key] is None)
        assert vectors[key] is None or vectors[key] == pytest.approx(expected[key], abs=ROUNDING)
        assert_close(states[key], measured[key])


def assert_close(one: MemoryState, other: MemoryState) -> None:
    assert one.entropy == pytest.approx(other.entropy, abs=ROUNDING)
    assert one.coherence == pytest.approx(other.coherence, abs=ROUNDING)


@edits(few=8, most_steps=6)
def test_what_is_kept_after_any_edits_is_what_a_fresh_look_sees(
    embedder: Embedder, settings: Settings, start: Start, steps: Steps
) -> None:
    with edited_vault(start, embedder, settings) as vault:
        kept = loaded_index(vault.live)
        meter = PulseMeter(lambda: kept)
        # each time so that there is something to forget
        vault.edit(steps, before=lambda: meter.measures(kept.memory_ids()))
        fresh = loaded_index(vault.live)
        assert_same(kept, fresh, vault.live)
        ids = kept.memory_ids()
        anew = PulseMeter(lambda: fresh).measures(ids)
        for key, remembered in meter.measures(ids).items():
            assert_close(remembered, anew[key])


FAR = "Glaciers calve into the fjord."


def test_nothing_is_looked_up_for_what_was_just_indexed(
    write: Callable[..., Path], indexer: Indexer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("Hub.md", "Everything meets in this note.")
    for number in range(20):
        write(f"Spoke {number}.md", f"Spoke {number} leads to the [[Hub]].")
    indexer.scan()
    kept = loaded_index(indexer)
    hub = indexer.catalogue.by_path("Hub.md")
    assert hub is not None
    assert len(kept.around([hub.id])[hub.id].neighbours) == 20
    monkeypatch.setattr(indexer.stores.graph, "stated_by", None)
    monkeypatch.setattr(indexer.stores.vectors, "vectors", None)
    write("Spoke 3.md", FAR)
    write("Spoke 20.md", "This leads to the [[Hub]], too, and to [[Spoke 1]].")
    indexer.index(["Spoke 3.md", "Spoke 20.md"])
    assert len(kept.around([hub.id])[hub.id].neighbours) == 20
    vectors = kept.vectors(kept.memory_ids())
    assert len(vectors) == 22 and all(vector is not None for vector in vectors.values())
    PulseMeter(lambda: kept).states(kept.memory_ids())


def test_what_was_saved_is_measured_again_before_anyone_asks(
    write: Callable[..., Path], indexer: Indexer
) -> None:
    write("Hub.md", "Everything meets in this note.")
    write("Spoke.md", "This leads to the [[Hub]].")
    indexer.scan()
    kept, worker = loaded_index(indexer), Worker()
    meter = PulseMeter(lambda: kept, background=lambda: worker)
    ids = kept.memory_ids()
    before = meter.measures(ids)
    meter.of_vault()
    write("Spoke.md", FAR)
    indexer.index(["Spoke.md"])
    until(lambda: len(meter._states) == 2 and meter._states != before)
    fresh = PulseMeter(lambda: loaded_index(indexer))
    anew, on_scale = fresh.measures(ids), fresh.states(ids)
    for key, measured in meter.measures(ids).items():
        assert_close(measured, anew[key])
    until(lambda: meter.states(ids)[ids[0]].entropy == pytest.approx(on_scale[ids[0]].entropy, 0.1))
    worker.stop(5)


def test_without_a_graph_the_pulse_has_no_links_and_heals_when_it_answers_again(
    write: Callable[..., Path], indexer: Indexer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("Hub.md", "Everything meets in this note.")
    write("Spoke.md", "This leads to the [[Hub]].")
    indexer.scan()
    index = opened_index(indexer)
    hub = next(m.id for m in indexer.catalogue.all() if m.title == "Hub")
    with monkeypatch.context() as broken:

        def refuse(*_: object) -> None:
            raise StoreUnavailable("The graph does not answer.")

        broken.setattr(indexer.stores.graph, "all_nodes", refuse)
        assert not index.around([hub])[hub].neighbours
    assert len(index.around([hub])[hub].neighbours) == 1


def test_before_it_is_loaded_vectors_are_looked_up(
    write: Callable[..., Path], indexer: Indexer
) -> None:
    write("Hub.md", "Everything meets in this note.")
    write("Spoke.md", "This leads to the [[Hub]].")
    indexer.scan()
    cold = opened_index(indexer)
    assert_same(cold, loaded_index(indexer), indexer)
    write("Spoke 2.md", "This leads to the [[Hub]] as well.")
    indexer.index(["Spoke 2.md"])
    assert_same(cold, loaded_index(indexer), indexer)
    assert not cold.is_loaded
