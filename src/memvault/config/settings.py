"""Settings from ``memvault.toml`` in the state folder, or from ``--config``.

Every key is also an environment variable (``MEMVAULT_VECTORS``, ``MEMVAULT_EMBEDDING__MODEL``),
which takes precedence.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit
from uuid import uuid5

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from memvault.model.errors import InvalidParams, reason_of
from memvault.model.memory import FOLDER_LIFECYCLES, NAMESPACE

_FOLDER_NAME = re.compile(r"""(?![.\s])[^/\\<>:"|?*#^\[\]\x00-\x1f]{1,120}(?<![.\s])""")

SECRETS = ("qdrant_api_key", "neo4j_password", "redis_password")  # only from the environment
PASSWORDS = {
    "vectors": "MEMVAULT_QDRANT_API_KEY",
    "graph": "MEMVAULT_NEO4J_PASSWORD",
    "keyvalue": "MEMVAULT_REDIS_PASSWORD",
}


class _Table(BaseModel):
    """A table of the configuration file, in which an unknown key is an error."""

    model_config = ConfigDict(extra="forbid")


class EmbeddingSettings(_Table):
    model: str = Field(
        "all-MiniLM-L6-v2", description="name or folder of a sentence-transformers model"
    )
    backend: Literal["auto", "openvino", "onnx", "torch"] = "auto"


class RerankSettings(_Table):
    model: str = Field(
        "", description="name or folder of a cross-encoder for sentence-transformers; empty is off"
    )
    first: int = Field(20, ge=2, le=100, description="memories that it orders, best first")
    budget_ms: float = Field(400.0, gt=0, description="time limit for one question")


class EngineSettings(_Table):
    host: str = "127.0.0.1"
    port: int = Field(
        0, ge=0, le=65535, description="0: always the same for a vault, if it is free"
    )
    token: SecretStr | None = Field(None, description="required when host is not 127.0.0.1")
    public_url: str | None = Field(
        None, description="the https address of a tunnel to this engine; clients sign in with OAuth"
    )
    idle_exit_seconds: float = Field(
        600.0,
        gt=0,
        description="seconds without clients until an engine that a bridge started exits",
    )

    def at(self, public_url: str) -> EngineSettings:
        """These settings with another ``public_url``.

        Raises:
            InvalidParams: it is not an https address without a path.
        """
        try:
            return EngineSettings.model_validate({**dict(self), "public_url": public_url})
        except ValidationError as error:
            reason = reason_of(error.errors()[0]["msg"])
            raise InvalidParams(f"--public-url {reason}.") from error

    @field_validator("public_url")
    @classmethod
    def _is_address(cls, value: str | None) -> str | None:
        """Check that the URL has no path, because OAuth's metadata is served at the root."""
        if value is None:
            return None
        parts = urlsplit(value)
        is_local = parts.hostname in ("127.0.0.1", "localhost")
        if parts.scheme != "https" and not (parts.scheme == "http" and is_local):
            raise ValueError("must be an https address")
        if not parts.netloc or parts.path.strip("/") or parts.query or parts.fragment:
            raise ValueError("must be an address without a path, such as https://notes.example.com")
        return f"{parts.scheme}://{parts.netloc}"


class NotesSettings(_Table):
    folder: str = Field(
        "", description="the folder in the vault for the notes that memvault writes; empty: its top"
    )

    @field_validator("folder")
    @classmethod
    def _is_in_vault(cls, value: str) -> str:
        """Check that it is a path in the vault, without names that are hidden or not portable, and
        that it says nothing of its notes: they state their lifecycle and project themselves."""
        path = value.strip().rstrip("/")
        names = path.split("/")
        if path and not all(map(_FOLDER_NAME.fullmatch, names)):
            raise ValueError('must be a folder in the vault, such as "AI"')
        if names[0].casefold() in {*FOLDER_LIFECYCLES, "archive"}:
            raise ValueError(f"must not be in {names[0]}, which says what its notes are")
        return path


class IndexSettings(_Table):
    debounce_seconds: float = Field(0.1, ge=0.0)
    polling: Literal["auto", "always", "never"] = "auto"
    polling_seconds: float = Field(2.0, gt=0)
    max_note_bytes: int = Field(
        2_000_000, gt=0, description="text of a note beyond this size is not indexed"
    )
    max_document_bytes: int = Field(
        20_000_000, ge=0, description="larger PDF files and canvases are not indexed; 0: none are"
    )
    ner: Literal["auto", "off"] = "auto"


