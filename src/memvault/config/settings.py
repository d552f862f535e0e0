"""Settings: ``memvault.toml`` in the state folder or ``--config``; every key is also an
environment variable (``MEMVAULT_VECTORS``, ``MEMVAULT_EMBEDDING__MODEL``), which wins."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal
from uuid import uuid5

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from memvault.model.errors import InvalidParams
from memvault.model.memory import NAMESPACE

SECRETS = ("qdrant_api_key", "neo4j_password", "redis_password")  # from the environment only


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


class CacheSettings(BaseModel):
    model_config = ConfigDict(extra="forbid")

    memories: int = Field(10_000, gt=0, description="memories whose text and vector are at hand")


class SessionSettings(BaseModel):
    model_config = ConfigDict(extra="forbid")

    expiry_hours: float = Field(24.0, gt=0, description="how long a session lasts without a call")


class ReasoningSettings(BaseModel):
    model_config = ConfigDict(extra="forbid")

    half_life_days: float = Field(
        365.0, gt=0, description="how much older a statement is that weighs half of the latest"
    )
    exact_ms: float = Field(
        400.0, gt=0, description="how long exact inference may take before samples are drawn"
    )


class LimitSettings(BaseModel):
    """The usual limit stops a program gone wild; nobody's questions come near it."""

    model_config = ConfigDict(extra="forbid")

    calls_per_second: float = Field(
        500.0,
        ge=0,
        description="tool calls that one client may make in the long run; 0 is no limit",
    )
    burst: int = Field(2_000, ge=1, description="tool calls that it may make at once")
    answer_seconds: float = Field(
        10.0, gt=0, description="how long an answer may take before a part of it is given"
    )


class Settings(BaseSettings):
    """All settings, with defaults that need no server, key or network."""

    model_config = SettingsConfigDict(
        env_prefix="MEMVAULT_", env_nested_delimiter="__", extra="ignore"
    )

    vectors: str = Field("embedded", description='"embedded" or a Qdrant URL')
    graph: str = Field("embedded", description='"embedded" or a bolt:// or neo4j:// URL')
    keyvalue: str = Field("embedded", description='"embedded" or a redis:// URL')
    namespace: str = Field(
        "",
        pattern=r"^[A-Za-z0-9_-]{0,80}$",
        description="tells this vault from others on the same servers; empty takes a name made of"
        " the vault's folder. The same on every machine that shares its indexes",
    )
    qdrant_api_key: SecretStr | None = None
    neo4j_user: str = "neo4j"
    neo4j_password: SecretStr | None = None
    redis_password: SecretStr | None = None
    embedding: EmbeddingSettings = EmbeddingSettings()
    engine: EngineSettings = EngineSettings()
    index: IndexSettings = IndexSettings()
    cache: CacheSettings = CacheSettings()
    sessions: SessionSettings = SessionSettings()
    limits: LimitSettings = LimitSettings()
    reasoning: ReasoningSettings = ReasoningSettings()
    user: str = Field("", description="whose memory this is; empty takes an id of the account")

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
        if secret := next((key for key in SECRETS if key in values), None):
            raise InvalidParams(
                f"{config_file.name}: {secret} is a secret: set MEMVAULT_{secret.upper()} instead"
            )
        values.pop("vault", None)
    try:
        return Settings(**values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InvalidParams(f"configuration: {where}: {first['msg']}") from error


def user_id(settings: Settings) -> str:
    """The configured name, else an id made of this account's home folder.

    So all clients of one account are one person, and there is nothing to keep or to lose.
    """
    return settings.user.strip() or str(uuid5(NAMESPACE, f"user:{Path.home()}"))
