"""A statement compared with the sentence of a note that is most like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.reasoning.sentences.alignment import SentenceRelation, align
from memvault.reasoning.sentences.sentence_words import SentenceWords
from memvault.text.encoders.embedding import Embedder

NAMES = ("Ada Berg", "Bo Lind")


def find_names(text: str, exclude: str | None) -> list[tuple[int, int, str]]:
    return [
        (text.index(name), text.index(name) + len(name), name) for name in NAMES if name in text
    ]


def statement(text: str) -> SentenceWords:
    return SentenceWords(text, find_names)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("The rent is 1,062 €.", "1062"),
        ("The rent is 1 062 €.", "1062"),
        ("The rent is 1\u202f062,50 €.", "1062.50"),
        ("The rent is 1.062 €.", "1062"),
        ("The rent is 1'062.50 CHF.", "1062.50"),
        ("The ratio is 1.062.", "1.062"),
        ("In 2026 they were many.", "2026"),
    ],
)
def test_a_number_is_one_however_its_thousands_are_parted(text: str, number: str) -> None:
    assert statement(text).keys("number") == {number}


@pytest.mark.parametrize(
    ("ours", "theirs", "differing"),
    [
        ("The ferry leaves on Sunday.", "The ferry leaves on Saturday at noon.", "Sunday"),
        ("The ferry costs 12 euros.", "The ferry costs 9 euros, bicycles ride free.", "12"),
        ("Ada Berg steers the ferry.", "Bo Lind steers the ferry.", "Ada Berg"),
        ("The upper deck is closed.", "The lower deck is closed in winter.", "upper"),
        (
            "The ferry rests on the first Monday of May.",
            "It rests on the last Monday of June.",
            "May",
        ),
        ("Bo Lind steers the ferry.", "Ada Berg steers it; Bo Lind sells tickets.", "Bo Lind"),
        ("A cabin costs 40 euros.", "A bunk costs 20 euros and a cabin costs 60 euros.", "40"),
        ("Ctrl+K opens the map.", "Press Ctrl + M to open the map.", "Ctrl+K"),
        ("Routes are saved as .gpx files.", "Routes are saved as .kml files.", ".gpx"),
    ],
)
def test_another_value_in_the_same_place_is_a_contradiction(ours, theirs, differing, embedder):
    found = align(statement(ours), statement(theirs), statement("Ferry"), embedder.embed)
    assert found is not None and found.relation is SentenceRelation.OTHER_VALUE
    assert found.statement_words == (differing,)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("The ferry leaves on Saturday.", "The ferry leaves on Saturday at noon."),
        ("Bo Lind steers the ferry.", "Bo Lind steers it."),
        ("The ferry costs 9 euros.", "The ferry costs nine euros."),
        ("Shift+Ctrl+M opens the map.", "Press Ctrl/Cmd+Shift+M to open the map."),
        ("Ctrl++ enlarges the map.", "⌘ + + enlarges the map; .kml files are read."),
    ],
)
def test_a_sentence_with_all_that_is_said_supports_it(ours, theirs, embedder):
    found = align(statement(ours), statement(theirs), statement("Ferry"), embedder.embed)
    assert found is not None and found.relation is SentenceRelation.SUPPORTS


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("The night ferry leaves at 9.", "The day ferry leaves at 7."),
        ("Bicycles on the Sea Swift cost 12 euros.", "Bicycles on the Sea Star cost 9 euros."),
        ("The ferry to Bremen leaves at 9.", "The ferry leaves at 7."),
    ],
)
def test_a_sentence_about_a_like_subject_is_neither_for_nor_against_it(ours, theirs, embedder):
    assert align(statement(ours), statement(theirs), statement("Travel"), embedder.embed) is None


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("Next appointment on 4 December.", "Next appointment with the dentist on 3 December."),
        ("Garage appointment on 2 December.", "Appointment at the town hall on 9 December."),
        ("Meeting on Tuesday.", "Meeting with the board on Monday."),
        ("Prochain rdv le 4 décembre.", "RDV mairie annexe le 9 décembre à 10h40."),
        ("RDV garage le 2 décembre.", "Prochain rdv chez le dentiste le 3 décembre."),
        ("Prossimo appuntamento il 4 dicembre.", "Appuntamento dal dentista il 3 dicembre."),
        ("Nächster Termin am 4. Dezember.", "Nächster Termin beim Zahnarzt am 3. Dezember."),
    ],
)
def test_two_appointments_are_not_one_fact(ours, theirs, embedder):
    assert align(statement(ours), statement(theirs), statement("Health"), embedder.embed) is None


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("Dentist appointment on 4 December.", "Appointment with the dentist on 3 December."),
        ("Le rdv chez le dentiste est le 5 décembre.", "Rdv chez le dentiste le 3 décembre."),
        ("The regatta is on Saturday 13 June.", "The regatta on the lake is on 20 June."),
        ("Deadline: 15 December 2026", "Deadline: 30 November 2026"),
        ("Scadenza: 15 dicembre 2026", "Scadenza: 30 novembre 2026"),
        ("L'opération dure trois heures.", "L'opération dure deux heures."),
    ],
)
def test_one_event_on_two_days_or_of_two_lengths_is_a_contradiction(ours, theirs, embedder):
    found = align(statement(ours), statement(theirs), statement("Health"), embedder.embed)
    assert found is not None and found.relation is SentenceRelation.OTHER_VALUE


@pytest.mark.parametrize("cited", ["(Gill, 2012, p. 473)", "[@gill2012, p. 473]", "(2012)", "p. 7"])
def test_the_year_and_the_page_of_a_citation_are_no_values(cited, embedder):
    theirs = f"The task of the pilot is described in detail {cited}."
    assert align(statement("The task of the pilot took 5."), statement(theirs), statement("Study"),
                 embedder.embed) is None  # fmt: skip
    assert statement(theirs).keys("number") == frozenset()


@pytest.mark.parametrize("text", ["It ends soon (31 May 2027).", "It is fixed (EUR 2000)."])
def test_a_day_or_a_sum_in_brackets_is_a_value(text):
    assert statement(text).amounts


def test_the_hour_of_a_sentence_is_no_other_day(embedder):
    ours = "The concert is on Saturday, 12 December, at 6 pm in the old church."
    theirs = "Concert: Saturday 12 December 2026, 18:00, old church"
    found = align(statement(ours), statement(theirs), statement("Concert"), embedder.embed)
    assert found is None or found.relation is SentenceRelation.SUPPORTS


def test_what_a_sentence_negates_is_denied_and_the_rest_is_not(embedder):
    theirs = statement("Pay the captain in cash, never by card.")
    by_card = align(statement("Pay the captain by card."), theirs, statement(""), embedder.embed)
    in_cash = align(statement("Pay the captain in cash."), theirs, statement(""), embedder.embed)
    assert by_card is not None and by_card.relation is SentenceRelation.DENIES
    assert in_cash is not None and in_cash.relation is SentenceRelation.SUPPORTS


@pytest.mark.parametrize(
    ("ours", "theirs", "differing"),
    [
        ("Parking costs 4 euros.", "Parking is free, mooring costs 4 euros a night.", "4"),
        ("The mate is Ada Berg.", "The mate is Bo Lind; the captain is Ada Berg.", "Ada Berg"),
        ("The ferry runs every week.", "The ferry runs every night at ten.", "week"),
        ("The town pays all of it.", "The town pays half of it.", "all"),
        ("The ferry is open on weekdays.", "The ferry is closed on weekdays.", "open"),
        ("Vests are optional for children.",
         "Vests are compulsory for children and optional for adults.", "optional"),
        ("The galley serves soup in tins.", "The galley serves soup in bowls.", "tins"),
        ("Only Ada Berg may steer the ferry.", "Only Bo Lind may steer the ferry.", "Ada Berg"),
    ],
)  # fmt: skip
def test_a_value_that_belongs_to_something_else_is_a_contradiction(
    ours, theirs, differing, embedder
):
    found = align(statement(ours), statement(theirs), statement("Ferry"), embedder.embed)
    assert found is not None and found.relation is SentenceRelation.OTHER_VALUE
    assert found.statement_words == (differing,)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("The tug is older than the ferry.", "The ferry is older than the tug."),
        ("The ferry is younger than the tug.", "The ferry is older than the tug."),
        ("Cars board before bicycles.", "Bicycles board before cars."),
        ("She prefers tea to coffee.", "She prefers coffee to tea."),
        ("Dogs are allowed on the ferry.", "Cats are allowed, dogs are not."),
        ("Bo Lind smokes.", "Bo Lind gave up smoking in May."),
        ("The ferry is repaired with tar.", "The ferry is repaired with pitch, not with tar."),
    ],
)
def test_what_a_sentence_says_the_other_way_round_is_denied(ours, theirs, embedder):
    found = align(statement(ours), statement(theirs), statement("Ferry"), embedder.embed)
    assert found is not None and found.relation is SentenceRelation.DENIES


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("The tug is younger than the ferry.", "The ferry is older than the tug."),
        ("Adults need no vest.", "Vests are compulsory for children and optional for adults."),
        ("The ferry is not heated in May.", "The ferry is heated only in March."),
        ("Bo Lind can come on Tuesdays.", "Bo Lind cannot come on Thursdays."),
        ("The town pays 20 euros.", "It costs 40 euros; the town pays half of it."),
        ("Cars are loaded in July.", "Cars are built in March and loaded in July."),
    ],
)
def test_what_follows_from_a_sentence_is_no_contradiction(ours, theirs, embedder):
    found = align(statement(ours), statement(theirs), statement("Ferry"), embedder.embed)
    assert found is None or found.relation is SentenceRelation.SUPPORTS


def test_a_sentence_about_something_else_says_nothing(embedder):
    theirs = statement("The ferry leaves on Saturday at noon.")
    for ours in ("The autumn fair is on Sunday.", "Ada Berg sells 3 boats."):
        assert align(statement(ours), theirs, statement("Ferry"), embedder.embed) is None


@given(
    words=st.lists(
        st.sampled_from(["boat", "rope", "3", "7", "Monday", "May", "Ada", "not"]), min_size=1
    )
)
def test_a_sentence_never_contradicts_itself(words: list[str], embedder: Embedder):
    text = " ".join(words)
    found = align(statement(text), statement(text), statement(""), embedder.embed)
    assert found is None or found.relation is SentenceRelation.SUPPORTS
