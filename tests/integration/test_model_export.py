"""A person's own embedding model: exported once, by whichever process comes first."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from fastmcp import Client

from indexer.generation import Progress
from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from memvault.config.paths import StateFolder, model_cache
from memvault.config.settings import EmbeddingSettings, Settings
from memvault.text.embedding import Embedder, open_embedder
from memvault.text.export import exported_model
from memvault.text.openvino_model import family_prefixes

# A two-layer BERT with random weights, pooled by its first token and told apart by prompts.
MAKE_MODEL = """
import sys, torch
from pathlib import Path
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Pooling, Transformer
from transformers import BertConfig, BertModel, BertTokenizerFast
raw = Path(sys.argv[1]) / "raw"
raw.mkdir()
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz .?:"]
words += ["##" + letter for letter in "abcdefghijklmnopqrstuvwxyz"]
(raw / "vocab.txt").write_text("\\n".join(words))
BertTokenizerFast(str(raw / "vocab.txt")).save_pretrained(raw)
torch.manual_seed(0)
sizes = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
sizes |= {"intermediate_size": 128, "max_position_embeddings": 160, "vocab_size": len(words)}
config = BertConfig(**sizes, initializer_range=0.3)
BertModel(config).eval().save_pretrained(raw)
layers = Transformer(str(raw), max_seq_length=128)
model = SentenceTransformer(modules=[layers, Pooling(64, "cls")], prompts={"query": "ask: "})
model.save(sys.argv[1] + "/model")
texts = ["a short one", "another. with words?"]
import numpy
numpy.save(sys.argv[1] + "/expected.npy", model.encode_document(texts, normalize_embeddings=True))
numpy.save(sys.argv[1] + "/asked.npy", model.encode_query("a short one", normalize_embeddings=True))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("own")
    subprocess.run([sys.executable, "-c", MAKE_MODEL, str(made)], check=True, capture_output=True)
    return made


def assert_agrees(embedder: Embedder, folder: Path) -> None:
    vectors = embedder.embed(["a short one", "another. with words?"])
    expected = np.load(folder / "expected.npy")
    assert embedder.dimension == 64
    assert embedder.window == 126
    assert float((vectors * expected).sum(axis=1).min()) > 0.99
    asked = embedder.embed_query("a short one")
    assert float(asked @ np.load(folder / "asked.npy").ravel()) > 0.99
    assert float(asked @ vectors[0]) < 0.99  # its query prompt is said


