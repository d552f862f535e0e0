"""Quotes the notes of captured sessions: whole lines of some of their sections."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from memvault.capture.quotations import DECIDED, Quotation, distinct, says_something
from memvault.capture.session_note import FILES
from memvault.model.errors import MemvaultError
from memvault.model.memory import Memory
from memvault.model.search import Hit
from memvault.search.context.outline import Outlines
from memvault.search.context.scoring import scores
from memvault.search.scope import MemoryLookup
from memvault.text.encoders.embedding import Embedder
from memvault.vault.session_lines import ItemKind, items_by_heading

RECENT_SESSIONS = 12  # the latest ones, whose decisions are given at a start
MAX_COMPARED = 40  # quotations from sessions that are compared with each other
# The sections of a session note that are quoted, and how many of their last lines.
_LASTING_LINES: dict[str, int] = {
    ItemKind.DECISION: 3,
    ItemKind.PREFERENCE: 3,
    ItemKind.OPEN_QUESTION: 2,
}
_LATEST_LINES: dict[str, int] = {**_LASTING_LINES, ItemKind.REQUEST: 2}
_BY_ASSISTANT = (ItemKind.SUMMARY, ItemKind.REPORT)
_ASSISTANT = 0.8  # weight of the assistant's words; the person's have 1
# How a sentence begins that corrects the one before.
_CORRECTS = re.compile(
    r"(?:actually|no,|no wait|wait,|sorry,|correction|scratch that|i mean|make that|or rather|"
    r"nein,|moment,|eigentlich|besser gesagt|en fait|non,|plutôt|en realidad|mejor dicho)(?!\w)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SessionQuotations:
    """Quotes captured sessions. Thread-safe.

    Attributes:
        memories: gives the current notes.
        read: returns the bytes of the note at a path.
        outlines: the notes' outlines; may be shared.
    """

    memories: Callable[[], MemoryLookup]
    read: Callable[[str], bytes]
    outlines: Outlines
    embedder: Embedder

    def recent(self, folder: str, project: str | None, current_id: str) -> list[Quotation]:
        """Decisions and open questions of the last sessions in this folder or project, the latest
        first, and the last session's requests.

        Args:
            current_id: the note id of the session that starts; it is left out.
        """
        sessions = [
            memory
            for memory in self.memories().all()
            if memory.type == "session"
            and memory.id != current_id
            and (
                memory.metadata.get("folder") == folder
                or (project is not None and memory.project == project)
            )
        ]
        sessions.sort(key=lambda memory: memory.created_at, reverse=True)
        quotations: list[Quotation] = []
        for index, memory in enumerate(sessions[:RECENT_SESSIONS]):
            quotations += self._quoted(memory, _LATEST_LINES if index == 0 else _LASTING_LINES)
        return distinct(quotations)[:MAX_COMPARED]

    def of_note(self, path: str | None) -> list[Quotation]:
        """The decisions, open questions and last requests in a session's note."""
        memory = self.memories().by_path(path) if path else None
        return self._quoted(memory, _LATEST_LINES) if memory is not None else []

    def _quoted(self, memory: Memory, last_lines: Mapping[str, int]) -> list[Quotation]:
        items = self._items(memory)
        return [
            Quotation(memory, text, (number, number), heading)
            for heading, limit in last_lines.items()
            for number, text in items.get(heading, [])[-limit:]
            if says_something(text)
        ]

    def _items(self, memory: Memory) -> Mapping[str, list[tuple[int, str]]]:
        try:
            return items_by_heading(self.read(memory.path))
        except MemvaultError:  # deleted since it was found, or in quarantine
            return {}

    def decided_since(self, session: Memory) -> list[Quotation]:
        """What later sessions of the same project decided, the latest first."""
        folder = str(session.metadata.get("folder", ""))
        return [
            quotation
            for quotation in self.recent(folder, session.project, session.id)
            if quotation.heading in DECIDED and quotation.memory.created_at > session.created_at
        ]

    def best_of(self, query: str, hit: Hit, headings: Collection[str] | None) -> Quotation | None:
        """The whole line of a captured session that fits a query best, or None.

        With two lines, half as many sessions would fit into what a prompt gets.

        Args:
            headings: sections to quote from; None for all.
        """
        (outline,) = self.outlines.of([hit])
        if outline is None:
            return None
        vector = self.embedder.embed_query(query)
        (scored,) = scores(query, vector, [hit], [outline])
        worth: dict[int, float] = {}
        for statement, value in zip(outline.statements, scored.statements, strict=True):
            line = statement.lines.first
            worth[line] = max(worth.get(line, 0.0), float(value))
        items = {
            heading: lines
            for heading, lines in self._items(hit.memory).items()
            if headings is None or heading in headings
        }
        best = _best_line(items, worth)
        if best is None:
            return None
        heading, number = best
        first, last, text = _with_corrections(items[heading], number)
        return Quotation(hit.memory, text, (first, last), heading)


def _best_line(
    items: Mapping[str, Sequence[tuple[int, str]]], worth: Mapping[int, float]
) -> tuple[str, int] | None:
    """The heading and number of the line of a session that is worth most; None without lines.

    The person's words count more than the assistant's.

    Args:
        items: the lines by heading, see `items_by_heading`.
        worth: by the line's number; other lines have 0.
    """
    weighted = {
        (heading, number): worth.get(number, 0.0)
        * (_ASSISTANT if _is_assistants(heading, text) else 1.0)
        for heading, lines in items.items()
        for number, text in lines
        if heading != FILES and says_something(text)
    }
    return max(weighted, key=weighted.__getitem__, default=None)


def _with_corrections(lines: Sequence[tuple[int, str]], number: int) -> tuple[int, int, str]:
    """The first and last line number, and the text, of a line with the lines after it that correct
    it ("Actually, make that Sunday.") and those before it that it corrects."""
    numbers = [of_line for of_line, _ in lines]
    first = last = numbers.index(number)
    while first > 0 and _CORRECTS.match(lines[first][1]):
        first -= 1
    while last + 1 < len(lines) and _CORRECTS.match(lines[last + 1][1]):
        last += 1
    text = " ".join(text for _, text in lines[first : last + 1])
    return numbers[first], numbers[last], text


def _is_assistants(heading: str, text: str) -> bool:
    return heading in _BY_ASSISTANT or text.endswith(" (assistant)")
