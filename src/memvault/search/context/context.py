"""A context distilled for a question, and the limit of its size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memvault.model.memory import Memory
from memvault.search.context.forms import ContextExcerpt, ContextForm


@dataclass(frozen=True, slots=True)
class ContextBudget:
    """The size limit of a context.

    Attributes:
        tokens: of the text and of naming its memories.
        naming_tokens: returns for each memory the tokens that naming it costs outside of the text.
        first_memory_tokens: tokens of text that the first memory may always have.
    """

    tokens: int
    naming_tokens: Callable[[Sequence[Memory]], Sequence[int]] | None = None
    first_memory_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Context:
    """A distilled ``text`` of ``tokens`` tokens, made of text and code of ``source_tokens``.

    ``compression`` is 1 - tokens / source_tokens, or 0 if nothing was omitted. ``excerpts`` has the
    shown part of each memory, the most relevant memory first.
    """

    text: str
    form: ContextForm
    tokens: int
    source_tokens: int
    compression: float
    excerpts: tuple[ContextExcerpt, ...]
