"""Probabilities from statements: the formulas, exact and approximate inference, what-if."""

from __future__ import annotations

import sys
from datetime import UTC, date, datetime, timedelta
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.model.errors import CausalInferenceError
from memvault.model.memory import Lifecycle, Memory
from memvault.reasoning.bayes import inference
from memvault.reasoning.bayes.belief_propagation import propagate
from memvault.reasoning.bayes.competing_values import (
    SOMETHING_ELSE,
    VALUE,
    add_competing_values,
    claims_answering,
    competing_values_of,
)
from memvault.reasoning.bayes.inference import elimination_cost, posterior
from memvault.reasoning.bayes.influence_graph import acyclic, influence_graph, truth_table
from memvault.reasoning.bayes.influences import Influence, Kind
from memvault.reasoning.bayes.network import TRUE, Network, Variable
from memvault.reasoning.bayes.pgmpy_loader import load_pgmpy
from memvault.reasoning.bayes.probability import read_question
from memvault.reasoning.bayes.source_weights import belief, moment_of, recency, weight, wilson
from memvault.verification.claims.amounts import Amount
from memvault.verification.claims.claim_extraction import claims_of
from memvault.verification.claims.claims import Claim, ClaimSource

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SECONDS = 5.0


@pytest.fixture(scope="module", autouse=True)
def _exact():
    load_pgmpy()


def memory(**fields) -> Memory:
    own = {
        "id": "m",
        "path": "m.md",
        "title": "M",
        "lifecycle": Lifecycle.PERMANENT,
        "created_at": NOW,
    }
    return Memory(**{**own, **fields})


def influence(cause: str, effect: str, strength: float, kind: Kind = Kind.RAISES) -> Influence:
    return Influence(cause, effect, kind, strength, ())


def network(own: dict[str, float], *influences: Influence) -> Network:
    made = Network()
    for key, believed in own.items():
        parents = [each for each in influences if each.effect == key]
        made.add(Variable(key, key), [p.cause for p in parents], truth_table(believed, parents))
    return made


def chance(made: Network, target: str, evidence: dict[str, int] | None = None) -> float:
    return posterior(made, target, evidence or {}, SECONDS).probabilities[TRUE]


def by_counting(made: Network, target: str, evidence: dict[str, int]) -> float:
    """The probability by adding up the whole joint distribution."""
    keys = list(made.variables)
    sums = [0.0, 0.0]
    for states in product((0, 1), repeat=len(keys)):
        world = dict(zip(keys, states, strict=True))
        if any(world[key] != value for key, value in evidence.items()):
            continue
        likely = 1.0
        for key in keys:
            likely *= made.tables[key][(*(world[p] for p in made.parents[key]), world[key])]
        sums[world[target]] += likely
    return sums[1] / sum(sums)


# -- weights --------------------------------------------------------------------------------------


def test_a_statement_weighs_half_after_the_half_life():
    year_ago = NOW - timedelta(days=365)
    assert recency(NOW, NOW, 365) == 1.0
    assert recency(year_ago, NOW, 365) == pytest.approx(0.5)
    assert recency(NOW + timedelta(days=3), NOW, 365) == 1.0


def test_an_ordinary_note_weighs_one_and_a_verified_one_four():
    assert weight(memory(), 1.0) == 1.0
    assert weight(memory(verified=True), 1.0) == 4.0
    assert weight(memory(metadata={"verified": False}), 1.0) == 0.5
    assert weight(memory(importance=0.8), 0.5) == pytest.approx(0.65)


def test_belief_grows_with_sources_and_is_never_sure():
    assert belief(0.0) == 0.0
    assert belief(1.0) == pytest.approx(2 / 3)
    assert belief(1.0) < belief(4.0) < 1.0


def test_the_day_a_sentence_tells_counts_before_the_note_s():
    dated = memory(date=NOW - timedelta(days=9))
    assert moment_of(dated) == NOW - timedelta(days=9)
    assert moment_of(dated, date(2026, 2, 1)) == datetime(2026, 2, 1, tzinfo=UTC)


