"""Distils recalled memories to the sentences that answer a question, within a token budget.

Distillation is extractive: every sentence of the context is a sentence of a note, word for word,
and each memory's part has its citation tag.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from memvault.model.memory import Memory
from memvault.model.search import Hit
from memvault.search.context import selection as parts_of
from memvault.search.context.forms import JOINED, Excerpt, Form, Starting, frame, tags, written
from memvault.search.context.outline import Outline, Outlines, Statement
from memvault.search.context.properties import PropertyChooser
from memvault.search.context.scoring import Scores, may_lead, scores
from memvault.search.context.selection import LEAN, Budget, Part, select
from memvault.search.question_time import QuestionTime
from memvault.text.embedding import Embedder
from memvault.text.tokens import TokenCounter

CUT = "…"  # after a cut sentence; one is cut only if no whole one fits
MUCH_CODE = 0.25  # share of code in the memories' tokens, by relevance, for the form code_focused


@dataclass(frozen=True, slots=True)
class ContextBudget:
    """The size limit of a context.

    Attributes:
        tokens: of the text and of ``beside``.
        beside: for each memory, the tokens that naming it costs outside of the text.
        least: tokens of text that the first memory may always have.
        terse: prose without titles, because space is short and memories are named elsewhere.
    """

    tokens: int
    beside: Callable[[Sequence[Memory]], Sequence[int]] | None = None
    least: int = 0
    terse: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """A distilled ``text`` of ``tokens`` tokens, made of text and code of ``before`` tokens.

    ``compression`` is 1 - tokens / before, or 0 if nothing was omitted. ``excerpts`` has the shown
    part of each memory, the most relevant memory first.
    """

    text: str
    form: Form
    tokens: int
    before: int
    compression: float
    excerpts: tuple[Excerpt, ...]


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
        found: Sequence[Hit],
        room: ContextBudget,
        form: Form | None = None,
        time: QuestionTime | None = None,
    ) -> Context:
        """The context for a question.

        Args:
            found: the recalled memories, best first.
            form: None decides by the content: code_focused if a quarter of the text is code, else
                raw if all of it fits, else structured if most relevant sentences are short facts,
                else narrative.
            time: the time that the question names, if any.
        """
        hits: list[Hit] = []
        outlines: list[Outline] = []
        asked: list[tuple[str, ...]] = []
        textless: set[str] = set()
        for hit, outline in zip(found, self._outlines.of(found), strict=True):
            if outline is not None and outline.tokens:
                hits.append(hit)
                outlines.append(outline)
                asked.append(quotable(hit.memory, self._chooser.asked(hit.memory, query)))
            elif outline is not None and (properties := self._properties(query, hit.memory)):
                hits.append(hit)
                outlines.append(properties)
                textless.add(hit.memory.id)
                asked.append(())  # they are its sentence
        vector = self._embedder.embed_query(query)
        task = _Distilling(
            query,
            hits,
            outlines,
            scored=scores(query, vector, hits, outlines, time),
            textless=textless,
            chooser=self._chooser,
            asked=asked,
            named=tags([hit.memory.id for hit in hits], self._starting),
            room=room,
            tokens=self._embedder.tokens,
        )
        return task.context(form)

    def _properties(self, query: str, memory: Memory) -> Outline | None:
        """The outline of a note without text: its properties that concern the question, as its one
        sentence; None without such properties."""
        properties = quotable(memory, self._chooser.asked(memory, query))
        return self._outlines.of_text(JOINED.join(properties)) if properties else None


def quotable(memory: Memory, properties: Sequence[str]) -> tuple[str, ...]:
    """The ``key: value`` lines without those that another set in the person's note, where they
    would pass for the person's."""
    is_whole = memory.verified or not memory.provenance.is_mixed
    own = memory.provenance.of_property
    return tuple(line for line in properties if is_whole or own(line).is_person)


def with_writer(statement: Statement, memory: Memory) -> Statement:
    """The sentence, with its writer named if another wrote it into the person's unverified note.

    A note that only others wrote is marked by its source instead.
    """
    if memory.verified or not memory.provenance.is_mixed:
        return statement
    origin = memory.provenance.of_sentence(statement.text, statement.lines)
    if origin.is_person:
        return statement
    by = origin.name or origin.kind
    return statement._replace(shown=f"{statement.shown} (written by {by}, unverified)")


