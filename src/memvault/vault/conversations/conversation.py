"""Conversations and other texts from the export of an AI client."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import uuid5

from memvault.model.memory import NAMESPACE, Lifecycle
from memvault.model.moments import day_of, in_utc
from memvault.vault.compose import closed, storable_text, title_of
from memvault.vault.file_names import safe_name

Provider = Literal["chatgpt", "claude", "gemini"]
NAMES: dict[Provider, str] = {"chatgpt": "ChatGPT", "claude": "Claude", "gemini": "Gemini"}
_STARTS_A_BLOCK = re.compile(
    r"\s*(?:#{1,6}\s|[-*+]\s|\d{1,9}[.)]\s|>|\||`{3}|~{3}|\$\$|!\[|<|---)|(?: {4}|\t)"
)


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """One message, by the person or the assistant; ``text`` is Markdown."""

    is_person: bool
    text: str


@dataclass(frozen=True, slots=True)
class Conversation:
    provider: Provider
    external_id: str
    title: str
    created: datetime  # UTC
    turns: tuple[ConversationTurn, ...]

    @property
    def id(self) -> str:
        """The id of its note: UUIDv5 of the provider and the provider's own id."""
        return str(uuid5(NAMESPACE, f"conversation:{self.provider}:{self.external_id}"))

    @property
    def lifecycle(self) -> Lifecycle:
        return Lifecycle.EPHEMERAL

    @property
    def project(self) -> None:
        return None

    def properties(self) -> dict[str, Any]:
        """Frontmatter of its note, in order."""
        return {
            "id": self.id,
            "lifecycle": str(self.lifecycle),
            "type": "session",
            "tags": ["conversation", self.provider],
            "created": self.created,
            "date": day_of(self.created),
            "source": self.provider,
            "conversation": self.external_id,
        }

    def body(self) -> str:
        """The note's text: the title, then a paragraph or more for each turn."""
        parts = [f"# {self.title}"]
        for turn in self.turns:
            speaker = "You" if turn.is_person else NAMES[self.provider]
            gap = "\n\n" if _STARTS_A_BLOCK.match(turn.text) else " "
            parts.append(closed(f"**{speaker}:**{gap}{turn.text}"))
        return "\n\n".join(parts)


@dataclass(frozen=True, slots=True)
class Document:
    """A text of an export other than a conversation: a project, one of its files, or a memory.

    Attributes:
        project: the project's name, or None.
    """

    provider: Provider
    external_id: str
    title: str
    text: str
    kind: str
    project: str | None = None
    created: datetime | None = None  # UTC

    @property
    def id(self) -> str:
        """The id of its note: UUIDv5 of the provider and the provider's own id."""
        return str(uuid5(NAMESPACE, f"document:{self.provider}:{self.external_id}"))

    @property
    def lifecycle(self) -> Lifecycle:
        return Lifecycle.TEMPORARY if self.project else Lifecycle.PERMANENT

    def properties(self) -> dict[str, Any]:
        """Frontmatter of its note, in order."""
        values = {
            "id": self.id,
            "lifecycle": str(self.lifecycle),
            "type": self.kind,
            "project": safe_name(self.project) if self.project else None,
            "tags": [self.provider],
            "created": self.created,
            "source": self.provider,
            "imported": self.external_id,
        }
        return {key: value for key, value in values.items() if value is not None}

    def body(self) -> str:
        return f"# {self.title}\n\n{closed(self.text)}"


Exported = Conversation | Document


@dataclass(frozen=True, slots=True)
class UnreadableEntry:
    """An entry of the export that cannot be imported, and why."""

    name: str
    reason: str


_FILE_MARK = re.compile(r"\*\((?:image|audio|video|file: .*)\)\*")  # alone on its line


class Malformed(Exception):
    """An entry of the export cannot be read; the message says why."""


def conversation_of(
    provider: Provider,
    external_id: Any,
    title: Any,
    created: Any,
    messages: Sequence[tuple[bool, str, Any]],
) -> Conversation:
    """The conversation with these messages.

    Args:
        created: its time, as `time_of` reads it; by default that of its first message.
        messages: whether each is the person's, its text, and its time.

    Raises:
        Malformed: it has no id, no date or no messages with text.
    """
    turns: list[ConversationTurn] = []
    times: list[datetime] = []
    for is_person, text, at in messages:
        if text:
            _add_turn(turns, is_person, text)
            times += filter(None, [time_of(at)])
    created = time_of(created) or min(times, default=None)
    if not isinstance(external_id, str) or not external_id.strip():
        raise Malformed("it has no id")
    if created is None:
        raise Malformed("it has no date")
    if not turns:
        raise Malformed("empty conversation")
    checked_title = " ".join(storable_text(title).split()) if isinstance(title, str) else ""
    if not checked_title or checked_title.casefold() in {"new chat", "untitled"}:
        first_words = title_of(_FILE_MARK.sub("", turns[0].text))
        checked_title = first_words or f"Conversation with {NAMES[provider]}"
    return Conversation(provider, external_id.strip(), checked_title, created, tuple(turns))


def _add_turn(turns: list[ConversationTurn], is_person: bool, text: str) -> None:
    """Add a message; consecutive messages of one side are one turn."""
    if turns and turns[-1].is_person == is_person:
        text = f"{turns.pop().text}\n\n{text}"
    turns.append(ConversationTurn(is_person, text))


def text_of(value: Any) -> str:
    """The stripped text; empty if the value is not a string."""
    return storable_text(value).strip() if isinstance(value, str) else ""


def join_paragraphs(parts: list[str]) -> str:
    """The non-blank parts of a message, as paragraphs."""
    return "\n\n".join(
        part.strip("\n").rstrip() for part in map(storable_text, parts) if part.strip()
    )


def list_of(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def time_of(value: Any) -> datetime | None:
    """The time given in seconds since 1970 or ISO 8601; None for other values."""
    try:
        if isinstance(value, str):
            return in_utc(datetime.fromisoformat(value))
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None
