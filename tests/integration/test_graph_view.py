"""The graph in memory equals the graph store, whatever people and agents do to the vault."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.indexer import Indexer
from memvault.config.settings import Settings
from memvault.model.errors import StoreUnavailable
from memvault.stores.graph_view import GraphView
from memvault.text.encoders.embedding import Embedder
from tests.integration.edited_vault import Start, Steps, edited_vault, edits


def loaded_view(indexer: Indexer) -> GraphView:
    view = GraphView(indexer.stores.graph, indexer.catalogue.by_id)
    indexer.on_change.append(view.apply)
    view.load()
    return view


def assert_is_the_graph(kept: GraphView, indexer: Indexer) -> None:
    graph = indexer.stores.graph
    fresh = GraphView(graph, indexer.catalogue.by_id)
    assert {edge.id: edge for edge in kept.all()} == {edge.id: edge for edge in fresh.all()}
    assert {node.id: node for node in kept.nodes()} == {n.id: n for n in graph.all_nodes()}
    for node in graph.all_nodes():
        touching = {edge.id for edge in graph.neighbours([node.id])}
        assert {edge.id for edge in kept.of(node.id)} == touching
        if node.path is not None:
            assert kept.note_at(node.path) is not None
            assert node.id in kept.notes_in(node.path.rpartition("/")[0], 100)


@edits(few=8, most_steps=6)
def test_after_any_edits_the_view_equals_the_store(
    embedder: Embedder, settings: Settings, start: Start, steps: Steps
) -> None:
    with edited_vault(start, embedder, settings) as vault:
        kept = loaded_view(vault.live)
        vault.edit(steps)
        assert_is_the_graph(kept, vault.live)


@pytest.mark.parametrize("leaving, naming", [("A.md", "B.md"), ("B.md", "A.md")])
def test_what_one_note_names_no_more_and_another_names_now_is_still_there(
    leaving: str, naming: str, write: Callable[..., Path], indexer: Indexer
) -> None:
    write(leaving, "Ask [[Night Watch]].")
    write(naming, "Ask nobody.")
    indexer.scan()
    kept = loaded_view(indexer)
    write(leaving, "Ask nobody.")
    write(naming, "Ask [[Night Watch]].")
    indexer.index(["A.md", "B.md"])
    assert_is_the_graph(kept, indexer)


def test_a_graph_that_did_not_answer_is_read_when_it_does(
    write: Callable[..., Path], indexer: Indexer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("Ada.md", "Ada met [[Emil]].")
    indexer.scan()

    def down() -> None:
        raise StoreUnavailable("The graph does not answer.")

    view = GraphView(indexer.stores.graph, indexer.catalogue.by_id)
    indexer.on_change.append(view.apply)
    monkeypatch.setattr(indexer.stores.graph, "all_nodes", down)
    with pytest.raises(StoreUnavailable):
        view.all()
    monkeypatch.undo()
    assert len(view.all()) == 1


def test_nothing_is_read_back_from_the_stores_after_a_change(
    write: Callable[..., Path], indexer: Indexer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("Hub.md", "Everything meets here.")
    write("Spoke.md", "It leads to the [[Hub]].")
    indexer.scan()
    kept = loaded_view(indexer)
    write("Spoke.md", "It leads nowhere.")
    write("Spoke 2.md", "It leads to the [[Hub]] as well.")
    with monkeypatch.context() as unread:
        for name in ("stated_by", "all_edges", "all_nodes"):
            unread.setattr(indexer.stores.graph, name, None)
        indexer.index(["Spoke.md", "Spoke 2.md"])
        hub = indexer.catalogue.by_path("Hub.md")
        assert hub is not None
        assert [edge.sentence for edge in kept.of(hub.id)] == ["It leads to the Hub as well."]
    assert_is_the_graph(kept, indexer)


def test_a_change_reported_while_the_view_loads_is_not_lost(
    write: Callable[..., Path], indexer: Indexer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("Hub.md", "Everything meets here.")
    write("Spoke.md", "It leads to the [[Hub]].")
    indexer.scan()
    view = GraphView(indexer.stores.graph, indexer.catalogue.by_id)
    indexer.on_change.append(view.apply)
    all_nodes = indexer.stores.graph.all_nodes

    def saved_meanwhile() -> list[object]:
        nodes = list(all_nodes())
        write("Spoke 2.md", "It leads to the [[Hub]] as well.")
        indexer.index(["Spoke 2.md"])
        return nodes

    monkeypatch.setattr(indexer.stores.graph, "all_nodes", saved_meanwhile)
    view.load()
    monkeypatch.undo()
    assert_is_the_graph(view, indexer)
