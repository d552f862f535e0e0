"""What tests share: one model for the whole run, and small real vaults."""

from __future__ import annotations

import atexit
import functools
import gc
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import MethodType
from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as examples
from xdist.scheduler import LoadFileScheduling

if "MEMVAULT_STATE" not in os.environ:  # the workers of a run have that of the run
    # Most tests write notes and indexes and flush them, which a disk does slowly. A run needs a
    # gigabyte or two of memory for them.
    with suppress(OSError):
        if "TMPDIR" not in os.environ and shutil.disk_usage("/dev/shm").free > 6 * 2**30:
            os.environ["TMPDIR"] = tempfile.tempdir = "/dev/shm"
    os.environ["MEMVAULT_STATE"] = tempfile.mkdtemp(prefix="memvault-tests-")
    atexit.register(shutil.rmtree, os.environ["MEMVAULT_STATE"], ignore_errors=True)
# Else each of the many processes that tests start would compile all that it imports of this tree.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

from mcp_server import server
from mcp_server.runtime import generations, indexing_service
from mcp_server.runtime.worker import give_back_memory
from memvault.config.paths import StateFolder
from memvault.config.settings import EmbeddingSettings, IndexSettings, Settings
from memvault.text import embedding, openvino_model
from memvault.text.embedding import Embedder, open_embedder
from memvault.text.tokens import TokenCounter
from tests.servers.fixtures import neo4j_server, redis_server

__all__ = ["neo4j_server", "redis_server"]
SERVER_TESTS = ("tests/contract/", "tests/integration/test_server_")

# How long an example takes is the machine's affair, and says nothing of the code.
examples.register_profile("memvault", deadline=None, suppress_health_check=[HealthCheck.too_slow])
examples.load_profile("memvault")


class FilesToProcesses(LoadFileScheduling):
    """Whole files to each process, and to one of them all that need servers: a Neo4j that has run
    these tests has taken a minute of processor time."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return "servers" if file.startswith(SERVER_TESTS) else file


@pytest.hookimpl(optionalhook=True)  # so that tests run without xdist, too
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling:
    return FilesToProcesses(config, log)


@pytest.fixture(scope="session", autouse=True)
def made_once() -> Iterator[None]:
    """Each engine of a run has a model, tools and a heap of its own; loading the one, describing
    the other and going through the third anew would take longer than most tests."""
    gc.collect()
    gc.freeze()
    model = openvino_model.OpenVinoModel
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "begin", _once_for_each_window(model.begin))
        patch.setattr(openvino_model, "OpenVinoModel", functools.cache(model))
        patch.setattr(embedding, "TokenCounter", functools.cache(TokenCounter))
        patch.setattr(server, "_tool", _described_once(server._tool))
        for module in (generations, indexing_service):
            patch.setattr(module, "settle", give_back_memory)
        yield


def _once_for_each_window(begin: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[tuple[object, ...], Any] = {}

    def begun(model: object, windows: Sequence[Sequence[int]]) -> Any:
        if len(windows) != 1:
            return begin(model, windows)
        key = (id(model), *windows[0])
        if key not in known:
            known[key] = begin(model, windows)()
        return lambda: known[key]

    return begun


def _described_once(make: Callable[[MethodType], Any]) -> Callable[[MethodType], Any]:
    known: dict[object, Any] = {}

    def made(method: MethodType) -> Any:
        if method.__func__ not in known:
            known[method.__func__] = make(method)
        return known[method.__func__].model_copy(update={"fn": method})

    return made


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
