"""Selects the sentences, passages or code of a context: the most relevant that differ and fit.

Greedy maximal marginal relevance (Carbonell and Goldstein 1998): the next part is the one with the
greatest ``w * score - (1 - w) * (greatest similarity to those chosen)``, where w is
`RELEVANCE_WEIGHT` and scores are relative to the best. Parts of one memory count as half as
similar, because they are read together. The best part of the first memory is chosen before all
others. If the parts that score at least `MIN_SHARE` of the best leave much of the budget unused,
less relevant ones follow, then the neighbours of those chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from memvault.model.note import LineRange
from memvault.search.context.forms import Form
from memvault.search.context.outline import Code, Outline, Statement
from memvault.search.context.scoring import Scores, greatest_score
from memvault.text.tokens import TokenCounter

RELEVANCE_WEIGHT = 0.75  # of relevance against variety
MIN_SHARE = 0.3  # share of the best score below which a sentence is not worth its tokens
MIN_SHARE_UNUSED = 0.2  # the same, for a budget that is not used
MIN_SHARE_OF_NOTE = 0.5  # of the best sentence of its note, below which a sentence is left out
USED_SHARE = 0.8  # share of the budget from which on it counts as used
REPEATED_COSINE = 0.95  # similarity above which a text adds nothing
SAME_MEMORY_FACTOR = 0.5  # of the similarity of parts of one memory, which are read together

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Part:
    """A unit of selection: places of sentences and code in one memory's outline.

    ``vector`` is (dim,) float32, normalised, or zeros. Parts with equal ``compared_text``
    or similar vectors repeat each other if their ``details`` are equal: these are their numbers
    and, for a labelled line ("Phone: 1234"), which is about its own note, this note. A text that is
    shown with other ``properties`` of its note repeats nothing, if it is the first that is shown
    of this note.
    """

    memory: int
    statements: range
    code: tuple[int, ...]
    tokens: int
    score: float
    vector: npt.NDArray[np.float32]
    compared_text: str
    details: str
    properties: tuple[str, ...] = ()


@dataclass(slots=True)
class Budget:
    """The token budget, reduced as parts are chosen.

    Attributes:
        limit: tokens of the text and of naming its memories.
        frame_tokens: for each memory, tokens of its tag or header in the text.
        naming_tokens: for each memory, tokens that naming it costs outside of the text.
        first_memory_tokens: tokens of text that the first memory may always have.
        tokens_per_part: that every part costs in addition to its own.
        used_in_text: tokens.
        used_for_naming: tokens.
    """

    limit: int
    frame_tokens: Sequence[int]
    naming_tokens: Sequence[int]
    first_memory_tokens: int = 0
    tokens_per_part: int = 0
    used_in_text: int = 0
    used_for_naming: int = 0
    _frame_tokens: Integers = field(init=False)
    _naming_tokens: Integers = field(init=False)
    _is_shown: npt.NDArray[np.bool_] = field(init=False)  # (memories,)

    def __post_init__(self) -> None:
        self._frame_tokens = np.array(self.frame_tokens, np.int64)
        self._naming_tokens = np.array(self.naming_tokens, np.int64)
        self._is_shown = np.zeros(len(self.frame_tokens), np.bool_)

    def fitting(self, tokens: Integers, owners: Integers) -> npt.NDArray[np.bool_]:
        """(n,) whether each part fits, by the parts' tokens and memories."""
        is_new = ~self._is_shown[owners]
        text = self.used_in_text + tokens + self.tokens_per_part
        text = text + np.where(is_new, self._frame_tokens[owners], 0)
        room = self.limit - self.used_for_naming - np.where(is_new, self._naming_tokens[owners], 0)
        if self.first_memory_tokens:
            shown = np.flatnonzero(self._is_shown)
            is_only = (
                owners == shown[0] if shown.size == 1 else np.full(len(owners), not shown.size)
            )
            room = np.maximum(room, np.where(is_only, self.first_memory_tokens, 0))
        return np.asarray(text <= room, np.bool_)

    def shows(self, owners: Integers) -> npt.NDArray[np.bool_]:
        """(n,) whether each of these memories has a chosen part."""
        return np.asarray(self._is_shown[owners], np.bool_)

    @property
    def is_used(self) -> bool:
        """Whether most of the budget is used."""
        return self.used_in_text + self.used_for_naming >= USED_SHARE * self.limit

    def take(self, part: Part) -> None:
        """Count the tokens of a chosen part."""
        self.used_in_text += part.tokens + self.tokens_per_part
        if not self._is_shown[part.memory]:
            self.used_in_text += self.frame_tokens[part.memory]
            self.used_for_naming += self.naming_tokens[part.memory]
            self._is_shown[part.memory] = True


