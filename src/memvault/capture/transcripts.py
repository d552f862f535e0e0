"""Reads the transcripts that AI clients keep of their sessions, line by line.

Each client has its own format. The format of a line is recognised by its shape, not by the client's
name, since clients read each other's files. Only the words of the person and the assistant and the
edited files are read; tool results, thinking, and text that clients and hooks add to a prompt are
left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Literal

from memvault.capture.edited_files import edited_files
from memvault.model.json_text import json_object, json_value
from memvault.model.moments import in_utc

Speaker = Literal["person", "assistant"]

MAX_LINE_BYTES = 32_000_000  # a longer line is skipped: no message is so long
# Tags of text that clients and hooks add to a prompt. Unlike people, they use tags of two or more
# words (``<task-notification>``): at the start of a line, one that is not listed here counts, too.
_CLIENT_TAGS = frozenset(
    {
        "system-reminder", "hook_context", "session_context", "environment_context",
        "user_instructions", "skills_instructions", "permissions instructions", "command-name",
        "command-message", "command-args", "command-contents", "local-command-caveat",
        "ide_opened_file", "open_and_recently_viewed_files", "user_info", "git_status", "rules",
        "memvault",
    }
)  # fmt: skip
# Tags around the output of tools and around files.
_OUTPUT_TAGS = frozenset(
    {
        "local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr",
        "task-notification", "ide_selection", "attachment", "attached_files",
    }
)  # fmt: skip
_NAME = r"permissions instructions|[a-z]+(?:[-_][a-z]+)*"
_TAG = re.compile(
    rf"(?P<indent>^[ \t]*)?<(?P<opened>{_NAME})(?=[\s>])|</(?P<closed>{_NAME})\s*>", re.MULTILINE
)
_QUERY_TAG = re.compile(r"<(?:user_query|userRequest)>")
_QUERY_END = re.compile(r"</(?:user_query|userRequest)>")
_PRIVATE = re.compile(r"<private\b[^>]*(?:>[\s\S]*?(?:</private\s*>|\Z)|\Z)", re.IGNORECASE)
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\[\]]*\]")


@dataclass(frozen=True, slots=True)
class TranscriptTurn:
    """An uninterrupted message of one side, and the paths of the files that it edited."""

    speaker: Speaker
    text: str
    at: datetime | None = None
    files: tuple[str, ...] = ()


def read_turns(
    path: Path, offset: int = 0, *, of_subagent: bool = False
) -> Iterator[tuple[TranscriptTurn, int]]:
    """The turns of a transcript, each with the byte offset after it.

    A line that the client is still writing is left for the next call. A damaged file, or one that
    is no transcript, yields its readable turns.

    Args:
        offset: where an earlier call ended; a file that is shorter now is read from its start.
        of_subagent: whether the transcript is a subagent's; elsewhere subagents' turns are left
            out.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(offset if offset <= size else 0)
        if file.tell() == 0 and _is_one_document(file):
            yield from _document_turns(file)
            return
        for line, end in _lines(file):
            turn = _turn_of_line(line, of_subagent)
            if turn is not None:
                yield turn, end


def without_private(text: str) -> str:
    """The text without ``<private>`` spans; an unclosed span reaches to the end."""
    return _PRIVATE.sub(" ", text)


def spoken(text: str) -> str:
    """The message without text that clients and hooks added, and without private spans."""
    query = _query(text)
    plain = _without_added(text) if query is None else query
    return _INTERRUPTED.sub(" ", without_private(plain)).strip()


def _query(text: str) -> str | None:
    """The person's words, if the client marks them; it puts them after the files and the pages that
    it attaches, which may have such marks, too."""
    ends = [mark.start() for mark in _QUERY_END.finditer(text)]
    starts = [mark.end() for mark in _QUERY_TAG.finditer(text, 0, ends[-1])] if ends else []
    return text[starts[-1] : ends[-1]] if starts else None


def _without_added(text: str) -> str:
    """The text without what clients and hooks added."""
    kept, end = [], 0
    for added_start, added_end in reversed(list(_added(text))):
        if added_start >= end:
            kept.append(text[end:added_start])
            end = added_end
    return " ".join([*kept, text[end:]])