@given(st.floats(0, 1), st.floats(0.1, 50), st.floats(0.1, 50))
@settings(max_examples=50)
def test_the_interval_holds_the_probability_and_narrows_with_sources(p, sources, more):
    low, high = wilson(p, sources)
    assert 0.0 <= low <= p + 1e-9 and p - 1e-9 <= high <= 1.0
    narrower = wilson(p, sources + more)
    assert narrower[1] - narrower[0] <= high - low + 1e-12


def test_without_sources_everything_is_possible():
    assert wilson(0.5, 0.0) == (0.0, 1.0)


# -- networks -------------------------------------------------------------------------------------


def test_several_causes_join_as_noisy_or():
    table = truth_table(0.4, [influence("a", "x", 0.5), influence("b", "x", 0.8)])
    assert table[0, 0, TRUE] == pytest.approx(0.2)  # the leak: half of its own belief
    assert table[1, 0, TRUE] == pytest.approx(1 - 0.8 * 0.5)
    assert table[1, 1, TRUE] == pytest.approx(1 - 0.8 * 0.5 * 0.2)


def test_what_lowers_and_what_is_lacking_make_it_less_likely():
    table = truth_table(
        0.6,
        [influence("block", "x", 0.5, Kind.LOWERS), influence("need", "x", 0.9, Kind.NEEDED)],
    )
    assert table[0, 1, TRUE] == pytest.approx(0.6)
    assert table[1, 1, TRUE] == pytest.approx(0.3)
    assert table[0, 0, TRUE] == pytest.approx(0.06)


@given(st.integers(0, 2**31))
@settings(max_examples=8, deadline=None)
def test_every_way_of_inference_agrees_with_counting_all_worlds(seed):
    rng = np.random.default_rng(seed)
    keys = [f"v{n}" for n in range(6)]
    influences = [
        influence(keys[a], keys[b], float(rng.uniform(0.2, 0.9)), rng.choice(list(Kind)))
        for b in range(6)
        for a in range(b)
        if rng.random() < 0.4
    ]
    made = network({key: float(rng.uniform(0.2, 0.8)) for key in keys}, *influences)
    seen = {keys[5]: 1}
    expected = by_counting(made, keys[0], seen)
    assert chance(made, keys[0], seen) == pytest.approx(expected, abs=1e-9)
    sampled = inference._sampled(made, keys[0], seen, 0.5)
    assert sampled[TRUE] == pytest.approx(expected, abs=0.04)


def test_beliefs_spread_exactly_where_there_are_no_loops():
    made = network(
        {"a": 0.3, "b": 0.5, "c": 0.4, "d": 0.5},
        influence("a", "b", 0.7),
        influence("b", "c", 0.6),
        influence("b", "d", 0.5, Kind.LOWERS),
    )
    beliefs = propagate(made, {"c": (0.0, 1.0)}, 100)
    assert beliefs.converged and beliefs.iterations < 60
    for key in "abd":
        assert beliefs.probabilities[key][TRUE] == pytest.approx(
            by_counting(made, key, {"c": 1}), abs=1e-4
        )


def test_to_do_is_not_to_see_where_both_have_one_cause():
    made = network(
        {"warm": 0.5, "ice": 0.2, "sunburn": 0.2},
        influence("warm", "ice", 0.9),
        influence("warm", "sunburn", 0.9),
    )
    seen = chance(made, "sunburn", {"ice": 1})
    assert seen > chance(made, "sunburn") + 0.2
    assert chance(made.intervened({"ice": 1}), "sunburn") == pytest.approx(chance(made, "sunburn"))
    assert chance(made.intervened({"warm": 1}), "sunburn") == pytest.approx(
        chance(made, "sunburn", {"warm": 1})
    )


def test_one_cause_explains_the_other_away():
    made = network(
        {"rain": 0.3, "hose": 0.3, "wet": 0.1},
        influence("rain", "wet", 0.9),
        influence("hose", "wet", 0.9),
    )
    assert chance(made, "rain", {"wet": 1}) > chance(made, "rain")
    assert chance(made, "rain", {"wet": 1, "hose": 1}) < chance(made, "rain", {"wet": 1})
    assert made.active("rain", {"wet"}) == {"rain", "hose"}
    assert made.active("rain", set()) == {"rain", "wet"}