def select(
    parts: Sequence[Part],
    budget: Budget,
    *,
    relevance_weight: float = RELEVANCE_WEIGHT,
    min_share: float = MIN_SHARE,
    min_share_unused: float = MIN_SHARE,
    leading_memory: int | None = None,
) -> list[Part]:
    """The chosen parts, in the order of choice. If none is relevant to the question, the first
    ones are chosen.

    Args:
        min_share: share of the best score below which a part is not chosen.
        min_share_unused: the same while the budget is not used.
        leading_memory: its best part is chosen before all others, unless it has one already.
    """
    if not parts:
        return []
    pool = _Pool(parts, budget, relevance_weight)
    if leading_memory is not None:
        pool.choose((pool.owners == leading_memory) & ~budget.shows(pool.owners), limit=1)
    pool.choose(pool.relevance >= min_share)
    while not budget.is_used and pool.choose(pool.relevance >= min_share_unused, limit=1):
        pass
    return pool.chosen


class _Pool:
    """The parts to choose from; (n,) arrays have an entry for each part."""

    def __init__(self, parts: Sequence[Part], budget: Budget, relevance_weight: float) -> None:
        best = max(part.score for part in parts)
        self.relevance = np.array([part.score / best if best > 0.0 else 1.0 for part in parts])
        self.owners = np.array([part.memory for part in parts])
        self.chosen: list[Part] = []
        self._parts, self._budget, self._relevance_weight = parts, budget, relevance_weight
        self._vectors = np.stack([part.vector for part in parts])
        self._tokens = np.array([part.tokens for part in parts])
        self._texts = np.array([hash(part.compared_text) for part in parts])
        self._details = np.array([hash(part.details) for part in parts])
        self._properties = np.array([hash(part.properties) for part in parts])
        self._has_properties = np.array([bool(part.properties) for part in parts])
        self._nearest = np.zeros(len(parts))
        self._repeats = np.zeros(len(parts), np.bool_)
        self._is_open = np.ones(len(parts), np.bool_)

    def choose(self, eligible: npt.NDArray[np.bool_], limit: int | None = None) -> bool:
        """Choose at most ``limit`` of the eligible parts, while some fit; whether any was chosen.

        Args:
            eligible: (n,).
        """
        count_before, weight = len(self.chosen), self._relevance_weight
        while limit is None or len(self.chosen) < count_before + limit:
            candidates = eligible & self._is_open & self._budget.fitting(self._tokens, self.owners)
            candidates &= ~(self._repeats & self._budget.shows(self.owners))
            if not candidates.any():
                break
            worth = weight * self.relevance - (1.0 - weight) * self._nearest
            self._take(int(np.where(candidates, worth, -np.inf).argmax()))
        return len(self.chosen) > count_before

    def _adds_properties(self, index: int) -> npt.NDArray[np.bool_]:
        """(n,) whether each part is shown with properties that this one is not shown with."""
        differ = np.asarray(self._properties != self._properties[index], np.bool_)
        return self._has_properties & differ

    def _take(self, index: int) -> None:
        """Choose this part, and close those that only repeat it."""
        part = self._parts[index]
        self._budget.take(part)
        self.chosen.append(part)
        similarity = (self._vectors @ part.vector).astype(np.float64)
        similarity[self.owners == part.memory] *= SAME_MEMORY_FACTOR
        np.maximum(self._nearest, similarity, out=self._nearest)
        repeats = (self._details == self._details[index]) & (
            (similarity >= REPEATED_COSINE) | (self._texts == self._texts[index])
        )
        self._repeats |= repeats
        self._is_open &= ~repeats | self._adds_properties(index)
        self._is_open[index] = False


