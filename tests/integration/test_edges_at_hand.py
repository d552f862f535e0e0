"""The edges kept at hand are the graph's, whatever people and agents do to the vault."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.indexer import Indexer
from memvault.config.settings import Settings
from memvault.model.errors import StoreUnavailable
from memvault.reasoning.edges import EdgeIndex
from memvault.text.embedding import Embedder
from tests.integration.edited_vault import Start, Steps, edited_vault, edits


def kept_at_hand(indexer: Indexer) -> EdgeIndex:
    edges = EdgeIndex(indexer.stores.graph, indexer.catalogue)
    indexer.on_change.append(edges.changed)
    edges.warm_up()
    return edges


def assert_is_the_graph(kept: EdgeIndex, indexer: Indexer) -> None:
    graph = indexer.stores.graph
    assert {edge.id: edge for edge in kept.all()} == {edge.id: edge for edge in graph.all_edges()}
    assert {node.id: node for node in kept.nodes()} == {n.id: n for n in graph.all_nodes()}
    for node in graph.all_nodes():
        touching = {edge.id for edge in graph.neighbours([node.id])}
        assert {edge.id for edge in kept.of(node.id)} == touching
        if node.path is not None:
            assert kept.note_at(node.path) is not None
            assert node.id in kept.notes_in(node.path.rpartition("/")[0], 100)


@edits(few=8, most_steps=6)
def test_after_any_edits_the_edges_at_hand_are_those_of_the_graph(
    embedder: Embedder, settings: Settings, start: Start, steps: Steps
) -> None:
    with edited_vault(start, embedder, settings) as vault:
        kept = kept_at_hand(vault.live)
        vault.edit(steps, before=kept.all)  # so that there is something to bring up to date
        assert_is_the_graph(kept, vault.live)


@pytest.mark.parametrize("leaving, naming", [("A.md", "B.md"), ("B.md", "A.md")])
def test_what_one_note_names_no_more_and_another_names_now_is_still_there(
    leaving: str, naming: str, write: Callable[..., Path], indexer: Indexer
) -> None:
    write(leaving, "Ask [[Night Watch]].")
    write(naming, "Ask nobody.")
    indexer.scan()
    kept = kept_at_hand(indexer)
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

    edges = EdgeIndex(indexer.stores.graph, indexer.catalogue)
    indexer.on_change.append(edges.changed)
    monkeypatch.setattr(indexer.stores.graph, "all_nodes", down)
    edges.warm_up()
    with pytest.raises(StoreUnavailable):
        edges.all()
    monkeypatch.undo()
    assert len(edges.all()) == 1


def test_a_changed_note_is_read_alone(
    write: Callable[..., Path], indexer: Indexer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(10):
        write(f"Spoke {number}.md", "It leads to the [[Hub]].")
    write("Hub.md", "Everything meets here.")
    indexer.scan()
    kept = kept_at_hand(indexer)
    asked: list[object] = []
    stated_by = indexer.stores.graph.stated_by

    def noted(ids: list[str]):
        asked.extend(ids)
        return stated_by(ids)

    write("Spoke 3.md", "It leads nowhere.")
    indexer.index(["Spoke 3.md"])
    monkeypatch.setattr(indexer.stores.graph, "stated_by", noted)
    hub = indexer.catalogue.by_path("Hub.md")
    spoke = indexer.catalogue.by_path("Spoke 3.md")
    assert hub is not None and spoke is not None
    assert len(kept.of(hub.id)) == 9
    assert asked == [spoke.id]
