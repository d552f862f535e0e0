"""File names that are valid on every system and in wikilinks."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath

from memvault.model.unicode_forms import normalized

MAX_FILE_NAME_BYTES = 255  # of a file name with its suffix, in all usual file systems
# Of a new note's name; the rest is for " 23.md" and for systems that decompose accents.
MAX_NAME_BYTES = 180
MAX_NAME_CHARS = 120  # Windows allows 260 for a whole path
UNTITLED = "Untitled"

# Windows forbids the first group; the second ends or splits wikilinks.
_FORBIDDEN = re.compile(r'[<>:"/\\|?*]|[#^\[\]]')
_SPACES = re.compile(r"\s+")
_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?=\.|\Z)", re.IGNORECASE
)
# Without the lookbehinds, a name of nothing but extensions takes quadratic time.
_NOTE_EXTENSION = re.compile(r"(?<!\.md)(?<!\.markdown)(?:\.(?:md|markdown))+\Z", re.IGNORECASE)
_COPY = re.compile(  # of Dropbox, Nextcloud and Obsidian Sync; of Seafile; of Syncthing
    r"\s*\([^()]*\bconflicted copy\b[^()]*\)(?=\.\w+\Z)"
    r"|\s*\(SFConflict [^()]+\)(?=\.\w+\Z)"
    r"|\.sync-conflict-\d{8}-\d{6}(?:-\w+)?(?=\.\w+\Z)",
    re.IGNORECASE,
)
_JOINERS = frozenset("\u200c\u200d")
# Notes that AI agents at work in their folder obey, folded and without suffix.
_AGENT_FILES = frozenset(
    {"agent", "agents", "agents.override", "claude", "claude.local", "copilot-instructions"}
    | {"crush", "crush.local", "gemini", "qwen", "warp"}
)


def safe_name(title: str) -> str:
    """A file name stem for a title, valid on Linux, macOS and Windows. Idempotent.

    Forbidden characters become spaces; emoji and all scripts stay. At most 120 characters and 180
    bytes of UTF-8. Never empty, hidden or reserved, and without path separators.
    """
    text = normalized(title)
    text = _FORBIDDEN.sub(" ", text)
    text = "".join(char for char in text if _is_writable(char))
    while True:
        cleaned = _clean(text)
        if cleaned == text:
            break
        text = cleaned
    return text or UNTITLED


def folded_name(name: str) -> str:
    """The name as file systems that ignore case and Unicode form compare it."""
    return normalized(normalized(name).casefold())


def is_agent_file(path: str) -> bool:
    """Whether AI agents at work in a note's folder obey it for its name (``CLAUDE.md``), also where
    the file system ignores case."""
    name = PurePosixPath(path)
    return name.suffix.lower() == ".md" and folded_name(name.stem) in _AGENT_FILES


def numbered_name(name: str, number: int) -> str:
    """The file name with a number before its suffix, shortened if it would be too long."""
    path = PurePosixPath(name)
    stem, ending = path.stem, f" {number}{path.suffix}"
    room = MAX_FILE_NAME_BYTES - len(ending.encode("utf-8"))
    if len(stem.encode("utf-8")) > room:
        stem = _without_open_end(_cut(stem, room)).rstrip()
    return stem + ending


def original_of_copy(path: str) -> str:
    """The path of the file that a sync tool copied when two devices changed it; the path itself if
    its name is not that of such a copy."""
    return _COPY.sub("", path)


def _clean(text: str) -> str:
    text = _SPACES.sub(" ", text)
    text = text.strip(" .")
    text = _NOTE_EXTENSION.sub("", text)
    text = _shortened(text).strip(" .")
    return f"_{text}" if _RESERVED.match(text) else text


def _is_writable(char: str) -> bool:
    """Whether the character is not control, unassigned, a lone surrogate or a direction mark."""
    return char in _JOINERS or char.isspace() or unicodedata.category(char) not in {
        "Cc", "Cf", "Cs", "Cn", "Co",
    }  # fmt: skip


def _shortened(text: str) -> str:
    if len(text) <= MAX_NAME_CHARS and len(text.encode("utf-8")) <= MAX_NAME_BYTES:
        return text
    text = _cut(text[:MAX_NAME_CHARS], MAX_NAME_BYTES)
    head, _, tail = text.rpartition(" ")
    text = head if head and len(tail) < 20 else text
    return _without_open_end(text)


def _cut(text: str, max_bytes: int) -> str:
    """The start of a text that has at most so many bytes of UTF-8."""
    return text.encode("utf-8")[:max_bytes].decode("utf-8", errors="ignore")


def _without_open_end(text: str) -> str:
    """The text without a combining character or joiner at its end."""
    while text and (unicodedata.combining(text[-1]) or text[-1] in "\u200d\u200c\ufe0f"):
        text = text[:-1]
    return text
