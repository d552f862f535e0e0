"""The compact forms in which links and vectors are kept at hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.cognition.adjacency import Adjacency
from memvault.cognition.similarity_index import VectorRows
from memvault.model.graph import EdgeOrigin, GraphEdge
from memvault.model.memory import Stage

IDS = "abcdef"
RELATIONS = ("links to", "contradicts", "supersedes", "superseded by", "mentions")

stated = st.lists(
    st.tuples(
        st.sampled_from(IDS),
        st.lists(st.tuples(st.sampled_from(IDS), st.sampled_from(RELATIONS)), max_size=4),
    ),
    max_size=12,
)


def edges_of(source: str, ends: list[tuple[str, str]]) -> list[GraphEdge]:
    return [
        GraphEdge(source, target, relation, EdgeOrigin.LINK, "", 1, ordinal)
        for ordinal, (target, relation) in enumerate(ends)
    ]


@settings(max_examples=150, deadline=None)
@given(stated)
def test_what_is_stated_again_and_again_stands_as_if_stated_once(steps):
    kept, latest = Adjacency(), {}
    for source, ends in steps:
        before = {key: kept.around(key) for key in IDS}
        changed = kept.state(source, edges_of(source, ends))
        latest[source] = edges_of(source, ends)
        moved = {key for key in IDS if kept.around(key) != before[key]}
        assert moved <= changed
    anew = Adjacency.of(edge for edges in latest.values() for edge in edges)
    for key in IDS:
        assert kept.around(key) == anew.around(key)
        assert all(key in kept.around(other).neighbours for other in kept.around(key).neighbours)


def test_a_link_of_a_note_to_itself_makes_it_no_neighbour_of_itself():
    assert Adjacency.of(edges_of("a", [("a", "links to")])).around("a").neighbours == frozenset()


def test_ids_that_nothing_joins_any_more_leave_nothing_behind():
    kept = Adjacency()
    for number in range(1_000):
        kept.state("a", edges_of("a", [(str(number), "mentions")]))
    kept.state("a", [])
    assert len(kept._ids) <= 4 and not kept._numbers


def test_vectors_come_back_as_they_were_but_for_rounding():
    rows, rng = VectorRows(2_000), np.random.default_rng(1)
    vectors = {str(n): rng.normal(size=384).astype(np.float32) for n in range(1_000)}
    vectors = {key: vector / np.linalg.norm(vector) for key, vector in vectors.items()}
    for key, vector in vectors.items():
        rows.put(key, vector)
    rows.put("nothing", None)
    assert rows.get("nothing") is None
    for key in ("0", "300", "999"):
        found = rows.get(key)
        assert found is not None and found.dtype == np.float32
        assert float(found @ vectors[key]) == pytest.approx(1.0, abs=2e-4)
    rows.forget("300")
    assert "300" not in rows and "301" in rows
    rows.put("new", vectors["0"])
    assert rows.get("new") == pytest.approx(vectors["0"], abs=1e-3)


def test_no_more_vectors_are_kept_than_there_is_room_for():
    rows = VectorRows(2)
    for key in "abc":
        rows.put(key, np.ones(4, dtype=np.float32))
    assert [key in rows for key in "abc"] == [True, True, False]
    rows.forget("a")
    rows.put("c", np.ones(4, dtype=np.float32))
    assert "c" in rows


@pytest.mark.parametrize(
    ("notes", "stage"),
    [(0, "infancy"), (49, "infancy"), (50, "growth"), (499, "growth"), (500, "maturity")],
)
def test_a_vault_grows_from_infancy_to_maturity(notes, stage):
    assert Stage.of(notes) == stage
