"""Builds the network of a BERT model for OpenVINO from the model's own files.

Most small models for sentences are BERT or XLM-RoBERTa (Devlin et al., 2018; Conneau et al., 2020)
with one of two poolings (Reimers and Gurevych, 2019). Building these directly takes a second.
Exporting any other model takes PyTorch and sentence-transformers, which need gigabytes of space.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import openvino
from openvino import opset13 as op
from safetensors import SafetensorError, safe_open

from memvault.model.json_text import json_value
from memvault.text.encoders.model_files import INPUTS, MAX_WINDOW, ModelMeta, prefixes
from memvault.text.encoders.token_signs import projection

_KINDS = {"bert", "roberta", "xlm-roberta"}
_MODULES = {("Transformer", "Pooling"), ("Transformer", "Pooling", "Normalize")}
_WEIGHTS = "model.safetensors"
BERT_FILES = ["*.json", "*/config.json", _WEIGHTS]  # as patterns
_EPSILON = 1e-12  # least length of a vector that is normalised
_Weights = dict[str, npt.NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class BertFiles:
    """What the files of a sentence model say about it.

    Attributes:
        config: of the transformer, as in ``config.json``.
        pooling: ``mean`` of all tokens' vectors, or ``cls``, the first token's vector.
        window: maximum tokens, including special tokens.
        prompts: texts in front of queries and documents, by their names.
    """

    folder: Path
    config: dict[str, Any]
    pooling: str
    window: int
    prompts: dict[str, str]

    @classmethod
    def of(cls, folder: Path) -> BertFiles | None:
        """The files in a folder; None if they are not those of a model that `network` can build."""
        try:
            config = _read(folder / "config.json")
            modules = _read(folder / "modules.json")
            pooling = _pooling(_read(folder / modules[1]["path"] / "config.json"))
            transformer = _read(folder / "sentence_bert_config.json", {})
            sentences = _read(folder / "config_sentence_transformers.json", {})
            tokenizer = _read(folder / "tokenizer_config.json", {})
            if (
                pooling is None
                or config["model_type"] not in _KINDS
                or config["hidden_act"] != "gelu"
                or config.get("position_embedding_type", "absolute") != "absolute"
                or tuple(module["type"].rpartition(".")[2] for module in modules) not in _MODULES
                or modules[0]["path"]
                or transformer.get("do_lower_case")
                or sentences.get("truncate_dim")
                or not (folder / "tokenizer.json").is_file()
                or not _has_floats(folder / _WEIGHTS)
            ):
                return None
            places = int(config["max_position_embeddings"])
            if config["model_type"] != "bert":  # it counts places from that of the padding
                places -= int(config["pad_token_id"]) + 1
            lengths = (transformer.get("max_seq_length"), tokenizer.get("model_max_length"))
            window = min(int(length or MAX_WINDOW) for length in (*lengths, places))
            return cls(folder, config, pooling, window, sentences.get("prompts") or {})
        except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError):
            return None

    def meta(self, model: str) -> ModelMeta:
        """The metadata of the model that this setting names."""
        query, document = prefixes(self.prompts, model)
        return ModelMeta(
            dimension=int(self.config["hidden_size"]),
            window=self.window,
            inputs=INPUTS,
            padding=int(self.config.get("pad_token_id") or 0),
            query_prompt=query,
            document_prompt=document,
        )


def _read(file: Path, default: Any = None) -> Any:
    """The values in a JSON file; the default, if there is one and no such file."""
    if default is not None and not file.is_file():
        return default
    return json_value(file.read_text(encoding="utf-8"))


def _pooling(config: dict[str, Any]) -> str | None:
    """``mean`` or ``cls``; None for any other pooling, or several."""
    if config.get("include_prompt") is False:
        return None
    if mode := config.get("pooling_mode"):
        return mode if mode in ("mean", "cls") else None
    modes = [name for name, value in config.items() if name.startswith("pooling_mode_") and value]
    return {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}.get(
        modes[0] if len(modes) == 1 else ""
    )


def _has_floats(file: Path) -> bool:
    """Whether there is a file of weights that NumPy reads; it reads no bfloat16."""
    try:
        with safe_open(file, framework="numpy") as weights:
            kinds = {weights.get_slice(name).get_dtype() for name in weights.keys()}  # noqa: SIM118
    except (OSError, SafetensorError):
        return False
    return kinds <= {"F32", "F16", "I64"}


def network(files: BertFiles) -> openvino.Model:
    """The network: token ids and mask, both (n, tokens) int64, in; vectors, (n, dim), and the
    projections of the tokens' vectors (`token_signs`), (n, tokens, BITS), out.

    Both kinds of vectors are normalised.

    Raises:
        ValueError: the file of weights lacks one, or is damaged.
    """
    try:
        return _Builder(files.config, _weights(files.folder / _WEIGHTS)).network(files.pooling)
    except (SafetensorError, KeyError, TypeError) as error:
        raise ValueError(f"{_WEIGHTS} cannot be read: {error}") from error


def _weights(file: Path) -> _Weights:
    """All weights by name, without the name of the model that some files put in front."""
    with safe_open(file, framework="numpy") as weights:
        return {
            name.removeprefix("bert.").removeprefix("roberta."): np.asarray(
                weights.get_tensor(name), np.float32
            )
            for name in weights.keys()  # noqa: SIM118
            if not name.endswith("position_ids")
        }


class _Builder:
    """Builds one network. Nodes have shape (n, tokens, dim) unless their line says otherwise."""

    def __init__(self, config: dict[str, Any], weights: _Weights) -> None:
        self._config = config
        self._weights = weights
        self._heads = int(config["num_attention_heads"])
        self._size = int(config["hidden_size"])

    def network(self, pooling: str) -> openvino.Model:
        ids, mask = (op.parameter([-1, -1], np.int64, name=name) for name in INPUTS)
        attended = op.unsqueeze(op.convert(mask, "boolean"), [1, 2])  # (n, 1, 1, tokens)
        states = self._embeddings(ids)
        for number in range(int(self._config["num_hidden_layers"])):
            states = self._layer(f"encoder.layer.{number}.", states, attended)
        if pooling == "cls":
            vectors = op.gather(states, np.int64(0), np.int64(1))
        else:
            weights = op.unsqueeze(op.convert(mask, "f32"), [2])
            total = op.reduce_sum(op.multiply(states, weights), [1])
            vectors = op.divide(total, op.reduce_sum(weights, [1]))
        tokens = op.normalize_l2(states, [2], _EPSILON, "max")
        projected = op.matmul(tokens, op.constant(projection(self._size)), False, False)
        vectors = op.normalize_l2(vectors, [1], _EPSILON, "max")
        return openvino.Model([vectors, projected], [ids, mask])

    def _embeddings(self, ids: Any) -> Any:
        words = op.gather(self._weight("embeddings.word_embeddings.weight"), ids, np.int64(0))
        places = op.gather(
            self._weight("embeddings.position_embeddings.weight"), self._places(ids), np.int64(0)
        )
        first_type = op.constant(self._weights["embeddings.token_type_embeddings.weight"][0])
        total = op.add(op.add(words, first_type), places)
        return self._normalised("embeddings.LayerNorm", total)

    def _places(self, ids: Any) -> Any:
        """The place of each token: (tokens,), or (n, tokens) where padding is not counted."""
        if self._config["model_type"] == "bert":
            count = op.gather(op.shape_of(ids), np.int64(1), np.int64(0))
            return op.range(np.int64(0), count, np.int64(1), "i64")
        padding = np.int64(self._config["pad_token_id"])
        is_token = op.convert(op.not_equal(ids, padding), "i64")
        return op.add(op.multiply(op.cum_sum(is_token, np.int64(1)), is_token), padding)

    def _layer(self, name: str, states: Any, attended: Any) -> Any:
        query, key, value = (
            self._by_head(self._linear(f"{name}attention.self.{part}", states))
            for part in ("query", "key", "value")
        )
        context = op.scaled_dot_product_attention(query, key, value, attended)
        joined = op.reshape(op.transpose(context, [0, 2, 1, 3]), [0, 0, self._size], True)
        read = self._linear(f"{name}attention.output.dense", joined)
        states = self._normalised(f"{name}attention.output.LayerNorm", op.add(states, read))
        inner = op.gelu(self._linear(f"{name}intermediate.dense", states), "erf")
        outer = self._linear(f"{name}output.dense", inner)
        return self._normalised(f"{name}output.LayerNorm", op.add(states, outer))

    def _by_head(self, states: Any) -> Any:
        """The parts of each head, (n, heads, tokens, dim / heads)."""
        parts = op.reshape(states, [0, 0, self._heads, self._size // self._heads], True)
        return op.transpose(parts, [0, 2, 1, 3])

    def _linear(self, name: str, states: Any) -> Any:
        product = op.matmul(states, self._weight(f"{name}.weight"), False, True)
        return op.add(product, self._weight(f"{name}.bias"))

    def _normalised(self, name: str, states: Any) -> Any:
        """Layer normalisation (Ba et al., 2016)."""
        epsilon = float(self._config["layer_norm_eps"])
        scaled = op.mvn(states, [-1], True, epsilon, "inside_sqrt")
        product = op.multiply(scaled, self._weight(f"{name}.weight"))
        return op.add(product, self._weight(f"{name}.bias"))

    def _weight(self, name: str) -> Any:
        return op.constant(self._weights[name])
