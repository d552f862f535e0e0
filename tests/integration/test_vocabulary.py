"""Words of a question that no note has, over real stores and the real model."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.indexer import Indexer
from memvault.model.note import Chunk
from memvault.model.priority import making_way
from memvault.model.search import Mode
from memvault.search.vocabulary import MIN_COSINE, Vocabulary, one_mistake_from
from memvault.stores.vectors import bm25
from memvault.text.encoders.embedding import Embedder
from tests.integration.searching import searcher_over
from tests.timing import seconds_of
from tests.waiting import PATIENCE_SECONDS, until

Write = Callable[..., Path]


@pytest.fixture
def vocabulary(write: Write, indexer: Indexer, embedder: Embedder) -> Vocabulary:
    write("Looks.md", "Put a css file into the folder, and the css changes all images.\n")
    write("Paste.md", "Drag images into the folder of the note. Marigold drew the css.\n")
    write("Garden.md", "Water the beans at noon. Marigold waters the roses.\n")
    write("Kitchen.md", "Marigold keeps pepper, not salt, beside the stove.\n")
    indexer.scan()
    vocabulary = Vocabulary(indexer.stores.vectors, embedder)
    vocabulary.load()
    return vocabulary


def test_a_word_that_no_note_has_is_replaced_by_the_word_that_notes_use(
    vocabulary: Vocabulary,
) -> None:
    assert set(vocabulary.similar("where does my stylesheet go")["stylesheet"]) == {"css"}
    assert "images" in vocabulary.similar("can I paste a photograph")["photograph"]


def test_a_word_that_notes_have_and_a_name_stand_for_themselves(vocabulary: Vocabulary) -> None:
    assert vocabulary.similar("css in a folder") == {}
    assert vocabulary.similar("Picture Stylesheet") == {}


def test_new_words_of_a_question_that_was_begun_are_embedded_once(
    vocabulary: Vocabulary, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded: list[str] = []
    begin_few = embedder.begin_few

    def counting(texts: Sequence[str]) -> Callable[[], npt.NDArray[np.float32]]:
        embedded.extend(texts)
        return begin_few(texts)

    monkeypatch.setattr(embedder, "begin_few", counting)
    for question in ("where does my stylesheet go", "the stylesheet with a picture"):
        vocabulary.begin(question)
        assert set(vocabulary.similar(question)["stylesheet"]) == {"css"}
    assert embedded == ["stylesheet", "picture"]


def test_a_question_waits_a_little_while_the_words_are_read_for_the_first_time(
    vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading makes way for questions, but not for one that waits for it."""
    monkeypatch.setattr("memvault.search.vocabulary.FIRST_SECONDS", 20.0)
    first = Vocabulary(vocabulary._vectors, vocabulary._embedder)
    is_reading, is_answered = threading.Event(), threading.Event()
    read = first._passages

    def slow() -> Iterator[Chunk]:
        is_reading.set()
        until(lambda: first._reading.awaited, 20)
        yield from read()

    def let_pass() -> None:
        is_answered.wait(20)

    def load() -> None:
        with making_way(let_pass):
            first.load()

    monkeypatch.setattr(first, "_passages", slow)
    with ThreadPoolExecutor(1) as threads:
        threads.submit(load)
        assert is_reading.wait(PATIENCE_SECONDS)
        similar = first.similar("where does my stylesheet go")
        is_answered.set()
    assert set(similar["stylesheet"]) == {"css"}


