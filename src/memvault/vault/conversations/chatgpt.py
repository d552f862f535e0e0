"""Reads ChatGPT's conversations: trees of messages, of which the branch last shown is kept."""

from __future__ import annotations

import re
from typing import Any

from memvault.vault.compose import fenced
from memvault.vault.conversations.conversation import (
    Conversation,
    Malformed,
    conversation_of,
    join_paragraphs,
    list_of,
)

_CITATION = re.compile("\ue200[^\ue200\ue201]{0,2000}\ue201")  # only ChatGPT's page shows these


def conversation(entry: dict[str, Any]) -> Conversation:
    mapping = entry.get("mapping")
    if not isinstance(mapping, dict):
        raise Malformed("it has no messages (mapping)")
    thread = _thread(mapping, entry.get("current_node"))
    messages = [m for node_id in thread if isinstance(m := mapping[node_id].get("message"), dict)]
    return conversation_of(
        "chatgpt",
        entry.get("conversation_id") or entry.get("id"),
        entry.get("title"),
        entry.get("create_time"),
        [(_role(m) == "user", _visible_text(m), m.get("create_time")) for m in messages],
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
            raise Malformed("one of its messages is damaged")
        seen.add(current)
        thread.append(current)
        current = node.get("parent")
    return thread[::-1]


def _role(message: dict[str, Any]) -> str:
    author = message.get("author")
    return str(author.get("role", "")) if isinstance(author, dict) else ""


def _visible_text(message: dict[str, Any]) -> str:
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
        parts += [_part_text(part) for part in list_of(content.get("parts"))]
    elif content.get("content_type") == "code":
        language = str(content.get("language") or "").replace("unknown", "")
        parts.append(fenced(str(content.get("text") or ""), language))
    for file in list_of(metadata.get("attachments")):
        name = file.get("name") if isinstance(file, dict) else None
        if isinstance(name, str) and not str(file.get("mime_type", "")).startswith("image/"):
            parts.append(f"*(file: {name})*")
    return join_paragraphs(parts)


def _part_text(part: Any) -> str:
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
