"""Questions that name no subject."""

from __future__ import annotations

import pytest

from memvault.search.general_questions import (
    asks_only_for_latest,
    asks_only_for_person,
    type_asked_for,
)


@pytest.mark.parametrize(
    "question",
    [
        "What did we talk about last time?",
        "What did we discuss in our last conversation?",
        "Where did we leave off?",
        "What was I working on?",
        "What's new?",
        "latest notes",
        "recent memories",
        "What have you stored recently?",
        "Worüber haben wir zuletzt gesprochen?",
        "Was gibt es Neues?",
    ],
)
def test_some_questions_ask_for_whatever_is_latest(question: str) -> None:
    assert asks_only_for_latest(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is the latest on the boiler?",
        "What did we say about the roof last time?",
        "How do I show recent notes?",
        "What is a recent note?",
        "Who wrote the notes?",
        "What did I write?",
        "Was wissen wir aktuell über den Garten?",
    ],
)
def test_others_name_something_or_ask_how(question: str) -> None:
    assert not asks_only_for_latest(question)


@pytest.mark.parametrize(
    "question",
    [
        "What do you know about me?",
        "Who am I?",
        "Tell me everything you remember about the user",
        "user profile",
        "Do you remember me?",
        "Was weißt du über mich?",
        "Que sais-tu sur moi ?",
    ],
)
def test_some_questions_ask_for_whatever_is_known_of_the_person(question: str) -> None:
    assert asks_only_for_person(question)


@pytest.mark.parametrize(
    "question",
    [
        "What did Nadia say about me?",
        "What did Ada write about myself in the report?",
        "Where does the user live?",
        "How do I change my profile picture?",
        "What do you know about the boiler?",
    ],
)
def test_others_ask_about_someone_or_something(question: str) -> None:
    assert not asks_only_for_person(question)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("List all decisions", "decision"),
        ("decisions", "decision"),
        ("Any decisions we made?", "decision"),
        ("Show my reading lists", "reading list"),
        ("Which decisions did we make about the roof?", None),
        ("What is a decision?", None),
        ("How do I list decisions?", None),
        ("all notes", None),
        ("roof", None),
    ],
)
def test_a_question_may_ask_for_all_notes_of_a_type(question: str, kind: str | None) -> None:
    assert type_asked_for(question, lambda: ["note", "decision", "reading list"]) == kind


@pytest.mark.parametrize("question", ["decisions on C++", "Decisions about C", "decisions on F#"])
def test_a_name_of_one_letter_is_a_subject(question: str) -> None:
    assert type_asked_for(question, lambda: ["decision"]) is None
    assert type_asked_for("List all decisions", lambda: ["decision"]) == "decision"