def _added(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each text that a client or a hook added, from the last to the first.

    A text may quote its own closing tag, so it ends at the last closing tag before the next opening
    tag of this name. The output of a tool may quote both tags; it ends at the last closing tag.
    """
    ends: dict[str, int] = {}
    opened_after: set[str] = set()  # names whose next tag is an opening one
    last_bracket = text.rfind(">")
    for tag in reversed(list(_TAG.finditer(text))):
        name = tag["opened"] or tag["closed"]
        if tag["closed"]:
            if name not in ends or (name in opened_after and name not in _OUTPUT_TAGS):
                ends[name] = tag.end()
            opened_after.discard(name)
            continue
        opened_after.add(name)
        is_listed = name in _CLIENT_TAGS or name in _OUTPUT_TAGS
        begins_line = tag["indent"] is not None
        if name in ends and (is_listed or (begins_line and not name.isalpha())):
            yield tag.start(), ends[name]
        elif is_listed and tag.end() <= last_bracket:
            yield tag.start(), len(text)  # cut off


def _lines(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    while line := file.readline(MAX_LINE_BYTES):
        if line.endswith(b"\n"):
            yield line, file.tell()
            continue
        if len(line) < MAX_LINE_BYTES:
            return  # not completely written yet
        while line and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE_BYTES)


def _is_one_document(file: BinaryIO) -> bool:
    """Whether the file is one JSON document over several lines, as older clients write."""
    start = file.read(4_096).lstrip()
    file.seek(0)
    first = start.split(b"\n", 1)[0].strip()
    return first in (b"{", b"[")


def _document_turns(file: BinaryIO) -> Iterator[tuple[TranscriptTurn, int]]:
    data = file.read(MAX_LINE_BYTES)
    try:
        whole = json_value(data)
    except ValueError:
        return
    entries = whole.get("messages", []) if isinstance(whole, dict) else whole
    for entry in entries if isinstance(entries, list) else []:
        turn = _turn(entry) if isinstance(entry, dict) else None
        if turn is not None:
            yield turn, 0  # the client rewrites such a file each time


def _turn_of_line(line: bytes, of_subagent: bool) -> TranscriptTurn | None:
    entry = json_object(line)
    if entry is None or (entry.get("isSidechain") and not of_subagent):
        return None
    return _turn(entry)


def _turn(entry: dict[str, Any]) -> TranscriptTurn | None:
    """The turn in an entry of any client's format; None if the entry has no message."""
    kind = entry.get("type")
    payload = entry.get("payload")
    if isinstance(payload, dict):
        return _codex(payload, entry) if kind == "response_item" else None
    message = entry.get("message")
    if isinstance(message, dict) and (kind in ("user", "assistant") or "role" in entry):
        return _anthropic(entry, message)  # Claude Code, and Cursor, which has the same format
    if isinstance(kind, str) and isinstance(entry.get("data"), dict):
        return _vscode(kind, entry["data"], entry)
    if kind in ("user", "gemini", "model") and "content" in entry:
        return _gemini(kind, entry)
    return None


def _anthropic(entry: dict[str, Any], message: dict[str, Any]) -> TranscriptTurn | None:
    if entry.get("isMeta") or entry.get("isCompactSummary"):
        return None
    if message.get("model") == "<synthetic>":  # written by Claude Code, not by the model
        return None
    role = message.get("role") or entry.get("role")
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if role not in ("user", "assistant") or not isinstance(blocks, list):
        return None
    files = [
        path
        for block in blocks
        if isinstance(block, dict) and block.get("type") == "tool_use"
        for path in edited_files(block.get("name"), block.get("input"))
    ]
    return _made("person" if role == "user" else "assistant", _texts(blocks), entry, files)


def _codex(payload: dict[str, Any], entry: dict[str, Any]) -> TranscriptTurn | None:
    if payload.get("type") in ("function_call", "custom_tool_call", "local_shell_call"):
        arguments = payload.get("arguments", payload.get("input"))
        return _made("assistant", [], entry, edited_files(payload.get("name"), arguments))
    role = payload.get("role")
    content = payload.get("content")
    if payload.get("type") != "message" or role not in ("user", "assistant"):
        return None
    blocks = content if isinstance(content, list) else []
    return _made("person" if role == "user" else "assistant", _texts(blocks), entry, [])


def _gemini(kind: str, entry: dict[str, Any]) -> TranscriptTurn | None:
    content = entry.get("displayContent", entry["content"]) if kind == "user" else entry["content"]
    blocks = [{"text": content}] if isinstance(content, str) else content
    calls = entry.get("toolCalls")
    files = [
        path
        for call in (calls if isinstance(calls, list) else [])
        if isinstance(call, dict)
        for path in edited_files(call.get("name"), call.get("args"))
    ]
    texts = _texts(blocks if isinstance(blocks, list) else [])
    return _made("person" if kind == "user" else "assistant", texts, entry, files)


def _vscode(kind: str, data: dict[str, Any], entry: dict[str, Any]) -> TranscriptTurn | None:
    if kind == "tool.execution_start":
        tool = data.get("toolName", data.get("name"))
        return _made("assistant", [], entry, edited_files(tool, data.get("arguments")))
    speakers: dict[str, Speaker] = {"user.message": "person", "assistant.message": "assistant"}
    speaker = speakers.get(kind)
    content = data.get("content")
    if speaker is None or not isinstance(content, str):
        return None
    return _made(speaker, [content], entry, [])


def _made(
    speaker: Speaker, texts: list[str], entry: dict[str, Any], files: Sequence[str]
) -> TranscriptTurn | None:
    text = "\n\n".join(filter(None, map(spoken, texts)))
    if not text and not files:
        return None
    return TranscriptTurn(speaker, text, _time(entry.get("timestamp")), tuple(dict.fromkeys(files)))


def _texts(blocks: list[Any]) -> list[str]:
    kinds = (None, "text", "input_text", "output_text")
    return [
        block["text"]
        for block in blocks
        if isinstance(block, dict)
        and block.get("type") in kinds
        and isinstance(block.get("text"), str)
    ]


def _time(value: Any) -> datetime | None:
    try:
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value / 1000, UTC)
        return in_utc(datetime.fromisoformat(value))
    except (TypeError, ValueError, OverflowError, OSError):
        return None
