"""The files of an embedding model: where they are, what they say, and where its export goes."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memvault.config.paths import model_cache
from memvault.model.errors import ModelUnavailable
from memvault.model.json_text import json_value

BUNDLED = "all-MiniLM-L6-v2"
_BUNDLED_VERSION = "0.1.0"  # of the package that requirements-model.txt names
BUNDLED_NAMES = {BUNDLED, f"sentence-transformers/{BUNDLED}"}
EXPORTING = "preparing the embedding model, once on this machine"
INPUTS = ("input_ids", "attention_mask")
MAX_WINDOW = 512  # tokens, of a model whose files name no length
Window = Sequence[int]  # what a model reads at once: token ids, special ones included
Floats = npt.NDArray[np.float32]
_DOCUMENT_PROMPTS = ("document", "passage", "corpus")
_FORMAT = 4  # of the exported folder; a new number invalidates old exports
_EXPORT = re.compile(r"-v(\d+)$")  # the end of an exported folder's name
_KEPT_SECONDS = 30 * 24 * 3600.0
_META = "meta.json"  # the file that every export has
SCRATCH = "exporting-"  # the beginning of the name of a folder with an unfinished export

# Prefixes that families of models were trained with, for those whose files do not name them:
# in front of queries, and in front of documents.
_FAMILIES = (
    (re.compile(r"\be5-(?:small|base|large)(?!.*instruct)", re.I), ("query: ", "passage: ")),
    (re.compile(r"\bnomic-embed-text", re.I), ("search_query: ", "search_document: ")),
    (
        re.compile(r"\bbge-(?:small|base|large)-en|\bmxbai-embed|\barctic-embed-(?!.*v2)", re.I),
        ("Represent this sentence for searching relevant passages: ", ""),
    ),
)


@dataclass(frozen=True, slots=True)
class ModelMeta:
    """Metadata to run a model; ``window`` is in tokens, including special tokens."""

    dimension: int
    window: int
    inputs: tuple[str, ...]
    padding: int
    query_prompt: str = ""
    document_prompt: str = ""


class Encoded(NamedTuple):
    """What a model gives for some windows.

    Attributes:
        vectors: (n, dim), normalised.
        tokens: for each window the projections of its tokens' vectors, (tokens, BITS), see
            `token_signs`; None for a model that gives only vectors.
    """

    vectors: Floats
    tokens: list[Floats] | None = None


def model_source(model: str) -> str:
    """The folder or hub name that sentence-transformers loads for this setting.

    Raises:
        ModelUnavailable: the bundled model is missing, or the folder contains no model.
    """
    if model not in BUNDLED_NAMES:
        folder = Path(model).expanduser()
        if not folder.is_dir():
            return model
        if not any((folder / name).is_file() for name in ("modules.json", "config.json")):
            raise ModelUnavailable(f"The folder {folder.name} contains no embedding model.")
        return str(folder)
    spec = importlib.util.find_spec("memvault_model")
    if spec is None or spec.origin is None:
        raise ModelUnavailable("The search model is missing; install memvault again.")
    return str(Path(spec.origin).parent)


def prefixes(prompts: Mapping[str, str], model: str) -> tuple[str, str]:
    """The texts in front of queries and in front of documents.

    Args:
        prompts: by name, as the model's files give them; if there are none, its family decides.
        model: the setting.
    """
    given = {name: prompt for name, prompt in prompts.items() if prompt}
    if not given:
        return family_prefixes(model) or ("", "")
    document = next((given[name] for name in _DOCUMENT_PROMPTS if name in given), "")
    return given.get("query", ""), document


def family_prefixes(model: str) -> tuple[str, str] | None:
    """The prefixes for queries and documents of the model's family; None for other models.

    The family is recognised by the setting, the folder's name, or the name in ``config.json``.
    """
    if model in BUNDLED_NAMES:
        return None
    folder = Path(model).expanduser()
    names = [model]
    if folder.is_dir():
        names = [folder.resolve().name]
        try:
            config = json_value((folder / "config.json").read_text(encoding="utf-8"))
            names.append(str(config.get("_name_or_path", "")))
        except (OSError, ValueError, AttributeError):
            pass  # the folder's name may still say it
    for pattern, prefixes in _FAMILIES:
        if any(pattern.search(name) for name in names):
            return prefixes
    return None


def model_id(model: str) -> str:
    """An id that changes with the model and its prefixes; safe as a folder name.

    A local model is identified by the sizes and times of its files, one from the hub by its name.
    """
    if model in BUNDLED_NAMES:
        return f"{BUNDLED}-{_BUNDLED_VERSION}"
    folder = Path(model).expanduser()
    suffix = "" if family_prefixes(model) is None else "-prefixed"
    if not folder.is_dir():
        return re.sub(r"[^A-Za-z0-9._-]+", "--", model) + suffix
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    listing = [
        (path.relative_to(folder).as_posix(), path.stat().st_size, path.stat().st_mtime_ns)
        for path in files
    ]
    digest = hashlib.blake2b(json.dumps(listing).encode(), digest_size=6).hexdigest()
    return re.sub(r"[^A-Za-z0-9._-]+", "-", folder.resolve().name) + "-" + digest + suffix


def is_exported(model: str) -> bool:
    return exported_folder(model).is_dir()


def exported_folder(model: str) -> Path:
    return model_cache() / f"{model_id(model)}-v{_FORMAT}"


def remove_old_exports() -> int:
    """Remove the exports of earlier formats, and what killed exports left.

    Engines of earlier memvaults may run on after an update, and read their exports. So these are
    removed only when one of the current format is `_KEPT_SECONDS` old. Returns how many were
    removed.
    """
    before = time.time() - _KEPT_SECONDS
    folders = [path for path in model_cache().glob("*") if path.is_dir()]
    exports = [path for path in folders if (path / _META).is_file()]  # not a model of the person's
    formats = {path: int(found[1]) for path in exports if (found := _EXPORT.search(path.name))}
    removed = [path for path in folders if path.name.startswith(SCRATCH) and _made(path) < before]
    if any(_made(path) < before for path, number in formats.items() if number == _FORMAT):
        removed += [path for path, number in formats.items() if number < _FORMAT]
    for path in removed:
        shutil.rmtree(path, ignore_errors=True)  # Windows keeps open files; the next run goes on
        path.with_name(f"{path.name}.lock").unlink(missing_ok=True)
    return sum(not path.exists() for path in removed)


def _made(folder: Path) -> float:
    return folder.stat().st_mtime


def read_meta(folder: Path) -> ModelMeta:
    values = json_value((folder / _META).read_text(encoding="utf-8"))
    return ModelMeta(**{**values, "inputs": tuple(values["inputs"])})
