"""The types of core, appendix A: TC-CORE-001 to 007 and 030 to 034."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from memvault.model.distinct import distinct_by
from memvault.model.errors import SerializationFailed, UnknownFormat
from memvault.model.graph import INITIAL_LEARNING, EdgeLearning, EdgeOrigin, GraphEdge
from memvault.model.memory import (
    ACTIVITY_FORMAT,
    JohariQuadrant,
    Lifecycle,
    Memory,
    MemoryActivity,
    UTLState,
    id_of_path,
)
from memvault.model.memory_node import MemoryNode
from memvault.model.note import Domain, NeurotransmitterWeights
from memvault.model.search import VerbosityLevel
from memvault.model.state import CognitivePulse, SuggestedAction, suggest_action
from memvault.vault.frontmatter.properties import domain_of

NOW = datetime(2026, 3, 1, 12, 30, 5, 123456, UTC)
LATER = datetime(2026, 4, 2, 8, 0, tzinfo=UTC)
EDGES = TypeAdapter(GraphEdge)


def node(**fields: Any) -> MemoryNode:
    return MemoryNode(
        **{
            "id": str(uuid4()),
            "content": "Tea is brewed at 80 °C.\n",
            "embedding": np.random.default_rng(1).normal(size=384),
            "created_at": NOW,
            "last_accessed": LATER,
            "importance": 0.8,
            "access_count": 12,
            "johari_quadrant": JohariQuadrant.HIDDEN,
            "utl_state": UTLState(delta_s=0.1, delta_c=0.9, w_e=1.25, phi=3.0),
            "agent_id": "some client",
            "semantic_cluster": str(uuid4()),
            "metadata": {"a": [1, 2.5, None, {"b": "ü"}], "true": True},
        }
        | fields
    )


def edge(weight: float = 1.0, **learned: Any) -> GraphEdge:
    return GraphEdge(
        "a", "b", "causes", EdgeOrigin.FIELD, "", 1, 0, weight, learned=EdgeLearning(**learned)
    )


# -- TC-CORE-001, -002: MemoryNode ------------------------------------------------------------


def test_a_memory_node_comes_back_from_bytes_with_all_its_fields():
    before = node()
    after = MemoryNode.from_bytes(before.to_bytes())
    assert after == before and after is not before
    assert after.embedding.dtype == np.float32 and after.embedding.tobytes() == (
        before.embedding.tobytes()
    )
    assert after.metadata == before.metadata and after.created_at == NOW


@settings(max_examples=30, deadline=None)
@given(
    content=st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
    embedding=st.lists(st.floats(-1, 1, width=32), max_size=9),
    importance=st.floats(0, 1),
    count=st.integers(0, 2**32 - 1),
    agent=st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
)
def test_any_memory_node_comes_back_from_bytes(content, embedding, importance, count, agent):
    before = node(
        content=content,
        embedding=embedding,
        importance=importance,
        access_count=count,
        agent_id=agent,
    )
    assert MemoryNode.from_bytes(before.to_bytes()) == before


def test_memory_nodes_that_differ_in_one_field_differ():
    one = node()
    for change in (
        {"embedding": np.ones(3)},
        {"content": ""},
        {"access_count": 13},
        {"metadata": {}},
    ):
        assert one.model_copy(update=change) != one
    assert one != "a node"


def test_a_memory_node_holds_65536_characters_and_no_more():
    assert len(node(content="a" * 65_536).content) == 65_536
    with pytest.raises(ValidationError, match="65536"):
        node(content="a" * 65_537)


@pytest.mark.parametrize(
    "wrong",
    [
        {"importance": 1.01},
        {"importance": -0.01},
        {"access_count": -1},
        {"id": "not a uuid"},
        {"created_at": datetime(2026, 1, 1)},
        {"embedding": [[1.0]]},
        {"embedding": [float("nan")]},
        {"johari_quadrant": "elsewhere"},
        {"semantic_cluster": "7"},
    ],
)
def test_a_memory_node_keeps_its_bounds(wrong):
    with pytest.raises(ValidationError):
        node(**wrong)


def test_a_new_memory_node_has_the_documents_defaults():
    new = MemoryNode(id=str(uuid4()), content="", created_at=NOW, last_accessed=NOW)
    assert (new.importance, new.access_count, new.agent_id) == (0.5, 0, None)
    assert (new.semantic_cluster, new.metadata, new.embedding.size) == (None, {}, 0)
    assert (new.johari_quadrant, new.utl_state) == (JohariQuadrant.UNKNOWN, UTLState())


def test_an_embedding_cannot_be_changed_in_place():
    with pytest.raises(ValueError, match="read-only"):
        node().embedding[0] = 1.0


def test_a_memory_node_written_in_the_first_format_is_migrated():
    new = node(semantic_cluster=None, embedding=[0.5, -0.25])
    fields = json.loads(new.to_bytes().split(b" ", 1)[1])
    fields |= fields.pop("utl_state") | {"embedding": [0.5, -0.25]}
    del fields["semantic_cluster"]
    assert MemoryNode.from_bytes(b"1 " + json.dumps(fields).encode()) == new


def test_an_activity_written_in_the_first_format_is_migrated():
    found = ACTIVITY_FORMAT.read(
        MemoryActivity, b'1 {"access_count":4,"utl_state":[0.1,0.2,1.0,0.5]}'
    )
    assert found == MemoryActivity(
        access_count=4, utl_state=UTLState(delta_s=0.1, delta_c=0.2, w_e=1.0, phi=0.5)
    )


@pytest.mark.parametrize("version", [0, 3, 99])
def test_a_format_that_there_is_no_way_from_is_named_with_the_node(version):
    data = b"%d %s" % (version, node().to_bytes().split(b" ", 1)[1])
    with pytest.raises(UnknownFormat, match=f"seven.*format version {version}") as caught:
        MemoryNode.from_bytes(data, "seven")
    assert caught.value.code == -32603
    assert caught.value.data == {"node_id": "seven", "format_version": version}


@pytest.mark.parametrize(
    "data", [b"", b"\x00\xff", b"2", b"2 {", b"2 []", b"2 {}", b"x {}", b"1 {}", b"2 \xff\xfe"]
)
def test_bytes_that_are_no_memory_node_are_an_error_and_no_crash(data):
    with pytest.raises(SerializationFailed) as caught:
        MemoryNode.from_bytes(data)
    assert caught.value.message == "Internal error: Data serialization failed"
    assert caught.value.code == -32603


# -- TC-CORE-003 to -005, -007: quadrant, pulse, action, learning state ------------------------


@pytest.mark.parametrize(
    ("entropy", "coherence", "quadrant"),
    [
        (0.3, 0.7, JohariQuadrant.OPEN),
        (0.6, 0.3, JohariQuadrant.BLIND),
        (0.3, 0.3, JohariQuadrant.HIDDEN),
        (0.6, 0.7, JohariQuadrant.UNKNOWN),
        (0.5, 0.5, JohariQuadrant.BLIND),  # neither low nor high
        (0.5, 0.7, JohariQuadrant.UNKNOWN),
        (0.3, 0.5, JohariQuadrant.HIDDEN),
        (0.4999, 0.5001, JohariQuadrant.OPEN),
        (0.0, 1.0, JohariQuadrant.OPEN),
        (1.0, 0.0, JohariQuadrant.BLIND),
    ],
)
def test_the_quadrant_follows_from_entropy_and_coherence(entropy, coherence, quadrant):
    assert JohariQuadrant.from_metrics(entropy, coherence) is quadrant


def test_a_pulse_is_json_with_its_three_fields():
    pulse = CognitivePulse(entropy=0.5, coherence=0.7, suggested_action=SuggestedAction.READY)
    serialised = json.loads(pulse.model_dump_json())
    assert serialised == {"entropy": 0.5, "coherence": 0.7, "suggested_action": "ready"}


@pytest.mark.parametrize(("field", "value"), [("entropy", 1.1), ("coherence", -0.1)])
def test_a_pulse_keeps_its_bounds(field, value):
    fields = {"entropy": 0.5, "coherence": 0.5, "suggested_action": "ready"} | {field: value}
    with pytest.raises(ValidationError):
        CognitivePulse.model_validate(fields)


# The square is cut at entropy 0.4 and 0.7 and at coherence 0.4 and 0.5. A row is a band of
# coherence, a column one of entropy; the cuts themselves belong to the middle.
LOW, MIDDLE, HIGH = (0.0, 0.2, 0.3999), (0.4, 0.55, 0.7), (0.7001, 0.85, 1.0)
INCOHERENT, BETWEEN, COHERENT = (0.0, 0.2, 0.3999), (0.4, 0.45, 0.5), (0.5001, 0.75, 1.0)
EXPLORE, CLARIFY, DREAM = (
    SuggestedAction.EXPLORE,
    SuggestedAction.CLARIFY,
    SuggestedAction.TRIGGER_DREAM,
)
READY, ASK = SuggestedAction.READY, SuggestedAction.EPISTEMIC_ACTION
SQUARE = [
    (INCOHERENT, (EXPLORE, CLARIFY, DREAM)),
    (BETWEEN, (READY, READY, READY)),
    (COHERENT, (READY, READY, ASK)),
]
CELLS = [
    (entropy, coherence, action)
    for band, actions in SQUARE
    for column, action in zip((LOW, MIDDLE, HIGH), actions, strict=True)
    for entropy in column
    for coherence in band
]


@pytest.mark.parametrize(("entropy", "coherence", "action"), CELLS)
def test_every_cell_of_the_square_has_its_action(entropy, coherence, action):
    """A question is suggested only where one is open."""
    assert suggest_action(entropy, coherence) is (READY if action is ASK else action)
    curating = suggest_action(entropy, coherence, curation_pending=True)
    assert curating is (SuggestedAction.CURATE if action in (READY, ASK) else action)
    asking = suggest_action(entropy, coherence, curation_pending=True, question_open=True)
    assert asking is (SuggestedAction.CURATE if action is READY else action)
    consolidating = suggest_action(entropy, coherence, consolidation_due=True)
    expected = SuggestedAction.CONSOLIDATE if action is ASK else action
    assert consolidating is expected


def test_an_action_that_is_a_tool_is_suggested_only_to_clients_that_have_it():
    def offers_none(_: str) -> bool:
        return False

    for entropy, coherence, _ in CELLS:
        action = suggest_action(entropy, coherence, question_open=True, offers=offers_none)
        assert action not in (ASK, DREAM)


def test_every_action_can_be_suggested():
    fields = {
        suggest_action(e, c, curation_pending=pending, consolidation_due=due, question_open=pending)
        for e, c, _ in CELLS
        for pending in (False, True)
        for due in (False, True)
    }
    assert fields == set(SuggestedAction)


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (0, VerbosityLevel.RAW_ONLY),
        (1, VerbosityLevel.TEXT_AND_IDS),
        (2, VerbosityLevel.FULL_INSIGHTS),
        (3, VerbosityLevel.TEXT_AND_IDS),
        (255, VerbosityLevel.TEXT_AND_IDS),
        (-1, VerbosityLevel.TEXT_AND_IDS),
    ],
)
def test_a_number_that_is_no_verbosity_level_means_text_and_ids(level, expected):
    assert VerbosityLevel.from_level(level) is expected


def test_a_learning_state_has_the_documents_defaults_and_bounds():
    state = UTLState()
    assert (state.delta_s, state.delta_c, state.w_e, state.phi) == (0.5, 0.5, 1.0, 0.0)
    for wrong in ({"delta_s": 1.1}, {"delta_c": -0.1}, {"w_e": 0.4}, {"w_e": 1.6}, {"phi": 3.15}):
        with pytest.raises(ValidationError):
            UTLState(**wrong)


# -- TC-CORE-030 to -034: domains and edges ---------------------------------------------------


@pytest.mark.parametrize(
    ("domain", "weights"),
    [
        (Domain.CODE, (0.7, 0.1, 0.4)),
        (Domain.LEGAL, (0.5, 0.4, 0.2)),
        (Domain.MEDICAL, (0.6, 0.3, 0.5)),
        (Domain.CREATIVE, (0.8, 0.05, 0.7)),
        (Domain.RESEARCH, (0.6, 0.2, 0.6)),
        (Domain.GENERAL, (0.5, 0.2, 0.3)),
    ],
)
def test_a_domain_has_its_profile(domain, weights):
    found = NeurotransmitterWeights.for_domain(domain)
    assert (found.excitatory, found.inhibitory, found.modulatory) == weights
    assert EdgeLearning(domain=domain).neurotransmitter_weights == found


def test_all_six_profiles_are_distinct():
    assert len({NeurotransmitterWeights.for_domain(each) for each in Domain}) == len(Domain) == 6


@pytest.mark.parametrize(
    ("weights", "net"),
    [((0.5, 0.2, 0.3), 0.195), ((1.0, 0.0, 1.0), 1.0), ((0.0, 1.0, 1.0), -1.0), ((0, 0, 1), 0.0)],
)
def test_net_activation_is_the_balance_let_through(weights, net):
    excitatory, inhibitory, modulatory = weights
    found = NeurotransmitterWeights(
        excitatory=excitatory, inhibitory=inhibitory, modulatory=modulatory
    )
    assert found.net_activation() == pytest.approx(net)


def weights(excitatory: float, inhibitory: float, modulatory: float) -> NeurotransmitterWeights:
    return NeurotransmitterWeights(
        excitatory=excitatory, inhibitory=inhibitory, modulatory=modulatory
    )


@pytest.mark.parametrize(
    ("weight", "given_weights", "reward", "effective"),
    [
        (1.0, weights(0.5, 0.2, 0.3), 0.0, 0.5975),
        (1.0, weights(1.0, 0.0, 1.0), 0.0, 1.0),  # all excitation
        (1.0, weights(1.0, 0.0, 1.0), 1.0, 1.0),  # clamped
        (1.0, weights(0.0, 1.0, 1.0), 1.0, 0.0),  # all inhibition
        (0.5, weights(0.8, 0.05, 0.7), 1.0, 0.5 * (0.5 + 0.5 * 0.6375) * 1.2),
        (0.5, weights(0.8, 0.05, 0.7), -1.0, 0.5 * (0.5 + 0.5 * 0.6375) * 0.8),
        (0.0, weights(1.0, 0.0, 1.0), 1.0, 0.0),
    ],
)
def test_the_effective_weight_combines_weight_balance_and_reward(
    weight, given_weights, reward, effective
):
    found = edge(weight, neurotransmitter_weights=given_weights, steering_reward=reward)
    assert found.effective_weight() == pytest.approx(effective)


def test_an_edge_that_has_learnt_nothing_acts_with_the_general_profile():
    plain = GraphEdge("a", "b", "links to", EdgeOrigin.LINK, "", 1, 0, 0.5)
    assert plain.learned == EdgeLearning() and plain.effective_weight() == pytest.approx(0.29875)


@pytest.mark.parametrize(
    ("shortcut", "traversals", "reward", "valuable"),
    [
        (True, 10, 0.5, True),
        (True, 6, 0.3001, True),
        (True, 5, 0.5, False),
        (True, 10, 0.3, False),
        (False, 10, 0.5, False),
    ],
)
def test_a_shortcut_is_valuable_when_traversals_proved_it(shortcut, traversals, reward, valuable):
    found = edge(is_amortized_shortcut=shortcut, traversal_count=traversals, steering_reward=reward)
    assert found.is_valuable_shortcut() is valuable


def test_an_edge_comes_back_from_json_with_what_it_learnt():
    before = edge(
        0.75,
        domain=Domain.MEDICAL,
        neurotransmitter_weights=weights(0.1, 0.2, 0.3),
        created_at=NOW,
        last_traversed=LATER,
        traversal_count=9,
        is_amortized_shortcut=True,
        steering_reward=-0.45,
        confidence=0.6,
        metadata={"why": ["replay", 3]},
    )
    after = EDGES.validate_json(EDGES.dump_json(before))
    assert after == before and after.id == before.id and hash(after) == hash(before)


@pytest.mark.parametrize(
    ("reward", "kept"),
    [(1.0, 0.9), (-1.0, -0.9), (0.5, 0.45), (-0.5, -0.45), (7.0, 0.9), (-7.0, -0.9), (0.0, 0.0)],
)
def test_a_steering_reward_is_clamped_and_then_decayed(reward, kept):
    before = edge(0.5, domain=Domain.LEGAL)
    after = before.apply_steering(reward)
    assert after.learned.steering_reward == pytest.approx(kept)
    assert before.learned.steering_reward == 0.0 and after.learned.domain is Domain.LEGAL
    assert after.id == before.id


@pytest.mark.parametrize(
    "wrong",
    [{"steering_reward": 1.1}, {"confidence": -0.1}, {"confidence": 1.1}, {"traversal_count": -1}],
)
def test_what_an_edge_learns_keeps_its_bounds(wrong):
    with pytest.raises(ValidationError):
        EdgeLearning(**wrong)


@pytest.mark.parametrize("weight", [-0.01, 1.01, float("nan")])
def test_the_weight_of_an_edge_keeps_its_bounds(weight):
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        edge(weight)


def test_new_edges_of_a_domain_act_by_its_profile():
    for domain, new in INITIAL_LEARNING.items():
        assert new == EdgeLearning(domain=domain)
    assert (
        set(INITIAL_LEARNING) == set(Domain) and INITIAL_LEARNING[Domain.GENERAL] == EdgeLearning()
    )


# -- which domain a note belongs to -----------------------------------------------------------


def memory(path: str = "permanent/A note.md", **fields: Any) -> Memory:
    return Memory(
        **{
            "id": id_of_path(path),
            "path": path,
            "title": "A note",
            "lifecycle": Lifecycle.PERMANENT,
            "created_at": NOW,
        }
        | fields
    )


@pytest.mark.parametrize(
    ("given_memory", "domain"),
    [
        (memory(), Domain.GENERAL),
        (memory(metadata={"domain": "Medical"}, type="paper"), Domain.MEDICAL),
        (memory(type="paper", tags=("code",)), Domain.RESEARCH),
        (memory(type="decision", tags=("law/contracts",)), Domain.LEGAL),
        (memory(tags=("poetry", "ocean")), Domain.CREATIVE),
        (memory(tags=("research", "code")), Domain.GENERAL),
        (memory("work/Patient files/Visit.md"), Domain.MEDICAL),
        (memory("work/patience/Visit.md"), Domain.GENERAL),
    ],
)
def test_a_notes_own_marks_name_its_domain(given_memory, domain):
    assert domain_of(given_memory) is domain


@given(st.lists(st.text("aAbB", max_size=2)))
def test_the_first_of_each_key_stays_in_its_place(texts: list[str]) -> None:
    distinct = distinct_by(texts, str.casefold)
    assert len({text.casefold() for text in distinct}) == len(distinct)
    assert {text.casefold() for text in distinct} == {text.casefold() for text in texts}
    first_places = [[text.casefold() for text in texts].index(text.casefold()) for text in distinct]
    assert first_places == sorted(first_places)
    assert distinct == [texts[place] for place in first_places]
