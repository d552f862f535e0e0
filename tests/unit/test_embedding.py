"""Texts to vectors, the cache in front of the model, and what passes the model's window."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from fastmcp import Client, FastMCP
from filelock import FileLock
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from mcp_server.middleware.early_embedding import EarlyEmbedding
from memvault.config.settings import EmbeddingSettings
from memvault.model.errors import ModelUnavailable, StorageError
from memvault.model.note import Vector
from memvault.text.encoders import openvino_model
from memvault.text.encoders.embedding import Embedder, Window, WindowModel, open_embedder
from memvault.text.encoders.embedding_cache import Embedded, EmbeddingCache, rounded
from memvault.text.encoders.export import exported_model
from memvault.text.encoders.model_files import Encoded, model_id
from memvault.text.encoders.openvino_model import OpenVinoModel
from memvault.text.phrase_vectors import MAX_UNAWAITED, PhraseVectors
from tests.waiting import PATIENCE_SECONDS

DEFAULT = EmbeddingSettings().model


class Counting:
    """The real model, counting the windows that pass it."""

    def __init__(self, model: WindowModel) -> None:
        self.meta, self.tokenizer = model.meta, model.tokenizer
        self._model = model
        self.windows = 0
        self.at_once: list[int] = []  # texts of each run of the model for questions

    @property
    def queries(self) -> int:
        return len(self.at_once)

    def begin(self, windows: Sequence[Window]) -> Callable[[], Encoded]:
        self.at_once.append(len(windows))
        return self._model.begin(windows)

    def encode(self, batches: Sequence[Sequence[Window]]) -> list[Encoded]:
        self.windows += sum(len(batch) for batch in batches)
        return self._model.encode(batches)

    def release(self, idle_seconds: float) -> bool:
        """Nothing is loaded for batches alone."""
        return False


class Held(Counting):
    """Counts the runs for questions that nobody has waited for."""

    requests = 0

    def begin(self, windows: Sequence[Window]) -> Callable[[], Encoded]:
        begun = super().begin(windows)
        self.requests += 1

        def finished() -> Encoded:
            self.requests -= 1
            return begun()

        return finished


@pytest.fixture(autouse=True)
def computed_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run computes the vectors of a window once elsewhere."""
    for name in ("begin", "encode"):
        monkeypatch.setattr(OpenVinoModel, name, getattr(OpenVinoModel, name).__wrapped__)


@pytest.fixture(scope="module")
def model() -> OpenVinoModel:
    return OpenVinoModel(exported_model(DEFAULT))


@pytest.fixture(scope="module")
def windowed(model: OpenVinoModel) -> Tokenizer:
    """The model's tokenizer, which cuts a text into windows itself."""
    tokenizer = Tokenizer.from_str(model.tokenizer.to_str())
    tokenizer.enable_truncation(model.meta.window)
    return tokenizer


def unit(seed: int, dimension: int = 384) -> Vector:
    drawn = np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)
    return np.asarray(drawn / np.linalg.norm(drawn), np.float32)


def test_vectors_are_normalised_and_in_the_order_of_the_texts(embedder: Embedder) -> None:
    texts = ["a cat sat on the mat", "x", "the annual budget " * 30, "a cat sat on the mat", ""]
    vectors = embedder.embed(texts)
    assert vectors.shape == (5, embedder.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert np.array_equal(vectors[0], vectors[3])
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    assert np.allclose(vectors, alone, atol=1e-5)


def test_no_texts_have_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dimension)


def test_a_question_is_near_the_text_that_answers_it(embedder: Embedder) -> None:
    texts = ["The ferry to the island leaves at nine.", "Taxes are due in April."]
    scores = embedder.embed(texts) @ embedder.embed_query("when does the boat depart?")
    assert scores[0] > scores[1] + 0.2


