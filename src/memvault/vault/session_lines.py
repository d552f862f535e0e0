"""Recognises the note of a captured session, and reads its lines: items below headings, each with
its speaker."""

from __future__ import annotations

from enum import StrEnum

from memvault.model.memory import Memory
from memvault.vault.lines import bare_lines


class ItemKind(StrEnum):
    """The kinds of items; the values are their headings in a session note, in this order."""

    SUMMARY = "Summary by the assistant's model"
    DECISION = "Decisions"
    PREFERENCE = "Preferences of the person"
    FACT = "Facts stated by the person"
    OPEN_QUESTION = "Open questions"
    REQUEST = "Requests of the person"
    REPORT = "What the assistant reported"


def is_captured(memory: Memory) -> bool:
    """Whether hooks captured this session."""
    return memory.type == "session" and "session" in memory.metadata


def items_by_heading(data: bytes) -> dict[str, list[tuple[int, str]]]:
    """The list items below each heading of the second level, with their lines, counted from 1."""
    items: dict[str, list[tuple[int, str]]] = {}
    heading = ""
    for number, line in enumerate(bare_lines(data.decode("utf-8", "replace")), 1):
        if line.startswith("## "):
            heading = line[3:].strip()
        elif line.startswith("- ") and heading:
            items.setdefault(heading, []).append((number, line[2:]))
    return items


def without_speaker(item: str) -> str:
    """The item's text without its speaker."""
    return item.removesuffix(" (person)").removesuffix(" (assistant)")