class CacheSettings(_Table):
    memories: int = Field(10_000, gt=0, description="memories whose text and vector are cached")


class SessionSettings(_Table):
    expiry_hours: float = Field(
        24.0, gt=0, description="hours without a call until a session expires"
    )


class ReasoningSettings(_Table):
    half_life_days: float = Field(
        365.0, gt=0, description="age difference at which a statement counts half"
    )
    exact_ms: float = Field(
        400.0, gt=0, description="time limit of exact inference; after it, sampling is used"
    )


class LearningSettings(_Table):
    """What memvault learns from how memories are used."""

    enabled: bool = Field(True, description="record how answers are used, and rank by it")
    ranking_share: float = Field(
        0.15,
        ge=0.0,
        le=0.2,
        description="how much of a memory's relevance its use adds or takes, at most; 0 is off",
    )


class HookSettings(_Table):
    exclude: list[str] = Field(
        [], description="folders in which hooks neither give nor capture anything"
    )
    start_tokens: int = Field(1_000, ge=0, le=10_000, description="given at a session's start")
    prompt_tokens: int = Field(300, ge=0, le=2_000, description="given with one prompt")
    notices: int = Field(
        1, ge=0, le=100, description="conflicts and the like that one session reports, at most"
    )


class DreamSettings(_Table):
    enabled: bool = Field(
        True, description="whether the engine looks for links, summaries and questions when idle"
    )
    idle_minutes: float = Field(10.0, gt=0, description="without a request, before a dream")
    every_hours: float = Field(12.0, gt=0, description="between two dreams, at least")


class UpkeepSettings(_Table):
    enabled: bool = Field(True, description="whether the engine tidies its own data when idle")
    idle_minutes: float = Field(5.0, gt=0, description="without a request, before upkeep")
    history_megabytes: float = Field(
        500.0, ge=0, description="old versions of changed notes, for undo, that are kept"
    )
    history_days: int = Field(
        90, ge=30, description="days that every old version is kept, however much space they take"
    )


class CalendarSettings(_Table):
    """What "last week" and "last spring" mean to the person."""

    week_starts: Literal["monday", "saturday", "sunday"] = "monday"
    hemisphere: Literal["north", "south"] = "north"


class FadingSettings(_Table):
    """When ephemeral memories fade."""

    enabled: bool = True
    summary_days: float = Field(
        30.0, gt=0, description="days until a session is reduced to its summary and keys"
    )
    keys_days: float = Field(60.0, gt=0, description="days until it is reduced to its keys")


class LimitSettings(_Table):
    """Rate limits. The defaults stop runaway programs and do not affect normal use."""

    calls_per_second: float = Field(
        500.0,
        ge=0,
        description="sustained tool calls per second and client; 0 means no limit",
    )
    burst: int = Field(2_000, ge=1, description="tool calls that a client may make in a burst")
    changes_per_hour: int = Field(
        10_000, ge=0, description="changes of the vault by one AI client; 0 means no limit"
    )
    megabytes_per_hour: int = Field(
        200, ge=0, description="text and files that one AI client may write; 0 means no limit"
    )
    similar_per_day: int = Field(
        2_000, ge=0, description="nearly identical memories of one AI client; 0 means no limit"
    )
    reversals_per_day: int = Field(
        20,
        ge=0,
        description="times that AI clients may write the same into a note again; 0 means no limit",
    )
    links_per_note: int = Field(
        500,
        ge=0,
        description="links and tags that an AI client may add to a note; 0 means no limit",
    )
    answer_seconds: float = Field(
        10.0, gt=0, description="seconds after which a partial answer is returned"
    )


EMBEDDED = "embedded"
STORE_SCHEMES = {  # of the URLs of servers
    "vectors": ("http", "https"),
    "graph": ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"),
    "keyvalue": ("redis", "rediss"),
}


