"""Models that find any two texts alike are made comparable with one that does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.config.settings import EmbeddingSettings
from memvault.text.common_part import CommonPart, mean_cosine, without
from memvault.text.encoders import embedding
from memvault.text.encoders.embedding import Embedder, Window, WindowModel, open_embedder
from memvault.text.encoders.export import exported_model
from memvault.text.encoders.model_files import Encoded, model_id
from memvault.text.encoders.openvino_model import OpenVinoModel

Vectors = npt.NDArray[np.float32]
DEFAULT = EmbeddingSettings().model
UNRELATED = (
    "Bees leave the hive when it is warm.",
    "The committee approved the new statute.",
    "Her bicycle has a flat tyre.",
    "Volcanic soil is good for wine.",
    "Please sign the form on the last page.",
    "He plays chess by letter.",
)


class FindsAllAlike:
    """The real model with a large part in common to all its vectors."""

    def __init__(self, model: WindowModel) -> None:
        self.meta, self.tokenizer, self._model = model.meta, model.tokenizer, model
        common = np.random.default_rng(1).standard_normal(model.meta.dimension)
        self._common = (2.0 * common / np.linalg.norm(common)).astype(np.float32)

    def _alike(self, vectors: Vectors) -> Vectors:
        together = vectors + self._common
        return np.asarray(together / np.linalg.norm(together, axis=1, keepdims=True), np.float32)

    def begin(self, windows: Sequence[Window]) -> Callable[[], Encoded]:
        begun = self._model.begin(windows)
        return lambda: Encoded(self._alike(begun().vectors))

    def encode(self, batches: Sequence[Sequence[Window]]) -> list[Encoded]:
        return [Encoded(self._alike(each.vectors)) for each in self._model.encode(batches)]

    def release(self, idle_seconds: float) -> bool:
        return self._model.release(idle_seconds)


@pytest.fixture(scope="module")
def model() -> WindowModel:
    return FindsAllAlike(OpenVinoModel(exported_model(DEFAULT)))


@pytest.fixture
def alike(model: WindowModel, monkeypatch: pytest.MonkeyPatch) -> Embedder:
    """What a person gets who configures such a model."""
    monkeypatch.setattr(embedding, "BUNDLED_NAMES", ())
    monkeypatch.setattr(embedding, "open_model", lambda settings: model)
    return open_embedder(EmbeddingSettings(), None)


def test_the_default_model_is_left_as_it_is(embedder: Embedder) -> None:
    assert (
        CommonPart.of(embedder.embed_queries, embedder.embed_few, embedder.knows_language) is None
    )
    assert mean_cosine(embedder.embed(UNRELATED)) < 0.1


def test_cosines_mean_the_same_as_with_the_default_model(
    model: WindowModel, alike: Embedder, embedder: Embedder
) -> None:
    assert mean_cosine(Embedder(model, "plain").embed(UNRELATED)) > 0.7
    texts = [*UNRELATED, "When do bees fly out?", "The tyre of her bike lost its air."]
    expected = embedder.embed(texts) @ embedder.embed_query("Why does her bicycle not roll?")
    cosines = alike.embed(texts) @ alike.embed_query("Why does her bicycle not roll?")
    assert cosines == pytest.approx(expected, abs=0.12)
    assert int(cosines.argmax()) == int(expected.argmax())


def test_a_few_texts_have_the_vectors_of_many(alike: Embedder) -> None:
    assert alike.embed_few(UNRELATED) == pytest.approx(alike.embed(UNRELATED), abs=0.02)


def test_vectors_with_and_without_the_common_part_are_not_compared(alike: Embedder) -> None:
    assert alike.model_id != model_id(DEFAULT)


@given(
    st.lists(
        st.lists(st.floats(-1.0, 1.0, width=32), min_size=4, max_size=4), min_size=1, max_size=8
    ),
    st.lists(st.floats(-1.0, 1.0, width=32), min_size=4, max_size=4),
)
def test_what_is_left_is_normalised_or_nothing(rows: list[list[float]], part: list[float]) -> None:
    lengths = np.linalg.norm(
        without(np.array(rows, np.float32), np.array(part, np.float32)), axis=1
    )
    assert all(length == pytest.approx(1.0, abs=1e-4) or length == 0.0 for length in lengths)


@given(st.integers(2, 12), st.integers(0, 10_000))
def test_the_mean_cosine_is_that_of_all_pairs(count: int, seed: int) -> None:
    drawn = np.random.default_rng(seed).standard_normal((count, 5))
    vectors = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    pairs = (vectors @ vectors.T)[np.triu_indices(count, 1)]
    assert mean_cosine(vectors) == pytest.approx(float(pairs.mean()), abs=1e-5)
