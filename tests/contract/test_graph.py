"""Every graph engine keeps the same promises."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memvault.model.errors import GraphQueryError, StoreUnavailable
from memvault.model.graph import EdgeOrigin, GraphEdge, GraphNode, NoteGraph
from memvault.stores.graph import GraphStore, ladybug, neo4j
from memvault.stores.graph.ladybug import LadybugGraphStore
from tests.threads import read_amid_writes

Open = Callable[[Path], GraphStore]


def note(name: str) -> GraphNode:
    return GraphNode(name, "note", name.title(), f"{name}.md", "aurora", "2026-03-01")


def thing(name: str) -> GraphNode:
    return GraphNode(name, "concept", name.title())


def edge(source: str, target: str, ordinal: int = 0, sentence: str = "It says so.") -> GraphEdge:
    return GraphEdge(source, target, "links to", EdgeOrigin.LINK, sentence, 3, ordinal, 0.5)


def states(source: str, *targets: str, entities: tuple[str, ...] = ()) -> NoteGraph:
    edges = tuple(edge(source, target, place) for place, target in enumerate(targets))
    return NoteGraph(note(source), edges, tuple(thing(name) for name in entities))


def test_a_note_and_its_edges_are_read_back_as_written(graph: GraphStore) -> None:
    sentence = "“Quoted”, 'so', \\ and\nbroken\u2028 $x {y} \x1f 東京 🚀"
    line = GraphEdge("a", "b", "works at", EdgeOrigin.FIELD, sentence, 12, 3, 0.25, 1, 6)
    bare = GraphEdge("a", "b", "", EdgeOrigin.MENTION, "", 1, 0)
    graph.replace([NoteGraph(note("a"), (line, bare)), NoteGraph(note("b"))])
    assert graph.nodes(["a", "b", "absent"]) == {"a": note("a"), "b": note("b")}
    assert graph.neighbours(["b"]) == [bare, line]
    assert graph.counts() == (2, 2)


def test_many_rows_at_once_are_kept_like_few(
    graph: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["", '"', 'a "b", c', " padded ", "\\", "line\r\nline", "''", "null", "é\t,"]
    few, many = (2_100, 8_100) if isinstance(graph, LadybugGraphStore) else (60, 230)
    monkeypatch.setattr(neo4j, "ROWS_PER_QUERY", 50)
    leaves = [GraphNode(f"n{i}", texts[i % 9], f"N{i}", f"{i}.md") for i in range(few)]
    edges = [edge("hub", f"n{i % few}", i, texts[i % 9]) for i in range(many)]
    hub = NoteGraph(note("hub"), tuple(edges))
    graph.replace([hub, *map(NoteGraph, leaves)])
    assert graph.neighbours(["hub"]) == edges
    assert graph.nodes([leaf.id for leaf in leaves]) == {leaf.id: leaf for leaf in leaves}
    graph.replace([hub])
    assert graph.counts() == (few + 1, many)


def test_replacing_a_note_leaves_only_what_it_states_now(graph: GraphStore) -> None:
    graph.replace([states("a", "x", "b", entities=("x",)), states("b", "a")])
    graph.replace([states("a", "y", entities=("y",))])
    assert set(graph.all_edges()) == {edge("a", "y"), edge("b", "a")}
    assert {node.id for node in graph.all_nodes()} == {"a", "b", "y"}


def test_an_entity_stays_while_any_note_names_it(graph: GraphStore) -> None:
    graph.replace([states("a", "x", entities=("x",)), states("b", "x", entities=("x",))])
    graph.replace([states("a")])
    assert "x" in graph.nodes(["x"])
    graph.replace([states("b")])
    assert graph.nodes(["x"]) == {}


def test_a_note_named_as_an_entity_keeps_its_path_and_name(graph: GraphStore) -> None:
    graph.replace([states("a"), states("b", "a", entities=("a",))])
    graph.replace([states("c", "a", entities=("a",))])
    assert graph.nodes(["a"]) == {"a": note("a")}
    graph.replace([states("b"), states("c")])
    assert graph.nodes(["a"]) == {"a": note("a")}


def test_an_entity_becomes_a_note_when_the_note_is_written(graph: GraphStore) -> None:
    graph.replace([states("b", "a", entities=("a",))])
    graph.replace([states("a")])
    assert graph.nodes(["a"]) == {"a": note("a")}
    assert graph.neighbours(["a"]) == [edge("b", "a")]


def test_removing_a_note_takes_its_edges_in_both_directions(graph: GraphStore) -> None:
    graph.replace([states("a", "b", "x", entities=("x",)), states("b", "a")])
    graph.remove(["a", "absent"])
    assert list(graph.all_edges()) == []
    assert {node.id for node in graph.all_nodes()} == {"b"}


def test_an_edge_to_nowhere_is_refused_and_nothing_is_written(graph: GraphStore) -> None:
    graph.replace([states("a", "x", entities=("x",))])
    with pytest.raises(GraphQueryError):
        graph.replace([states("b"), states("a", "nowhere")])
    assert list(graph.all_edges()) == [edge("a", "x")]
    assert graph.nodes(["b"]) == {}


def test_neighbours_are_ordered_and_limited(graph: GraphStore) -> None:
    graph.replace([states("b", "a", "a", "b"), states("a", "b"), states("c")])
    ordered = [edge("a", "b"), edge("b", "a"), edge("b", "a", 1), edge("b", "b", 2)]
    assert graph.neighbours(["a", "b"]) == ordered
    assert graph.neighbours(["a"]) == ordered[:3]
    assert graph.neighbours(["a"], limit=2) == ordered[:2]
    assert graph.stated_by(["a", "c"]) == ordered[:1]
    assert graph.neighbours([]) == []


@pytest.mark.parametrize("many", [1, 5, 60])
def test_edges_of_few_nodes_and_of_many_are_found_alike(graph: GraphStore, many: int) -> None:
    names = [f"n{number:02}" for number in range(many)]
    entities = (f"e{many}", "shared")
    graph.replace([states(name, "hub", *entities, entities=entities) for name in names]
                  + [states("hub")])  # fmt: skip
    assert graph.stated_by([*names, *names]) == [
        edge(name, target, place)
        for name in names
        for place, target in enumerate(("hub", *entities))
    ]
    assert {each.source for each in graph.neighbours(["hub", "hub"])} == set(names)
    graph.remove(names)
    assert {node.id for node in graph.all_nodes()} == {"hub"}


def test_threads_read_while_others_write(graph: GraphStore) -> None:
    def read() -> None:
        found = len(graph.neighbours(["a"]))
        assert found in (0, 20) or not isinstance(graph, LadybugGraphStore)

    def write(own: str) -> None:
        for _ in range(5):
            graph.replace([states(own, *["x"] * 20, entities=("x",))])

    read_amid_writes(read, [partial(write, own) for own in "abc"], readers=3)
    assert graph.counts() == (4, 60)


def test_it_is_there_after_reopening_and_closing_twice_is_allowed(
    open_graph: Open, tmp_path: Path
) -> None:
    store = open_graph(tmp_path)
    store.replace([states("a", "x", entities=("x",))])
    store.close()
    store.close()
    with pytest.raises(StoreUnavailable):
        store.counts()
    again = open_graph(tmp_path)
    assert list(again.all_edges()) == [edge("a", "x")]
    again.close()


def test_any_number_of_small_changes_leaves_memory_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ladybug, "BUFFER_POOL_BYTES", 32 * 1024 * 1024)
    graph = LadybugGraphStore(tmp_path / "graph")
    for day in range(1_000):
        graph.replace([states("a", "x", "y", entities=("x", "y"))])
        if day % 10 == 0:
            assert len(graph.neighbours(["x"])) == 1
    assert graph.counts() == (3, 2)
    graph.close()


NOTES, THINGS = "abcd", "xyz"
STATEMENT = st.tuples(st.sampled_from(NOTES), st.lists(st.sampled_from(NOTES + THINGS), max_size=4))
STEPS = st.lists(
    st.one_of(
        st.lists(STATEMENT, min_size=1, max_size=3, unique_by=lambda pair: pair[0]),
        st.sets(st.sampled_from(NOTES), min_size=1, max_size=2),
    ),
    max_size=8,
)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(steps=STEPS)
def test_it_holds_what_sets_of_nodes_and_edges_would(
    graph: GraphStore, steps: list[list[tuple[str, list[str]]] | set[str]]
) -> None:
    stated: dict[str, NoteGraph] = {}
    linked: dict[str, set[GraphEdge]] = {}
    graph.remove([node.id for node in graph.all_nodes()])
    for step in steps:
        if isinstance(step, set):
            graph.remove(step)
            for name in step:
                stated.pop(name, None)
                linked.pop(name, None)
            for own in linked.values():
                own -= {each for each in own if each.target in step}
        else:
            graphs = [
                states(name, *targets, entities=tuple(dict.fromkeys(targets)))
                for name, targets in step
            ]
            graph.replace(graphs)
            for each in graphs:
                stated[each.node.id] = each
                linked[each.node.id] = set(each.edges)
    edges = {each for own in linked.values() for each in own}
    nodes = {each.target: thing(each.target) for each in edges}
    nodes |= {name: note(name) for name in stated}
    assert set(graph.all_edges()) == edges
    assert {node.id: node for node in graph.all_nodes()} == nodes
    assert graph.counts() == (len(nodes), len(edges))
