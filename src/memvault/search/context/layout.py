"""Lays out the chosen parts of recalled memories as the text of a context."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from memvault.search.context.forms import (
    Context,
    ContextBudget,
    ContextExcerpt,
    ContextForm,
    context_text,
    frame_text,
)
from memvault.search.context.parts import Part, Source
from memvault.search.context.properties import PropertyChooser, quotable
from memvault.search.context.selection import RemainingBudget
from memvault.search.context.writers import code_with_writer, marks_of, with_days, with_writer
from memvault.text.tokens import TokenCounter


@dataclass(eq=False)
class ContextLayout:
    """Lays out one question's context. Used by one thread at a time.

    Attributes:
        tags_of: the citation tags by memory id.
    """

    query: str
    sources: Sequence[Source]
    chooser: PropertyChooser
    tags_of: Mapping[str, str]
    token_budget: ContextBudget
    tokens: TokenCounter

    def __post_init__(self) -> None:
        hits = [source.hit for source in self.sources]
        self._marks = marks_of(hits, self.tokens, self.token_budget.tokens)
        self._naming_tokens: list[int] | None = None

    def budget(self, form: ContextForm) -> RemainingBudget:
        """The whole budget, with the tokens that the frame of each memory takes."""
        memories = [source.hit.memory for source in self.sources]
        frames = [
            frame_text(form, memory, self.tags_of[memory.id], self._properties(form, source), mark)
            for source, memory, mark in zip(self.sources, memories, self._marks, strict=True)
        ]
        if self._naming_tokens is None:
            count = self.token_budget.naming_tokens
            self._naming_tokens = [0] * len(memories) if count is None else list(count(memories))
        return RemainingBudget(
            limit=self.token_budget.tokens,
            frame_tokens=self.tokens.count_all(frames),
            naming_tokens=self._naming_tokens,
            first_memory_tokens=self.token_budget.first_memory_tokens,
            tokens_per_part=1 if form is ContextForm.STRUCTURED else 0,
        )

    def context(self, form: ContextForm, chosen: Sequence[Part]) -> Context:
        """The context of the chosen parts.

        The last parts are dropped while the text is too long, since it can be longer than its
        parts.
        """
        parts = list(chosen)
        while True:
            excerpts = self._excerpts(form, parts)
            text = context_text(form, excerpts)
            tokens = self.tokens.count(text)
            limit = max(self.token_budget.tokens, self.token_budget.first_memory_tokens)
            if tokens <= limit or not parts:
                break
            parts.pop()
        source_tokens = sum(source.outline.tokens for source in self.sources)
        compression = 0.0 if not source_tokens else max(0.0, 1.0 - tokens / source_tokens)
        return Context(text, form, tokens, source_tokens, compression, tuple(excerpts))

    def _excerpts(self, form: ContextForm, chosen: Collection[Part]) -> list[ContextExcerpt]:
        excerpts = []
        for source, mark in zip(self.sources, self._marks, strict=True):
            memory, outline = source.hit.memory, source.outline
            own_parts = [part for part in chosen if part.memory == source.place]
            if not own_parts:
                continue
            places = sorted({place for part in own_parts for place in part.statements})
            code_places = sorted({place for part in own_parts for place in part.code})
            statements = (with_writer(outline.statements[place], memory) for place in places)
            excerpts.append(
                ContextExcerpt(
                    memory=memory,
                    tag=self.tags_of[memory.id],
                    statements=tuple(with_days(statements, memory)),
                    code=tuple(code_with_writer(outline.code[k], memory) for k in code_places),
                    properties=self._properties(form, source),
                    mark=mark,
                )
            )
        return excerpts

    def _properties(self, form: ContextForm, source: Source) -> tuple[str, ...]:
        """The properties of a memory to quote in front of its sentences."""
        if form is ContextForm.STRUCTURED and source.has_text:
            memory = source.hit.memory
            return quotable(memory, self.chooser.relevant(memory, self.query))
        return source.properties