def test_nothing_falls_past_the_window(embedder: Embedder) -> None:
    start = "we talked about the garden and its roses " * 60
    one, other = embedder.embed([start, start + "then the reactor core overheated " * 60])
    assert embedder.tokens.count(start) > embedder.window
    assert float(one @ other) < 0.9
    about_the_end = embedder.embed_query("nuclear reactor overheating")
    assert float(other @ about_the_end) > float(one @ about_the_end) + 0.2


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(["oak ", "ferry-", "ñandú ", "東京", "\n", "unbelievably "])),
    st.integers(1, 200),
)
def test_windows_are_those_of_the_tokenizer(
    model: OpenVinoModel, windowed: Tokenizer, pieces: list[str], repeats: int
) -> None:
    text = "".join(pieces) * repeats
    whole = windowed.encode(text)
    windows = Embedder(model, "m")._windows([text])
    assert windows == [[whole.ids, *(more.ids for more in whole.overflowing)]]


def test_a_process_that_keeps_the_compile_lock_does_not_hold_up_another(
    model: OpenVinoModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is suspended while it compiles keeps the lock until it continues."""
    folder = tmp_path / "model"
    shutil.copytree(exported_model(DEFAULT), folder, ignore=shutil.ignore_patterns("compiled"))
    monkeypatch.setattr(openvino_model, "COMPILING_SECONDS", 0.1)
    with FileLock(folder / "compiling.lock"):
        waiting = OpenVinoModel(folder)
    window = [101, 2054, 102]
    assert np.allclose(waiting.begin([window])().vectors, model.encode_few([window]), atol=1e-5)


def test_a_long_question_is_answered_too(embedder: Embedder) -> None:
    assert np.isfinite(embedder.embed_query("why " * 3000)).all()


def test_unchanged_text_never_passes_the_model_twice(model: OpenVinoModel, tmp_path: Path) -> None:
    texts = [f"note number {i}" for i in range(7)]
    counting = Counting(model)
    file = tmp_path / "cache.sqlite"
    first = Embedder(counting, "m", EmbeddingCache(file, "m"))
    fresh = first.embed([*texts, *texts])
    assert counting.windows == len(texts)
    first.close()
    again = Embedder(counting, "m", EmbeddingCache(file, "m"))
    kept = again.embed([*texts, "a new one"])
    assert counting.windows == len(texts) + 1
    assert np.array_equal(kept[:7], fresh[:7])
    again.close()


def test_cached_vectors_are_returned_without_the_model(
    model: OpenVinoModel, tmp_path: Path
) -> None:
    counting = Counting(model)
    one = Embedder(counting, model_id(DEFAULT), EmbeddingCache(tmp_path / "cache", "m"))
    vector = one.embed(["a kept text"])[0]
    seen = counting.windows
    known = one.cached(["a kept text", "another", "a kept text"])
    assert list(known) == ["a kept text"]
    assert np.array_equal(known["a kept text"], vector)
    assert counting.windows == seen
    assert Embedder(model, model_id(DEFAULT)).cached(["a kept text"]) == {}
    one.close()


def test_a_question_asked_again_is_not_embedded_again(model: OpenVinoModel) -> None:
    counting = Counting(model)
    one = Embedder(counting, model_id(DEFAULT))
    vector = one.embed_query("When does the ferry leave?")
    assert np.array_equal(one.embed_query("When does the ferry leave?"), vector)
    assert counting.queries == 1
    for number in range(100):
        one.embed_query(f"question {number}")
    assert np.array_equal(one.embed_query("When does the ferry leave?"), vector)
    assert counting.queries == 102


def test_vectors_computed_early_can_be_read_repeatedly(
    model: OpenVinoModel, embedder: Embedder
) -> None:
    texts = ["short", "a text that is a little longer than the other one is"]
    begun = embedder.begin_few(texts)
    first = begun().copy()
    embedder.embed_few(["whatever else is embedded meanwhile", "with the same engine"])
    assert np.array_equal(begun(), first)
    assert np.allclose(first, embedder.embed_few(texts), atol=1e-5)


def test_phrases_that_nobody_waits_for_hold_nothing_of_the_model(model: OpenVinoModel) -> None:
    held = Held(model)
    phrases = PhraseVectors(Embedder(held, "m"))
    for number in range(40):
        phrases.begin([f"the ferry of quay {number}"])
        assert held.requests <= MAX_UNAWAITED
    alone = Embedder(model, "m")
    for text, vector in phrases.of(["the ferry of quay 3", "the ferry of quay 39"]).items():
        assert np.allclose(vector, alone.embed_few([text])[0], atol=1e-5)


def test_a_question_is_embedded_while_its_call_is_on_the_way(model: OpenVinoModel) -> None:
    counting = Counting(model)
    one = Embedder(counting, model_id(DEFAULT))
    server = FastMCP("one tool", middleware=[EarlyEmbedding(one.begin_query)])
    before: list[int] = []

    @server.tool
    def ask(query: str | None = None) -> None:
        before.append(counting.queries)
        one.embed_query((query or "nothing").strip())

    async def run() -> None:
        async with Client(server) as client:
            await client.call_tool("ask", {"query": " When does the ferry leave? "})
            await client.call_tool("ask", {})

    asyncio.run(run())
    assert before == [1, 1]
    assert counting.queries == 2


def test_every_number_of_phrases_up_to_the_most_is_prepared(model: OpenVinoModel) -> None:
    counting = Counting(model)
    Embedder(counting, model_id(DEFAULT)).prepare(4)
    assert counting.at_once == [1, 2, 3, 4]


def test_without_a_cache_the_vectors_are_the_same(model: OpenVinoModel, embedder: Embedder) -> None:
    bare = Embedder(model, "m")
    texts = ["one", "two words", "a longer text about nothing at all"]
    assert np.allclose(bare.embed(texts), embedder.embed(texts), atol=1e-5)


def test_questions_are_answered_while_much_is_embedded(model: OpenVinoModel) -> None:
    busy = Embedder(model, "m")
    texts = [f"{i} {'words to keep the encoder busy ' * 12}" for i in range(50)]
    work = threading.Thread(target=busy.embed, args=(texts,))
    work.start()
    answered = 0
    while work.is_alive() and answered < 5:
        busy.embed_query(f"how are you, number {answered}?")
        answered += work.is_alive()
    work.join()
    assert answered == 5


@pytest.mark.skipif(sys.platform != "linux", reason="threads share the niceness of their process")
@pytest.mark.skipif(os.nice(0) >= 10, reason="the tests themselves give way as much")
def test_a_batch_is_computed_by_threads_that_give_way_to_questions(model: OpenVinoModel) -> None:
    Embedder(model, "model").embed([f"The {number}. mast broke." for number in range(40)])
    nicer = 0
    for thread in Path("/proc/self/task").iterdir():
        with suppress(ProcessLookupError):  # it has ended
            nicer += os.getpriority(os.PRIO_PROCESS, int(thread.name)) > os.nice(0)
    assert nicer >= 2


def test_a_text_has_the_same_vector_whatever_texts_are_beside_it(model: OpenVinoModel) -> None:
    texts = [f"The mast broke{' again' * count}." for count in range(40)]
    windows = [model.tokenizer.encode(text).ids for text in texts]
    alone = np.concatenate([model.encode_few([window]) for window in windows])
    for size in (5, 17, 40):
        batches = [windows[first : first + size] for first in range(0, len(windows), size)]
        np.testing.assert_allclose(
            np.concatenate([each.vectors for each in model.encode(batches)]), alone, atol=1e-6
        )


def test_many_threads_get_the_vectors_of_their_own_texts(embedder: Embedder) -> None:
    expected = embedder.embed([f"text {i}" for i in range(8)])
    wrong: list[int] = []

    def check(i: int) -> None:
        for _ in range(5):
            query_vector = embedder.embed_query(f"text {i}")
            got = embedder.embed([f"text {i}", f"other {i}"])[0]
            if float(got @ expected[i]) < 0.999 or float(query_vector @ expected[i]) < 0.999:
                wrong.append(i)

    threads = [threading.Thread(target=check, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_day_to_day_pytorch_is_not_imported(embedder: Embedder) -> None:
    program = (
        "import sys; from memvault.text.encoders.embedding import open_embedder;"
        "from memvault.config.settings import EmbeddingSettings;"
        "open_embedder(EmbeddingSettings(), None).embed(['x']);"
        "sys.exit('torch' in sys.modules or 'sentence_transformers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_two_threads_may_use_a_model_that_was_just_opened_at_once() -> None:
    """OpenVINO's first call asks NumPy for its version, here slowly, and lets another thread in."""
    program = (
        "import threading, time; from numpy.lib import NumpyVersion;"
        "ask = NumpyVersion.__init__;"
        "NumpyVersion.__init__ = lambda *given: time.sleep(0.5) or ask(*given);"
        "from memvault.text.encoders.embedding import open_embedder;"
        "from memvault.config.settings import EmbeddingSettings;"
        "model = open_embedder(EmbeddingSettings(), None);"
        "indexing = threading.Thread(target=model.embed, args=(['x'],));"
        "indexing.start(); model.embed_query('y'); indexing.join()"
    )
    ended = subprocess.run([sys.executable, "-c", program], check=False, timeout=PATIENCE_SECONDS)
    assert ended.returncode == 0


def test_a_model_that_does_not_exist_is_named(tmp_path: Path) -> None:
    empty = tmp_path / "no-model"
    empty.mkdir()
    assert model_id(str(empty)).startswith("no-model-")
    assert model_id("Some/Model v2") == "Some--Model--v2"
    assert model_id("sentence-transformers/all-MiniLM-L6-v2") == model_id(DEFAULT)
    with pytest.raises(ModelUnavailable, match="no-model"):
        open_embedder(EmbeddingSettings(model=str(empty), backend="openvino"), None)


def test_what_is_kept_is_nearly_what_was_given() -> None:
    given = np.stack([unit(seed) for seed in range(20)])
    kept = rounded(given)
    assert ((kept * given).sum(axis=1) > 0.9999).all()
    assert np.array_equal(rounded(kept), kept)
    for row in range(20):  # whatever stands beside it
        assert np.array_equal(rounded(given[row : row + 1])[0], kept[row])


def test_kept_vectors_outlive_the_process_and_belong_to_one_model(tmp_path: Path) -> None:
    file = tmp_path / "cache.sqlite"
    cache = EmbeddingCache(file, "one")
    texts = [f"text {i}" for i in range(1200)]
    cache.put({text: Embedded(unit(i), bytes([i % 256])) for i, text in enumerate(texts)})
    cache.close()
    again, other = EmbeddingCache(file, "one"), EmbeddingCache(file, "other")
    found = again.get([*texts, "unknown"])
    assert found.keys() == set(texts)
    assert np.array_equal(found["text 3"], rounded(unit(3)[None])[0])
    assert again.get_all(["text 3"])["text 3"].signs == bytes([3])
    assert other.get(texts) == {}
    again.close()
    other.close()


def test_a_damaged_cache_is_replaced_by_an_empty_one(tmp_path: Path) -> None:
    file = tmp_path / "cache.sqlite"
    file.write_bytes(b"this is no database, " * 500)
    cache = EmbeddingCache(file, "m")
    assert cache.get(["x"]) == {}
    cache.put({"x": Embedded(unit(1))})
    assert cache.get(["x"]).keys() == {"x"}
    cache.close()


def test_a_cache_that_is_damaged_while_it_is_open_is_replaced_by_an_empty_one(
    tmp_path: Path,
) -> None:
    file = tmp_path / "cache.sqlite"
    cache = EmbeddingCache(file, "m")
    cache.put({str(number): Embedded(unit(1)) for number in range(2_000)})
    cache.close()
    with file.open("r+b") as damaged:
        damaged.seek(20_000)
        damaged.write(b"\xff" * 200_000)
    cache = EmbeddingCache(file, "m")
    for _ in range(2):
        cache.get([str(number) for number in range(2_000)])
        cache.put({"x": Embedded(unit(1))})
    assert cache.get(["x"]).keys() == {"x"}
    cache.close()


def test_a_closed_cache_says_so(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "cache.sqlite", "m")
    cache.close()
    with pytest.raises(StorageError):
        cache.get(["x"])


def test_the_model_for_batches_is_unloaded_when_idle_and_loaded_again(model: OpenVinoModel) -> None:
    embedder = Embedder(model, "model")
    texts = [f"The {number}. boat leaks." for number in range(40)]
    before = embedder.embed(texts)
    assert not embedder.release(idle_seconds=60.0)
    assert embedder.release(idle_seconds=0.0)
    assert not embedder.release(idle_seconds=0.0)
    assert embedder.embed(texts) == pytest.approx(before, abs=1e-6)