class _Distilling:
    """One question's context in the making."""

    def __init__(
        self,
        query: str,
        hits: Sequence[Hit],
        outlines: Sequence[Outline],
        *,
        scored: Sequence[Scores],
        textless: Collection[str],
        chooser: PropertyChooser,
        asked: Sequence[tuple[str, ...]],
        named: dict[str, str],
        room: ContextBudget,
        tokens: TokenCounter,
    ) -> None:
        self._query = query
        self._hits = hits
        self._outlines = list(outlines)
        self._scores = scored
        self._textless = textless
        self._chooser = chooser
        self._asked = asked
        self._tags = named
        self._room = room
        self._tokens = tokens
        self._beside: list[int] | None = None
        self._before = sum(outline.tokens for outline in outlines)
        self._first = next((place for place, hit in enumerate(hits) if may_lead(hit)), None)

    def context(self, form: Form | None) -> Context:
        """The context; at least the beginning of the best sentence if the budget allows any."""
        context = self._context(form)
        if context.excerpts or not self._sentences():
            return context
        return self._fitted(context.form, self._beginning(context.form))

    def _context(self, form: Form | None) -> Context:
        if form is None:
            form = Form.NARRATIVE if self._room.terse else self._form_without_choosing()
        if form is None:
            budget = self._budget(Form.NARRATIVE)
            chosen = self._select(self._sentences(), budget)
            best = max((part.score for part in chosen), default=0.0)
            form = parts_of.usual_form(
                [
                    self._outlines[part.memory].statements[place]
                    for part in chosen
                    for place in part.statements
                    if part.score >= parts_of.MIN_SHARE * best
                ]
            )
            if form is Form.NARRATIVE:
                return self._fitted(form, self._with_neighbours(chosen, budget))
        return self._fitted(form, self._chosen(form))

    def _form_without_choosing(self) -> Form | None:
        weighed = [
            (hit.relevance, outline)
            for hit, outline in zip(self._hits, self._outlines, strict=True)
        ]
        coded = sum(share * sum(each.tokens for each in own.code) for share, own in weighed)
        if coded and coded >= MUCH_CODE * sum(share * own.tokens for share, own in weighed):
            return Form.CODE_FOCUSED
        budget = self._budget(Form.RAW)
        aside = sum(budget.frame) + sum(budget.beside)
        return Form.RAW if self._before + aside <= budget.limit else None

    def _budget(self, form: Form) -> Budget:
        memories = [hit.memory for hit in self._hits]
        frames = [
            frame(
                form,
                memory,
                self._tags[memory.id],
                self._properties(form, place),
                named=not self._room.terse,
                superseded_by=hit.verification.superseded_by,
            )
            for place, (hit, memory) in enumerate(zip(self._hits, memories, strict=True))
        ]
        if self._beside is None:
            given = self._room.beside
            self._beside = list(given(memories)) if given is not None else [0] * len(memories)
        return Budget(
            limit=self._room.tokens,
            frame=self._tokens.count_all(frames),
            beside=self._beside,
            least=self._room.least,
            item=1 if form is Form.STRUCTURED else 0,
        )

    def _properties(self, form: Form, place: int) -> tuple[str, ...]:
        """The properties of this memory to quote in front of its sentences."""
        memory = self._hits[place].memory
        if memory.id in self._textless:
            return ()  # they are its sentence
        if form is Form.STRUCTURED:
            return quotable(memory, self._chooser.relevant(memory, self._query))
        return self._asked[place]

    def _sentences(self) -> list[Part]:
        return parts_of.sentences(self._outlines, self._scores, self._asked, self._first)

    def _chosen(self, form: Form) -> list[Part]:
        budget = self._budget(form)
        if form is Form.RAW:
            passages = parts_of.passages(self._outlines, self._scores, self._asked)
            everything = self._form_without_choosing() is Form.RAW
            if everything:
                return select(passages, budget, lean=1.0, least=0.0)
            return self._select(passages, budget, lean=1.0) or self._select(
                self._sentences(), budget
            )
        if form is Form.CODE_FOCUSED:
            chosen = self._chosen_code(budget)
            leads = {(part.memory, place) for part in chosen for place in part.statements}
            rest = [
                part
                for part in self._sentences()
                if (part.memory, part.statements.start) not in leads
            ]
            return chosen + self._select(rest, budget)
        return self._with_neighbours(self._select(self._sentences(), budget), budget)

    def _with_neighbours(self, chosen: list[Part], budget: Budget) -> list[Part]:
        """The chosen sentences, and their neighbours in a budget that they leave unused."""
        if self._room.terse or budget.is_used:
            return chosen
        near = parts_of.neighbours(chosen, self._outlines, self._scores, self._asked)
        return chosen + select(near, budget, lean=1.0, least=0.0)

    def _select(self, parts: Sequence[Part], budget: Budget, *, lean: float = LEAN) -> list[Part]:
        """The chosen sentences or passages: one of the first memory, and less relevant ones if the
        budget allows them."""
        least_unused = parts_of.MIN_SHARE if self._room.terse else parts_of.LEAST_SHARE
        return select(parts, budget, lean=lean, least_unused=least_unused, first=self._first)

    def _chosen_code(self, budget: Budget) -> list[Part]:
        """Whole pieces of code; if not even one fits, the first lines of the best."""
        pieces = parts_of.code(self._outlines, self._scores)
        chosen = select(pieces, budget)
        if chosen or not pieces:
            return chosen
        best = max(pieces, key=lambda part: part.score)
        outline = self._outlines[best.memory]
        left = budget.limit - budget.frame[best.memory] - budget.beside[best.memory]
        whole = outline.code[best.code[0]]
        lead = best.tokens - whole.tokens
        cut = parts_of.first_lines(whole, self._tokens, left - lead)
        if cut is None:
            return []
        code = tuple(cut if each is whole else each for each in outline.code)
        self._outlines[best.memory] = replace(outline, code=code)
        return select([replace(best, tokens=lead + cut.tokens)], budget)

    def _beginning(self, form: Form) -> list[Part]:
        """The first words of the best sentence, for when every sentence is too long."""
        best = max(self._sentences(), key=lambda part: part.score)
        budget = self._budget(form)
        aside = budget.frame[best.memory] + budget.beside[best.memory] + budget.item + 1
        left = max(budget.limit - aside, budget.least - budget.frame[best.memory] - 1)
        outline = self._outlines[best.memory]
        whole = outline.statements[best.statements.start]
        text = self._tokens.split(whole.shown, left)[0] if left > 0 else ""
        if not text or text == whole.shown:
            return []
        cut = whole._replace(shown=f"{text} {CUT}")
        statements = tuple(cut if each is whole else each for each in outline.statements)
        self._outlines[best.memory] = replace(outline, statements=statements)
        return [best]

    def _fitted(self, form: Form, chosen: Sequence[Part]) -> Context:
        """The context of the chosen parts; the last ones are dropped while the text is too long,
        since it can be longer than its parts."""
        taken = list(chosen)
        while True:
            excerpts = self._excerpts(form, taken)
            text = written(form, excerpts)
            used = self._tokens.count(text)
            if used <= max(self._room.tokens, self._room.least) or not taken:
                break
            taken.pop()
        saved = 0.0 if not self._before else max(0.0, 1.0 - used / self._before)
        return Context(text, form, used, self._before, saved, tuple(excerpts))

    def _excerpts(self, form: Form, chosen: Collection[Part]) -> list[Excerpt]:
        excerpts = []
        for place, hit in enumerate(self._hits):
            memory = hit.memory
            own = [part for part in chosen if part.memory == place]
            if not own:
                continue
            outline = self._outlines[place]
            excerpts.append(
                Excerpt(
                    memory=memory,
                    tag=self._tags[memory.id],
                    statements=tuple(
                        with_writer(outline.statements[each], memory)
                        for each in sorted({each for part in own for each in part.statements})
                    ),
                    code=tuple(
                        outline.code[each]
                        for each in sorted({place for part in own for place in part.code})
                    ),
                    properties=self._properties(form, place),
                    named=not self._room.terse,
                    superseded_by=hit.verification.superseded_by,
                )
            )
        return excerpts