def test_impossible_evidence_is_refused():
    made = network({"a": 1.0, "b": 0.5}, influence("a", "b", 1.0, Kind.LOWERS))
    for evidence in ({"b": 1}, {"a": 0}, {"a": 1, "b": 1}):
        with pytest.raises(CausalInferenceError):
            posterior(made, "a", evidence, SECONDS)
    with pytest.raises(CausalInferenceError):
        posterior(made.intervened({"a": 0}), "b", {"a": 1}, SECONDS)
    with pytest.raises(CausalInferenceError):
        propagate(made, {"b": (0.0, 1.0)}, 50)


def test_what_is_too_large_for_the_time_is_sampled_and_says_so():
    keys = [f"v{n}" for n in range(30)]
    dense = [influence(a, b, 0.3) for k, b in enumerate(keys) for a in keys[max(0, k - 4) : k]]
    made = network(dict.fromkeys(keys, 0.4), *dense)
    total, largest = elimination_cost(made, "v0", {"v29": 1})
    assert total > largest > 8
    exact = posterior(made, "v0", {"v29": 1}, SECONDS)
    quick = posterior(made, "v0", {"v29": 1}, total / inference.ENTRIES_PER_SECOND / 2)
    assert not exact.approximate and quick.approximate
    assert quick.probabilities[TRUE] == pytest.approx(exact.probabilities[TRUE], abs=0.08)
    again = posterior(made, "v0", {"v29": 1}, total / inference.ENTRIES_PER_SECOND / 2)
    assert len(again.probabilities) == 2


def test_circles_are_cut_at_their_weakest_link_and_no_node_has_many_parents():
    kept = acyclic([influence("a", "b", 0.9), influence("b", "a", 0.5)])
    assert [i.cause for i in kept["b"]] == ["a"] and not kept["a"]
    many = [influence(f"c{n}", "x", 0.1 * n) for n in range(1, 9)]
    assert [i.cause for i in acyclic(many)["x"]] == ["c8", "c7", "c6", "c5"]


def test_the_influence_graph_is_bounded_and_the_strongest_come_first():
    edges = [influence(f"n{n}", f"n{n + 1}", 0.9) for n in range(100)]
    edges += [influence("n0", f"weak{n}", 0.1) for n in range(100)]

    def of(key: str) -> list[Influence]:
        return [each for each in edges if key in (each.cause, each.effect)]

    around = influence_graph(["n0"], of)
    assert len(around.nodes) == 40 and around.nodes[:3] == ("n0", "n1", "n2")
    closed = influence_graph(["n0"], of, lambda key: not key.startswith("n"))
    assert all(key == "n0" or key.startswith("weak") for key in closed.nodes)


# -- competing values -----------------------------------------------------------------------------


def claim(note: str, value: str, **fields) -> Claim:
    own = {
        "subjects": frozenset({"boat"}),
        "names_subject": True,
        "attribute": frozenset({"skipper"}),
        "label": "skipper",
        "value": "name:" + value.lower(),
        "value_text": value,
        "sentence": f"{value} is the skipper, says {note}.",
        "source": ClaimSource(note, note + ".md", note),
        "sentence_stems": frozenset(),
        "heading_stems": frozenset(),
        "title_stems": frozenset(),
    }
    return Claim(**{**own, **fields})


def values(claims: list[Claim], own: dict[str, float]) -> dict[str, float]:
    contest = competing_values_of(claims)
    assert contest is not None
    made = network({each.claim.source.note_id: 0.0 for each in contest.witnesses})
    for key in list(made.variables):
        made.tables[key] = truth_table(belief(own[key]), [])
    seen = add_competing_values(made, contest)
    found = posterior(made, VALUE, seen, SECONDS)
    return dict(zip((*contest.values, SOMETHING_ELSE), found.probabilities, strict=True))


def test_one_witness_is_believed_but_not_sure():
    found = values([claim("a", "Ada")], {"a": 1.0})
    assert found == {
        "Ada": pytest.approx(5 / 6),
        SOMETHING_ELSE: pytest.approx(1 / 6),
    }


