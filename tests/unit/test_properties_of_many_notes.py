"""Properties of thousands of notes, over a real catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from indexer.catalogue import FORMAT, Catalogue, NoteRecord
from memvault.model.memory import Lifecycle, Memory, id_of_path
from memvault.search.lists import property_questions
from memvault.search.lists.note_properties import NoteProperties
from memvault.search.lists.property_questions import PropertyAnswer, PropertyQuestion
from memvault.search.property_text import KeysByNearness
from memvault.search.times.question_time import QuestionTime
from memvault.search.times.time_spans import Calendar
from memvault.stores.keyvalue.sqlite import SqliteKeyValueStore
from memvault.text.encoders.embedding import Embedder

PARCELS = 3_500
TODAY = date(2026, 3, 1)


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalogue]:
    """Parcels of 50 days, of which every hundredth did not arrive, and one is heavy."""
    store = SqliteKeyValueStore(tmp_path_factory.mktemp("parcels") / "keyvalue.sqlite")
    catalogue = Catalogue(store)
    catalogue.commit(record(number) for number in range(PARCELS))
    yield catalogue
    store.close()


def record(number: int) -> NoteRecord:
    path = f"post/Parcel {number}.md"
    sent = {"sent": "2025-12-24"} if number == 59 else {}
    memory = Memory(
        id=id_of_path(path),
        path=path,
        title=f"Parcel {number}",
        lifecycle=Lifecycle.PERMANENT,
        created_at=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(number % 50),
        type="parcel",
        metadata={
            "arrived": bool(number % 100),
            "weight": 90 if number == 7 else number % 5,
            "carrier": "mule" if number in (8, 40, 59) else "van",
            "insured": None,
        }
        | sent,
    )
    return NoteRecord(memory=memory, size=1, mtime_ns=1, format=FORMAT)


Ask = Callable[[str], PropertyAnswer]


@pytest.fixture
def ask(catalogue: Catalogue, embedder: Embedder) -> Ask:
    def answer(question: str) -> PropertyAnswer:
        time = QuestionTime.read(question, Calendar(TODAY))
        read = PropertyQuestion.read(question, time, catalogue, TODAY)
        assert read is not None
        return read.answer(catalogue, KeysByNearness(embedder))

    return answer


def test_what_no_note_says_of_itself_is_not_denied(ask: Ask, catalogue: Catalogue) -> None:
    """Every note with an empty property would be a list of all notes."""
    assert "insured" in catalogue.property_keys()
    assert numbers(ask("Which parcels are not insured?")) == []


def test_a_note_has_only_the_words_that_it_has_now(tmp_path: Path) -> None:
    store = SqliteKeyValueStore(tmp_path / "keyvalue.sqlite")
    catalogue = Catalogue(store)
    parcel = record(40)
    path = parcel.memory.path
    by_ship = parcel.memory.model_copy(update={"metadata": {"carrier": "Steam Ship"}})

    catalogue.commit([parcel])
    catalogue.commit([parcel.model_copy(update={"memory": by_ship})])
    assert catalogue.paths_with_word("mule") == set()
    assert catalogue.paths_with_word("steam") == catalogue.paths_with_word("parcel") == {path}

    catalogue.commit([], removed=[path])
    assert catalogue.paths_with_word("steam") == set()
    store.close()


def numbers(answer: PropertyAnswer) -> list[int]:
    return [int(memory.title.split()[1]) for memory in answer.notes]


def test_a_value_is_found_among_thousands_of_notes(ask: Ask) -> None:
    assert numbers(ask("Which parcels are by mule?")) == [40, 59, 8]
    assert numbers(ask("Which parcels have a weight over 50?")) == [7]
    assert numbers(ask("Which parcel has the largest weight?"))[0] == 7


def test_what_is_denied_is_found_among_thousands_of_notes(ask: Ask) -> None:
    late = [number for number in range(PARCELS) if number % 100 == 0]
    assert sorted(numbers(ask("Which parcels have not arrived?"))) == late


@pytest.mark.parametrize("question", ["How many parcels arrived?", "Which parcels have arrived?"])
def test_what_a_property_calls_false_is_not_so(ask: Ask, question: str) -> None:
    arrived = numbers(ask(question))
    assert len(arrived) == PARCELS - PARCELS // 100
    assert not any(number % 100 == 0 for number in arrived)


def test_a_note_that_the_question_names_stays_though_it_says_no(ask: Ask) -> None:
    assert numbers(ask("Has parcel 100 arrived?")) == [100]


def test_notes_with_a_property_are_of_their_own_day_unless_a_property_says_one(ask: Ask) -> None:
    assert numbers(ask("Which parcels are by mule in January 2026?")) == [8]
    assert numbers(ask("Which parcels are by mule in February 2026?")) == [40]
    assert numbers(ask("Which parcels are by mule in December 2025?")) == [59]
    assert numbers(ask("Which parcel had the largest weight in January 2026?"))[0] == 7
    assert 7 not in numbers(ask("Which parcel had the largest weight in February 2026?"))


def test_each_note_is_read_once_for_a_question(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    class Counted(NoteProperties):
        def __init__(self, memory: Memory, *words: Any) -> None:
            read.append(memory.path)
            super().__init__(memory, *words)

    monkeypatch.setattr(property_questions, "NoteProperties", Counted)
    for question in ("Which parcel has the largest weight?", "Which parcels are not by mule?"):
        read.clear()
        assert ask(question).notes
        assert len(read) == len(set(read)), question
