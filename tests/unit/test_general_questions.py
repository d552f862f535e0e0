"""Questions that name no subject."""

from __future__ import annotations

import pytest

from memvault.search.lists.general_questions import (
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
        "What was the last thing I wrote?",
        "What did I just change?",
        "What have I just added?",
        "What did I last edit?",
        "What was written last?",
        "Was habe ich gerade geändert?",
        "Was wurde zuletzt geändert?",
        "Qu'est-ce que je viens d\u2019écrire ?",
        "¿Qué acabo de cambiar?",
        "Cosa ho appena cambiato?",
        "O que acabei de mudar?",
        "Wat heb ik net veranderd?",
        "Co właśnie zmieniłem?",
        "Что я только что изменил?",
        "最後に書いたものは？",
        "我刚刚改了什么？",
        "What did you store last?",
        "my last notes",
        "latest notes",
        "recent memories",
        "What have you stored recently?",
        "Worüber haben wir zuletzt gesprochen?",
        "Was gibt es Neues?",
        "Che novità ci sono?",
        "¿Qué hay de nuevo?",
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
        "What was the last thing Ada wrote?",
        "What did we just decide about the roof?",
        "Which rule was last changed?",
        "Was hat Ada gerade geschrieben?",
        "¿Qué acabo de cambiar en el jardín?",
        "我刚刚写了关于花园的什么？",
        "Was wissen wir aktuell über den Garten?",
        "Quoi de neuf dans le jardin ?",
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
        "Qu'est-ce que tu sais de moi ?",
        "Cosa sai di me?",
        "¿Qué sabes de mí?",
        "O que sabes sobre mim?",
        "Was weisst du alles von mir?",
        "Wat weet je over mij?",
        "Что ты знаешь обо мне?",
        "私について何を知っていますか？",
        "你知道关于我的什么？",
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
        "Qui a peur de moi ?",
        "Cosa pensa Marco di me?",
        "¿Qué sabes de mi casa?",
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
        ("List all the decisions that we know", "decision"),
        ("List all the decisions that we regret", None),
        ("Which decisions did we make about the roof?", None),
        ("What is a decision?", None),
        ("How do I list decisions?", None),
        ("all notes", None),
        ("roof", None),
    ],
)
def test_a_question_may_ask_for_all_notes_of_a_type(question: str, kind: str | None) -> None:
    assert type_asked_for(question, lambda: ["note", "decision", "reading list"]) == kind


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Liste toutes mes recettes", "recette"),
        ("Montre-moi mes livres", "livre"),
        ("Quelles recettes ai-je ?", "recette"),
        ("Elenca le mie ricette", "ricetta"),
        ("Elenca tutti i libri", "libro"),
        ("Muéstrame todas mis recetas", "receta"),
        ("Mostra todas as receitas", "receita"),
        ("Zeig mir alle Rezepte", "Rezept"),
        ("Liste alle Bücher auf", "Buch"),
        ("Покажи все рецепты", "рецепт"),
        ("Pokaż wszystkie książki", "książka"),
        ("Wymień wszystkie koncerty", "koncert"),
        ("レシピをすべて見せて", "レシピ"),
        ("列出所有食谱", "食谱"),
        ("Zeig mir Rezepte mit Kürbis", None),
        ("Quelles recettes avec des pommes ?", None),
        ("Comment lister les recettes ?", None),
        ("Qu'est-ce qu'une recette ?", None),
        ("Cos'è una ricetta?", None),
    ],
)
def test_a_list_may_be_asked_for_in_other_languages(question: str, kind: str | None) -> None:
    kinds = ["recette", "livre", "ricetta", "libro", "receta", "receita", "Rezept", "Buch"]
    kinds += ["książka", "koncert", "рецепт", "レシピ", "食谱"]
    assert type_asked_for(question, lambda: kinds) == kind


@pytest.mark.parametrize("question", ["decisions on C++", "Decisions about C", "decisions on F#"])
def test_a_name_of_one_letter_is_a_subject(question: str) -> None:
    assert type_asked_for(question, lambda: ["decision"]) is None
    assert type_asked_for("List all decisions", lambda: ["decision"]) == "decision"


@pytest.mark.parametrize(
    "question", ["What is chapter 1 about?", "Show chapter 2026-093", "Which chapter is 3?"]
)
def test_a_type_with_a_number_behind_it_is_one_note(question: str) -> None:
    assert type_asked_for(question, lambda: ["chapter"]) is None


def test_a_number_before_a_type_is_how_many_are_wanted() -> None:
    assert type_asked_for("List my 5 recipes", lambda: ["recipe"]) == "recipe"
