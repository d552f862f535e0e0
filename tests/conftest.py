"""What tests share: one model for the whole run, and small real vaults."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as examples

os.environ.setdefault("MEMVAULT_STATE", tempfile.mkdtemp(prefix="memvault-tests-"))
# Else each of the many processes that tests start would compile all that it imports of this tree.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

from memvault.config.paths import StateFolder
from memvault.config.settings import EmbeddingSettings, IndexSettings, Settings
from memvault.text import openvino_model
from memvault.text.embedding import Embedder, open_embedder
from tests.servers.fixtures import neo4j_server, redis_server

__all__ = ["neo4j_server", "redis_server"]

# How long an example takes is the machine's affair, and says nothing of the code.
examples.register_profile("memvault", deadline=None, suppress_health_check=[HealthCheck.too_slow])
examples.load_profile("memvault")


@pytest.fixture(scope="session", autouse=True)
def model_compiled_once() -> Iterator[None]:
    """Each engine of a run has a model of its own; compiling it would take longer than most tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openvino_model, "_compiled", functools.cache(openvino_model._compiled))
        yield


@pytest.fixture(scope="session")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedder]:
    """The default model, with a cache that the whole run shares."""
    cache = tmp_path_factory.mktemp("embeddings") / "embeddings.sqlite"
    model = open_embedder(EmbeddingSettings(), cache)
    yield model
    model.close()


@pytest.fixture
def settings() -> Settings:
    """Defaults, with a short debounce and without the trained entity pipeline."""
    return Settings(index=IndexSettings(debounce_seconds=0.05, ner="off"))


@pytest.fixture
def vault_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
def state(tmp_path: Path, vault_folder: Path) -> StateFolder:
    return StateFolder.of_vault(vault_folder, tmp_path / "state")


@pytest.fixture
def write(vault_folder: Path) -> Callable[..., Path]:
    """Write a note of the vault, as an editor would."""

    def write_note(path: str, text: str) -> Path:
        file = vault_folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
        return file

    return write_note
