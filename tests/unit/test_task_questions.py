"""Questions about tasks."""

from __future__ import annotations

import pytest

from memvault.search.task_words import asks_for_tasks, task_words
from memvault.search.times.time_question_words import asks_only_for_tasks


@pytest.mark.parametrize(
    "question",
    [
        "What are my tasks?",
        "Show my todo list",
        "Anything I still have to do?",
        "Are there open tasks?",
        "Which tasks are overdue?",
        "What is overdue?",
        "What is still open?",
        "what is open?",
        "What's open right now",
        "What do I have open?",
        "what have we still got open?",
        "What is still open at the moment?",
        "What's open today?",
        "What is open this week?",
        "O que falta?",
        "¿Qué falta todavía?",
        "What's open for me?",
        "Is there anything still open?",
        "Was ist bei mir aktuell noch alles offen?",
        "Was liegt an?",
        "Qu'est ce qui est en attente ?",
        "¿Qué sigue pendiente?",
        "何が残ってる？",
        "Was ist offen?",
        "Was steht noch an?",
        "Qu\u2019est-ce qui est encore en suspens\u202f?",
        "¿Qué sigue abierto?",
        "Cos'è ancora aperto?",
        "Che cosa c'è ancora in sospeso?",
        "O que ainda está em aberto?",
        "Wat staat er nog open?",
        "Co jest jeszcze otwarte?",
        "Что ещё осталось?",
        "何がまだ残っていますか？",
        "What's pending?",
        "Which of my to-dos are overdue?",
        "Quais tarefas estão abertas?",
        "Welche Aufgaben sind noch offen?",
        "¿Qué tareas tengo pendientes?",
        "Quelles tâches restent à faire ?",
        "Quelles tâches sont ouvertes ?",
        "Какие задачи открыты?",
        "Które zadania są jeszcze otwarte?",
        "Co muszę jeszcze załatwić?",
        "Których zadań jeszcze nie skończyłam?",
        "未完了のタスクは？",
        "todo list",
        "compiti aperti",
        "Was muss ich noch erledigen?",
        "Was habe ich zu tun?",
        "Zeig mir meine To-do-Liste",
        "Welche Aufgaben sind noch nicht erledigt?",
        "Que me reste-t-il à faire ?",
        "Qu’ai-je encore à faire ?",
        "Que dois-je faire ?",
        "Quelles tâches ne sont pas terminées ?",
        "What still needs doing?",
        "What needs to be done?",
        "What has to be done?",
        "What remains to be done?",
        "What must be done?",
        "Quelles taches restent a faire ?",
        "Quelles tâches sont encore ouvertes ?",
        "Quali compiti sono ancora aperti?",
        "Cosa devo fare?",
        "Cosa mi resta da fare?",
        "¿Qué tengo que hacer todavía?",
        "¿Qué me queda por hacer?",
        "O que ainda tenho para fazer?",
        "Wat moet ik nog doen?",
        "Wat moet er nog gebeuren?",
        "Was muss noch passieren?",
        "Что мне ещё надо сделать?",
        "やるべきことは何ですか？",
        "我还要做什么？",
    ],
)
def test_some_questions_ask_for_nothing_but_what_is_to_do(question: str) -> None:
    assert asks_only_for_tasks(question)


@pytest.mark.parametrize(
    "question",
    [
        "How do I add a task?",
        "What is a task?",
        "What are tasks?",
        "What is open on Sundays?",
        "what is open source?",
        "what does the open flag do?",
        "when does the museum open?",
        "What is an open question?",
        "What do I have open accounts for?",
        "What is open for lunch?",
        "Is anything open on Sunday?",
        "Was liegt an der Straße?",
        "Who is open to it?",
        "Is the shop still open?",
        "Was ist ein offener Brief?",
        "Wat is open source?",
        "Qu'est-ce qui est ouvert le dimanche ?",
        "¿Qué tengo en la cuenta abierta?",
        "Which invoices are still open?",
        "Can I add tasks?",
        "Which tasks did I finish?",
        "Show done tasks",
        "What was done?",
        "What had been done?",
        "Welche Aufgaben sind erledigt?",
        "Quais tarefas foram concluídas?",
        "El recorte no toma todo el artículo",
        "Which classes has Maria taken?",
        "Has anyone taken offense?",
        "Was ist eine Aufgabe?",
        "Wie ist das zu machen?",
        "Was hat Ada am Dach gemacht?",
        "Comment faire une tarte à faire refroidir ?",
        "Quelles tâches ai-je terminées ?",
        "Où dois-je aller ?",
        "Quels livres dois-je rendre ?",
        "Come si fa il pane?",
        "Dove devo andare?",
        "¿Dónde está todo?",
        "¿Qué se puede hacer en invierno?",
        "Quem deve pagar?",
    ],
)
def test_others_ask_about_tasks_or_for_what_is_done(question: str) -> None:
    assert not asks_for_tasks(question)


@pytest.mark.parametrize(
    "question",
    [
        "What tasks are left for the boat?",
        "What needs to be done by Friday?",
        "What's still open on the boat?",
        "Que dois-je faire pour le bateau ?",
        "Cosa resta da fare per la barca?",
        "Was muss ich am Boot noch machen?",
    ],
)
def test_a_question_for_the_tasks_of_something_asks_for_more(question: str) -> None:
    assert asks_for_tasks(question)
    assert not asks_only_for_tasks(question)


def test_words_for_tasks_are_those_of_passages_in_english() -> None:
    assert task_words("Welche Aufgaben sind noch offen?") == ["task", "open"]
    assert task_words("Quelles tâches ne sont pas terminées ?") == ["task", "open"]
    assert task_words("Ist der Laden noch offen?") == []
