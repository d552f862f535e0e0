"""Surroundings from edges, and the compact form of the vectors in memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.cognition.similarity_index import surroundings
from memvault.cognition.vector_rows import VectorRows
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
def test_neighbours_are_mutual_and_no_node_is_its_own(steps):
    latest = {source: edges_of(source, ends) for source, ends in steps}
    every = [edge for edges in latest.values() for edge in edges]
    around = {
        key: surroundings(key, [e for e in every if key in (e.source, e.target)]) for key in IDS
    }
    for key, own in around.items():
        assert key not in own.neighbours
        assert all(key in around[other].neighbours for other in own.neighbours)
        assert all(key in around[other].against for other in own.against)
        assert own.against <= own.neighbours


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
