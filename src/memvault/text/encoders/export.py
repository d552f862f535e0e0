"""Makes the network that OpenVINO runs from the files of a sentence-transformers model.

A BERT model is built from its files (`bert_network`). Any other model is loaded and converted with
PyTorch and sentence-transformers, if these are installed.

``python -m memvault.text.encoders.export MODEL FOLDER`` runs once per model, in a process of its
own, because importing PyTorch takes seconds and hundreds of megabytes that the engine need not
carry.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import openvino
from filelock import FileLock
from openvino import opset13 as op

from memvault.model.errors import ModelUnavailable
from memvault.text.encoders.bert_network import BERT_FILES, BertFiles, network
from memvault.text.encoders.model_files import (
    SCRATCH,
    ModelMeta,
    exported_folder,
    model_source,
)
from memvault.text.encoders.openvino_model import OpenVinoModel

_MIN_COSINE = 0.999  # minimum cosine of an export to the original model
_MIN_COSINE_OF_8_BITS = 0.995  # minimum cosine of 8-bit weights to exact ones
_EXIT_CODE_WITH_REASON = 3  # exit code of an export that reports why it failed
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
        command = [sys.executable, "-m", "memvault.text.encoders.export", model, str(folder)]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        if process.returncode != 0:
            reason = (process.stderr.strip().splitlines() or ["the reason is unknown."])[-1]
            if process.returncode != _EXIT_CODE_WITH_REASON:
                reason = f"The embedding model {Path(model).name} cannot be exported: {reason}"
            raise ModelUnavailable(reason)
    return folder


def export(model: str, folder: Path) -> None:
    """Export a model to OpenVINO; of several concurrent processes, only one does the work.

    Raises:
        ModelUnavailable: the model cannot be loaded, or its export gives different vectors.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if folder.is_dir():
            return
        scratch = Path(tempfile.mkdtemp(dir=folder.parent, prefix=SCRATCH))
        try:
            exact, small = scratch / "exact", scratch / "small"
            files = BertFiles.of(_files_of(model))
            if files is None:
                _convert(model, exact)
            else:
                _build(files, model, exact)
            _quantise(exact, small)
            agreement = _agreement(_vectors(exact), _vectors(small))
            chosen = small if agreement >= _MIN_COSINE_OF_8_BITS else exact
            chosen.replace(folder)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _files_of(model: str) -> Path:
    """The folder of a model, of which a BERT model's files are downloaded if it is on the hub."""
    source = Path(model_source(model))
    if source.is_dir():
        return source
    from huggingface_hub import snapshot_download

    name = model if "/" in model else f"sentence-transformers/{model}"
    try:
        return Path(snapshot_download(name, allow_patterns=BERT_FILES))
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ModelUnavailable(
            f"The embedding model {model} cannot be downloaded: {reason}"
        ) from error


def _build(files: BertFiles, model: str, folder: Path) -> None:
    """Build a BERT model from its files."""
    try:
        built = network(files)
    except ValueError as error:
        raise ModelUnavailable(
            f"The embedding model {Path(model).name} cannot be loaded: {error}"
        ) from error
    tokenizer = files.folder / "tokenizer.json"
    _write(folder, built, files.meta(model), lambda path: shutil.copyfile(tokenizer, path))


def _convert(model: str, folder: Path) -> None:
    """Convert any model that sentence-transformers loads, and compare the vectors."""
    from memvault.text.encoders.torch_model import load_original, meta_of, pooled, tokenizer_of

    original = load_original(model)
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
    converted = openvino.convert_model(Normalised().eval(), example_input=example)
    _write(folder, converted, meta, lambda path: tokenizer_of(original).save(str(path)))
    texts = [meta.document_prompt + text for text in _SAMPLES]
    expected = np.asarray(original.encode(texts, prompt="", normalize_embeddings=True))
    agreement = _agreement(expected, _vectors(folder))
    if agreement < _MIN_COSINE:
        raise ModelUnavailable(
            f"The export of {Path(model).name} gives different vectors"
            f' (cosine {agreement:.3f}); set embedding.backend = "torch".'
        )


def _write(
    folder: Path, model: openvino.Model, meta: ModelMeta, save_tokenizer: Callable[[Path], object]
) -> None:
    folder.mkdir()
    openvino.save_model(model, str(folder / "model.xml"), compress_to_fp16=False)
    save_tokenizer(folder / "tokenizer.json")
    (folder / "meta.json").write_text(json.dumps(asdict(meta)), encoding="utf-8")


def _quantise(exact: Path, small: Path) -> None:
    """Convert the weights of an exported model to 8 bits, with one scale per output, and a large
    table of the vectors of tokens, with one scale per token.

    Processors with 8-bit arithmetic run it faster, and it takes less memory.
    """
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


def _constant(node: Any, index: int, min_size: int) -> npt.NDArray[np.float32] | None:
    """A constant input of a node, if it has so many values."""
    constant = node.input_value(index).get_node()
    if constant.get_type_name() != "Constant" or constant.data.size < min_size:
        return None
    return np.asarray(constant.data, np.float32)


def _rounded(
    weights: npt.NDArray[np.float32], axis: int
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """The weights at 8 bits, and their scale, of length 1 in this axis."""
    scale = np.maximum(np.abs(weights).max(axis=axis, keepdims=True) / 127.0, 1e-12)
    return np.round(weights / scale).astype(np.int8), scale


def _vectors(folder: Path) -> npt.NDArray[np.float32]:
    """The vectors that an export gives the samples, (n, dim), normalised."""
    exported = OpenVinoModel(folder)
    exported.tokenizer.enable_truncation(exported.meta.window)
    texts = [exported.meta.document_prompt + text for text in _SAMPLES]
    encodings = exported.tokenizer.encode_batch(texts)
    return exported.encode_few([encoding.ids for encoding in encodings])


def _agreement(expected: npt.NDArray[np.float32], actual: npt.NDArray[np.float32]) -> float:
    """The minimum cosine between two sets of vectors, row by row."""
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
