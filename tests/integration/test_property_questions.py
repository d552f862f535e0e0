"""Questions for what properties say, over real stores and the real model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from pathlib import Path

import pytest

from indexer.indexer import Indexer
from memvault.model.search import Filters, Scope
from memvault.search.pipeline import Searcher
from memvault.search.property_text import day_of_property
from memvault.text.encoders.embedding import Embedder
from tests.integration.searching import searcher_of, searcher_over

Write = Callable[..., Path]

FILMS = {
    "Paper Lanterns": ("director: Ito\nscore: 9\nwatched: true", "Long shots of a harbour."),
    "Salt Road": ("director: Brandt\nscore: 4\nwatched: true", "A caravan gets lost."),
    "Kites": ("director: Ito\nwatched: false", "Two brothers and a storm."),
}
OTHERS = {
    "Shopping": ("type: errand", "Soap, lamp oil, string."),
    "Brandt": ("type: person", "Runs the bakery by the bridge, closed on Mondays."),
    "Tides": ("type: note", "High water comes fifty minutes later every day."),
}


def with_properties(folder: str, notes: Mapping[str, str], text: str) -> dict[str, str]:
    """Notes by their paths, made of properties by title; all have the same text."""
    return {
        f"{folder}/{title}.md": f"---\n{properties}\n---\n{text}\n"
        for title, properties in notes.items()
    }


@pytest.fixture
def searcher(
    write: Callable[..., Path], indexer: Indexer, embedder: Embedder
) -> Iterator[Searcher]:
    for title, (properties, text) in FILMS.items():
        write(f"seen/{title}.md", f"---\ntype: film\n{properties}\n---\n{text}\n")
    for title, (properties, text) in OTHERS.items():
        write(f"other/{title}.md", f"---\n{properties}\n---\n{text}\n")
    indexer.scan()
    with searcher_over(indexer, embedder) as one:
        one.warm_up()
        yield one


@pytest.fixture
def ask(searcher: Searcher) -> Callable[[str], list[str]]:
    def answers_to(query: str) -> list[str]:
        hits = searcher.search(query, allow_unverified=True).hits
        return [hit.memory.title for hit in hits]

    return answers_to


def test_notes_are_found_by_their_type(ask: Callable[[str], list[str]]) -> None:
    assert set(ask("List all my films")[:3]) == set(FILMS)


def test_notes_are_found_by_a_property_that_their_text_does_not_say(
    ask: Callable[[str], list[str]],
) -> None:
    assert set(ask("films by Ito")[:2]) == {"Paper Lanterns", "Kites"}


def test_a_property_is_found_by_its_key(ask: Callable[[str], list[str]]) -> None:
    assert ask("Which film has a score of 9?")[0] == "Paper Lanterns"
    assert set(ask("Which of them have I watched?")[:2]) == {"Paper Lanterns", "Salt Road"}


def test_what_properties_say_counts_for_the_confidence(
    searcher: Searcher, ask: Callable[[str], list[str]]
) -> None:
    sure = {hit.memory.title: hit.confidence for hit in searcher.search("films by Ito").hits}
    assert sure["Paper Lanterns"] > 3 * sure["Salt Road"]


def test_what_no_property_says_is_not_known(ask: Callable[[str], list[str]]) -> None:
    assert ask("operas by Verdi") == []


def test_a_question_for_all_says_how_many_there_are(searcher: Searcher) -> None:
    for question in ("List all my films", "Liste tous mes films", "Elenca tutti i film"):
        some = searcher.search(question, top_k=2)
        assert "There are 3 notes of type 'film', and 2 of them here" in str(some.notice)
    price = searcher.search("Combien coûte un film ?", top_k=2)
    assert "There are" not in str(price.notice)
    narrowed = Scope(filters=Filters(types=["film"]))
    all_of_them = searcher.search("List all my films", top_k=9, scope=narrowed)
    assert {hit.memory.title for hit in all_of_them.hits} == set(FILMS)
    assert all_of_them.notice is None
    assert "There are" not in str(searcher.search("Which films are by Ito?", top_k=2).notice)


def test_no_function_word_of_a_question_names_a_type_or_tag(
    write: Callable[..., Path], indexer: Indexer, embedder: Embedder
) -> None:
    for name in ("Ash", "Elm", "Oak"):
        write(f"{name}.md", f"---\ntags: [cane]\n---\n{name} weaves five chairs a day.\n")
    indexer.scan()
    with searcher_over(indexer, embedder) as searcher:
        searcher.warm_up()
        for question in ("How many chairs can Elm weave?", "How many chairs does Elm not weave?"):
            assert searcher.search(question, top_k=1).notice is None, question
        asked = searcher.search("How many cane chairs are there?", top_k=1)
        assert "the tag 'cane'" in str(asked.notice)


APPLIANCES = {
    "Loom": "type: appliance\nversion: 1.3.26",
    "Kiln": "type: appliance\nbought: 12.3.26",
}
DAYS_FROM_NOW = {name: date.today() + timedelta(days=days) for name, days in
                 {"soon": 3, "later": 400, "past": -400}.items()}  # fmt: skip


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Searcher]:
    soon, later, past = DAYS_FROM_NOW.values()
    born = soon.replace(year=1980)
    notes = {
        "Quay Mill": f"type: client\nrenewal: {soon}\nrate: 80 EUR",
        "Old Forge": f"type: client\nrenewal: {later}\nrate: 1.200,50 EUR",
        "Sandbank": f"type: client\nrenewal: {past}\nrate: 95 EUR",
        "Lena Moor": f"type: person\nbirthday: {born}",
        "Boathouse": "type: project\nstage: on hold\nlead: [[Lena Moor]]",
        "Footbridge": "type: project\nstage: built\nlead: [[Lena Moor]]",
        "Hangar": "type: project\nstage: on hold\nowner: Moor Holdings",
    }
    texts = with_properties("office", notes, "Met in the old customs house.") | {
        "office/Site visit.md": "Lena was there.\n\n- [ ] Lena: order the beams 📅 2031-05-02\n"
        "- [ ] Call the crane firm\n",
        "office/Snags.md": "- [ ] Lena: paint the door 📅 2031-05-01\n- [x] Lena: sand it\n",
        "boats/Attic.md": "- [ ] Clear out the boxes\n- [ ] Sell the piano\n",
        "office/Lunch.md": "Lena still has to tell us where she wants to eat.\n",
    }
    with searcher_of(tmp_path_factory.mktemp("office"), texts, embedder) as one:
        yield one


def titles(searcher: Searcher, question: str) -> list[str]:
    return [hit.memory.title for hit in searcher.search(question, allow_unverified=True).hits]


def test_a_day_of_a_property_is_of_the_time_that_the_question_names(office: Searcher) -> None:
    found = office.search("Which clients renew in the next 7 days?", allow_unverified=True)
    assert found.hits[0].memory.title == "Quay Mill"
    assert "1 note has the properties that the question names." in str(found.notice)


def test_a_birthday_is_of_every_year(office: Searcher) -> None:
    assert titles(office, "Whose birthday is in the next 7 days?")[0] == "Lena Moor"


def test_all_words_must_be_those_of_properties(office: Searcher) -> None:
    found = office.search("How many projects are on hold?")
    assert {hit.memory.title for hit in found.hits[:2]} == {"Boathouse", "Hangar"}
    assert "2 notes have" in str(found.notice)
    assert titles(office, "Which projects on hold does Lena Moor lead?")[0] == "Boathouse"
    assert "properties" not in str(office.search("Which projects are abandoned?").notice)


def test_the_largest_and_the_smallest_value_come_first(office: Searcher) -> None:
    assert titles(office, "Which client has the highest rate?")[:3] == [
        "Old Forge", "Sandbank", "Quay Mill"
    ]  # fmt: skip
    assert titles(office, "Which client has the lowest rate?")[0] == "Quay Mill"


def test_open_tasks_of_a_person_come_first_the_first_due_first(office: Searcher) -> None:
    assert titles(office, "What does Lena still have to do?")[:2] == ["Snags", "Site visit"]


def test_open_tasks_are_about_the_folder_that_their_note_is_in(office: Searcher) -> None:
    assert titles(office, "Which tasks are open for the boats?")[0] == "Attic"


def test_where_relations_are_to_be_explained_they_lead(office: Searcher) -> None:
    question = "Which projects on hold does Lena Moor lead?"
    found = office.search(question, allow_unverified=True, patience=5.0).hits
    boathouse = next(hit for hit in found if hit.memory.title == "Boathouse")
    assert boathouse.hops


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Searcher]:
    notes = {
        "Ropewalk": "type: supplier\nminimum_order: 40\norder_day: 3\nrating: 2",
        "Tannery": "type: supplier\nminimum_order: 150\norder_day: 1\nrating: 5",
        "Dyer": "type: supplier\nminimum_order: 50\norder_day: 2\nrating: 4",
        "Bill A": "type: invoice\nnumber: 4011\namount: 199.90 EUR",
        "Bill B": "type: invoice\nnumber: 17\namount: 1.250,00 EUR",
        "Agarose": "type: reagent\nin_stock: 2\nprice: 410\nlot: 77",
        "Buffer": "type: reagent\nin_stock: 900\nprice: 20\nlot: 501",
        "Short way": "type: walk\nduration_min: 80\nstatus: done",
        "Long way": "type: walk\nduration_min: 200\nstatus: planned",
        "Far way": "type: walk\nstatus: planned",
        "Open bill": "type: bill\npaid: false",
        "Gift card": "type: voucher\nvalue: 20\nspent: 2026-01-03",
        "Spare card": "type: voucher\nvalue: 15",
        "Old bill": "type: bill\npaid: true",
        "Vertrag A": "type: vertrag\nkosten_im_jahr: 90 €",
        "Vertrag B": "type: vertrag\nkosten_im_jahr: 1.200 €",
        "Contrat A": "type: contrat\nprix: 250 €",
        "Contrat B": "type: contrat\nprix: 2 500 €",
        "Elm": "type: tree\nplanted: 1790\nfelled: 1911",
        "Lime": "type: tree\nplanted: 1846\nfelled: 1905",
        "Weaving": "type: book\nyear: 2017\npages: 320\nshelf: 2020",
        "Spinning": "type: book\nyear: 2021\npages: 96\nshelf: 2018",
    }
    texts = with_properties("shop", notes, "Kept in the blue folder.")
    with searcher_of(tmp_path_factory.mktemp("shop"), texts, embedder) as one:
        yield one


def test_an_order_is_by_the_key_that_is_clearly_meant_or_none(
    write: Callable[..., Path], indexer: Indexer, embedder: Embedder
) -> None:
    halls = {"Corn hall": "seats: 400\nrent: 35.50", "Old mill": "seats: 90\nrent: 120.00"}
    for title, properties in halls.items():
        write(f"places/{title}.md", f"---\ntype: venue\n{properties}\n---\nBy the river.\n")
    indexer.scan()
    with searcher_over(indexer, embedder) as searcher:
        found = searcher.search("Which venue is the most expensive?")
        assert found.hits[0].memory.title == "Old mill"
        assert "compared by `rent`" in str(found.notice)
        found = searcher.search("Which venue is the largest?")
        assert found.hits[0].memory.title == "Corn hall"
        assert "compared by `seats`" in str(found.notice)
        assert "compared" not in str(searcher.search("Which venue has the longest echo?").notice)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which suppliers have a minimum order below 50?", {"Ropewalk"}),
        ("Which suppliers have a minimum order of at most 50 euros?", {"Ropewalk", "Dyer"}),
        ("suppliers with a rating of 4 or more", {"Tannery", "Dyer"}),
        ("suppliers with a rating between 4 and 5", {"Tannery", "Dyer"}),
        ("Which invoices are over 200?", {"Bill B"}),
        ("Which invoices are under 2000?", {"Bill A", "Bill B"}),
        ("Which invoices cost less than €1,000?", {"Bill A"}),
        ("Welche Verträge kosten mehr als 1.000 Euro?", {"Vertrag B"}),
        ("Quels contrats coûtent moins de 300 euros ?", {"Contrat A"}),
        ("Which reagents cost over 300 euros?", {"Agarose"}),
        ("What is the most expensive reagent?", {"Agarose"}),
        ("Which reagents are cheaper than 300?", {"Buffer"}),
        ("suppliers rated five", {"Tannery"}),
        ("suppliers with a rating of at least 5 percent", {"Tannery"}),
        ("How many suppliers do I have?", {"Ropewalk", "Tannery", "Dyer"}),
        ("Which walks take longer than two hours?", {"Long way"}),
        ("Which walks take at most 90 minutes?", {"Short way"}),
        ("Which walks are not planned yet?", {"Short way"}),
        ("Which vouchers have not been spent yet?", {"Spare card"}),
        ("What is my most expensive reagent?", {"Agarose"}),
        ("Which bills are not paid?", {"Open bill"}),
        ("Which books have more than 100 pages?", {"Weaving"}),
        ("Which books are from before 2019?", {"Weaving"}),
        ("Which trees were planted before 1800?", {"Elm"}),
        ("Which trees were felled before 1910?", {"Lime"}),
        ("Which books appeared since 2020?", {"Spinning"}),
    ],
)
def test_numbers_are_compared_with_the_limit_that_a_question_sets(
    shop: Searcher, question: str, answers: set[str]
) -> None:
    found = shop.search(question, allow_unverified=True)
    assert {hit.memory.title for hit in found.hits[: len(answers)]} == answers
    count = "1 note has" if len(answers) == 1 else f"{len(answers)} notes have"
    assert f"{count} the properties that the question names" in str(found.notice) or (
        "most" in question
    )


def test_a_number_that_the_question_does_not_limit_is_not_compared(shop: Searcher) -> None:
    found = shop.search("Which suppliers deliver under the bridge?", allow_unverified=True)
    assert "the properties that the question names" not in str(found.notice)


def test_the_property_that_was_compared_is_named(shop: Searcher) -> None:
    found = shop.search("Which reagents cost over 300 euros?", allow_unverified=True)
    assert "compared by `price`" in str(found.notice)


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("What is the price of agarose?", "Agarose"),
        ("What's the Tannery's minimum order?", "Tannery"),
        ("How many pages has Spinning?", "Spinning"),
    ],
)
def test_a_property_of_a_note_that_is_named_is_found_in_it(
    shop: Searcher, question: str, title: str
) -> None:
    found = shop.search(question, allow_unverified=True)
    assert found.hits[0].memory.title == title
    assert found.hits[0].confidence > 0.7
    assert "the properties that the question names" not in str(found.notice)


def test_a_value_is_read_with_its_small_words(
    write: Callable[..., Path], indexer: Indexer, embedder: Embedder
) -> None:
    for title, status in {
        "Moss": "read",
        "Fern": "to read",
        "Lichen": "read",
        "Alga": "done",
    }.items():
        write(f"papers/{title}.md", f"---\ntype: paper\nstatus: {status}\n---\nOn plants.\n")
    indexer.scan()
    with searcher_over(indexer, embedder) as searcher:
        found = searcher.search("papers with status to read", allow_unverified=True)
    assert found.hits[0].memory.title == "Fern"
    assert "1 note has" in str(found.notice)


def test_a_phone_number_is_no_limit(shop: Searcher) -> None:
    found = shop.search("Which suppliers answer under 0931 555?", allow_unverified=True)
    assert "the properties that the question names" not in str(found.notice)


def test_fields_in_the_text_are_properties_of_the_note(
    write: Callable[..., Path], indexer: Indexer, embedder: Embedder
) -> None:
    songs = {
        "Evening hymn": ("duration:: 4 min", "voices:: SATB"),
        "Long mass": ("duration:: 31 min", "voices:: SSAA"),
        "Round": ("duration:: 2 min", "voices:: SATB"),
    }
    for title, (duration, voices) in songs.items():
        write(f"songs/{title}.md", f"{duration}\n\nSung in the chapel. [{voices}]\n")
    hours = "- Monday [duration:: 40 min]\n- Friday [duration:: 50 min]\n"
    write("songs/Rehearsals.md", f"conductor:: [[Long mass]]\n\n{hours}")
    indexer.scan()
    with searcher_over(indexer, embedder) as searcher:
        found = searcher.search("Which have a duration of more than 3 minutes?")
        assert {hit.memory.title for hit in found.hits[:2]} == {"Evening hymn", "Long mass"}
        assert "2 notes have the properties" in str(found.notice)
        assert set(titles(searcher, "Which voices are SATB?")[:2]) == {"Evening hymn", "Round"}
    rehearsals = indexer.catalogue.by_path("songs/Rehearsals.md")
    assert rehearsals is not None
    assert rehearsals.fields == {}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Searcher]:
    today = date.today()
    week = timedelta(7)
    notes = {
        "Bill 31": f"type: bill\namount: 900\nissued: {today - week}\ndue: {today + week}",
        "Bill 32": f"type: bill\namount: 120\ndue: {today - week}\npaid: false",
        "Bill 33": f"type: bill\namount: 4000\ndue: {today - week}\npaid: {today}",
        "Bill 34": f"type: bill\namount: 75\ndue: {today - 2 * week}",
        "Tin roof": 'type: ruling\nstatus: superseded\nsuperseded_by: "[[Slate roof]]"',
        "Slate roof": "type: ruling\nstatus: accepted",
        "Gravel path": "type: ruling\nstatus: superseded",
        "Canon": "hardness: 5\ntongue: Latin",
        "Rondo": "hardness: 2\ntongue: Latin",
        **APPLIANCES,
    }
    texts = with_properties("desk", notes, "Kept in the second drawer.")
    texts["desk/Diary.md"] = "Wrote to the printer about the unpaid bill, overdue for weeks.\n"
    with searcher_of(tmp_path_factory.mktemp("desk"), texts, embedder) as one:
        yield one


def test_what_is_unpaid_is_not_paid(desk: Searcher) -> None:
    assert set(titles(desk, "Which bills are unpaid?")[:3]) == {"Bill 31", "Bill 32", "Bill 34"}
    found = desk.search("Which is the biggest unpaid bill?", allow_unverified=True)
    assert [hit.memory.title for hit in found.hits[:3]] == ["Bill 31", "Bill 32", "Bill 34"]
    assert "3 notes have" in str(found.notice)
    assert "compared by `amount`" in str(found.notice)


def test_what_is_overdue_was_due_before_today_and_is_not_paid(desk: Searcher) -> None:
    found = desk.search("Which bills are overdue?", allow_unverified=True)
    assert [hit.memory.title for hit in found.hits[:2]] == ["Bill 34", "Bill 32"]
    assert "2 notes have" in str(found.notice)


def test_what_was_overdue_on_a_day_was_due_before_it_and_paid_later(desk: Searcher) -> None:
    today = date.today()
    yesterday, earlier = today - timedelta(1), today - timedelta(8)
    found = desk.search(f"Which bills were overdue on {yesterday:%-d %B %Y}?")
    assert [hit.memory.title for hit in found.hits[:3]] == ["Bill 34", "Bill 33", "Bill 32"]
    assert "3 notes have" in str(found.notice)
    found = desk.search(f"Which bills were overdue on {earlier:%-d %B %Y}?")
    assert found.hits[0].memory.title == "Bill 34"
    assert "1 note has" in str(found.notice)


def test_a_version_is_no_day(desk: Searcher, write: Write, indexer: Indexer) -> None:
    found = desk.search("Which appliances were bought in March 2026?", allow_unverified=True)
    assert found.hits[0].memory.title == "Kiln"
    assert "1 note has" in str(found.notice)
    for path, text in with_properties("desk", APPLIANCES, "Heavy.").items():
        write(path, text)
    indexer.scan()
    assert indexer.catalogue.days_named("desk/Kiln.md") == (date(2026, 3, 12),)
    assert indexer.catalogue.days_named("desk/Loom.md") == ()


def test_a_number_like_a_day_long_before_its_note_is_a_version_unless_its_key_names_a_day() -> None:
    assert day_of_property("python", "3.10.12", 2026) is None
    assert day_of_property("bought", "3.10.25", 2026) == date(2025, 10, 3)
    assert day_of_property("bought", "3.10.2012", 2026) == date(2012, 10, 3)
    assert day_of_property("bought", "03.10.12", 2026) == date(2012, 10, 3)
    assert day_of_property("in use since", "3.10.12", 2026) == date(2012, 10, 3)
    assert day_of_property("birthday", "3.10.62", 2026) == date(1962, 10, 3)


def test_a_word_may_be_a_value_of_one_note_and_a_key_of_another(desk: Searcher) -> None:
    found = desk.search("Which rulings are superseded?", allow_unverified=True)
    assert {hit.memory.title for hit in found.hits[:2]} == {"Tin roof", "Gravel path"}
    assert "2 notes have" in str(found.notice)


def test_the_kind_of_note_may_be_in_a_word_that_no_note_has(desk: Searcher) -> None:
    assert titles(desk, "Which pieces have a hardness of 5?")[0] == "Canon"
    found = titles(desk, "Which tunes have a tongue that is Latin?")
    assert set(found[:2]) == {"Canon", "Rondo"}
    assert "properties" not in str(desk.search("Which Verdi has a hardness of 5?").notice)


def test_a_verb_names_no_kind_and_the_best_and_the_current_are_found(
    write: Callable[..., Path], indexer: Indexer, embedder: Embedder
) -> None:
    notes = {
        "Fitting/Bo": "for: welding",
        "Fitting/Ann": "for: welding",
        "Quay": "trial_end: 2026-12-18\nberths: 30",
        "Lathe A": "type: machine\nstatus: current\nunit_price: 90\nscore: 3",
        "Lathe B": "type: machine\nstatus: retired\nunit_price: 70\nscore: 5",
    }
    for path, properties in notes.items():
        write(f"{path}.md", f"---\n{properties}\n---\nKept by the gate.\n")
    write("Charges.md", "We charge 350 for a trial, and nothing after it.\n")
    indexer.scan()
    with searcher_over(indexer, embedder) as searcher:
        for question in ("When do we fit for welding?", "How much do we charge for a trial?"):
            assert "properties" not in str(searcher.search(question).notice)
        assert titles(searcher, "How much do we charge for a trial?")[0] == "Charges"
        assert titles(searcher, "Which is the best scored machine?")[0] == "Lathe B"
        found = searcher.search("Which machine is current, and at what unit price?")
        assert found.hits[0].memory.title == "Lathe A"
        assert "1 note has" in str(found.notice)


def test_a_folder_or_a_tag_stands_for_a_type(
    write: Callable[..., Path], indexer: Indexer, embedder: Embedder
) -> None:
    soups = {
        "Leek": ("time: 25", "quick"),
        "Oxtail": ("time: 240", "slow"),
        "Pea": ("time: 50", ""),
    }
    for title, (time, tag) in soups.items():
        write(f"Soups/{title}.md", f"---\n{time}\ntags: [{tag}]\n---\nServe it hot, with bread.\n")
    write("Bread.md", "---\ntime: 90\ntags: [time]\n---\nGoes with soups; bakes for an hour.\n")
    write("Cake.md", "---\ntags: [time]\n---\nWe ate it at four.\n")
    indexer.scan()
    with searcher_over(indexer, embedder) as searcher:
        found = searcher.search("Which soups take a time of less than 60 minutes?")
        assert {hit.memory.title for hit in found.hits[:2]} == {"Leek", "Pea"}
        assert "2 notes have" in str(found.notice)
        assert titles(searcher, "Which of my soups has the longest time?")[0] == "Oxtail"
        found = searcher.search("Which have a time of over 80 minutes?", allow_unverified=True)
        assert {hit.memory.title for hit in found.hits[:2]} == {"Oxtail", "Bread"}, "a key, no tag"


def test_the_persons_notes_in_projects_are_projects(
    write: Callable[..., Path], indexer: Indexer, embedder: Embedder
) -> None:
    for title, status in {"Roof": "paused", "Pond": "active", "Shed": "paused"}.items():
        write(f"Projects/{title}.md", f"---\nstatus: {status}\n---\nTwo people, some weekends.\n")
    write("Log/Pump.md", "---\nproject: pond\nstatus: paused\n---\nToo dear.\n")
    indexer.scan()
    with searcher_over(indexer, embedder) as searcher:
        found = searcher.search("Which projects are paused?")
        assert {hit.memory.title for hit in found.hits[:2]} == {"Roof", "Shed"}
        assert "2 notes have" in str(found.notice)
        assert len(titles(searcher, "List all projects")) == 3


def test_a_property_that_changes_changes_the_answer_of_the_same_searcher(
    write: Callable[..., Path], indexer: Indexer, searcher: Searcher
) -> None:
    assert set(titles(searcher, "films by Ito")[:2]) == {"Paper Lanterns", "Kites"}
    write("seen/Kites.md", "---\ntype: film\ndirector: Brandt\n---\nTwo brothers and a storm.\n")
    indexer.scan()
    assert set(titles(searcher, "films by Brandt")[:2]) == {"Salt Road", "Kites"}
    assert "1 note has" in str(searcher.search("films by Ito").notice)


def test_a_folder_with_one_note_stands_for_no_type(
    write: Callable[..., Path], indexer: Indexer
) -> None:
    leek, _ = [write(f"Soups/{title}.md", "Serve it hot.\n") for title in ("Leek", "Pea")]
    indexer.scan()
    assert indexer.catalogue.groups() == ["soups"]
    leek.unlink()
    indexer.scan()
    assert indexer.catalogue.groups() == []
    write("Gazpacho.md", "---\ntags: [soups]\n---\nServe it cold.\n")
    indexer.scan()
    assert indexer.catalogue.groups() == ["soups"]


def test_a_property_of_a_project_is_that_of_the_note_called_as_its_folder(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    properties = "type: project\nbudget: 240000\nlead: '[[Jonas]]'"
    write("projects/Heron/Heron.md", f"---\n{properties}\n---\nA buoy.\n")
    write("projects/Heron/Energy.md", "# Energy budget of Heron\n\nIt uses 265 mWh a day.\n")
    write("projects/Heron/Tasks.md", "# Tasks of Heron\n\n- [ ] Order rings\n")
    indexer.scan()
    answer = searcher.search("What is the budget of Heron?")
    assert answer.hits[0].memory.path == "projects/Heron/Heron.md"
    assert answer.notice == "1 note has the properties that the question names."
    assert searcher.search("Where does the lead of Heron work?").notice is None, "relations say so"
