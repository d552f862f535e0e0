"""A real cross-encoder, made here with random weights, orders what a search has found."""

from __future__ import annotations

from pathlib import Path

import pytest

from memvault.config.settings import IndexSettings, RerankSettings, Settings
from memvault.text.encoders.reranker import Reranker
from tests.integration.caller import Caller
from tests.integration.small_vault import opened

QUERY = "Which seeds are there?"
PASSAGES = [f"The seeds are {name}." for name in ("peas", "beans", "cress", "dill", "oats", "rye")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # Imported here, for PyTorch would take seconds of the start of each process that collects tests.
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    raw = tmp_path_factory.mktemp("reranker")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz .?"]
    words += ["##" + letter for letter in "abcdefghijklmnopqrstuvwxyz"]
    (raw / "vocab.txt").write_text("\n".join(words))
    BertTokenizerFast(str(raw / "vocab.txt")).save_pretrained(raw)
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "num_labels": 1}
    sizes |= {"intermediate_size": 64, "max_position_embeddings": 512, "vocab_size": len(words)}
    config = BertConfig(**sizes, initializer_range=0.5)
    BertForSequenceClassification(config).eval().save_pretrained(raw)
    return raw


def in_order_of_model(folder: Path, passages: list[str]) -> list[int]:
    from sentence_transformers import CrossEncoder

    scores = CrossEncoder(str(folder)).predict([(QUERY, each) for each in passages])
    return sorted(range(len(passages)), key=lambda k: -scores[k])


def test_passages_come_in_the_order_of_the_model(folder: Path) -> None:
    reranker = Reranker(RerankSettings(model=str(folder), budget_ms=10_000))
    reranker.load()
    expected = in_order_of_model(folder, PASSAGES)
    assert expected != list(range(len(PASSAGES)))
    assert reranker.order(QUERY, PASSAGES) == expected


def test_only_the_first_passages_are_read_and_the_others_keep_their_places(folder: Path) -> None:
    reranker = Reranker(RerankSettings(model=str(folder), first=3, budget_ms=10_000))
    reranker.load()
    expected = in_order_of_model(folder, PASSAGES[:3])
    assert reranker.order(QUERY, PASSAGES) == [*expected, 3, 4, 5]


def test_what_is_not_read_in_time_keeps_its_place(folder: Path) -> None:
    reranker = Reranker(RerankSettings(model=str(folder), budget_ms=1e-6))
    reranker.load()
    expected = in_order_of_model(folder, PASSAGES[:4])  # one batch is always read
    assert reranker.order(QUERY, PASSAGES) == [*expected, 4, 5]


def test_a_model_that_cannot_be_loaded_leaves_the_order(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "empty").mkdir()
    reranker = Reranker(RerankSettings(model=str(tmp_path / "empty")))
    reranker.load()
    assert reranker.order(QUERY, PASSAGES) == [0, 1, 2, 3, 4, 5]
    assert "cannot be loaded" in caplog.text


def test_recall_comes_in_the_order_of_the_configured_model(folder: Path, tmp_path: Path) -> None:
    notes = {f"{k}.md": f"{text}\n" for k, text in enumerate(PASSAGES)}
    rerank = RerankSettings(model=str(folder), budget_ms=10_000)
    settings = Settings(index=IndexSettings(ner="off"), rerank=rerank)
    container = opened(tmp_path, notes, settings=settings)
    try:
        assert container.models.reranker is not None
        container.models.reranker.load()
        answer = Caller(container).ok("recall_memory", query=QUERY, mode="default")
        texts = [PASSAGES[int(Path(node["path"]).stem)] for node in answer["nodes"]]
        best = in_order_of_model(folder, texts)
        assert len(texts) > 1 and best == list(range(len(texts)))
    finally:
        container.close()
