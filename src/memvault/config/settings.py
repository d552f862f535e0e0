"""Settings: ``memvault.toml`` in the state folder or ``--config``; every key is also an
environment variable (``MEMVAULT_VECTORS``, ``MEMVAULT_EMBEDDING__MODEL``), which wins."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from memvault.model.errors import InvalidParams


class EmbeddingSettings(BaseModel):
    model_config = ConfigDict(extra="forbid")

    model: str = Field("all-MiniLM-L6-v2", description="a sentence-transformers name or folder")
    backend: Literal["auto", "openvino", "onnx", "torch"] = "auto"


class EngineSettings(BaseModel):
    model_config = ConfigDict(extra="forbid")

    host: str = "127.0.0.1"
    port: int = Field(0, ge=0, le=65535, description="0 takes a free port")
    token: SecretStr | None = Field(None, description="required when host is not 127.0.0.1")
    idle_exit_seconds: float = Field(
        600.0,
        gt=0,
        description="how long an engine that a bridge started outlives its last client",
    )


class IndexSettings(BaseModel):
    model_config = ConfigDict(extra="forbid")

    debounce_seconds: float = Field(0.1, ge=0.0)
    polling: Literal["auto", "always", "never"] = "auto"
    polling_seconds: float = Field(2.0, gt=0)
    max_note_bytes: int = Field(2_000_000, gt=0, description="more of a note is not indexed")
    ner: Literal["auto", "off"] = "auto"


class Settings(BaseSettings):
    """All settings, with defaults that need no server, key or network."""

    model_config = SettingsConfigDict(
        env_prefix="MEMVAULT_", env_nested_delimiter="__", extra="ignore"
    )

    vectors: str = Field("embedded", description='"embedded" or a Qdrant URL')
    graph: str = Field("embedded", description='"embedded" or a bolt:// or neo4j:// URL')
    keyvalue: str = Field("embedded", description='"embedded" or a redis:// URL')
    embedding: EmbeddingSettings = EmbeddingSettings()
    engine: EngineSettings = EngineSettings()
    index: IndexSettings = IndexSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return env_settings, init_settings


def load_settings(config_file: Path | None) -> Settings:
    """Read the file, if there is one, and the environment.

    Raises:
        InvalidParams: the file is not TOML, or a key or value is wrong; the message names it.
    """
    values: dict[str, Any] = {}
    if config_file is not None and config_file.is_file():
        try:
            values = tomllib.loads(config_file.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InvalidParams(f"{config_file.name} cannot be read: {error}") from error
        unknown = sorted(set(values) - set(Settings.model_fields) - {"vault"})
        if unknown:
            raise InvalidParams(f"{config_file.name} has unknown keys: {', '.join(unknown)}")
        values.pop("vault", None)
    try:
        return Settings(**values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InvalidParams(f"configuration: {where}: {first['msg']}") from error