def test_questions_wait_for_the_words_of_a_large_vault_only_once(
    vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memvault.search.vocabulary.FIRST_SECONDS", 1.0)
    first = Vocabulary(vocabulary._vectors, vocabulary._embedder)
    is_reading, may_read = threading.Event(), threading.Event()

    def slow() -> Iterator[Chunk]:
        is_reading.set()
        may_read.wait(PATIENCE_SECONDS)
        yield from ()

    monkeypatch.setattr(first, "_passages", slow)
    with ThreadPoolExecutor(1) as threads:
        threads.submit(first.load)
        assert is_reading.wait(PATIENCE_SECONDS)
        begun = time.monotonic()
        assert all(first.similar("where does my stylesheet go") == {} for _ in range(100))
        took = time.monotonic() - begun
        may_read.set()
    assert took < 50.0  # each question alone could wait for a second


def test_a_word_like_none_of_the_vault_is_not_replaced(vocabulary: Vocabulary) -> None:
    assert vocabulary.similar("the glacier retreats") == {}


def test_a_mistyped_word_is_replaced_by_the_intended_word(vocabulary: Vocabulary) -> None:
    for typed in ("marigld", "marigould", "marigolt", "marigodl"):
        assert vocabulary.similar(f"what does {typed} keep")[typed] == {"marigold": 1.0}
    assert vocabulary.similar("what does Marigld keep") == {}  # perhaps another name
    assert "marigold" not in vocabulary.similar("where is the mangold").get("mangold", {})
    assert vocabulary.similar("the peper") == {}  # too short to be sure
    assert vocabulary.similar("the setov") == {}
    assert vocabulary.similar("the sotve")["sotve"] == {"stove": 1.0}


def test_a_very_long_word_takes_no_longer_than_others(vocabulary: Vocabulary) -> None:
    question = f"where is {'xyzzy' * 800}"
    assert (
        seconds_of(lambda: vocabulary.similar(question)) < 5.0
    )  # it grew with the square of the letters


def test_a_word_that_the_model_knows_is_not_taken_for_a_mistake(vocabulary: Vocabulary) -> None:
    assert "pepper" not in vocabulary.similar("where is the peppers")  # the vault knows its stem
    assert vocabulary.similar("the poster").get("poster", {}).get("roses") is None


def test_a_word_of_another_language_is_not_taken_for_a_mistake(
    vocabulary: Vocabulary, write: Write, indexer: Indexer
) -> None:
    write(
        "Beet.md", "Die Ringelblumen stehen im Garten und nicht in der Stadt, weil das gut ist.\n"
    )
    indexer.scan()
    vocabulary.load()
    assert vocabulary.similar("ringelblumem")["ringelblumem"] == {"ringelblumen": 1.0}
    assert vocabulary.similar("und wo ist das mit der ringelblumem") == {}


def test_in_a_language_that_the_model_does_not_know_no_words_are_alike(
    vocabulary: Vocabulary, write: Write, indexer: Indexer
) -> None:
    """They would be alike by their spelling, as "verschieden" and "verschwinden"."""
    for name in ("Beet", "Tisch", "Wand"):
        write(f"{name}.md", "Die Blumen verschwinden nicht, weil das mit der Wand gut ist.\n")
    indexer.scan()
    vocabulary.load()
    assert vocabulary.similar("warum ist das nicht mit der wand verschieden") == {}


def test_a_mistake_is_one_letter_or_two_neighbours() -> None:
    found = set(one_mistake_from("stove", "abcdefghijklmnopqrstuvwxyz"))
    assert {"stve", "stoves", "stone", "stvoe", "stove"} <= found
    assert not {"tove", "above", "stoover", "sto"} & found


@given(
    word=st.text("abcde", min_size=3, max_size=9),
    place=st.integers(1, 8),
    mistake=st.sampled_from(("too many", "too few", "another", "exchanged")),
    letter=st.sampled_from("abcde"),
)
def test_the_word_that_was_meant_is_one_mistake_from_the_one_that_was_typed(
    word: str, place: int, mistake: str, letter: str
) -> None:
    before, after = word[: min(place, len(word) - 2)], word[min(place, len(word) - 2) :]
    typed = {
        "too many": f"{before}{letter}{after}",
        "too few": before + after[1:],
        "another": f"{before}{letter}{after[1:]}",
        "exchanged": before + after[1] + after[0] + after[2:],
    }[mistake]
    assert word in one_mistake_from(typed, "abcde")


def test_such_words_count_less_than_those_of_the_question(vocabulary: Vocabulary) -> None:
    words = vocabulary.similar("where does my stylesheet go")["stylesheet"]
    weights = bm25.with_words(bm25.query("stylesheet"), words)
    assert max(weights.values) == 1.0
    assert 0.0 < min(weights.values) < 1.0 - (1.0 - MIN_COSINE) / 2.0


def test_words_are_read_again_once_the_vault_has_grown(
    vocabulary: Vocabulary, write: Write, indexer: Indexer
) -> None:
    assert vocabulary.similar("where is the bicycle") == {}
    for day in range(2):
        write(f"Ride {day}.md", f"On day {day} we took the bike over the hill.\n")
    indexer.scan()
    vocabulary.load()
    assert set(vocabulary.similar("where is the bicycle")["bicycle"]) == {"bike"}


def test_a_vault_knows_of_what_it_has_only_a_like_word_for(
    vocabulary: Vocabulary, indexer: Indexer, embedder: Embedder
) -> None:
    with searcher_over(indexer, embedder) as searcher:
        searcher.hybrid.vocabulary.load()
        hits = searcher.search("Which pictures do we have?", mode=Mode.DEFAULT).hits
        assert hits[0].memory.title in {"Looks", "Paste"}
        assert not searcher.search("Which glaciers do we have?", mode=Mode.DEFAULT).hits


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Which tasks are still open?", "Shed"),
        ("What are my open todos?", "Shed"),
        ("Which tasks did I complete?", "Fence"),
    ],
)
def test_tasks_are_found_by_whether_their_boxes_are_ticked(
    indexer: Indexer, embedder: Embedder, write: Write, question: str, title: str
) -> None:
    write("permanent/Shed.md", "Two windows face the lane.\n\n- [ ] Oil the hinges\n")
    write("permanent/Fence.md", "It is of larch.\n\n- [x] Replace the posts\n- [-] Paint it\n")
    for room in ("Kitchen", "Attic", "Cellar"):
        write(f"permanent/{room}.md", f"The {room.lower()} has two lamps.\n")
    indexer.scan()
    with searcher_over(indexer, embedder) as searcher:
        assert searcher.search(question).hits[0].memory.title == title