PASSAGE_TOKENS = 120  # most tokens of a raw passage
FENCE_TOKENS = 10  # tokens of the two fences around code
FACT_TOKENS = 20  # most tokens of a short fact

_LABEL = re.compile(r"[^.!?:|]{1,40}::? ")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_STOPPED = re.compile(r"[.!?…。！？][\"'”’)\]*]*\Z")


def sentences(
    outlines: Sequence[Outline],
    scores: Sequence[Scores],
    properties: Sequence[tuple[str, ...]],
    leading_memory: int | None,
) -> list[Part]:
    """Each sentence as one part.

    Sentences are left out that score below `MIN_SHARE_UNUSED` of the best sentence, or below
    `MIN_SHARE_OF_NOTE` of the best of their note: a long note must not fill the context.

    Args:
        properties: those that are shown with the sentences of each memory.
        leading_memory: its best sentence is kept in any case.
    """
    parts = []
    best = greatest_score(scores)
    for memory, (outline, of_note) in enumerate(zip(outlines, scores, strict=True)):
        best_of_note = float(of_note.statements.max(initial=0.0))
        threshold = max(MIN_SHARE_UNUSED * best, MIN_SHARE_OF_NOTE * best_of_note)
        if memory == leading_memory:
            threshold = min(threshold, best_of_note)
        parts += [
            _sentence(memory, outline, of_note, place, properties[memory])
            for place, statement in enumerate(outline.statements)
            if statement.shown and of_note.statements[place] >= threshold
        ]
    return parts


def neighbours(
    of: Sequence[Part],
    chosen: Sequence[Part],
    outlines: Sequence[Outline],
    scores: Sequence[Scores],
    properties: Sequence[tuple[str, ...]],
) -> list[Part]:
    """The sentences next to these of the chosen ones, below the same heading: they often complete
    them ("When was it?" "In May")."""
    places = {(part.memory, place): None for part in chosen for place in part.statements}
    chosen_texts = {part.compared_text for part in chosen}
    parts: dict[tuple[int, int], Part] = {}
    for memory, place in ((part.memory, place) for part in of for place in part.statements):
        statements = outlines[memory].statements
        for near in (place + 1, place - 1):
            is_chosen = (memory, near) in places or (memory, near) in parts
            if is_chosen or not 0 <= near < len(statements):
                continue
            if statements[near].shown and statements[near].heading == statements[place].heading:
                parts[memory, near] = _sentence(
                    memory, outlines[memory], scores[memory], near, properties[memory]
                )
    return [part for part in parts.values() if part.compared_text not in chosen_texts]


def _sentence(
    memory: int, outline: Outline, scores: Scores, place: int, properties: tuple[str, ...]
) -> Part:
    """One sentence as a part."""
    statement = outline.statements[place]
    return Part(
        memory=memory,
        statements=range(place, place + 1),
        code=(),
        tokens=statement.tokens,
        score=float(scores.statements[place]),
        vector=outline.vectors[statement.unit].astype(np.float32),
        compared_text=statement.text.casefold(),
        details=_details(memory, [statement]),
        properties=properties,
    )


def passages(
    outlines: Sequence[Outline],
    scores: Sequence[Scores],
    properties: Sequence[tuple[str, ...]],
) -> list[Part]:
    """Sentences without a blank line between them as one part, split if long; and code.

    Args:
        properties: those that are shown with the passages of each memory.
    """
    parts = []
    for memory, (outline, of_note) in enumerate(zip(outlines, scores, strict=True)):
        for run in _runs(outline.statements):
            if not any(sentence.shown for sentence in outline.statements[run.start : run.stop]):
                continue  # a table's head, which its rows repeat
            of_run = of_note.statements[run.start : run.stop]
            part = _part(memory, outline, run, float((of_run.max() + of_run.mean()) / 2))
            parts.append(replace(part, properties=properties[memory]))
    return [*parts, *code(outlines, scores, with_leads=False)]


