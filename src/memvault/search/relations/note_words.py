"""The words for a note in its title, type and folder."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memvault.model.graph import GraphEdge, NodeKind
from memvault.model.memory import Memory
from memvault.text.names import kind_of

_SHARED_FOLDERS = frozenset(("permanent", "projects", "sessions", "exemplars", "inbox", "notes"))


def title_without_names(title: str, edges: Iterable[GraphEdge]) -> str:
    """A title without the names of other notes in it; whole if nothing else is in it."""
    spans = sorted(
        (edge.place, edge.place + edge.length)
        for edge in edges
        if edge.sentence == title and edge.place >= 0
    )
    text, position = "", 0
    for start, end in spans:
        text += title[position : max(start, position)]
        position = max(position, end)
    text = re.sub(r"\s+", " ", text + title[position:]).strip(" -–—:,")
    return text or title


def kind_word(memory: Memory) -> str:
    """The person's own word for the kind of a note: its type, else its folder's name in the
    singular, else ``note``."""
    kind = memory.type.strip().lower()
    if kind and kind != NodeKind.NOTE:
        return kind
    if kind_of(memory) != NodeKind.NOTE:
        return kind_of(memory)
    folders = memory.path.lower().split("/")[:-1]
    if folders and folders[-1][:1].isalpha() and folders[-1] not in _SHARED_FOLDERS:
        is_own_project = memory.project is not None and folders[-1] == memory.project.lower()
        return str(NodeKind.NOTE) if is_own_project else _singular(folders[-1])
    return str(NodeKind.NOTE)


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
