"""Reads the export files of ChatGPT and Claude: conversations, Claude's projects and memories.

The standard library parses the JSON, so the largest file must fit in memory several times: a few
hundred megabytes of text are fine.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from uuid import uuid5

from memvault.model.errors import InvalidParams
from memvault.model.memory import NAMESPACE
from memvault.model.moments import day_of, in_utc
from memvault.vault.compose import close_open_fence, fenced, safe_name, storable_text, title_of

Provider = Literal["chatgpt", "claude"]
NAMES: dict[Provider, str] = {"chatgpt": "ChatGPT", "claude": "Claude"}

_KINDS: dict[Provider, str] = {
    "chatgpt": "conversations",
    "claude": "conversations|projects|memories",
}
_EXPORT_FILE = r"(?:.*/)?(?:({0})(?:[-_]?\d+)?\.json|({0})/[^/]+\.json)"
_CITATION = re.compile("\ue200[^\ue200\ue201]{0,2000}\ue201")  # only ChatGPT's page shows these
_STARTS_A_BLOCK = re.compile(
    r"\s*(?:#{1,6}\s|[-*+]\s|\d{1,9}[.)]\s|>|\||`{3}|~{3}|\$\$|!\[|<|---)|(?: {4}|\t)"
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One message, by the person or the assistant; ``text`` is Markdown."""

    is_person: bool
    text: str


