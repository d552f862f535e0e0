"""What tests share: one model for the whole run, and small real vaults."""

from __future__ import annotations

import functools
import gc
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pytest
from fastmcp.client.transports import FastMCPTransport

from mcp_server import server
from mcp_server.runtime import entity_pass, generations, indexing_service
from mcp_server.runtime.worker import give_back_memory
from memvault.config.paths import StateFolder
from memvault.config.settings import EmbeddingSettings, IndexSettings, Settings
from memvault.model.note import Vector
from memvault.text.encoders import embedding, openvino_model
from memvault.text.encoders.embedding import Embedder, Window, open_embedder
from memvault.text.encoders.model_files import Encoded, Floats
from memvault.text.encoders.openvino_model import OpenVinoModel
from memvault.text.encoders.token_signs import TokenSigns
from memvault.text.tokens import TokenCounter
from tests.described_tools import described_once
from tests.desk import Desk
from tests.integration.forked_engine import forked_engines
from tests.servers.fixtures import neo4j_server, redis_server

__all__ = ["forked_engines", "neo4j_server", "redis_server"]


@pytest.fixture(scope="session", autouse=True)
def made_once() -> Iterator[None]:
    """Each engine of a run has a model, tools and a heap of its own; loading the first, describing
    the second and going through the third each time would take longer than most tests. Most of
    their vaults have the same notes: each text is embedded once. Most clients connect for one call:
    each server lists its tools once."""
    gc.collect()
    gc.freeze()
    model = OpenVinoModel
    with pytest.MonkeyPatch.context() as patch:
        known = KnownWindows()
        patch.setattr(model, "begin", known.begin(model.begin))
        patch.setattr(model, "encode", known.encode(model.encode))
        patch.setattr(openvino_model, "OpenVinoModel", functools.cache(model))
        for of_tokenizer in (TokenCounter, TokenSigns):
            patch.setattr(embedding, of_tokenizer.__name__, functools.cache(of_tokenizer))
        open_once = functools.cache(entity_pass.open_entity_pipeline)
        patch.setattr(entity_pass, "open_entity_pipeline", open_once)
        patch.setattr(server, "_tool", described_once(server._tool))
        connect = _with_known_schemas(FastMCPTransport.connect_session)
        patch.setattr(FastMCPTransport, "connect_session", connect)
        for module in (generations, indexing_service):
            patch.setattr(module, "settle", give_back_memory)
        yield


class KnownWindows:
    """The vectors of all windows that a run embedded, so that each is computed once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Path, bytes], tuple[Vector, Floats | None]] = {}

    def begin(self, begin: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(begin)
        def begun(model: OpenVinoModel, windows: Sequence[Window]) -> Callable[[], Any]:
            new = self._unknown(model, windows)
            computed = begin(model, new) if new else None

            def finished() -> Any:
                if computed is not None:
                    self._keep(model, new, computed())
                return self._of(model, windows)

            return finished

        return begun

    def encode(self, encode: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(encode)
        def encoded(model: OpenVinoModel, batches: Sequence[Sequence[Window]]) -> list[Any]:
            new = [unknown for batch in batches if (unknown := self._unknown(model, batch))]
            for batch, computed in zip(new, encode(model, new), strict=True):
                self._keep(model, batch, computed)
            return [self._of(model, batch) for batch in batches]

        return encoded

    def _unknown(self, model: OpenVinoModel, windows: Sequence[Window]) -> list[Window]:
        return [window for window in windows if _key(model, window) not in self._known]

    def _keep(self, model: OpenVinoModel, windows: Sequence[Window], computed: Encoded) -> None:
        for place, window in enumerate(windows):
            rows = computed.tokens[place] if computed.tokens else None
            self._known[_key(model, window)] = np.array(computed.vectors[place]), rows

    def _of(self, model: OpenVinoModel, windows: Sequence[Window]) -> Encoded:
        known = [self._known[_key(model, window)] for window in windows]
        tokens = [rows for _, rows in known if rows is not None]
        return Encoded(np.stack([vector for vector, _ in known]), tokens or None)


def _key(model: OpenVinoModel, window: Window) -> tuple[Path, bytes]:
    return model._folder, np.asarray(window, np.int32).tobytes()


def _with_known_schemas(connect: Callable[..., Any]) -> Callable[..., Any]:
    """A client checks each answer by the schema of its tool, for which it lists all tools."""
    known: WeakKeyDictionary[Any, tuple[dict[str, Any], dict[str, Any]]] = WeakKeyDictionary()

    @asynccontextmanager
    async def connected(transport: FastMCPTransport, **options: Any) -> AsyncIterator[Any]:
        async with connect(transport, **options) as session:
            schemas, validators = known.setdefault(transport.server, ({}, {}))
            session._tool_output_schemas, session._tool_output_validators = schemas, validators
            yield session

    return connected


@pytest.fixture(scope="session")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedder]:
    """The default model, with a cache that the whole run shares."""
    cache = tmp_path_factory.mktemp("embeddings") / "embeddings.sqlite"
    model = open_embedder(EmbeddingSettings(), cache)
    yield model
    model.close()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder; no variable names a place outside."""
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("APPDATA", str(tmp_path / "AppData"))
    monkeypatch.setenv("MEMVAULT_STATE", str(tmp_path / "state"))
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "MEMVAULT_VAULT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


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
def desk(vault_folder: Path) -> Desk:
    return Desk(vault_folder)


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
