"""BERT models are built from their files, and give the vectors that sentence-transformers gives."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from memvault.config.settings import EmbeddingSettings
from memvault.model.errors import ModelUnavailable
from memvault.text.encoders import export
from memvault.text.encoders.bert_network import BertFiles
from memvault.text.encoders.embedding import Embedder
from memvault.text.encoders.openvino_model import OpenVinoModel

TEXTS = ("one", "two of them. with words?", "a much longer one, so that the others are padded")
SIZES = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 96,
    "max_position_embeddings": 80,
    "initializer_range": 0.3,
}
WITHOUT_PYTORCH = """
import sys
sys.modules["torch"] = sys.modules["sentence_transformers"] = None
from pathlib import Path
from memvault.text.encoders.export import main
sys.exit(main(sys.argv[1:]))
"""


def saved(kind: str, folder: Path, pooling: str = "mean", half: bool = False) -> npt.NDArray[Any]:
    """Save a model of this kind with random weights; returns the vectors of `TEXTS`."""
    import torch
    import transformers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Normalize, Pooling, Transformer

    special = ["<pad>", "<unk>", "<s>", "</s>", "<mask>"]
    if kind != "Bert":
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    words = [*special, *"abcdefghijklmnopqrstuvwxyz .?,:"]
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    start, end = words.index("<s>"), words.index("</s>")
    tokenizer.post_processor = processors.TemplateProcessing(
        "<s> $A </s>", special_tokens=[("<s>", start), ("</s>", end)]
    )
    raw = folder / "raw"
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>", cls_token="<s>",
        sep_token="</s>", mask_token="<mask>", model_max_length=78,
        model_input_names=["input_ids", "attention_mask"],
    ).save_pretrained(raw)  # fmt: skip
    torch.manual_seed(1)
    config = getattr(transformers, f"{kind}Config")(
        **SIZES, vocab_size=len(words), pad_token_id=words.index("<pad>")
    )
    network = getattr(transformers, f"{kind}Model")(config).eval()
    (network.half() if half else network).save_pretrained(raw)
    modules = [Transformer(str(raw)), Pooling(64, pooling), Normalize()]
    model = SentenceTransformer(modules=modules, prompts={"query": "ask: "})
    model.save(str(folder / "model"))
    return np.asarray(model.float().encode(list(TEXTS), prompt="", normalize_embeddings=True))


@pytest.fixture(scope="module")
def saved_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert")
    saved("Bert", folder)
    return folder / "model"


@pytest.fixture
def bert(saved_bert: Path, tmp_path: Path) -> Path:
    """The folder of a model that a test may change."""
    return Path(shutil.copytree(saved_bert, tmp_path / "bert"))


@pytest.mark.parametrize(
    ("kind", "pooling", "half"),
    [
        ("Bert", "mean", False),
        ("Bert", "cls", False),
        ("Bert", "mean", True),
        ("XLMRoberta", "mean", False),
        ("Roberta", "cls", False),
    ],
)
def test_a_model_built_from_its_files_gives_the_vectors_of_the_original(
    tmp_path: Path, kind: str, pooling: str, half: bool
) -> None:
    expected = saved(kind, tmp_path, pooling, half)
    files = BertFiles.of(tmp_path / "model")
    assert files is not None
    export._build(files, str(tmp_path / "model"), tmp_path / "built")
    network = OpenVinoModel(tmp_path / "built")
    vectors = network.encode_few([each.ids for each in network.tokenizer.encode_batch(TEXTS)])
    assert float(np.abs(vectors - expected).max()) < (1e-3 if half else 1e-5)
    built = Embedder(network, "built")
    assert built.window == 76
    assert float(built.embed_query(TEXTS[0]) @ expected[0]) < 0.999  # its query prompt is used


@pytest.mark.parametrize(
    ("file", "values"),
    [
        ("config.json", {"hidden_act": "relu"}),
        ("config.json", {"model_type": "distilbert"}),
        ("config.json", {"position_embedding_type": "relative_key"}),
        ("sentence_bert_config.json", {"do_lower_case": True}),
        ("config_sentence_transformers.json", {"truncate_dim": 16}),
        ("1_Pooling/config.json", {"pooling_mode": "max"}),
        ("1_Pooling/config.json", {"include_prompt": False}),
    ],
)
def test_what_only_sentence_transformers_can_run_is_left_to_it(
    bert: Path, file: str, values: dict[str, Any]
) -> None:
    path = bert / file
    path.write_text(json.dumps(json.loads(path.read_text()) | values))
    assert BertFiles.of(bert) is None


def test_weights_that_were_cut_short_are_left_to_sentence_transformers(bert: Path) -> None:
    weights = bert / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    assert BertFiles.of(bert) is None


def test_a_missing_weight_is_named(bert: Path, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    kept = load_file(bert / "model.safetensors")
    del kept["encoder.layer.1.output.dense.weight"]
    save_file(kept, bert / "model.safetensors")
    with pytest.raises(ModelUnavailable, match=r"encoder\.layer\.1\.output\.dense\.weight"):
        export.export(str(bert), tmp_path / "exported")


def test_the_default_model_is_prepared_without_pytorch(tmp_path: Path, embedder: Embedder) -> None:
    """And its vectors are those that the tests use."""
    model = EmbeddingSettings().model
    command = [sys.executable, "-c", WITHOUT_PYTORCH, model, str(tmp_path / "exported")]
    assert subprocess.run(command, check=False).returncode == 0
    prepared = Embedder(OpenVinoModel(tmp_path / "exported"), "prepared")
    assert float((prepared.embed(TEXTS) * embedder.embed(TEXTS)).sum(axis=1).min()) > 0.9999


def test_without_sentence_transformers_a_model_of_another_kind_says_what_to_install(
    bert: Path, tmp_path: Path
) -> None:
    (bert / "modules.json").unlink()
    command = [sys.executable, "-c", WITHOUT_PYTORCH, str(bert), str(tmp_path / "x")]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.stderr.splitlines()[-1] == (
        "The embedding model bert needs sentence-transformers:"
        f" {sys.executable} -m pip install sentence-transformers"
    )
    assert not (tmp_path / "x").exists()


class Hub(SimpleHTTPRequestHandler):
    """Answers as the Hugging Face hub does for the files of one model."""

    COMMIT = "c0ffee" * 6 + "c0ff"

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        folder = Path(self.directory)
        model = "/api/models/someone/small-model"
        name = self.path.partition(f"/resolve/{self.COMMIT}/")[2]
        files = [path for path in folder.rglob("*") if path.is_file()]
        if name:
            answer = (folder / name).read_bytes()
        elif self.path.startswith(f"{model}/tree/"):
            listed = [
                {
                    "type": "file",
                    "path": path.relative_to(folder).as_posix(),
                    "oid": "",
                    "size": path.stat().st_size,
                }
                for path in files
            ]
            answer = json.dumps(listed).encode()
        else:
            assert self.path.startswith(model)
            siblings = [{"rfilename": path.relative_to(folder).as_posix()} for path in files]
            described = {"id": "someone/small-model", "sha": self.COMMIT, "siblings": siblings}
            answer = json.dumps(described).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.send_header("ETag", f'"{hashlib.sha256(answer).hexdigest()}"')
        self.send_header("X-Repo-Commit", self.COMMIT)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_bert_model_of_the_hub_is_downloaded_and_prepared_without_pytorch(
    bert: Path, tmp_path: Path
) -> None:
    (bert / "pytorch_model.bin").write_bytes(b"the same weights, not downloaded")
    hub = ThreadingHTTPServer(("127.0.0.1", 0), partial(Hub, directory=str(bert)))
    threading.Thread(target=hub.serve_forever, daemon=True).start()
    command = [sys.executable, "-c", WITHOUT_PYTORCH, "someone/small-model"]
    home = os.environ | {
        "HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}",
        "HF_HOME": str(tmp_path / "home"),
    }
    try:
        prepared = subprocess.run([*command, str(tmp_path / "prepared")], env=home, check=False)
    finally:
        hub.shutdown()
        hub.server_close()
    assert prepared.returncode == 0
    assert OpenVinoModel(tmp_path / "prepared").meta.dimension == 64
    assert not list((tmp_path / "home").rglob("pytorch_model.bin"))
    again = subprocess.run([*command, str(tmp_path / "again")], env=home, check=False)
    assert again.returncode == 0  # without the hub, from what was downloaded
    home["HF_HOME"] = str(tmp_path / "nothing downloaded")
    ended = subprocess.run(
        [*command, str(tmp_path / "none")], env=home, check=False, capture_output=True, text=True
    )
    assert "The embedding model someone/small-model cannot be downloaded: " in ended.stderr
