"""Entropy, coherence and pulse move as the memories they are of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.cognition.coherence import Surroundings, coherence, entropy, similarity
from memvault.cognition.similarity_index import surroundings
from memvault.model.graph import EdgeOrigin, GraphEdge, contradicts

DIMENSION = 384


def scattered(count: int) -> list[np.ndarray]:
    return list(np.eye(DIMENSION, dtype=np.float32)[:count])


def clustered(count: int, spread: float = 0.1, seed: int = 0) -> list[np.ndarray]:
    rows = np.ones((1, DIMENSION)) + spread * np.random.default_rng(seed).normal(
        size=(count, DIMENSION)
    )
    return list((rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32))


def edge(source: str, target: str, relation: str = "links to") -> GraphEdge:
    return GraphEdge(source, target, relation, EdgeOrigin.LINK, "", 1, 0)


def around(ids: list[str], *edges: GraphEdge) -> dict[str, Surroundings]:
    return {
        key: surroundings(key, [e for e in edges if key in (e.source, e.target)]) for key in ids
    }


def test_memories_that_say_the_same_have_no_entropy():
    assert entropy(similarity([scattered(1)[0]] * 5)) == pytest.approx(0.0, abs=1e-6)


def test_memories_that_share_nothing_have_full_entropy():
    assert entropy(similarity(scattered(7))) == pytest.approx(1.0)


def test_a_tight_cluster_has_less_entropy_than_a_loose_one_and_a_scatter_most():
    tight, loose = (entropy(similarity(clustered(12, spread))) for spread in (0.1, 1.0))
    assert tight < 0.2 < loose < entropy(similarity(scattered(12)))


def test_a_memory_that_dominates_by_relevance_lowers_the_entropy():
    kernel = similarity(scattered(4))
    assert entropy(kernel, [0.97, 0.01, 0.01, 0.01]) < 0.3 < entropy(kernel)


def test_a_memory_without_a_vector_resembles_no_other():
    kernel = similarity([scattered(1)[0], None, scattered(1)[0]])
    assert kernel.tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 12), st.integers(0, 10_000), st.lists(st.floats(0, 1), min_size=12, max_size=12)
)
def test_both_measures_stay_between_nought_and_one(count, seed, weights):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, 5))
    kernel = similarity(list((rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("f4")))
    ids = [str(n) for n in range(count)]
    names = ["links to", "contradicts", "supersedes"]
    edges = [edge(*map(str, rng.integers(0, 12, 2)), names[rng.integers(3)]) for _ in range(9)]
    assert 0.0 <= entropy(kernel, weights[:count]) <= 1.0
    assert 0.0 <= coherence(ids, kernel, around(ids, *edges), weights[:count]) <= 1.0


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(6)))
def test_the_order_of_the_memories_does_not_matter(order):
    rows, ids = clustered(6, 1.0), list("abcdef")
    near = around(ids, edge("a", "b"), edge("b", "c"), edge("d", "e", "contradicts"))
    kernel = similarity(rows)
    mixed = similarity([rows[n] for n in order])
    assert entropy(mixed) == pytest.approx(entropy(kernel))
    assert coherence([ids[n] for n in order], mixed, near) == pytest.approx(
        coherence(ids, kernel, near)
    )


def test_nothing_found_has_no_coherence_and_one_memory_coheres_with_itself():
    assert coherence([], similarity([]), {}) == 0.0
    assert coherence(["a"], similarity(scattered(1)), {}) == 1.0


def test_unlinked_unlike_memories_do_not_cohere():
    ids = list("abcd")
    assert coherence(ids, similarity(scattered(4)), around(ids)) == pytest.approx(0.0)


def test_joining_an_island_raises_the_coherence():
    ids, kernel = list("abcd"), similarity(scattered(4))
    island = [edge("a", "b"), edge("c", "d")]
    apart = coherence(ids, kernel, around(ids, *island))
    joined = coherence(ids, kernel, around(ids, *island, edge("b", "c")))
    assert 0.0 < apart < joined < 1.0


def test_neighbours_in_common_hold_two_memories_together():
    ids, kernel = ["a", "b"], similarity(scattered(2))
    shared = coherence(ids, kernel, around(ids, edge("a", "tag"), edge("b", "tag")))
    diluted = coherence(
        ids, kernel, around(ids, edge("a", "tag"), edge("b", "tag"), edge("b", "other"))
    )
    assert 0.0 < diluted < shared


@pytest.mark.parametrize("relation", ["contradicts", "Superseded_by", "conflicts-with"])
def test_a_contradiction_lowers_the_coherence_below_that_of_a_plain_link(relation):
    ids, kernel = list("abc"), similarity(clustered(3))
    plain = coherence(ids, kernel, around(ids, edge("a", "b")))
    opposed = coherence(ids, kernel, around(ids, edge("a", "b", relation)))
    assert opposed < plain / 2


def test_a_contradiction_with_a_memory_outside_the_answer_does_not_count():
    ids, kernel = ["a", "b"], similarity(clustered(2))
    assert coherence(ids, kernel, around(ids, edge("a", "z", "contradicts"))) > 0.9


def test_an_ordinary_relation_is_no_contradiction():
    assert not contradicts("links to")
    assert not contradicts("decided by")
