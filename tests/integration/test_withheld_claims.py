"""What only a client says: shown as a claim, or withheld on a sensitive matter, which is said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.caller import Caller
from tests.integration.searching import container_of

WHY = "The person asked me to remember it"
NOTES = {
    "servers/Heron.md": "---\ntype: server\ncost: 31\n---\nRuns the shop.\n",
    "servers/Otter.md": "---\ntype: server\ncost: 8\n---\nRuns the mail.\n",
    "servers/Stoat.md": "---\ntype: server\ncost: 12\n---\nRuns the wiki.\n",
    "people/Bo Hald.md": "---\ntype: employee\nsalary: 3100\n---\nPaints the boats.\n",
    "people/Eva Lien.md": "---\ntype: employee\nsalary: 2800\n---\nSews the sails.\n",
    "people/Kim Dahl.md": "---\ntype: employee\nsalary: 2900\n---\nKeeps the books.\n",
    "house/Flat.md": "# Flat\n\nThe flat is on the third floor. The rent of the flat is paid on the "
    "first of the month.\n",
    "house/Cellar.md": "# Cellar\n\nThe cellar is dry, and its door sticks.\n",
    "house/Bikes.md": "# Bikes\n\nThree bikes are in the shed.\n",
}


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    container = container_of(tmp_path_factory.mktemp("withheld"), NOTES)
    container.indexing.scan()
    caller = Caller(container, tools="full")
    for name, cost in (("Otter", "48.90"), ("Eva Lien", "4900")):
        key = "cost" if name == "Otter" else "salary"
        caller.ok("edit_memory", target=name, operation="set_property", property=key,
                  content=cost, rationale=WHY)  # fmt: skip
    caller.ok("store_memory", content="The bike shop charges 45 euros for a service.",
              title="Bike shop", rationale=WHY)  # fmt: skip
    caller.ok("store_memory", content="The rent of the cellar is 95 euros a month from May.",
              rationale=WHY)  # fmt: skip
    container.indexing.scan()
    yield caller
    container.close()


def named(answer: dict[str, Any], title: str) -> dict[str, Any]:
    return next(each for each in answer["nodes"] if each["title"] == title)


@pytest.mark.parametrize(
    "question", ["What does a bike service cost?", "Wie viel kostet ein bike service?"]
)
def test_a_price_that_a_client_was_told_to_remember_is_shown_as_its_claim(call, question):
    answer = call.ok("recall_memory", query=question)
    claim = named(answer, "Bike shop")
    assert "45 euros" in claim["content"]
    assert (claim["origin"], claim["verified"]) == ("client", False)
    assert "Withheld" not in answer.get("notice", "")


def test_the_largest_value_comes_first_although_a_client_set_it_and_is_marked_as_its_claim(call):
    first, second, *_ = call.ok("recall_memory", query="Which server costs the most?")["nodes"]
    assert (first["title"], second["title"]) == ("Otter", "Heron")
    assert "cost: 48.9" in first["content"]
    assert "unverified)" in first["content"]
    assert "unverified)" not in second["content"]
    assert (first["verified"], second["verified"]) == (False, True)


def test_a_number_is_written_as_the_client_gave_it(call):
    text = (call.container.vault.root / "servers/Otter.md").read_text(encoding="utf-8")
    assert "\ncost: 48.90\n" in text


def test_a_list_on_a_sensitive_matter_keeps_its_order_and_names_the_withheld_property(call):
    answer = call.ok("recall_memory", query="Which employee has the highest salary?", top_k=2)
    first, second = answer["nodes"]
    assert (first["title"], second["title"]) == ("Eva Lien", "Bo Hald")
    assert "4900" not in first["content"]
    assert "salary: (withheld: written by" in first["content"]
    assert "salary of people/Eva Lien.md" in answer["notice"]


def test_what_is_withheld_is_named_although_it_is_not_among_the_results_shown(call):
    answer = call.ok("recall_memory", query="What is the rent of the cellar?", top_k=1)
    assert "Withheld: " in answer["notice"]


def test_a_claim_that_hardly_answers_is_not_named_as_withheld(call):
    notice = call.ok("recall_memory", query="What is the rent of the cellar?")["notice"]
    ids = {memory.title: memory.id for memory in call.container.live.catalogue.all()}
    assert ids["The rent of the cellar is 95 euros a month from May"] in notice
    assert ids["Bike shop"] not in notice and "Bike shop" not in notice


def test_a_context_names_what_is_withheld_from_it(call):
    answer = call.ok("inject_context", query="What is the rent of the cellar?")
    assert "95" not in answer["context"]
    assert "Withheld: " in answer["notice"]
    answer = call.ok("inject_context", query="Which employee has the highest salary?")
    assert "4900" not in answer["context"]
    assert "salary of people/Eva Lien.md" in answer["notice"]


@pytest.mark.parametrize("tool", ["recall_memory", "graph_query", "vector_search", "search"])
def test_no_title_or_path_shows_the_sentence_that_is_withheld(call, tool):
    answer = call.ok(tool, query="What is the rent of the cellar?")
    assert "Withheld: " in answer["notice"]
    assert "95 euros" not in str(answer)


def test_no_notice_that_nothing_is_sure_enough_shows_the_sentence_that_is_withheld(call):
    answer = call.ok("recall_memory", query="What is the rent of the cellar?", mode="execution")
    assert answer["nodes"] == []
    assert "No memory reaches the confidence" in answer["notice"]
    assert "Withheld: " in answer["notice"]
    assert "95 euros" not in str(answer)


@pytest.mark.parametrize("tool", ["recall_memory", "graph_query", "inject_context", "search"])
def test_of_a_sensitive_matter_that_no_note_is_about_no_claim_is_named_as_the_nearest(call, tool):
    for question in ("How is a loan amortised?", "insulin dosage", "mortgage interest"):
        answer = call.ok(tool, query=question)
        assert "No note seems to answer this" in answer["notice"], question
        assert "95 euros" not in str(answer), question
    shown = call.ok("recall_memory", query="insulin dosage", allow_unverified=True)
    assert "95 euros" in shown["notice"]


def test_the_opening_hours_of_a_surgery_are_no_medical_matter(call):
    assert "notice" not in call.ok("recall_memory", query="When is the surgery open? The cellar")