@dataclass(frozen=True, slots=True)
class Conversation:
    provider: Provider
    external_id: str
    title: str
    created: datetime  # UTC
    turns: tuple[Turn, ...]

    @property
    def id(self) -> str:
        """The id of its note: UUIDv5 of the provider and the provider's own id."""
        return str(uuid5(NAMESPACE, f"conversation:{self.provider}:{self.external_id}"))

    @property
    def folder(self) -> str:
        return f"sessions/{day_of(self.created).isoformat()}"

    def properties(self) -> dict[str, Any]:
        """Frontmatter of its note, in order."""
        return {
            "id": self.id,
            "lifecycle": "ephemeral",
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
            who = "You" if turn.is_person else NAMES[self.provider]
            text = close_open_fence(turn.text)
            gap = "\n\n" if _STARTS_A_BLOCK.match(text) else " "
            parts.append(f"**{who}:**{gap}{text}")
        return "\n\n".join(parts)


@dataclass(frozen=True, slots=True)
class Document:
    """Text of an export that is no conversation: a project, one of its files, or a memory.

    Attributes:
        project: the project's name; None for what belongs to no project.
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
    def folder(self) -> str:
        return f"projects/{safe_name(self.project)}" if self.project else "permanent"

    def properties(self) -> dict[str, Any]:
        """Frontmatter of its note, in order."""
        values = {
            "id": self.id,
            "lifecycle": "temporary" if self.project else "permanent",
            "type": self.kind,
            "project": safe_name(self.project) if self.project else None,
            "tags": [self.provider],
            "created": self.created,
            "source": self.provider,
            "imported": self.external_id,
        }
        return {key: value for key, value in values.items() if value is not None}

    def body(self) -> str:
        return f"# {self.title}\n\n{close_open_fence(self.text)}"


Exported = Conversation | Document


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An entry of the export that cannot be imported, and why."""

    name: str
    reason: str


class _NotAnExport(Exception):
    """The file is no export; the message says why."""


class _Malformed(Exception):
    """An entry of the export cannot be read."""


def read_export(source: Path, provider: Provider) -> Iterator[Exported | Unreadable]:
    """The entries of an export: the zip file, the unpacked folder, or one of its JSON files.

    Raises:
        InvalidParams: the file does not exist or is not an export of this provider.
    """
    read = {"chatgpt": _chatgpt, "claude": _claude}[provider]
    other = {"chatgpt": "chat_messages", "claude": "mapping"}[provider]
    projects: dict[str, str] = {}
    for name, kind, entries in _entries(source, provider):
        for number, entry in enumerate(entries, 1):
            if kind == "projects":
                yield from _project(entry, f"{name}, project {number}", projects)
            elif kind == "memories":
                yield from _memories(entry, f"{name}, memory {number}", projects)
            else:
                if isinstance(entry, dict) and other in entry:
                    wanted = NAMES["claude" if provider == "chatgpt" else "chatgpt"]
                    raise InvalidParams(
                        f"{name} is an export of {wanted}, not of {NAMES[provider]}"
                    )
                yield _read_one(read, entry, f"{name}, conversation {number}")


def _project(entry: Any, name: str, names: dict[str, str]) -> Iterator[Document | Unreadable]:
    """A project of Claude and its files; ``names`` gets the project's name by its id."""
    if not isinstance(entry, dict) or not _text(entry.get("uuid")):
        yield Unreadable(name, "it is not a project")
        return
    if entry.get("is_starter_project"):
        return
    project = " ".join(_text(entry.get("name")).split()) or "Claude project"
    names[entry["uuid"]] = project
    created = _time(entry.get("created_at"))
    instructions = _text(entry.get("prompt_template"))
    parts = [_text(entry.get("description")), instructions and f"## Instructions\n\n{instructions}"]
    if text := "\n\n".join(part for part in parts if part):
        yield Document("claude", entry["uuid"], project, text, "project", project, created)
    for file in _list(entry.get("docs")):
        text = _text(file.get("content")) if isinstance(file, dict) else ""
        if not text or not _text(file.get("uuid")):
            yield Unreadable(f"{name} ({project})", "one of its files is empty or damaged")
            continue
        title = PurePosixPath(_text(file.get("filename"))).stem or f"File of {project}"
        added = _time(file.get("created_at")) or created
        yield Document("claude", file["uuid"], title, text, "note", project, added)


def _memories(entry: Any, name: str, projects: dict[str, str]) -> Iterator[Document | Unreadable]:
    """What Claude remembers of the person, and for each project."""
    if not isinstance(entry, dict):
        yield Unreadable(name, "it is not a memory")
        return
    account = _text(entry.get("account_uuid")) or "account"
    if text := _text(entry.get("conversations_memory")):
        yield Document("claude", f"memories:{account}", "What Claude remembers", text, "note")
    by_project = entry.get("project_memories")
    for key, value in by_project.items() if isinstance(by_project, dict) else ():
        if text := _text(value):
            project = projects.get(key, "Claude project")
            title = f"What Claude remembers of {project}"
            yield Document("claude", f"memories:{account}:{key}", title, text, "note", project)


def _text(value: Any) -> str:
    return storable_text(value).strip() if isinstance(value, str) else ""


def _read_one(
    read: Callable[[dict[str, Any]], Conversation], entry: Any, name: str
) -> Conversation | Unreadable:
    if not isinstance(entry, dict):
        return Unreadable(name, "it is not a conversation")
    title = entry.get("title") or entry.get("name")
    if isinstance(title, str) and title.strip():
        name = f"{name} ({title_of(title) or title.strip()[:80]})"
    try:
        return read(entry)
    except _Malformed as error:
        return Unreadable(name, str(error))


def _entries(source: Path, provider: Provider) -> Iterator[tuple[str, str, list[Any]]]:
    """Name, kind and entries of each file of the export: conversations, then projects, then
    memories, which name projects."""
    wanted = re.compile(_EXPORT_FILE.format(_KINDS[provider]), re.IGNORECASE)

    def kind_of(name: str) -> str:
        found = wanted.fullmatch(name)
        return (found[1] or found[2]).lower() if found else ""

    def chosen(names: Iterable[str]) -> list[str]:
        order = _KINDS[provider].split("|")
        return sorted(filter(kind_of, names), key=lambda name: (order.index(kind_of(name)), name))

    try:
        if source.is_dir():
            found = [*source.glob("*.json"), *source.glob("*/*.json")]
            files = {file.relative_to(source).as_posix(): file for file in found}
            loaded = ((name, kind_of(name), files[name].read_bytes()) for name in chosen(files))
            yield from _loaded(loaded, source.name)
        elif zipfile.is_zipfile(source):
            with zipfile.ZipFile(source) as archive:
                names = chosen(archive.namelist())
                loaded = ((name, kind_of(name), archive.read(name)) for name in names)
                yield from _loaded(loaded, source.name)
        else:
            yield from _loaded(iter([(source.name, kind_of(source.name), source.read_bytes())]), "")
    except _NotAnExport as error:
        raise InvalidParams(
            f"{error}, so it is no export of {NAMES[provider]}. Name the file that you got from "
            "there, as it is."
        ) from error
    except FileNotFoundError as error:
        raise InvalidParams(f"{source.name} does not exist") from error
    except (OSError, zipfile.BadZipFile, RuntimeError) as error:
        raise InvalidParams(f"{source.name} cannot be read: {type(error).__name__}") from error


def _loaded(
    files: Iterator[tuple[str, str, bytes]], source: str
) -> Iterator[tuple[str, str, list[Any]]]:
    is_empty = True
    for name, kind, data in files:
        is_empty = False
        try:
            entries = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise _NotAnExport(f"{name} is neither a zip file nor JSON") from error
        if isinstance(entries, dict):  # some tools wrap the list, or save one entry alone
            entries = entries.get("conversations", [entries])
        if not isinstance(entries, list):
            raise _NotAnExport(f"{name} is not a list of conversations")
        yield name, kind, entries
    if is_empty:
        raise _NotAnExport(f"{source} contains no conversations.json")


def _chatgpt(entry: dict[str, Any]) -> Conversation:
    mapping = entry.get("mapping")
    if not isinstance(mapping, dict):
        raise _Malformed("it has no messages (mapping)")
    turns: list[Turn] = []
    times: list[datetime] = []
    for node_id in _thread(mapping, entry.get("current_node")):
        message = mapping[node_id].get("message")
        if not isinstance(message, dict):
            continue
        text = _chatgpt_text(message)
        if text:
            _add_turn(turns, _role(message) == "user", text)
            times += [time for time in [_time(message.get("create_time"))] if time]
    return _conversation(
        "chatgpt",
        entry.get("conversation_id") or entry.get("id"),
        entry.get("title"),
        _time(entry.get("create_time")) or min(times, default=None),
        turns,
    )


def _thread(mapping: dict[str, Any], current: Any) -> list[str]:
    """The nodes from the root to the one last shown, without discarded regenerated answers."""
    if not isinstance(current, str) or current not in mapping:
        parents = [node.get("parent") for node in mapping.values() if isinstance(node, dict)]
        inner = {parent for parent in parents if isinstance(parent, str)}
        leaves = [node_id for node_id in mapping if node_id not in inner]
        current = leaves[-1] if leaves else None
    thread: list[str] = []
    seen: set[str] = set()
    while isinstance(current, str) and current in mapping and current not in seen:
        node = mapping[current]
        if not isinstance(node, dict):
            raise _Malformed("one of its messages is damaged")
        seen.add(current)
        thread.append(current)
        current = node.get("parent")
    return thread[::-1]


def _role(message: dict[str, Any]) -> str:
    author = message.get("author")
    return str(author.get("role", "")) if isinstance(author, dict) else ""


def _chatgpt_text(message: dict[str, Any]) -> str:
    """The visible text of a message, without tool calls, hidden context and reasoning."""
    metadata = message.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    content = message.get("content")
    if (
        _role(message) not in ("user", "assistant")
        or message.get("recipient", "all") not in ("all", None)
        or metadata.get("is_visually_hidden_from_conversation")
        or not isinstance(content, dict)
    ):
        return ""
    parts: list[str] = []
    if content.get("content_type") in ("text", "multimodal_text"):
        parts += [_chatgpt_part(part) for part in _list(content.get("parts"))]
    elif content.get("content_type") == "code":
        language = str(content.get("language") or "").replace("unknown", "")
        parts.append(fenced(str(content.get("text") or ""), language))
    for file in _list(metadata.get("attachments")):
        name = file.get("name") if isinstance(file, dict) else None
        if isinstance(name, str) and not str(file.get("mime_type", "")).startswith("image/"):
            parts.append(f"*(file: {name})*")
    return _joined(parts)


def _chatgpt_part(part: Any) -> str:
    if isinstance(part, str):
        return _CITATION.sub("", part)
    if not isinstance(part, dict):
        return ""
    if isinstance(part.get("text"), str):
        return str(part["text"])
    kind = str(part.get("content_type", ""))
    for word in ("image", "audio", "video"):
        if word in kind:
            return f"*({word})*"
    return ""


def _claude(entry: dict[str, Any]) -> Conversation:
    messages = entry.get("chat_messages")
    if not isinstance(messages, list):
        raise _Malformed("it has no messages (chat_messages)")
    turns: list[Turn] = []
    times: list[datetime] = []
    for message in messages:
        if not isinstance(message, dict):
            raise _Malformed("one of its messages is damaged")
        text = _claude_text(message)
        if text and message.get("sender") in ("human", "assistant"):
            _add_turn(turns, message["sender"] == "human", text)
            times += [time for time in [_time(message.get("created_at"))] if time]
    return _conversation(
        "claude",
        entry.get("uuid"),
        entry.get("name"),
        _time(entry.get("created_at")) or min(times, default=None),
        turns,
    )


def _claude_text(message: dict[str, Any]) -> str:
    """The text of a message, the names of its files, and pasted text."""
    blocks = [block for block in _list(message.get("content")) if isinstance(block, dict)]
    parts = [str(block.get("text") or "") for block in blocks if block.get("type") == "text"]
    if not any(part.strip() for part in parts):
        parts = [str(message.get("text") or "")]
    for file in _list(message.get("attachments")) + _list(message.get("files")):
        if not isinstance(file, dict):
            continue
        pasted = file.get("extracted_content")
        name = file.get("file_name")
        if isinstance(name, str) and name.strip():
            parts.append(f"*(file: {name})*")
        elif isinstance(pasted, str) and pasted.strip():
            parts.append("*(pasted text)*")
        if isinstance(pasted, str) and pasted.strip():
            parts.append(fenced(pasted, "text"))
    return _joined(parts)


def _conversation(
    provider: Provider, external_id: Any, title: Any, created: datetime | None, turns: list[Turn]
) -> Conversation:
    if not isinstance(external_id, str) or not external_id.strip():
        raise _Malformed("it has no id")
    if created is None:
        raise _Malformed("it has no date")
    if not turns:
        raise _Malformed("empty conversation")
    shown = " ".join(storable_text(title).split()) if isinstance(title, str) else ""
    if not shown or shown.casefold() in {"new chat", "untitled"}:
        shown = title_of(turns[0].text) or f"Conversation with {NAMES[provider]}"
    return Conversation(provider, external_id.strip(), shown, created, tuple(turns))


def _add_turn(turns: list[Turn], is_person: bool, text: str) -> None:
    """Add a message; consecutive messages of one side are one turn."""
    if turns and turns[-1].is_person == is_person:
        text = f"{turns.pop().text}\n\n{text}"
    turns.append(Turn(is_person, text))


def _joined(parts: list[str]) -> str:
    return "\n\n".join(
        part.strip("\n").rstrip() for part in map(storable_text, parts) if part.strip()
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _time(value: Any) -> datetime | None:
    """Seconds since 1970, or ISO 8601; None for anything else."""
    try:
        if isinstance(value, str):
            return in_utc(datetime.fromisoformat(value))
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None