class Settings(BaseSettings):
    """All settings, with defaults that need no server, key or network."""

    model_config = SettingsConfigDict(
        env_prefix="MEMVAULT_", env_nested_delimiter="__", extra="ignore", hide_input_in_errors=True
    )

    vectors: str = Field(EMBEDDED, description='"embedded" or a Qdrant URL')
    graph: str = Field(EMBEDDED, description='"embedded" or a bolt:// or neo4j:// URL')
    keyvalue: str = Field(EMBEDDED, description='"embedded" or a redis:// URL')
    namespace: str = Field(
        "",
        pattern=r"^[A-Za-z0-9_-]{0,80}$",
        description="distinguishes vaults on the same servers; empty derives it from the vault's"
        " folder. Must be equal on all machines that share the indexes",
    )
    qdrant_api_key: SecretStr | None = None
    neo4j_user: str = "neo4j"
    neo4j_password: SecretStr | None = None
    redis_password: SecretStr | None = None
    embedding: EmbeddingSettings = EmbeddingSettings()
    rerank: RerankSettings = RerankSettings()
    engine: EngineSettings = EngineSettings()
    notes: NotesSettings = NotesSettings()
    index: IndexSettings = IndexSettings()
    cache: CacheSettings = CacheSettings()
    sessions: SessionSettings = SessionSettings()
    limits: LimitSettings = LimitSettings()
    calendar: CalendarSettings = CalendarSettings()
    hooks: HookSettings = HookSettings()
    dreams: DreamSettings = DreamSettings()
    upkeep: UpkeepSettings = UpkeepSettings()
    reasoning: ReasoningSettings = ReasoningSettings()
    learning: LearningSettings = LearningSettings()
    fading: FadingSettings = FadingSettings()
    user: str = Field("", description="id of the vault's owner; empty derives one from the account")

    @field_validator(*STORE_SCHEMES)
    @classmethod
    def _known_store(cls, value: str, info: ValidationInfo) -> str:
        role = str(info.field_name)
        schemes = STORE_SCHEMES[role]
        if value == EMBEDDED:
            return value
        try:
            scheme, _ = urlsplit(value).scheme, urlsplit(value).port
        except ValueError:  # its message may quote a password
            raise ValueError(no_url(role)) from None
        if "://" in value and scheme in schemes:
            return value
        urls = ", ".join(f"{scheme}://" for scheme in schemes)
        raise ValueError(f'must be "{EMBEDDED}" or a URL with {urls}')

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        # MEMVAULT_CACHE is the folder of exported models, not the table of this name.
        if isinstance(env_settings, EnvSettingsSource):
            variables = env_settings.env_vars
            env_settings.env_vars = {k: v for k, v in variables.items() if k != "memvault_cache"}
        return env_settings, init_settings


def load_settings(config_file: Path | None) -> Settings:
    """Read the configuration file, if it exists, and the environment.

    Raises:
        InvalidParams: the file is not TOML, or a key or value is invalid; the message names it.
    """
    values: dict[str, Any] = {}
    if config_file is not None and config_file.is_file():
        try:
            values = tomllib.loads(config_file.read_text(encoding="utf-8"))
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InvalidParams(f"{config_file.name} cannot be read: {error}") from error
        unknown = sorted(set(values) - set(Settings.model_fields) - {"vault"})
        if unknown:
            raise InvalidParams(f"{config_file.name} has unknown keys: {', '.join(unknown)}")
        if secret := next((key for key in SECRETS if key in values), None):
            raise InvalidParams(
                f"{config_file.name}: {secret} is a secret; set MEMVAULT_{secret.upper()} instead"
            )
        values.pop("vault", None)
    try:
        return Settings(**values)
    except ValidationError as error:
        first = error.errors()[0]
        steps = [str(part) for part in first["loc"]]
        variable = f"MEMVAULT_{'__'.join(steps)}".upper()
        where = f"{variable} (environment)" if variable in os.environ else ".".join(steps)
        is_unknown = first["type"] == "extra_forbidden"
        reason = "there is no such key" if is_unknown else reason_of(first["msg"])
        raise InvalidParams(f"configuration: {where}: {reason}") from error
    except SettingsError as error:
        raise InvalidParams(f"configuration, environment variable: {error}") from error


def no_url(role: str) -> str:
    """Why the URL of a server is refused; ``role`` is its key."""
    return (
        "is not a valid URL. Check its host and port, and leave out user and password: "
        f"{PASSWORDS[role]} sets the password"
    )


def user_id(settings: Settings) -> str:
    """The configured user, or an id derived from this account's home folder.

    So all clients of one account are the same person, and no state is needed.
    """
    return settings.user.strip() or str(uuid5(NAMESPACE, f"user:{Path.home()}"))
