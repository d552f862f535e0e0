"""Exports a sentence-transformers model to OpenVINO, or runs it with PyTorch instead.

``python -m memvault.text.export MODEL FOLDER`` runs once per model, in a process of its own,
because importing PyTorch takes seconds and hundreds of megabytes that the engine need not carry.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from filelock import FileLock
from tokenizers import Tokenizer

from memvault.model.errors import ModelUnavailable
from memvault.model.priority import make_way
from memvault.text.openvino_model import (
    BUNDLED_NAMES,
    ModelMeta,
    exported_folder,
    family_prefixes,
    model_source,
)

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_MIN_COSINE = 0.999  # minimum cosine of an export to the original model
_MIN_COSINE_OF_8_BITS = 0.995  # the same with 8-bit weights
_EXIT_CODE_WITH_REASON = 3  # exit code of an export that reports why it failed
_DOCUMENT_PROMPTS = ("document", "passage", "corpus")
_INPUTS = ("input_ids", "attention_mask")
_WINDOW = 512  # tokens, of a model that names no length
_MIN_WEIGHTS = 50_000  # values; smaller matrices gain nothing from 8-bit weights
_MIN_TABLE_VALUES = 20_000_000  # values of the vectors of tokens: 80 MB
_SAMPLES = (
    "A short line.",
    "Who leads the project now, and since when?",
    "Ein Satz mit Umlauten: Grüße aus Köln!",
    "日本語の文章も、同じように埋め込まれます。",
    "Notes can be long. " * 30,
)


def exported_model(model: str) -> Path:
    """The folder of the exported model; exports it first if necessary.

    Raises:
        ModelUnavailable: the model cannot be loaded or exported.
    """
    folder = exported_folder(model)
    if not folder.is_dir():
        model_source(model)  # fail early if the model is missing
        command = [sys.executable, "-m", "memvault.text.export", model, str(folder)]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        if process.returncode != 0:
            reason = (process.stderr.strip().splitlines() or ["the reason is unknown."])[-1]
            if process.returncode != _EXIT_CODE_WITH_REASON:
                reason = f"The embedding model {Path(model).name} cannot be exported: {reason}"
            raise ModelUnavailable(reason)
    return folder


def load_original(model: str, backend: str = "torch") -> SentenceTransformer:
    """Load a model with sentence-transformers, which imports PyTorch.

    Raises:
        ModelUnavailable: there is no such model, locally or on the hub.
    """
    if model in BUNDLED_NAMES:
        os.environ["HF_HUB_OFFLINE"] = "1"
    from sentence_transformers import SentenceTransformer

    try:
        return SentenceTransformer(model_source(model), backend=backend, device="cpu")
    except (OSError, ValueError, ImportError) as error:
        name = Path(model).name
        reason = str(error).strip().splitlines()[0].replace(str(Path(model).expanduser()), name)
        raise ModelUnavailable(f"The embedding model {name} cannot be loaded: {reason}") from error


def meta_of(original: SentenceTransformer, model: str) -> ModelMeta:
    """The metadata of a loaded model: dimension, window and prefixes as its files give them."""
    prompts = {key: prompt for key, prompt in original.prompts.items() if prompt}
    query = prompts.get("query", "")
    document = next((prompts[key] for key in _DOCUMENT_PROMPTS if key in prompts), "")
    if not prompts and (family := family_prefixes(model)) is not None:
        query, document = family
    is_static = isinstance(original.tokenizer, Tokenizer)
    return ModelMeta(
        dimension=int(original.get_embedding_dimension() or 0),
        window=_WINDOW if is_static else int(original.max_seq_length or _WINDOW),
        inputs=_INPUTS if is_static else tuple(map(str, original.tokenizer.model_input_names)),
        padding=0 if is_static else int(original.tokenizer.pad_token_id or 0),
        query_prompt=query,
        document_prompt=document,
    )


def tokenizer_of(original: SentenceTransformer) -> Tokenizer:
    """The tokenizer of a loaded model; that of a static one adds no special tokens."""
    tokenizer = original.tokenizer
    if not isinstance(tokenizer, Tokenizer):
        backend: Tokenizer = tokenizer.backend_tokenizer
        return backend
    return Tokenizer.from_str(
        json.dumps({**json.loads(tokenizer.to_str()), "post_processor": None})
    )


def pooled(original: SentenceTransformer, meta: ModelMeta, features: dict[str, Any]) -> Any:
    """The vectors of padded windows, (n, dim), normalised.

    A static model, which gives the mean of its tokens' vectors, cannot ignore padding, so the mean
    is computed here. Models that are meant to be cut to their first dimensions are cut.
    """
    import torch

    if isinstance(original.tokenizer, Tokenizer):
        mask = features["attention_mask"].unsqueeze(-1)
        vectors = original[0].embedding.weight[features["input_ids"]] * mask
        features = {"sentence_embedding": vectors.sum(1) / mask.sum(1).clamp(min=1)}
        for module in list(original)[1:]:
            features = module(features)
    else:
        features = original(features)
    return torch.nn.functional.normalize(features["sentence_embedding"][:, : meta.dimension], dim=1)


def export(model: str, folder: Path) -> None:
    """Export a model to OpenVINO; of several concurrent processes, only one does the work.

    Raises:
        ModelUnavailable: the model cannot be loaded, or its export gives different vectors.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if folder.is_dir():
            return
        scratch = Path(tempfile.mkdtemp(dir=folder.parent, prefix="exporting-"))
        try:
            original = load_original(model)
            exact, small = scratch / "exact", scratch / "small"
            _write(original, exact, model)
            agreement = _agreement(original, exact)
            if agreement < _MIN_COSINE:
                raise ModelUnavailable(
                    f"The export of {Path(model).name} gives different vectors"
                    f" (cosine {agreement:.3f});"
                    ' set embedding.backend = "torch".'
                )
            _quantise(exact, small)
            chosen = small if _agreement(original, small) >= _MIN_COSINE_OF_8_BITS else exact
            chosen.replace(folder)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _write(original: SentenceTransformer, folder: Path, model: str) -> None:
    import openvino
    import torch

    meta = meta_of(original, model)

    class Normalised(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.original = original

        def forward(self, *inputs: Any) -> Any:
            return pooled(self.original, meta, dict(zip(meta.inputs, inputs, strict=True)))

    example = tuple(
        torch.zeros(2, 8, dtype=torch.long)
        if name == "token_type_ids"
        else torch.ones(2, 8, dtype=torch.long)
        for name in meta.inputs
    )
    folder.mkdir()
    converted = openvino.convert_model(Normalised().eval(), example_input=example)
    openvino.save_model(converted, str(folder / "model.xml"), compress_to_fp16=False)
    tokenizer_of(original).save(str(folder / "tokenizer.json"))
    (folder / "meta.json").write_text(json.dumps(asdict(meta)), encoding="utf-8")


def _quantise(exact: Path, small: Path) -> None:
    """Convert the weights of an exported model to 8 bits, with one scale per output, and a large
    table of the vectors of tokens, with one scale per token.

    Processors with 8-bit arithmetic run it 1.4 times as fast, with two thirds of the memory, or a
    quarter for a model with 250,000 tokens.
    """
    import openvino
    from openvino import opset13 as op

    network = openvino.Core().read_model(exact / "model.xml")
    for node in network.get_ordered_ops():
        if node.get_type_name() == "MatMul":
            weights = _constant(node, 1, _MIN_WEIGHTS)
            if weights is not None:
                inputs = -1 if node.get_attributes()["transpose_b"] else -2
                rounded, scale = _rounded(weights, inputs)
                restored = op.multiply(op.convert(op.constant(rounded), "f32"), op.constant(scale))
                node.input(1).replace_source_output(restored.output(0))
        elif node.get_type_name() == "Gather":
            table = _constant(node, 0, _MIN_TABLE_VALUES)
            if table is not None:
                rounded, scale = _rounded(table, -1)
                tokens, axis = node.input_value(1), node.input_value(2)
                gathered = op.gather(op.constant(rounded), tokens, axis)
                scales = op.gather(op.constant(scale), tokens, axis)
                restored = op.multiply(op.convert(gathered, "f32"), scales)
                node.output(0).replace(restored.output(0))
    small.mkdir()
    openvino.save_model(network, str(small / "model.xml"), compress_to_fp16=False)
    for name in ("tokenizer.json", "meta.json"):
        shutil.copy(exact / name, small / name)


def _constant(node: Any, place: int, min_size: int) -> npt.NDArray[np.float32] | None:
    """A constant input of a node, if it has so many values."""
    constant = node.input_value(place).get_node()
    if constant.get_type_name() != "Constant" or constant.data.size < min_size:
        return None
    return np.asarray(constant.data, np.float32)


def _rounded(
    weights: npt.NDArray[np.float32], axis: int
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """The weights at 8 bits, and their scale, of length 1 in this axis."""
    scale = np.maximum(np.abs(weights).max(axis=axis, keepdims=True) / 127.0, 1e-12)
    return np.round(weights / scale).astype(np.int8), scale


def _agreement(original: SentenceTransformer, folder: Path) -> float:
    """The minimum cosine between the vectors of the export and of the original."""
    from memvault.text.openvino_model import OpenVinoModel

    exported = OpenVinoModel(folder)
    exported.tokenizer.enable_truncation(exported.meta.window)
    texts = [exported.meta.document_prompt + text for text in _SAMPLES]
    expected = np.asarray(original.encode(texts, prompt="", normalize_embeddings=True))
    encodings = exported.tokenizer.encode_batch(texts)
    actual = exported.encode([[encoding.ids for encoding in encodings]])[0]
    return float((expected * actual).sum(axis=1).min())


def main(arguments: Iterable[str]) -> int:
    model, folder = arguments
    try:
        export(model, Path(folder))
    except ModelUnavailable as error:
        sys.stderr.write(error.message + "\n")
        return _EXIT_CODE_WITH_REASON
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))


