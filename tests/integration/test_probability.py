"""Questions of probability and cause over real notes, as a client asks them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from memvault.reasoning.bayes.pgmpy_loader import load_pgmpy
from tests.integration.caller import Caller
from tests.integration.small_vault import opened

FERRY = "---\ntype: event\nproject: ferry\n---\n"
NOTES = {
    "Lockers.md": "# Lockers\n\nThe Oak locker takes bags of up to 2 kg, while the Birch locker takes "
    "bags of up to 9 kg.\n\nBags are weighed every 4 days in the hall, and kept for 11 days.\n",
    "projects/ferry/Ferry launch.md": "---\ntype: project\nproject: ferry\n---\n"
    "Lead: [[Ona Vik]]\n\nThe new ferry starts in summer.\n\ndepends on:: [[Harbour permit]]\n",
    "projects/ferry/Harbour permit.md": FERRY
    + "The council has to grant it.\n\nblocked by:: [[Nesting season]]\n",
    "projects/ferry/Nesting season.md": FERRY + "Terns nest on the quay until July.\n",
    "projects/ferry/Warm spring.md": FERRY
    + "causes:: [[Nesting season]]\n\nA warm spring was forecast. It also caused [[Early tourists]].\n",
    "projects/ferry/Early tourists.md": FERRY + "leads to:: [[Ticket demand]]\n",
    "projects/ferry/Ticket demand.md": FERRY + "caused by:: [[Nesting season]]\n",
    "projects/ferry/Costs in March.md": "---\nproject: ferry\ndate: 2026-03-02\n---\n"
    "The budget of the [[Ferry launch]] is 400k EUR.\n",
    "projects/ferry/Costs in June.md": "---\nproject: ferry\ndate: 2026-06-10\n---\n"
    "The budget of the [[Ferry launch]] was raised to 450k EUR.\n",
    "projects/ferry/Board minutes.md": "---\nproject: ferry\ndate: 2026-06-20\n---\n"
    "The board confirmed that the budget of the [[Ferry launch]] is 450,000 euros.\n",
    "permanent/Ona Vik.md": "---\ntype: person\n---\nOna Vik is a shipwright.\n",
    "permanent/Night diving.md": "Night diving is safe with two lamps.\n",
    "permanent/Accident report.md": "contradicts:: [[Night diving]]\n\nA lamp failed.\n",
    "Shed.md": "# Shed\n\nThe lease of the shed ends on 3 March 2031.\n\nLandlord: [[Ona Vik]]\n",
    "Van.md": "# Van\n\nThe mileage of the van is 40,000 km.\n",
    "projects/jetty/Jetty fire.md": "---\nproject: jetty\n---\n"
    + "".join(f"caused by:: [[Spark {n}]]\n\n" for n in range(30)),
    "projects/oven/Clay oven.md": "---\ntype: project\nproject: oven\n---\nSand and straw.\n",
}
BUDGET = "What is the budget of the Ferry launch?"


class Chances(Caller):
    def chance(self, **arguments: Any) -> float:
        return self.ok("probabilistic_query", **arguments)["distribution"]["true"]


@pytest.fixture(scope="module")
def caller(tmp_path_factory) -> Iterator[Chances]:
    load_pgmpy()
    base = tmp_path_factory.mktemp("chances")
    container = opened(base, NOTES)
    yield Chances(container, tools="full")
    container.close()


def test_values_on_which_notes_disagree_get_a_distribution_with_its_sources(caller):
    answer = caller.ok("probabilistic_query", query=BUDGET)
    best, second, rest = answer["distribution"].items()
    assert best[0] == "450,000 euros" and second[0] == "400k EUR" and rest[0] == "something else"
    assert best[1] > 0.8 > second[1] and sum(answer["distribution"].values()) == pytest.approx(
        1, abs=0.01
    )
    low, high = answer["interval"]["450,000 euros"]
    assert low < best[1] < high
    assert not answer["approximate"]
    titles = {each["title"] for each in answer["evidence_used"]}
    assert titles == {"Board minutes", "Costs in June", "Costs in March"}
    march = next(e for e in answer["evidence_used"] if e["title"] == "Costs in March")
    june = next(e for e in answer["evidence_used"] if e["title"] == "Costs in June")
    assert march["weight"] < june["weight"] / 2  # the later note says that it was raised
    assert march["path"] == "projects/ferry/Costs in March.md" and march["lines"] == [5, 5]
    assert "400k EUR" in march["sentence"]


def test_a_note_that_is_known_to_be_wrong_no_longer_counts(caller):
    before = caller.ok("probabilistic_query", query=BUDGET)["distribution"]
    after = caller.ok("probabilistic_query", query=BUDGET, evidence={"Board minutes": False})
    assert after["distribution"]["450,000 euros"] < before["450,000 euros"]
    assert after["given"] == {"Board minutes": False}


def test_notes_that_say_different_cannot_both_be_right(caller):
    error = caller.error(
        "probabilistic_query",
        query=BUDGET,
        evidence={"Costs in March": True, "Costs in June": True},
    )
    assert error["code"] == -32003 and "cannot hold together" in error["message"]


def test_of_several_values_the_one_of_what_is_asked_about_is_given(caller):
    heavy = caller.ok("probabilistic_query", query="How heavy may bags in the Birch locker be?")
    assert next(iter(heavy["distribution"])) == "9 kg"
    light = caller.ok("probabilistic_query", query="How heavy may bags in the Oak locker be?")
    assert next(iter(light["distribution"])) == "2 kg"


def test_a_sentence_that_does_not_tell_which_value_is_asked_for_gives_none(caller):
    answer = caller.ok("probabilistic_query", query="How heavy may bags in a locker be?")
    assert not set(answer["distribution"]) & {"2 kg", "9 kg"}


def test_the_chance_of_a_statement_is_no_value_of_something_else_in_it(caller):
    of_else = caller.ok("probabilistic_query", query="How sure are we that night diving is safe?")
    assert "two" not in str(of_else["distribution"])
    asked = "How likely is it that the budget of the Ferry launch is 450,000 euros?"
    assert "450,000 euros" in caller.ok("probabilistic_query", query=asked)["distribution"]
    asked = "How likely is it that heavy bags in the Oak locker get wet?"
    assert caller.ok("probabilistic_query", query=asked)["distribution"] == {}


@pytest.mark.parametrize(
    ("asked", "value"),
    [("the lease of the shed ends in 2032", "3 March 2031"),
     ("the lease of the shed ends in March 2031", "3 March 2031"),
     ("the mileage of the van is 50,000 km", "40,000 km"),
     ("the budget of the Ferry launch is 500,000 euros", "450,000 euros"),
     ("the budget of the Ferry launch is 400k", "450,000 euros"),
     ("Ona is the landlord of the shed", "Ona Vik")],
)  # fmt: skip
def test_a_statement_with_another_value_or_part_of_one_is_answered_with_what_notes_say(
    caller, asked: str, value: str
):
    answer = caller.ok("probabilistic_query", query=f"How likely is it that {asked}?")
    assert next(iter(answer["distribution"])) == value


def test_a_field_answers_who(caller):
    answer = caller.ok("probabilistic_query", query="Who leads the Ferry launch?")
    assert next(iter(answer["distribution"])) == "Ona Vik"


def test_needs_and_hindrances_work_along_the_chain(caller):
    plain = caller.chance(query="How likely is the ferry launch?")
    assert (
        caller.chance(query="Will the ferry launch happen if the harbour permit is granted?")
        > plain
    )
    refused = caller.ok(
        "probabilistic_query",
        query="Will the ferry launch happen if the harbour permit is refused?",
    )
    assert refused["given"] == {"Harbour permit": False}
    assert refused["distribution"]["true"] < plain
    assert {e["title"] for e in refused["evidence_used"]} == {"Ferry launch"}
    hindered = caller.chance(target="Ferry launch", evidence={"Nesting season": True})
    assert hindered < plain


def test_what_if_is_not_what_is_seen(caller):
    seen = caller.chance(target="Ticket demand", evidence={"Nesting season": True})
    done = caller.chance(target="Ticket demand", do={"Nesting season": True})
    assert done < seen  # seeing it also tells of the warm spring that brings tourists


def test_a_contradiction_lowers_what_it_contradicts(caller):
    contradicted = caller.chance(target="Night diving")
    assert contradicted < caller.chance(target="Clay oven")
    answer = caller.ok("probabilistic_query", target="Night diving")
    assert any("lowers" in each["bearing"] for each in answer["evidence_used"])


def test_nothing_that_bears_on_it_is_an_empty_distribution(caller):
    answer = caller.ok("probabilistic_query", query="What is the capital of Mongolia?")
    assert answer["distribution"] == {} and answer["interval"] == {}
    assert answer["evidence_used"] == [] and "No note states a value" in answer["notice"]


def test_evidence_that_is_not_connected_is_said_to_change_nothing(caller):
    answer = caller.ok("probabilistic_query", target="Ferry launch", evidence={"Clay oven": True})
    assert "Clay oven" in answer["notice"]
    assert answer["distribution"]["true"] == caller.chance(target="Ferry launch")


def test_unknown_names_and_invalid_arguments_are_refused(caller):
    assert caller.error("probabilistic_query", target="No such thing")["code"] == -32602
    assert caller.error("probabilistic_query", query="x", do={"Nobody": True})["code"] == -32602
    assert caller.error("probabilistic_query")["code"] == -32602
    assert caller.error("query_causal", action="No such thing")["code"] == -32602
    other = caller.error("probabilistic_query", target="Clay oven", project="ferry")
    assert other["code"] == -32602 and "another project" in other["message"]
    clash = caller.error(
        "probabilistic_query",
        target="Ticket demand",
        evidence={"Nesting season": True},
        do={"Nesting season": False},
    )
    assert clash["code"] == -32003


def test_verbosity_says_how_much_of_the_evidence_is_shown(caller):
    bare = caller.ok("probabilistic_query", query=BUDGET, verbosity_level=0)["evidence_used"]
    assert all("sentence" not in each and "bearing" not in each for each in bare)
    full = caller.ok("probabilistic_query", target="Ticket demand", verbosity_level=2)
    short = caller.ok("probabilistic_query", target="Ticket demand", verbosity_level=0)
    assert len(full["evidence_used"]) > len(short["evidence_used"])


def test_effects_have_a_probability_with_and_without_the_action(caller):
    answer = caller.ok("query_causal", action="Warm spring")
    by_name = {each["name"]: each for each in answer["consequences"]}
    assert by_name["Nesting season"]["probability"] > by_name["Nesting season"]["otherwise"]
    assert by_name["Harbour permit"]["probability"] < by_name["Harbour permit"]["otherwise"]
    assert by_name["Ferry launch"]["depth"] == 3
    chain = by_name["Ferry launch"]["chain"]
    assert [each["effect"] for each in chain] == [
        "Nesting season",
        "Harbour permit",
        "Ferry launch",
    ]
    assert chain[1]["kind"] == "lowers" and chain[1]["path"] == "projects/ferry/Harbour permit.md"
    near = caller.ok("query_causal", action="Warm spring", max_depth=1)["consequences"]
    assert {each["name"] for each in near} == {"Nesting season", "Early tourists"}


def test_causes_have_a_probability_before_and_after_the_effect_is_seen(caller):
    answer = caller.ok("query_causal", action="Ferry launch", direction="causes")
    by_name = {each["name"]: each for each in answer["consequences"]}
    assert set(by_name) == {"Harbour permit", "Nesting season", "Warm spring"}
    assert by_name["Harbour permit"]["probability"] > by_name["Harbour permit"]["otherwise"]
    assert by_name["Nesting season"]["probability"] < by_name["Nesting season"]["otherwise"]


def test_chains_lead_through_a_node_from_first_cause_to_last_effect(caller):
    chains = caller.ok("expand_causal_path", node="Nesting season")["chains"]
    assert ["Warm spring", "Nesting season", "Ticket demand"] in [c["names"] for c in chains]
    long = next(c for c in chains if c["names"][-1] == "Ferry launch")
    assert long["raises"] is False and len(long["links"]) == 3
    assert chains == sorted(chains, key=lambda c: -c["strength"])


def test_inference_runs_forward_and_backward(caller):
    ahead = caller.ok(
        "omni_infer", query_type="forward", clamped_nodes=[{"node_id": "Warm spring"}]
    )
    names = {each["node_content"] for each in ahead["predictions"]}
    assert "Ferry launch" in names and "Ona Vik" not in names
    assert ahead["converged"] and 1 <= ahead["convergence_iterations"] <= 50
    back = caller.ok(
        "omni_infer",
        query_type="backward",
        clamped_nodes=[{"node_id": "Ferry launch", "clamp_value": False}],
    )
    seen = {each["node_content"]: each["predicted_value"] for each in back["predictions"]}
    assert seen["Nesting season"] > seen["Harbour permit"]
    assert 0 < back["overall_confidence"] < 1


def test_a_bridge_is_a_path_between_two_nodes(caller):
    ends = [{"node_id": "Board minutes"}, {"node_id": "Ona Vik"}]
    answer = caller.ok("omni_infer", query_type="bridge", clamped_nodes=ends)
    assert answer["inference_path"] == ["Board minutes", "Ferry launch", "Ona Vik"]
    assert [each["node_content"] for each in answer["predictions"]] == ["Ferry launch"]
    one = caller.error("omni_infer", query_type="bridge", clamped_nodes=ends[:1])
    assert one["code"] == -32602


def test_abduction_finds_what_the_observations_share(caller):
    seen = [{"node_id": name} for name in ("Costs in March", "Costs in June", "Board minutes")]
    answer = caller.ok("omni_infer", query_type="abduction", clamped_nodes=seen)
    assert answer["predictions"][0]["node_content"] == "Ferry launch"
    causes = caller.ok(
        "omni_infer", query_type="abduction", clamped_nodes=[{"node_id": "Ticket demand"}]
    )["predictions"]
    assert {"Nesting season", "Early tourists"} <= {each["node_content"] for each in causes}


@pytest.mark.timeout(60)
def test_observations_do_not_explain_each_other(caller):
    names = ["Nesting season", "Ticket demand"]
    answer = caller.ok(
        "omni_infer",
        query_type="abduction",
        clamped_nodes=[{"node_id": name} for name in names],
        predict_nodes=names,
    )
    assert answer["predictions"] == []  # both are known


@pytest.mark.timeout(60)
def test_many_wanted_explanations_are_predicted_at_once(caller):
    names = [f"Spark {n}" for n in range(20)]
    answer = caller.ok(
        "omni_infer",
        query_type="abduction",
        clamped_nodes=[{"node_id": "Jetty fire"}],
        predict_nodes=names,
    )
    assert {each["node_content"] for each in answer["predictions"]} == set(names)


def test_clamps_may_be_unsure_or_an_embedding(caller):
    def permit(**clamp: Any) -> float:
        answer = caller.ok(
            "omni_infer",
            query_type="forward",
            clamped_nodes=[{"node_id": "Nesting season", **clamp}],
            predict_nodes=["Harbour permit"],
        )
        return answer["predictions"][0]["predicted_value"]

    sure = permit()
    assert sure < permit(clamp_type="scalar", clamp_value=0.6) < permit(clamp_value=False)
    vector = caller.container.embedder.embed_query("Terns nest on the quay until July.").tolist()
    assert permit(clamp_type="semantic", clamp_value=vector) < permit(clamp_value=False)
    wrong = caller.error(
        "omni_infer",
        query_type="forward",
        clamped_nodes=[
            {"node_id": "Nesting season", "clamp_type": "semantic", "clamp_value": [0.1, 0.2]}
        ],
    )
    assert wrong["code"] == -32602 and "384 dimensions" in wrong["message"]
    too_many = caller.error(
        "omni_infer",
        query_type="forward",
        clamped_nodes=[{"node_id": "Nesting season"}],
        max_iterations=201,
    )
    assert too_many["message"] == "max_iterations must be between 1 and 200"
