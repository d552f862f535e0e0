"""Words for tasks in questions."""

from __future__ import annotations

import re

from memvault.search.time_translation import languages_of

_TO_DO = re.compile(
    r"\b(?:(?:to|need|must|should)[- ](?:i )?dos?|to get done|need to|todos?|tasks?|overdue)\b",
    re.I,
)
# Questions about finished tasks or tasks in general: "How do I add a task?", "What is a task?"
_OTHERWISE = re.compile(
    r"^\W*(?:how|why|where|can|could|does|do|is|what (?:is|are) (?:an? )?tasks?\b)|"
    r"\b(?:did|done|finished|completed|closed|ticked)\b",
    re.I,
)
# Words of other languages for tasks and their states, which passages have in English.
_WORDS = {
    "task": "aufgabe tâche tarea compito compiti tarefa taak taken задач タスク 任务 待办",
    "open": "offen erledigen ouverte restant pendient abiert aperti pendente abert openstaand "
    "открыт 未完了 未完 待办",
    "done": "erledigt terminée hechas completad fatti feitas concluíd gedaan сделан 完了 已完成",
}
OPEN_TASKS = tuple(f"{_WORDS['task']} {_WORDS['open']}".split())  # the beginnings of these words


def task_words(question: str) -> list[str]:
    """The English words for tasks and their states that a question in another language names."""
    low = question.casefold()
    if not any(word in low for word in _WORDS["task"].split()):
        return []
    return [english for english, words in _WORDS.items() if any(w in low for w in words.split())]


def asks_for_tasks(question: str) -> bool:
    """Whether a question asks what is to do."""
    if languages_of(question)[1]:  # surely not English
        told = task_words(question)
        return bool(told) and ("done" not in told or "open" in told)
    return _TO_DO.search(question) is not None and _OTHERWISE.search(question) is None
