"""The checked arguments of ``store_memory``."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Any, Literal, NamedTuple, Self, cast

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator, model_validator

from memvault.model.errors import InvalidParams
from memvault.model.json_text import json_value
from memvault.model.memory import (
    DEFAULT_IMPORTANCE,
    MAX_CONTENT_CHARS,
    Lifecycle,
    checked_importance,
)
from memvault.text.secrets import without_secrets
from memvault.vault.compose import storable_text
from memvault.vault.frontmatter.read import is_deep

Modality = Literal["text", "image", "audio", "video"]


class FileKind(NamedTuple):
    modality: Modality
    suffix: str  # with its dot, as Obsidian embeds it


_BEGINNINGS: tuple[tuple[bytes, FileKind], ...] = (
    (b"\x89PNG\r\n\x1a\n", FileKind("image", ".png")),
    (b"\xff\xd8\xff", FileKind("image", ".jpg")),
    (b"GIF87a", FileKind("image", ".gif")),
    (b"GIF89a", FileKind("image", ".gif")),
    (b"BM", FileKind("image", ".bmp")),
    (b"ID3", FileKind("audio", ".mp3")),
    (b"\xff\xfb", FileKind("audio", ".mp3")),
    (b"\xff\xf3", FileKind("audio", ".mp3")),
    (b"\xff\xf2", FileKind("audio", ".mp3")),
    (b"fLaC", FileKind("audio", ".flac")),
    (b"OggS", FileKind("audio", ".ogg")),
)
_RIFF = {
    b"WEBP": FileKind("image", ".webp"),
    b"WAVE": FileKind("audio", ".wav"),
}
_BRANDS = {
    b"avif": FileKind("image", ".avif"),
    b"M4A ": FileKind("audio", ".m4a"),
    b"M4B ": FileKind("audio", ".m4a"),
    b"qt  ": FileKind("video", ".mov"),
}
_EBML = b"\x1a\x45\xdf\xa3"


def file_kind(data: bytes) -> FileKind | None:
    """The kind of an image, audio or video file that Obsidian can show, else None."""
    if data[:4] == b"RIFF":
        return _RIFF.get(data[8:12])
    if data[4:8] == b"ftyp":  # ISO base media file format, with a brand
        return _BRANDS.get(data[8:12], FileKind("video", ".mp4"))
    if data[:4] == _EBML:
        return FileKind("video", ".webm" if b"webm" in data[:64] else ".mkv")
    for beginning, kind in _BEGINNINGS:
        if data.startswith(beginning):
            return kind
    return None


MIN_RATIONALE_CHARS = 10
MAX_RATIONALE_CHARS = 500
MAX_ATTACHMENT_BYTES = 16_000_000
MAX_TITLE_CHARS = 200
MAX_NAME_CHARS = 100  # for a project, a type, a tag or a metadata key
MAX_METADATA_CHARS = 16_384  # as JSON
MAX_LIST_ITEMS = 100

RESERVED_KEYS = frozenset(
    {"id", "lifecycle", "type", "project", "importance", "tags", "created", "rationale"}
    | {"modality", "verified", "verified_by", "verified_on", "pinned"}
)

FETCHED_TYPES = frozenset({"web", "webpage", "clipping", "article"})

_DATA_URL = re.compile(r"\A\s*data:[^,;]*(?:;[^,;]*)*;base64,")
_TAG_GAP = re.compile(r",|\s(?=#)")  # where a client gives several in one text
_NOT_IN_TAGS = re.compile(r"[^\w/-]+")


def _one_line(text: str) -> str:
    return " ".join(storable_text(text).split())


def check_rationale(rationale: object) -> str:
    """The rationale, trimmed.

    Raises:
        ValueError: it is missing, or not 10 to 500 characters (core EC-CORE-002, -003).
    """
    text = storable_text(rationale).strip() if isinstance(rationale, str) else ""
    if not text:
        raise ValueError("Rationale is required (10-500 characters)")
    if len(text) < MIN_RATIONALE_CHARS:
        raise ValueError("Rationale must be at least 10 characters")
    if len(text) > MAX_RATIONALE_CHARS:
        raise ValueError("Rationale must be at most 500 characters")
    return text


class Draft(BaseModel):
    """The arguments of ``store_memory``, and the client. Build it with `Draft.checked`.

    ``content`` is text of at most 65,536 characters; ``data`` the decoded bytes of a picture,
    sound or film. One of them is there. ``rationale`` has its secrets masked. ``client`` is the
    name of the AI client, where known, ``session`` its session and ``call`` the key of its call.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    content: str | None = None
    data: bytes | None = None
    rationale: str
    title: str | None = None
    importance: float = DEFAULT_IMPORTANCE
    modality: Modality = "text"
    lifecycle: Lifecycle | None = None
    project: str | None = None
    type: str | None = None
    tags: tuple[str, ...] = ()
    link_to: tuple[str, ...] = ()
    metadata: dict[str, Any] = {}
    client: str | None = None
    session: str | None = None
    call: str = ""

    @property
    def is_fetched(self) -> bool:
        """Whether the client says that the content is from the web."""
        urls = {key for key in self.metadata if key.casefold() in ("url", "source_url")}
        return bool(urls) or (self.type or "").casefold() in FETCHED_TYPES

    @classmethod
    def checked(cls, **arguments: Any) -> Self:
        """Build a draft from a tool's arguments; None counts as not given.

        Raises:
            InvalidParams: an argument is invalid; the wording is that of the specification.
        """
        arguments_given = {name: value for name, value in arguments.items() if value is not None}
        try:
            return cls.model_validate(arguments_given)
        except ValidationError as error:
            first = error.errors()[0]
            if first["type"] == "value_error":
                length = {"received": len(first["input"])} if first["loc"] == ("content",) else {}
                raise InvalidParams(str(first["ctx"]["error"]), **length) from error
            argument = str(first["loc"][0]) if first["loc"] else "arguments"
            raise InvalidParams(f"Invalid params: {argument} - {first['msg']}") from error

    @model_validator(mode="before")
    @classmethod
    def _one_content(cls, arguments: Any) -> Any:
        if not isinstance(arguments, dict):
            return arguments
        arguments = dict(arguments)
        arguments["rationale"] = without_secrets(check_rationale(arguments.get("rationale")))
        encoded = arguments.pop("content_base64", None)
        if encoded is not None and arguments.get("content") is not None:
            raise ValueError("Provide either content or content_base64, not both")
        if encoded is not None:
            arguments |= _decoded(encoded, arguments.get("modality", "text"))
        elif arguments.get("content") is None and arguments.get("data") is None:
            raise ValueError("Content is required: provide content or content_base64")
        return arguments

    @field_validator("content")
    @classmethod
    def _content_in_bounds(cls, content: str | None) -> str | None:
        if content is None:
            return None
        if len(content) > MAX_CONTENT_CHARS:
            raise ValueError("Content exceeds maximum length of 65536 characters")
        if not content.strip():
            raise ValueError("Content must not be empty")
        return storable_text(content)

    @field_validator("importance", mode="before")
    @classmethod
    def _importance_number(cls, importance: Any) -> float:
        return checked_importance(importance)

    @field_validator("title", "type", "project", "client", "session")
    @classmethod
    def _short_line(cls, text: str | None, info: Any) -> str | None:
        line = _one_line(text) if text is not None else ""
        limit = MAX_TITLE_CHARS if info.field_name == "title" else MAX_NAME_CHARS
        if len(line) > limit:
            raise ValueError(f"{info.field_name} must be at most {limit} characters")
        return line or None

    @field_validator("project")
    @classmethod
    def _one_folder(cls, project: str | None) -> str | None:
        if project is not None and (project.strip(". ") == "" or re.search(r"[/\\]", project)):
            raise ValueError("project must be the name of one folder, without slashes")
        return project

    @field_validator("tags")
    @classmethod
    def _tag_names(cls, tags: tuple[str, ...]) -> tuple[str, ...]:
        single = [tag.strip() for text in tags for tag in _TAG_GAP.split(_one_line(text))]
        if len(single) > MAX_LIST_ITEMS or any(len(tag) > MAX_NAME_CHARS for tag in single):
            raise ValueError("tags must be at most 100, of at most 100 characters each")
        names = (_NOT_IN_TAGS.sub("-", tag.lstrip("#")).strip("-/") for tag in single)
        return tuple(dict.fromkeys(name for name in names if name))

    @field_validator("link_to")
    @classmethod
    def _few_links(cls, link_to: tuple[str, ...]) -> tuple[str, ...]:
        if len(link_to) > MAX_LIST_ITEMS:
            raise ValueError("link_to must name at most 100 memories")
        return tuple(dict.fromkeys(link_to))

    @field_validator("metadata")
    @classmethod
    def _own_keys(cls, metadata: dict[str, Any]) -> dict[str, Any]:
        for key in metadata:
            if key.casefold() in RESERVED_KEYS:
                raise ValueError(
                    f"metadata cannot set {key}: memvault keeps that key itself, "
                    "use the argument of that name"
                )
            if not key.strip() or len(key) > MAX_NAME_CHARS or not key.isprintable():
                raise ValueError("metadata keys must be one line of 1 to 100 characters")
        try:
            text = json.dumps(metadata, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError("metadata must be plain JSON") from error
        if len(text) > MAX_METADATA_CHARS:
            raise ValueError(f"metadata must be at most {MAX_METADATA_CHARS} characters as JSON")
        if is_deep(text):  # JSON is YAML, too
            raise ValueError("metadata is nested too deeply")
        return cast("dict[str, Any]", json_value(storable_text(text)))


def _decoded(encoded: Any, modality: Any) -> dict[str, Any]:
    """``content`` for text, ``data`` for anything else."""
    if not isinstance(encoded, str):
        raise ValueError("content_base64 must be text in base64")
    if len(encoded) > MAX_ATTACHMENT_BYTES * 4 // 3 + 100_000:
        raise ValueError(f"content_base64 exceeds maximum size of {MAX_ATTACHMENT_BYTES} bytes")
    digits = "".join(_DATA_URL.sub("", encoded, count=1).split())
    try:
        data = base64.b64decode(digits, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError("content_base64 is not valid base64") from error
    if not data:
        raise ValueError("Content must not be empty")
    if len(data) > MAX_ATTACHMENT_BYTES:
        raise ValueError(f"content_base64 exceeds maximum size of {MAX_ATTACHMENT_BYTES} bytes")
    if modality != "text":
        return {"data": data}
    try:
        return {"content": data.decode("utf-8")}
    except UnicodeDecodeError as error:
        raise ValueError(
            "content_base64 is not UTF-8 text: set modality to image, audio or video"
        ) from error
