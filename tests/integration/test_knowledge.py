"""What a vault knows, and what is shown as unsure, over real stores and the real model."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memvault.model.search import Filters, Mode, Scope
from memvault.model.verification import Status
from memvault.search.knowledge import MIN_CONFIDENCE
from memvault.search.notices import UNSURE
from memvault.search.pipeline import Searcher
from memvault.text.tokens import TokenCounter
from tests.integration.searching import found

TIDES = {
    f"Tide {n}.md": f"The tide of day {n} was high, and the boats stayed out.\n" for n in range(120)
}


def test_a_word_that_every_note_has_is_known_and_one_that_none_has_is_not(
    searcher: Searcher, fill: Callable[[dict[str, str]], None]
) -> None:
    fill({f"Kelp {n}.md": f"Kelp bed number {n} off the coast.\n" for n in range(12)})
    assert found(searcher, "kelp")
    assert not found(searcher, "invoices for the piano tuner")


def test_a_common_word_of_the_vault_says_less_of_what_it_knows_than_a_rare_one(
    searcher: Searcher, fill: Callable[[dict[str, str]], None]
) -> None:
    fill({f"Kelp {n}.md": f"Kelp bed {n}: the kelp is as high as a house.\n" for n in range(40)}
         | {"Boat.md": "The boat is oiled by Marit each spring.\n"})  # fmt: skip
    searcher.warm_up()
    common, rare = searcher.hybrid.vocabulary.shares(
        "Who oils the kelp?", ["The kelp is high.", "The boat is oiled by Marit."]
    )
    assert 0.0 < common < 0.4 < 0.6 < rare < 1.0
    assert searcher.hybrid.vocabulary.shares("What is it?", ["Kelp"]) == []
    assert searcher.hybrid.vocabulary.shares("海藻は何ですか", ["Kelp"]) == [0.0]


def test_a_question_in_a_language_that_the_model_does_not_know_gets_what_is_near_as_unsure(
    searcher: Searcher,
    fill: Callable[[dict[str, str]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(TIDES | {"Bread.md": "Let the dough rest for a night before it is baked.\n"})
    question = "Wie lange ruht der Teig, bevor man das Brot backt?"
    unsure = searcher.search(question, mode=Mode.DEFAULT)
    assert "Bread" in unsure.hits[0].memory.title
    assert UNSURE in (unsure.notice or "")
    monkeypatch.setattr(TokenCounter, "bytes_per_token", lambda self, text: 5.0)
    assert "Bread" in found(searcher, question, 10)[0].memory.title


def test_what_hardly_answers_is_shown_only_if_a_number_of_results_is_asked_for(
    searcher: Searcher, fill: Callable[[dict[str, str]], None]
) -> None:
    fill({f"Tide {n}.md": f"The tide of day {n} was high, and the boats stayed out.\n"
          for n in range(20)}
         | {"Bread.md": "Let the dough rest for a night before it is baked.\n"})  # fmt: skip
    question = "How long does the dough rest before the bread is baked?"
    likely, ten = searcher.search(question), searcher.search(question, top_k=10)
    assert [hit.memory.title for hit in likely.hits] == [h.memory.title for h in ten.hits][:3]
    assert len(ten.hits) == 10
    typed = Scope(Filters(types=["note"]))
    assert len(searcher.search(question, scope=typed).hits) == 10
    assert len(searcher.search(question, scope=Scope(Filters())).hits) == 3


def test_one_word_that_asks_shows_the_language_of_a_short_question(
    searcher: Searcher, fill: Callable[[dict[str, str]], None]
) -> None:
    fill({"Tide.md": "The tide was high, and the boats stayed out.\n"})
    assert searcher.hybrid.languages.is_in_unknown_language("Welche Flagge trug Marit?")
    assert not searcher.hybrid.languages.is_in_unknown_language(
        "Which flag did Marit carry in Rome?"
    )
    assert not searcher.hybrid.languages.is_in_unknown_language("Marit's flag")


def test_notes_that_nearly_know_an_answer_are_shown_as_unsure(
    searcher: Searcher,
    fill: Callable[[dict[str, str]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(TIDES)
    for knowledge, shown, known in ((0.4, True, True), (0.32, True, False), (0.25, False, False)):
        monkeypatch.setattr(searcher._knowledge, "of", lambda *_, k=knowledge: k)
        result = searcher.search("Did the boats stay out on day 7?", mode=Mode.DEFAULT)
        assert (bool(result.hits), result.known) == (shown, known)
        assert (UNSURE in (result.notice or "")) == (shown and not known)


def test_an_answer_is_unsure_if_its_best_memory_hardly_answers(
    searcher: Searcher,
    fill: Callable[[dict[str, str]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(TIDES)
    monkeypatch.setattr(searcher._knowledge, "of", lambda *_: 0.4)
    result = searcher.search("Who mends the nets of the boats?", mode=Mode.DEFAULT)
    assert result.hits[0].confidence < MIN_CONFIDENCE and not result.known
    assert (result.notice or "").startswith(UNSURE)
    monkeypatch.setattr(searcher._knowledge, "of", lambda *_: 1.0)  # as by the notes of a list
    assert searcher.search("Who mends the nets of the boats?", mode=Mode.DEFAULT).known


def test_notes_that_contradict_each_other_surely_answer(
    searcher: Searcher, fill: Callable[[dict[str, str]], None]
) -> None:
    fill(TIDES
         | {f"Budget {n}.md": f"The budget of the lighthouse is {n}2 000 euros.\n"
            for n in range(1, 5)})  # fmt: skip
    result = searcher.search("What is the budget of the lighthouse?")
    budgets = [hit for hit in result.hits if "Budget" in hit.memory.title]
    assert {hit.verification.status for hit in budgets} == {Status.CONTRADICTED}
    assert max(hit.confidence for hit in budgets) < MIN_CONFIDENCE
    assert result.known and UNSURE not in (result.notice or "")


def test_a_question_in_another_language_gets_nothing_on_what_the_notes_do_not_say(
    searcher: Searcher,
    fill: Callable[[dict[str, str]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(TIDES)
    monkeypatch.setattr(TokenCounter, "bytes_per_token", lambda self, text: 5.0)
    assert not searcher.search("Wer gewann den Prozess?", mode=Mode.DEFAULT).hits