def test_any_model_is_exported_once_by_processes_that_start_together(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMVAULT_CACHE", str(tmp_path))
    model = str(folder / "model")
    found: list[Path] = []
    starts = [
        threading.Thread(target=lambda: found.append(exported_model(model))) for _ in range(2)
    ]
    for start in starts:
        start.start()
    for start in starts:
        start.join()
    assert len(found) == 2
    assert found[0] == found[1]
    assert {file.name for file in found[0].iterdir()} >= {"model.xml", "meta.json"}
    assert not list(model_cache().glob("exporting-*"))
    embedder = open_embedder(EmbeddingSettings(model=model, backend="openvino"), None)
    assert_agrees(embedder, folder)


@pytest.fixture(scope="module")
def e5(folder: Path) -> Path:
    """The same model as a folder of the E5 family, whose files name no prefixes; pooled by mean."""
    script = (
        "import sys, numpy\n"
        "from sentence_transformers import SentenceTransformer\n"
        "from sentence_transformers.models import Pooling, StaticEmbedding, Transformer\n"
        "layers = Transformer(sys.argv[1] + '/raw', max_seq_length=64)\n"
        "model = SentenceTransformer(modules=[layers, Pooling(64, 'mean')])\n"
        "model.save(sys.argv[1] + '/multilingual-e5-small')\n"
        "for name, text in (('passage', 'passage: a short one'), ('query', 'query: a short one')):\n"
        "    numpy.save(f'{sys.argv[1]}/{name}.npy', model.encode(text, normalize_embeddings=True))\n"
        "cut = SentenceTransformer(modules=list(model), truncate_dim=16)\n"
        "words = model.tokenizer.backend_tokenizer\n"
        "static = SentenceTransformer(modules=[StaticEmbedding(words, embedding_dim=32)])\n"
        "for name, each in (('cut', cut), ('static', static)):\n"
        "    each.save(f'{sys.argv[1]}/{name}')\n"
        "    vector = each.encode('a short one', normalize_embeddings=True)\n"
        "    numpy.save(f'{sys.argv[1]}/{name}.npy', vector)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(folder)], check=True, capture_output=True)
    return folder / "multilingual-e5-small"


@pytest.mark.parametrize("backend", ["openvino", "torch"])
def test_a_model_of_the_e5_family_gets_its_prefixes_pooling_and_length(
    e5: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: Literal["openvino", "torch"]
) -> None:
    monkeypatch.setenv("MEMVAULT_CACHE", str(tmp_path))
    embedder = open_embedder(EmbeddingSettings(model=str(e5), backend=backend), None)
    assert embedder.window == 62
    (document,) = embedder.embed(["a short one"])
    query = embedder.embed_query("a short one")
    assert float(document @ np.load(e5.parent / "passage.npy")) > 0.99
    assert float(query @ np.load(e5.parent / "query.npy")) > 0.99
    assert float(query @ np.load(e5.parent / "passage.npy")) < 0.999


@pytest.mark.parametrize(
    ("model", "prefixes"),
    [
        ("intfloat/multilingual-e5-small", ("query: ", "passage: ")),
        ("intfloat/e5-base-v2", ("query: ", "passage: ")),
        ("intfloat/multilingual-e5-large-instruct", None),
        ("nomic-ai/nomic-embed-text-v1.5", ("search_query: ", "search_document: ")),
        ("BAAI/bge-m3", None),
        ("all-MiniLM-L6-v2", None),
        ("sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2", None),
    ],
)
def test_prefixes_follow_the_family_of_a_model(
    model: str, prefixes: tuple[str, str] | None
) -> None:
    assert family_prefixes(model) == prefixes


def test_pytorch_says_the_same_where_openvino_is_not_wanted(folder: Path) -> None:
    settings = EmbeddingSettings(model=str(folder / "model"), backend="torch")
    assert_agrees(open_embedder(settings, None), folder)


@pytest.mark.parametrize(("name", "dimension"), [("cut", 16), ("static", 32)])
def test_models_cut_to_few_dimensions_and_models_of_words_alone_are_run(
    e5: Path, name: str, dimension: int
) -> None:
    embedder = open_embedder(EmbeddingSettings(model=str(e5.parent / name), backend="torch"), None)
    alone, among_longer_ones = embedder.embed(["a short one", "another one. with more words?"])
    assert embedder.dimension == dimension
    assert float(alone @ np.load(e5.parent / f"{name}.npy")) > 0.99
    assert float(alone @ among_longer_ones) < 0.99


def test_another_model_embeds_all_notes_again_next_to_the_old_index(
    folder: Path,
    vault_folder: Path,
    settings: Settings,
    state: StateFolder,
    write: Callable[..., Path],
) -> None:
    for name, text in {
        "Lamp": "The lamp is lit at dusk.",
        "Boat": "The boat leaves at dawn.",
    }.items():
        write(f"{name}.md", f"# {name}\n\n{text}\n")
    first = Container(vault_folder, settings, state)
    first.indexing.start(watch=False)
    first.close()

    other = EmbeddingSettings(model=str(folder / "model"), backend="torch")
    changed = settings.model_copy(update={"embedding": other})
    container = Container(vault_folder, changed, state)
    try:
        assert container.live.stores.outdated
        assert container.live.stores.vectors.rank_keywords("lamp", 1).note_ids
        answer = asyncio.run(recalled(container, "When is the lamp lit?"))
        assert answer[0] == "Lamp.md"
        reported: list[Progress] = []
        container.indexing.start(watch=False, report=reported.append)
        assert reported
        assert not container.live.stores.outdated
        query = container.embedder.embed_query("lamp")
        assert len(container.live.stores.vectors.rank_dense(query, 5).note_ids) == 2
        assert asyncio.run(recalled(container, "When is the lamp lit?"))[0] == "Lamp.md"
    finally:
        container.close()
    again = Container(vault_folder, changed, state)
    assert not again.live.stores.outdated
    again.close()


async def recalled(container: Container, query: str) -> list[str]:
    async with Client(build_server(container)) as client:
        found = await client.call_tool("recall_memory", {"query": query})
    assert found.structured_content is not None
    return [node["path"] for node in found.structured_content["nodes"]]