def test_more_witnesses_make_a_value_likelier_and_others_less():
    one = values([claim("a", "Ada"), claim("b", "Bo")], {"a": 1.0, "b": 1.0})
    two = values(
        [claim("a", "Ada"), claim("b", "Bo"), claim("c", "Ada")], dict.fromkeys("abc", 1.0)
    )
    assert one["Ada"] == pytest.approx(one["Bo"])
    assert two["Ada"] > one["Ada"] and two["Bo"] < one["Bo"]


def test_the_more_recent_of_two_is_the_likelier():
    found = [
        values([claim("a", "Ada"), claim("b", "Bo")], {"a": 1.0, "b": recency(then, NOW, 365)})
        for then in (NOW - timedelta(days=days) for days in (0, 100, 1000))
    ]
    assert found[0]["Ada"] < found[1]["Ada"] < found[2]["Ada"]


def test_a_sentence_that_was_copied_is_one_witness():
    said = "Ada is the skipper of the boat that we bought in spring."
    copied = competing_values_of(
        [claim("a", "Ada", sentence=said), claim("b", "Ada", sentence=said)]
    )
    own = competing_values_of([claim("a", "Ada"), claim("b", "Ada")])
    assert copied is not None and own is not None
    assert len(copied.witnesses) == 1 and len(own.witnesses) == 2


def test_a_denial_speaks_against_a_value_and_perhaps_says_little():
    plain = values([claim("a", "Ada")], {"a": 1.0})
    denied = values([claim("a", "Ada"), claim("b", "Ada", negated=True)], dict.fromkeys("ab", 1.0))
    hedged = values([claim("a", "Ada", asserted=False)], {"a": 1.0})
    assert denied["Ada"] < plain["Ada"] and hedged["Ada"] < plain["Ada"]


def test_what_is_said_to_be_past_is_no_witness():
    assert competing_values_of([claim("a", "Ada", outdated=True)]) is None
    assert competing_values_of([]) is None


# -- the value that answers -----------------------------------------------------------------------


def stated(sentence: str, title: str = "Tents") -> list[Claim]:
    return claims_of(sentence, ClaimSource("a", "a.md", title), lambda text, exclude: [])


@pytest.mark.parametrize(
    "sentence",
    [
        "The Otter tent weighs 2 kg, while the Badger tent weighs 6 kg.",
        "The weight of a tent is 2 kg for the Otter and 6 kg for the Badger.",
        "The Otter tent weighs 2 kg. The Badger tent weighs 6 kg.",
    ],
)
@pytest.mark.parametrize(("model", "value"), [("Otter", "2 kg"), ("Badger", "6 kg")])
def test_of_several_values_the_one_of_what_is_asked_about_answers(sentence, model, value):
    found = claims_answering(stated(sentence), f"What does the {model} tent weigh?")
    assert {each.value_text for each in found if isinstance(each.value, Amount)} == {value}


def test_a_sentence_about_something_else_does_not_answer():
    claims = stated("The Otter tent weighs 2 kg, while the Badger tent weighs 6 kg.")
    assert claims_answering(claims, "What does the Weasel tent weigh?") == []
    assert (
        claims_answering(claims, "How long does the Otter tent take to dry after heavy rain?") == []
    )


# -- questions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "matter", "holds", "done"),
    [
        ("Will the launch be late if the permit is refused?", "Will the launch be late", 0, 0),
        ("How likely is rain given that the glass falls?", "How likely is rain", 1, 0),
        ("What if we cancel the ferry?", "", 0, 1),
        ("Suppose the ferry runs, how likely is a profit?", "how likely is a profit", 1, 1),
        ("Is the launch safe without the permit?", "Is the launch safe", 0, 1),
    ],
)
def test_conditions_are_separated_from_the_question(text, matter, holds, done):
    question = read_question(text)
    assert question.text == matter
    assert [(c.holds, c.is_intervention) for c in question.conditions] == [
        (bool(holds), bool(done))
    ]


def test_a_question_of_chance_is_distinguished_from_one_for_a_value():
    assert read_question("How likely is the launch?").asks_chance
    assert read_question("Will it rain?").asks_chance
    assert not read_question("Who leads the survey?").asks_chance
    assert not read_question("When is the launch?").asks_chance


def test_inference_needs_no_torch():
    assert "pgmpy" in sys.modules
    assert "torch" not in sys.modules or "sentence_transformers" in sys.modules
