"""Keeps text in quarantine out of errors, previews and other answers of tools that change notes.

Tools that read see the guarded vault. A tool that changes notes works on the files themselves, so
its answer or error may quote lines, headings or earlier versions that no client may see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from typing import TYPE_CHECKING, Any

import mcp_types as mt
from fastmcp.server.middleware import Middleware
from fastmcp.tools import ToolResult
from starlette.concurrency import run_in_threadpool

from mcp_server.middleware import CallTool, ToolCall
from mcp_server.middleware.client_identity import is_person
from memvault.curation.changes.change_text import said_in
from memvault.model.errors import MemvaultError, NoteQuarantined
from memvault.vault.lines import bare_lines

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container

WITHHELD_LINE = "(withheld: in quarantine)"
WITHHELD_TEXT = (
    "Withheld: it looks like orders to an AI model. The person can release it on the Curate page."
)
MAX_NOTES = 200  # of one answer whose text is compared
_MIN_CHARS = 12  # of a text that is checked
_MIN_WORDS = 3  # of a hidden line that is also searched within longer texts
_PATHS = frozenset({"path", "paths", "to", "notes_changed", "moved"})
_NO_TEXTS = frozenset({"pulse", "code", "node_id", "node_ids", "reversal_hash", *_PATHS})


class QuarantineGuard(Middleware):
    """Withholds text in quarantine from the answers of tools that change notes, and from errors.

    Args:
        readers: the names of the tools that only read; their answers come from the guarded vault.
    """

    def __init__(self, container: Callable[[], Container], readers: Set[str]) -> None:
        self._container = container
        self._readers = readers

    async def on_call_tool(self, context: ToolCall, call_next: CallTool) -> ToolResult:
        result = await call_next(context)
        answer = result.structured_content
        reads = context.message.name in self._readers and not result.is_error
        if reads or not isinstance(answer, dict) or is_person():
            return result
        # In a thread, since long notes take seconds in which other clients would wait.
        safe = await run_in_threadpool(self._withheld, answer)
        if safe == answer:
            return result
        content = result.content
        if result.is_error:
            content = [mt.TextContent(type="text", text=safe["error"]["message"])]
        return result.model_copy(update={"content": content, "structured_content": safe})

    def _withheld(self, answer: dict[str, Any]) -> dict[str, Any]:
        safe: dict[str, Any] = _Withholding(self._container(), answer).of(answer)
        return safe


class _Withholding:
    """Withholds texts of one answer.

    Args:
        answer: names the notes whose hidden lines are withheld by their paths.
    """

    def __init__(self, container: Container, answer: dict[str, Any]) -> None:
        self._container = container
        self._shown: set[str] = set()
        self._hidden: set[str] = set()
        for path in list(dict.fromkeys(_paths_in(answer)))[:MAX_NOTES]:
            self._compare(path)
        self._hidden -= self._shown
        self._long = [line for line in self._hidden if len(line.split()) >= _MIN_WORDS]

    def _compare(self, path: str) -> None:
        """Record which lines of a note clients see, and which are hidden."""
        try:
            lines = _lines(self._container.vault.read(path))
            try:
                shown_lines = _lines(self._container.guarded.read(path))
            except NoteQuarantined:
                shown_lines = []
        except MemvaultError:  # no note is there
            return
        self._shown.update(map(_bare, shown_lines))
        self._hidden.update(map(_bare, lines))

    def of(self, value: Any, key: str = "") -> Any:
        """The value with its texts in quarantine withheld."""
        if key in _NO_TEXTS:
            return value
        if isinstance(value, dict):
            return {name: self.of(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [self.of(item) for item in value]
        return self._text(value, key) if isinstance(value, str) else value

    def _text(self, text: str, key: str) -> str:
        if self._hidden:
            text = "\n".join(map(self._line, text.split("\n")))
        if len(text) < _MIN_CHARS:
            return text
        unknown = any(_bare(line) not in self._shown for line in text.split("\n"))
        written = said_in(text) if key == "description" else (text,)
        check = self._container.immunity.check
        if unknown and any(check(part).adversarial for part in written):
            return WITHHELD_TEXT
        return text

    def _line(self, line: str) -> str:
        bare_line = _bare(line)
        if bare_line in self._hidden:
            return WITHHELD_LINE
        for hidden in self._long:
            if hidden in line:
                line = line.replace(hidden, WITHHELD_LINE)
        return line


def _lines(data: bytes) -> list[str]:
    return bare_lines(data.decode("utf-8", "replace"))


def _bare(line: str) -> str:
    """The line without spaces around it and without the marks of a heading."""
    return line.strip().lstrip("#").strip()


def _paths_in(value: Any, key: str = "") -> Iterator[str]:
    """The paths that an answer names."""
    if isinstance(value, str) and key in _PATHS:
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _paths_in(item, key)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _paths_in(item, name)
