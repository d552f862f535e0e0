"""Questions to a vault in German, which the embedding model hardly knows, over real stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

from indexer.indexer import Indexer
from memvault.search.times.time_spans import Calendar
from memvault.text.encoders.embedding import Embedder
from tests.integration.searching import searcher_over

NOTES = {
    "Werkstatt": "Die Hobelbank ist geölt.\n\n- [ ] Neue Sägeblätter bestellen\n",
    "Garten": "Die Rosen sind geschnitten, und der Kompost ist umgesetzt.\n\n- [x] Laub rechen\n",
    "Ofen": "Der Schornsteinfeger kommt am 27. November um neun Uhr.\n",
    "Brotteig": "---\ndate: 2026-01-05\ntype: backwerk\n---\nRoggen und Dinkel, über Nacht gehen lassen.\n",
    "Zwetschgendatschi": "---\ndate: 2026-01-05\ntype: backwerk\n---\nHefeteig und zwei Kilo Früchte.\n",
    "Imker": "Drei Völker sind eingewintert, das vierte war zu schwach für den Winter.\n",
}


@pytest.fixture
def ask(
    write: Callable[..., Path], indexer: Indexer, embedder: Embedder
) -> Iterator[Callable[[str], list[str]]]:
    for title, text in NOTES.items():
        front = "" if text.startswith("---") else "---\ndate: 2026-01-05\n---\n"
        write(f"permanent/{title}.md", front + text)
    indexer.scan()
    with searcher_over(indexer, embedder, lambda: Calendar(date(2026, 11, 18))) as searcher:
        searcher.warm_up()

        def answers_to(query: str) -> list[str]:
            return [hit.memory.title for hit in searcher.search(query).hits]

        yield answers_to


def test_tasks_are_found_by_whether_they_are_ticked(ask: Callable[[str], list[str]]) -> None:
    assert ask("Welche Aufgaben sind noch offen?")[0] == "Werkstatt"
    assert ask("Welche Aufgaben sind erledigt?")[0] == "Garten"


def test_plans_are_found(ask: Callable[[str], list[str]]) -> None:
    assert ask("Was steht nächste Woche an?") == ["Ofen"]


def test_notes_are_found_by_their_type(ask: Callable[[str], list[str]]) -> None:
    assert set(ask("Zeige alles Backwerk, das ich habe")[:2]) == {"Brotteig", "Zwetschgendatschi"}


def test_a_question_in_other_words_than_the_notes_gets_the_nearest_notes(
    ask: Callable[[str], list[str]],
) -> None:
    assert ask("Wie geht es meinen Bienen?")
