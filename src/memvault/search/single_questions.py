"""The single questions in a text that asks several."""

from __future__ import annotations

import re

from memvault.text.words import STOP_WORDS, some_words

_MAX_QUESTIONS = 4
_ASKING = (
    "what|which|who|whom|whose|where|when|why|how|is|are|was|were|do|does|did|can|could|will|would"
    "|should|has|have|welche[mnrs]?|wer|wen|wem|wessen|wo|wohin|wann|warum|wie|ist|sind|hat"
    "|haben|kann|darf|muss"
)
_BETWEEN_QUESTIONS = re.compile(
    rf"(?<=[.?!:;])\s+|(?<=[。？！])|,?\s+(?:and|or|und|oder)\s+(?=(?:\w+ )?(?:{_ASKING})\b)",
    re.IGNORECASE,
)
_IS_QUESTION = re.compile(
    rf"(?:\w+[ ,]+){{0,2}}(?:{_ASKING})\b|.*(?:[？か]|[吗呢])", re.IGNORECASE | re.DOTALL
)


def questions_in(query: str) -> list[str]:
    """The single questions in a text that asks several; empty if it asks only one."""
    parts = [part.strip() for part in _BETWEEN_QUESTIONS.split(query)]
    if len(parts) < 2:
        return []
    questions = [part for part in parts if _IS_QUESTION.match(part) and _has_content(part)]
    return questions[:_MAX_QUESTIONS]


def _has_content(question: str) -> bool:
    words = some_words(question)
    return any(word not in STOP_WORDS for word in words)