Window = Sequence[int]


class TorchModel:
    """Runs a model with sentence-transformers (PyTorch or ONNX runtime).

    The fallback if OpenVINO is missing or a model cannot be exported. A query waits for at most
    one batch. Thread-safe.
    """

    def __init__(self, model: str, backend: str = "torch") -> None:
        self._original = load_original(model, backend)
        self.meta = meta_of(self._original, model)
        self.tokenizer = tokenizer_of(self._original)
        self._lock = threading.Lock()

    def encode_few(self, windows: Sequence[Window]) -> npt.NDArray[np.float32]:
        """Vectors of a few windows, (n, dim) float32, normalised."""
        return self._encode_batch(windows)

    def begin(self, windows: Sequence[Window]) -> Callable[[], npt.NDArray[np.float32]]:
        """Return a function that computes the vectors of a few windows when it is called."""
        return partial(self._encode_batch, windows)

    def encode(self, batches: Sequence[Sequence[Window]]) -> list[npt.NDArray[np.float32]]:
        """The vectors of each batch, (n, dim) float32, normalised."""
        vectors = []
        for batch in batches:
            make_way()
            vectors.append(self._encode_batch(batch))
        return vectors

    def release(self, idle_seconds: float) -> bool:
        """Does nothing, since no model is loaded for batches alone."""
        return False

    def _encode_batch(self, batch: Sequence[Window]) -> npt.NDArray[np.float32]:
        import torch

        shape = (len(batch), max(len(window) for window in batch))
        ids = torch.full(shape, self.meta.padding, dtype=torch.long)
        mask = torch.zeros(shape, dtype=torch.long)
        for row, window in enumerate(batch):
            ids[row, : len(window)] = torch.tensor(window)
            mask[row, : len(window)] = 1
        features = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": torch.zeros_like(ids),
        }
        inputs = {name: features[name].to(self._original.device) for name in self.meta.inputs}
        with self._lock, torch.inference_mode():
            vectors = pooled(self._original, self.meta, inputs)
        return np.asarray(vectors.cpu().numpy(), np.float32)
