"""Reads the conversations, projects and memories of a Claude export."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from memvault.vault.compose import fenced
from memvault.vault.conversations.conversation import (
    Conversation,
    Document,
    Malformed,
    UnreadableEntry,
    conversation_of,
    join_paragraphs,
    list_of,
    text_of,
    time_of,
)


def conversation(entry: dict[str, Any]) -> Conversation:
    messages = entry.get("chat_messages")
    if not isinstance(messages, list):
        raise Malformed("it has no messages (chat_messages)")
    if not all(isinstance(message, dict) for message in messages):
        raise Malformed("one of its messages is damaged")
    spoken = [message for message in messages if message.get("sender") in ("human", "assistant")]
    return conversation_of(
        "claude",
        entry.get("uuid"),
        entry.get("name"),
        entry.get("created_at"),
        [(m["sender"] == "human", _message_text(m), m.get("created_at")) for m in spoken],
    )


def _message_text(message: dict[str, Any]) -> str:
    """The text of a message, the names of its files, and pasted text."""
    blocks = [block for block in list_of(message.get("content")) if isinstance(block, dict)]
    parts = [str(block.get("text") or "") for block in blocks if block.get("type") == "text"]
    if not any(part.strip() for part in parts):
        parts = [str(message.get("text") or "")]
    for file in list_of(message.get("attachments")) + list_of(message.get("files")):
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
    return join_paragraphs(parts)


def project_documents(
    entry: Any, name: str, names: dict[str, str]
) -> Iterator[Document | UnreadableEntry]:
    """A Claude project and its files, as documents; adds the project's name to ``names`` by id."""
    if not isinstance(entry, dict) or not text_of(entry.get("uuid")):
        yield UnreadableEntry(name, "it is not a project")
        return
    if entry.get("is_starter_project"):
        return
    project = " ".join(text_of(entry.get("name")).split()) or "Claude project"
    names[entry["uuid"]] = project
    created = time_of(entry.get("created_at"))
    instructions = text_of(entry.get("prompt_template"))
    parts = [
        text_of(entry.get("description")),
        instructions and f"## Instructions\n\n{instructions}",
    ]
    if text := "\n\n".join(part for part in parts if part):
        yield Document("claude", entry["uuid"], project, text, "project", project, created)
    for file in list_of(entry.get("docs")):
        text = text_of(file.get("content")) if isinstance(file, dict) else ""
        if not text or not text_of(file.get("uuid")):
            yield UnreadableEntry(f"{name} ({project})", "one of its files is empty or damaged")
            continue
        title = PurePosixPath(text_of(file.get("filename"))).stem or f"File of {project}"
        added = time_of(file.get("created_at")) or created
        yield Document("claude", file["uuid"], title, text, "note", project, added)


def memory_documents(
    entry: Any, name: str, projects: dict[str, str]
) -> Iterator[Document | UnreadableEntry]:
    """Claude's memories of the person and of each project, as documents."""
    if not isinstance(entry, dict):
        yield UnreadableEntry(name, "it is not a memory")
        return
    account = text_of(entry.get("account_uuid")) or "account"
    if text := text_of(entry.get("conversations_memory")):
        yield Document("claude", f"memories:{account}", "What Claude remembers", text, "note")
    by_project = entry.get("project_memories")
    for key, value in by_project.items() if isinstance(by_project, dict) else ():
        if text := text_of(value):
            project = projects.get(key, "Claude project")
            title = f"What Claude remembers of {project}"
            yield Document("claude", f"memories:{account}:{key}", title, text, "note", project)
