"""Distils recalled memories to the sentences that answer a question, within a token budget.

Distillation is extractive: every sentence of the context is a sentence of a note, word for word,
and each memory's part has its citation tag.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memvault.model.search import Hit
from memvault.search.context import parts as parts_of
from memvault.search.context.forms import (
    Context,
    ContextBudget,
    ContextForm,
    Starting,
    properties_text,
    tags,
)
from memvault.search.context.layout import ContextLayout
from memvault.search.context.outline import Outline, Outlines
from memvault.search.context.parts import Leading, Part, Source
from memvault.search.context.properties import PropertyChooser, quotable
from memvault.search.context.scoring import may_come_first, scores
from memvault.search.context.selection import MIN_SHARE, RELEVANCE_WEIGHT, RemainingBudget, select
from memvault.search.lists.comparisons import asks_to_compare
from memvault.search.lists.general_questions import asks_for_all
from memvault.search.times.question_time import QuestionTime
from memvault.text.encoders.embedding import Embedder

CUT = "…"  # after a cut sentence; one is cut only if no whole one fits
MAX_NOTE_SHARE = 0.25  # of the budget, of a first memory that is quoted whole
MAX_LIST_SHARE = 0.25  # of the budget, for a list and the line above it
MAX_TABLE_SHARE = 0.75  # of the budget, of a table of the first memory that is quoted whole
LINKED_AMONG = 5  # first memories, of which those that a link led to have a sentence
LINKED_CONFIDENCE = 0.1  # from which they have it
MIN_CODE_SHARE = 0.25  # of the first memory's tokens, for the form code_focused
DIAGRAMS = frozenset({"mermaid", "plantuml", "puml", "d2", "dot", "graphviz", "nomnoml", "ditaa"})


class Distiller:
    """Distils memories to a context. Thread-safe.

    Args:
        outlines: the notes' outlines; may be shared.
        starting: returns the ids of all memories that begin with these digits, so that tags are
            unique.
    """

    def __init__(self, outlines: Outlines, embedder: Embedder, starting: Starting) -> None:
        self._outlines = outlines
        self._embedder = embedder
        self._starting = starting
        self._chooser = PropertyChooser(embedder)

    def distil(
        self,
        query: str,
        all_hits: Sequence[Hit],
        budget: ContextBudget,
        form: ContextForm | None = None,
        time: QuestionTime | None = None,
    ) -> Context:
        """The context for a question.

        Args:
            all_hits: the recalled memories, best first.
            form: None decides by the content: code_focused if a quarter of the first memory is
                code, else raw if all of it fits, else structured if most relevant sentences are
                short facts, else narrative.
            time: the time that the question names, if any.
        """
        sources = self._sources(query, all_hits, time)
        tags_of = tags([source.hit.memory.id for source in sources], self._starting)
        layout = ContextLayout(
            query, sources, self._chooser, tags_of, budget, self._embedder.tokens
        )
        return _Distillation(layout).context(form)

    def _sources(
        self, query: str, all_hits: Sequence[Hit], time: QuestionTime | None
    ) -> list[Source]:
        """The memories with text; of those without, the ones with properties that concern the
        question, which are their one sentence."""
        vector = self._embedder.embed_query(query)
        found: list[tuple[Hit, Outline, tuple[str, ...], bool]] = []
        for hit, outline in zip(all_hits, self._outlines.of(all_hits), strict=True):
            if outline is None:
                continue
            has_text = outline.tokens > 0
            with_day = has_text and time is not None
            answering = self._chooser.answering(hit.memory, query, with_day=with_day)
            properties = quotable(hit.memory, answering)
            if has_text:
                found.append((hit, outline, properties, True))
            elif properties:
                sentence = self._outlines.of_text(properties_text(properties))
                found.append((hit, sentence, (), False))
        hits, outlines = [hit for hit, *_ in found], [outline for _, outline, *_ in found]
        scored = scores(query, vector, hits, outlines, time)
        return [
            Source(place, hit, outline, of_memory, properties, has_text)
            for place, ((hit, outline, properties, has_text), of_memory) in enumerate(
                zip(found, scored, strict=True)
            )
        ]


class _Distillation:
    """One question's context in the making."""

    def __init__(self, layout: ContextLayout) -> None:
        self._layout, self._sources = layout, layout.sources
        needs_tables = asks_for_all(layout.query) or asks_to_compare(layout.query)
        self._max_table_tokens = (
            int(MAX_TABLE_SHARE * layout.token_budget.tokens) if needs_tables else 0
        )
        self._leading = _leading(self._sources, layout.token_budget)
        self._linked = [
            source.place
            for source in self._sources[:LINKED_AMONG]
            if source.hit.hops
            and source.hit.confidence >= LINKED_CONFIDENCE
            and may_come_first(source.hit)
        ]

    def context(self, form: ContextForm | None) -> Context:
        """The context; at least the beginning of the best sentence if the budget allows any."""
        context = self._context(form)
        if context.excerpts or not self._sentence_parts():
            return context
        return self._layout.context(context.form, self._cut_best_sentence(context.form))

    def _context(self, form: ContextForm | None) -> Context:
        is_code_wanted = form is ContextForm.CODE_FOCUSED
        if form is None:
            form = self._form_without_choosing()
        if form is None:
            budget = self._layout.budget(ContextForm.NARRATIVE)
            chosen = self._select(self._sentence_parts(), budget)
            best = max((part.score for part in chosen), default=0.0)
            form = parts_of.usual_form(
                [
                    self._sources[part.memory].outline.statements[index]
                    for part in chosen
                    for index in part.statements
                    if part.score >= MIN_SHARE * best
                ]
            )
            if form is ContextForm.NARRATIVE:
                return self._layout.context(form, self._with_neighbours(chosen, budget))
        return self._layout.context(form, self._chosen_parts(form, is_code_wanted))

    def _form_without_choosing(self) -> ContextForm | None:
        """The form, if it does not depend on which sentences are chosen; else None."""
        if self._leading is not None and _has_much_code(
            self._sources[self._leading.memory].outline
        ):
            return ContextForm.CODE_FOCUSED
        budget = self._layout.budget(ContextForm.RAW)
        needed = sum(source.outline.tokens for source in self._sources)
        needed += sum(budget.frame_tokens) + sum(budget.naming_tokens)
        return ContextForm.RAW if needed <= budget.limit else None

    def _sentence_parts(self) -> list[Part]:
        return parts_of.sentence_parts(
            self._sources,
            self._leading,
            linked=self._linked,
            max_table_tokens=self._max_table_tokens,
            max_list_tokens=int(MAX_LIST_SHARE * self._layout.token_budget.tokens),
        )

    def _chosen_parts(self, form: ContextForm, is_code_wanted: bool) -> list[Part]:
        budget = self._layout.budget(form)
        if form is ContextForm.RAW:
            passages = parts_of.passage_parts(self._sources)
            all_fits = self._form_without_choosing() is ContextForm.RAW
            if all_fits:
                return select(passages, budget, relevance_weight=1.0, min_share=0.0)
            chosen = self._select(passages, budget, relevance_weight=1.0)
            return chosen or self._select(self._sentence_parts(), budget)
        if form is ContextForm.CODE_FOCUSED:
            chosen = self._chosen_code(budget, is_code_wanted)
            shown_leads = {(part.memory, place) for part in chosen for place in part.statements}
            other_sentences = [
                part
                for part in self._sentence_parts()
                if (part.memory, part.statements.start) not in shown_leads
            ]
            return chosen + self._select(other_sentences, budget)
        return self._with_neighbours(self._select(self._sentence_parts(), budget), budget)

    def _with_neighbours(self, chosen: list[Part], budget: RemainingBudget) -> list[Part]:
        """The chosen sentences and, in a budget that they leave unused, their neighbours.

        Of the first memory also the neighbours of these.
        """
        added = chosen
        while added and not budget.is_used:
            near = parts_of.adjoining_sentences(added, chosen, self._sources)
            added = select(near, budget, relevance_weight=1.0, min_share=0.0)
            chosen = [*chosen, *added]
            added = [
                part
                for part in added
                if self._leading is not None and part.memory == self._leading.memory
            ]
        return chosen

    def _select(
        self,
        parts: Sequence[Part],
        budget: RemainingBudget,
        *,
        relevance_weight: float = RELEVANCE_WEIGHT,
    ) -> list[Part]:
        """The chosen sentences or passages.

        One is of the first memory. Less relevant ones follow if the budget allows them.
        """
        return select(
            parts,
            budget,
            relevance_weight=relevance_weight,
            min_share_unused=parts_of.MIN_SHARE_UNUSED,
            leading=self._leading,
            linked=self._linked,
        )

    def _chosen_code(self, budget: RemainingBudget, is_wanted: bool) -> list[Part]:
        """Whole pieces of code; if not even one fits, the first lines of the best.

        Unless the client wants code, only of the first memory, which decided the form: code of
        others would take the budget of its sentences.
        """
        pieces = [
            piece
            for piece in parts_of.code_parts(self._sources)
            if is_wanted or (self._leading is not None and piece.memory == self._leading.memory)
        ]
        chosen = select(pieces, budget)
        if chosen or not pieces:
            return chosen
        best_part = max(pieces, key=lambda part: part.score)
        source = self._sources[best_part.memory]
        overhead = budget.frame_tokens[best_part.memory] + budget.naming_tokens[best_part.memory]
        remaining_tokens = budget.limit - overhead
        whole_code = source.outline.code[best_part.code[0]]
        lead_tokens = best_part.tokens - whole_code.tokens
        cut_code = parts_of.first_lines(
            whole_code, self._layout.tokens, remaining_tokens - lead_tokens
        )
        if cut_code is None:
            return []
        code = tuple(cut_code if piece is whole_code else piece for piece in source.outline.code)
        source.outline = replace(source.outline, code=code)
        return select([replace(best_part, tokens=lead_tokens + cut_code.tokens)], budget)

    def _cut_best_sentence(self, form: ContextForm) -> list[Part]:
        """The first words of the best sentence, for when every sentence is too long."""
        best_part = max(self._sentence_parts(), key=lambda part: part.score)
        budget = self._layout.budget(form)
        frame_tokens = budget.frame_tokens[best_part.memory]
        overhead = frame_tokens + budget.naming_tokens[best_part.memory] + budget.tokens_per_part
        remaining_tokens = max(
            budget.limit - overhead - 1, budget.first_memory_tokens - frame_tokens - 1
        )
        source = self._sources[best_part.memory]
        whole_sentence = source.outline.statements[best_part.statements.start]
        text = (
            self._layout.tokens.split(whole_sentence.shown, remaining_tokens)[0]
            if remaining_tokens > 0
            else ""
        )
        if not text or text == whole_sentence.shown:
            return []
        cut_sentence = whole_sentence._replace(shown=f"{text} {CUT}")
        statements = tuple(
            cut_sentence if sentence is whole_sentence else sentence
            for sentence in source.outline.statements
        )
        source.outline = replace(source.outline, statements=statements)
        return [best_part]


def _has_much_code(outline: Outline) -> bool:
    """Whether code, which diagrams are not, is at least `MIN_CODE_SHARE` of a memory."""
    tokens = sum(piece.tokens for piece in outline.code if piece.block.language not in DIAGRAMS)
    return tokens > 0 and tokens >= MIN_CODE_SHARE * outline.tokens


def _leading(sources: Sequence[Source], budget: ContextBudget) -> Leading | None:
    """The first memory that may come first, quoted whole if it is short for the budget."""
    for source in sources:
        if may_come_first(source.hit):
            is_short = source.outline.tokens <= MAX_NOTE_SHARE * budget.tokens
            return Leading(source.place, is_short)
    return None
