"""Words for tasks in questions."""

from __future__ import annotations

import re

_TO_DO = re.compile(r"\b(?:(?:to|need|must|should)[- ](?:i )?do|need to|todos?|tasks?)\b", re.I)
# Words of other languages for tasks and their states, which passages have in English.
_WORDS = {
    "task": "aufgabe tâche tarea compito compiti tarefa taak taken задач タスク 任务 待办",
    "open": "offen erledigen ouverte restant pendient aperti pendente openstaand открыт 未完 待办",
    "done": "erledigt terminée hechas fatti feitas gedaan сделан 完了 已完成",
}


def task_words(question: str) -> list[str]:
    """The English words for what a question in another language says of tasks."""
    low = question.casefold()
    if not any(word in low for word in _WORDS["task"].split()):
        return []
    return [english for english, words in _WORDS.items() if any(w in low for w in words.split())]


def asks_for_tasks(question: str) -> bool:
    """Whether a question asks what is to do."""
    return _TO_DO.search(question) is not None or bool(task_words(question))
