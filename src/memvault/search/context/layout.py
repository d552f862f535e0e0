"""Lays out the chosen parts of recalled memories as the text of a context."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from memvault.model.search import Hit
from memvault.search.context.forms import (
    Context,
    ContextBudget,
    ContextExcerpt,
    ContextForm,
    context_text,
    frame_text,
)
from memvault.search.context.outline import Outline
from memvault.search.context.parts import Part
from memvault.search.context.properties import PropertyChooser, quotable
from memvault.search.context.selection import RemainingBudget
from memvault.search.context.writers import code_with_writer, marks_of, with_days, with_writer
from memvault.text.tokens import TokenCounter


class ContextLayout:
    """Lays out one question's context. Used by one thread at a time.

    Args:
        textless: ids of memories without text, whose properties are their sentence.
        asked_properties: for each memory, the properties that the question asks for.
        tags_of: the citation tags by memory id.
    """

    def __init__(
        self,
        query: str,
        hits: Sequence[Hit],
        *,
        textless: Collection[str],
        chooser: PropertyChooser,
        asked_properties: Sequence[tuple[str, ...]],
        tags_of: Mapping[str, str],
        budget: ContextBudget,
        tokens: TokenCounter,
    ) -> None:
        self._query = query
        self._hits = hits
        self._textless = textless
        self._chooser = chooser
        self._asked_properties = asked_properties
        self._tags = tags_of
        self._token_budget = budget
        self._tokens = tokens
        self._marks = marks_of(hits, tokens, budget.tokens)
        self._naming_tokens: list[int] | None = None

    def budget(self, form: ContextForm) -> RemainingBudget:
        """The whole budget, with the tokens that the frame of each memory takes."""
        memories = [hit.memory for hit in self._hits]
        frames = [
            frame_text(
                form,
                memory,
                self._tags[memory.id],
                self._properties(form, index),
                self._marks[index],
            )
            for index, memory in enumerate(memories)
        ]
        if self._naming_tokens is None:
            count = self._token_budget.naming_tokens
            self._naming_tokens = [0] * len(memories) if count is None else list(count(memories))
        return RemainingBudget(
            limit=self._token_budget.tokens,
            frame_tokens=self._tokens.count_all(frames),
            naming_tokens=self._naming_tokens,
            first_memory_tokens=self._token_budget.first_memory_tokens,
            tokens_per_part=1 if form is ContextForm.STRUCTURED else 0,
        )

    def context(
        self, form: ContextForm, outlines: Sequence[Outline], chosen: Sequence[Part]
    ) -> Context:
        """The context of the chosen parts of the memories' outlines.

        The last parts are dropped while the text is too long, since it can be longer than its
        parts.
        """
        parts = list(chosen)
        while True:
            excerpts = self._excerpts(form, outlines, parts)
            text = context_text(form, excerpts)
            tokens = self._tokens.count(text)
            limit = max(self._token_budget.tokens, self._token_budget.first_memory_tokens)
            if tokens <= limit or not parts:
                break
            parts.pop()
        source_tokens = sum(outline.tokens for outline in outlines)
        compression = 0.0 if not source_tokens else max(0.0, 1.0 - tokens / source_tokens)
        return Context(text, form, tokens, source_tokens, compression, tuple(excerpts))

    def _excerpts(
        self, form: ContextForm, outlines: Sequence[Outline], chosen: Collection[Part]
    ) -> list[ContextExcerpt]:
        excerpts = []
        for index, hit in enumerate(self._hits):
            memory = hit.memory
            own_parts = [part for part in chosen if part.memory == index]
            if not own_parts:
                continue
            outline = outlines[index]
            own = sorted({number for part in own_parts for number in part.statements})
            excerpts.append(
                ContextExcerpt(
                    memory=memory,
                    tag=self._tags[memory.id],
                    statements=tuple(
                        with_days((with_writer(outline.statements[k], memory) for k in own), memory)
                    ),
                    code=tuple(
                        code_with_writer(outline.code[number], memory)
                        for number in sorted({k for part in own_parts for k in part.code})
                    ),
                    properties=self._properties(form, index),
                    mark=self._marks[index],
                )
            )
        return excerpts

    def _properties(self, form: ContextForm, index: int) -> tuple[str, ...]:
        """The properties of this memory to quote in front of its sentences."""
        memory = self._hits[index].memory
        if memory.id in self._textless:
            return ()  # they are its sentence
        if form is ContextForm.STRUCTURED:
            return quotable(memory, self._chooser.relevant(memory, self._query))
        return self._asked_properties[index]