def code(
    outlines: Sequence[Outline], scores: Sequence[Scores], *, with_leads: bool = True
) -> list[Part]:
    """Each piece of code, with the sentence in front of it if ``with_leads``."""
    parts = []
    for memory, (outline, of_note) in enumerate(zip(outlines, scores, strict=True)):
        for place, piece in enumerate(outline.code):
            lead = piece.lead if with_leads else None
            run = range(0) if lead is None else range(lead, lead + 1)
            part = _part(memory, outline, run, float(of_note.code[place]))
            tokens, text = part.tokens + piece.tokens + FENCE_TOKENS, piece.block.text
            parts.append(
                replace(part, code=(place,), tokens=tokens, compared_text=text, details="")
            )
    return parts


def _part(memory: int, outline: Outline, run: range, score: float) -> Part:
    """The sentences of a run as one part."""
    sentences = outline.statements[run.start : run.stop]
    rows = sorted({sentence.unit for sentence in sentences})
    vector = outline.vectors[rows].astype(np.float32).sum(axis=0)
    length = float(np.linalg.norm(vector))
    return Part(
        memory=memory,
        statements=run,
        code=(),
        tokens=sum(sentence.tokens for sentence in sentences),
        score=score,
        vector=vector / length if length > 0.0 else vector,
        compared_text=" ".join(" ".join(s.text for s in sentences).casefold().split()),
        details=_details(memory, sentences),
    )


def _details(memory: int, statements: Sequence[Statement]) -> str:
    """The details that differ in texts which do not repeat each other, as `Part` describes."""
    numbers = " ".join(" ".join(_NUMBER.findall(s.text)) for s in statements)
    return f"{numbers} of {memory}" if all(map(_is_labelled, statements)) else numbers


def _runs(statements: Sequence[Statement]) -> Iterator[range]:
    """The places of adjacent sentences without a blank line, at most `PASSAGE_TOKENS` together."""
    start = tokens = 0
    for place, statement in enumerate(statements):
        previous = statements[place - 1] if place > start else None
        if previous is not None and (
            statement.heading != previous.heading
            or statement.lines.first > previous.lines.last + 1
            or tokens + statement.tokens > PASSAGE_TOKENS
        ):
            yield range(start, place)
            start, tokens = place, 0
        tokens += statement.tokens
    if statements:
        yield range(start, len(statements))


def first_lines(code: Code, tokens: TokenCounter, limit: int) -> Code | None:
    """As many of the code's first lines as fit the limit; None if not even one does."""
    lines = code.block.text.split("\n")
    line_count = used = 0
    for size in tokens.count_all(lines):
        if used + size > limit:
            break
        line_count, used = line_count + 1, used + size
    text = "\n".join(lines[:line_count])
    if not text.strip():
        return None
    first = code.block.lines.first
    block = replace(code.block, text=text, lines=LineRange(first, first + line_count))
    return replace(code, block=block, tokens=used)


def is_fact(statement: Statement) -> bool:
    """Whether a statement is a short fact: ``Lead: Ada``, a list item, a table row."""
    text = statement.text
    if " | " in text:
        return True
    if statement.tokens > FACT_TOKENS:
        return False
    return _is_labelled(statement) or not _STOPPED.search(text)


def _is_labelled(statement: Statement) -> bool:
    return statement.tokens <= FACT_TOKENS and _LABEL.match(statement.text) is not None


def usual_form(statements: Sequence[Statement]) -> Form:
    """Structured if most of these sentences are short facts, else narrative."""
    facts = sum(map(is_fact, statements))
    return Form.STRUCTURED if 2 * facts > len(statements) else Form.NARRATIVE
