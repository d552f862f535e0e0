"""Selects the sentences, passages or code of a context: the most relevant that differ and fit.

Greedy maximal marginal relevance (Carbonell and Goldstein 1998): the next part is the one with the
greatest ``LEAN * score - (1 - LEAN) * (greatest similarity to those chosen)``, with scores relative
to the best. Parts of one memory count as half as similar, because they are read together. The best
part of the first memory is chosen before all others. If the parts that score at least `MIN_SHARE`
of the best leave much of the budget unused, less relevant ones follow, then the neighbours of those
chosen.
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
from memvault.search.context.scoring import Scores
from memvault.text.tokens import TokenCounter

LEAN = 0.75  # weight of relevance against variety
MIN_SHARE = 0.3  # share of the best score below which a sentence is not worth its tokens
LEAST_SHARE = 0.2  # the same, for a budget that is not used
SHARE_OF_NOTE = 0.5  # of the best sentence of its note, below which a sentence is left out
USED = 0.8  # share of the budget from which on it counts as used
SAME = 0.95  # similarity above which a text adds nothing

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Part:
    """A unit of selection: places of sentences and code in one memory's outline.

    ``vector`` is (dim,) float32, normalised, or zeros; ``said`` is equal for equal texts.
    Only texts with equal ``details`` can repeat each other: these are their numbers and, for a
    labelled line ("Phone: 1234"), which is about its own note, this note. A text that is shown with
    other ``properties`` of its note repeats nothing, if it is the first that is shown of this note.
    """

    memory: int
    statements: range
    code: tuple[int, ...]
    tokens: int
    score: float
    vector: npt.NDArray[np.float32]
    said: str
    details: str
    properties: tuple[str, ...] = ()


@dataclass(slots=True)
class Budget:
    """The token budget, reduced as parts are chosen.

    Attributes:
        limit: tokens of the text and of ``beside``.
        frame: for each memory, tokens of its tag or header in the text.
        beside: for each memory, tokens that it costs outside of the text.
        least: tokens of text that the first memory may always have.
        item: tokens that every part costs in addition to its own.
    """

    limit: int
    frame: Sequence[int]
    beside: Sequence[int]
    least: int = 0
    item: int = 0
    text: int = 0
    aside: int = 0
    _frame: Integers = field(init=False)
    _beside: Integers = field(init=False)
    _seen: npt.NDArray[np.bool_] = field(init=False)  # (memories,)

    def __post_init__(self) -> None:
        self._frame = np.array(self.frame, np.int64)
        self._beside = np.array(self.beside, np.int64)
        self._seen = np.zeros(len(self.frame), np.bool_)

    def fitting(self, tokens: Integers, owners: Integers) -> npt.NDArray[np.bool_]:
        """(n,) whether each part fits, by the parts' tokens and memories."""
        new = ~self._seen[owners]
        text = self.text + tokens + self.item + np.where(new, self._frame[owners], 0)
        aside = self.aside + np.where(new, self._beside[owners], 0)
        room = self.limit - aside
        if self.least:
            first = np.flatnonzero(self._seen)
            only = owners == first[0] if first.size == 1 else np.full(len(owners), not first.size)
            room = np.maximum(room, np.where(only, self.least, 0))
        return np.asarray(text <= room, np.bool_)

    def shows(self, owners: Integers) -> npt.NDArray[np.bool_]:
        """(n,) whether each of these memories has a chosen part."""
        return np.asarray(self._seen[owners], np.bool_)

    @property
    def is_used(self) -> bool:
        """Whether most of the budget is used."""
        return self.text + self.aside >= USED * self.limit

    def take(self, part: Part) -> None:
        self.text += part.tokens + self.item
        if not self._seen[part.memory]:
            self.text += self.frame[part.memory]
            self.aside += self.beside[part.memory]
            self._seen[part.memory] = True


def select(
    parts: Sequence[Part],
    budget: Budget,
    *,
    lean: float = LEAN,
    least: float = MIN_SHARE,
    least_unused: float = MIN_SHARE,
    first: int | None = None,
) -> list[Part]:
    """The chosen parts, in the order of choice. If none is relevant to the question, the first
    ones are chosen.

    Args:
        least: share of the best score below which a part is not chosen.
        least_unused: the same while the budget is not used.
        first: the memory whose best part is chosen before all others, unless it has one already.
    """
    if not parts:
        return []
    pool = _Pool(parts, budget, lean)
    if first is not None:
        pool.choose((pool.owners == first) & ~budget.shows(pool.owners), most=1)
    pool.choose(pool.relevance >= least)
    while not budget.is_used and pool.choose(pool.relevance >= least_unused, most=1):
        pass
    return pool.chosen


class _Pool:
    """The parts to choose from; (n,) arrays have an entry for each part."""

    def __init__(self, parts: Sequence[Part], budget: Budget, lean: float) -> None:
        best = max(part.score for part in parts)
        self.relevance = np.array([part.score / best if best > 0.0 else 1.0 for part in parts])
        self.owners = np.array([part.memory for part in parts])
        self.chosen: list[Part] = []
        self._parts, self._budget, self._lean = parts, budget, lean
        self._vectors = np.stack([part.vector for part in parts])
        self._tokens = np.array([part.tokens for part in parts])
        self._said = np.array([hash(part.said) for part in parts])
        self._details = np.array([hash(part.details) for part in parts])
        self._properties = np.array([hash(part.properties) for part in parts])
        self._has_properties = np.array([bool(part.properties) for part in parts])
        self._nearest = np.zeros(len(parts))
        self._repeats = np.zeros(len(parts), np.bool_)
        self._left = np.ones(len(parts), np.bool_)

    def choose(self, among: npt.NDArray[np.bool_], most: int | None = None) -> bool:
        """Choose parts while some of these fit, at most so many; whether any was chosen."""
        before = len(self.chosen)
        while most is None or len(self.chosen) < before + most:
            open_ = among & self._left & self._budget.fitting(self._tokens, self.owners)
            open_ &= ~(self._repeats & self._budget.shows(self.owners))
            if not open_.any():
                break
            worth = self._lean * self.relevance - (1.0 - self._lean) * self._nearest
            self._take(int(np.where(open_, worth, -np.inf).argmax()))
        return len(self.chosen) > before

    def _adds_properties(self, at: int) -> npt.NDArray[np.bool_]:
        """(n,) whether each part is shown with properties that this one is not shown with."""
        differ = np.asarray(self._properties != self._properties[at], np.bool_)
        return self._has_properties & differ

    def _take(self, at: int) -> None:
        part = self._parts[at]
        self._budget.take(part)
        self.chosen.append(part)
        alike = (self._vectors @ part.vector).astype(np.float64)
        alike[self.owners == part.memory] *= 0.5
        np.maximum(self._nearest, alike, out=self._nearest)
        repeats = (self._details == self._details[at]) & (
            (alike >= SAME) | (self._said == self._said[at])
        )
        self._repeats |= repeats
        self._left &= ~repeats | self._adds_properties(at)
        self._left[at] = False


PASSAGE_TOKENS = 120  # most tokens of a raw passage
FENCE_TOKENS = 10  # tokens of the two fences around code
FACT_TOKENS = 20  # most tokens of a short fact

_NAMED = re.compile(r"[^.!?:|]{1,40}::? ")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_STOPPED = re.compile(r"[.!?…。！？][\"'”’)\]*]*\Z")


def sentences(
    outlines: Sequence[Outline],
    scores: Sequence[Scores],
    properties: Sequence[tuple[str, ...]],
    first: int | None,
) -> list[Part]:
    """Each sentence as one part, without those that score below `LEAST_SHARE` of the best, or below
    `SHARE_OF_NOTE` of the best of their note, so that a long note does not fill the context.

    Args:
        properties: those that are shown with the sentences of each memory.
        first: the memory whose best sentence is kept in any case.
    """
    found = []
    best = max((float(own.statements.max()) for own in scores if own.statements.size), default=0.0)
    for memory, (outline, own) in enumerate(zip(outlines, scores, strict=True)):
        best_of_note = float(own.statements.max(initial=0.0))
        least = max(LEAST_SHARE * best, SHARE_OF_NOTE * best_of_note)
        if memory == first:
            least = min(least, best_of_note)
        found += [
            _sentence(memory, outline, own, place, properties[memory])
            for place, each in enumerate(outline.statements)
            if each.shown and own.statements[place] >= least
        ]
    return found


def neighbours(
    chosen: Sequence[Part],
    outlines: Sequence[Outline],
    scores: Sequence[Scores],
    properties: Sequence[tuple[str, ...]],
) -> list[Part]:
    """The sentences next to the chosen ones, below the same heading: they often complete them
    ("When was it?" "In May")."""
    places = {(part.memory, place): None for part in chosen for place in part.statements}
    said = {part.said for part in chosen}
    found: dict[tuple[int, int], Part] = {}
    for memory, place in places:
        statements = outlines[memory].statements
        for near in (place + 1, place - 1):
            if (
                not 0 <= near < len(statements)
                or (memory, near) in places
                or (memory, near) in found
            ):
                continue
            if statements[near].shown and statements[near].heading == statements[place].heading:
                found[memory, near] = _sentence(
                    memory, outlines[memory], scores[memory], near, properties[memory]
                )
    return [part for part in found.values() if part.said not in said]


def _sentence(
    memory: int, outline: Outline, own: Scores, place: int, properties: tuple[str, ...]
) -> Part:
    """One sentence as a part."""
    statement = outline.statements[place]
    return Part(
        memory=memory,
        statements=range(place, place + 1),
        code=(),
        tokens=statement.tokens,
        score=float(own.statements[place]),
        vector=outline.vectors[statement.unit].astype(np.float32),
        said=statement.text.casefold(),
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
    found = []
    for memory, (outline, own) in enumerate(zip(outlines, scores, strict=True)):
        for run in _runs(outline.statements):
            if not any(each.shown for each in outline.statements[run.start : run.stop]):
                continue  # a table's head, which its rows repeat
            among = own.statements[run.start : run.stop]
            part = _part(memory, outline, run, float((among.max() + among.mean()) / 2))
            found.append(replace(part, properties=properties[memory]))
    return [*found, *code(outlines, scores, leads=False)]


def code(
    outlines: Sequence[Outline], scores: Sequence[Scores], *, leads: bool = True
) -> list[Part]:
    """Each piece of code, with the sentence in front of it if ``leads``."""
    found = []
    for memory, (outline, own) in enumerate(zip(outlines, scores, strict=True)):
        for place, each in enumerate(outline.code):
            lead = each.lead if leads else None
            run = range(0) if lead is None else range(lead, lead + 1)
            part = _part(memory, outline, run, float(own.code[place]))
            whole = part.tokens + each.tokens + FENCE_TOKENS
            said = each.block.text
            found.append(replace(part, code=(place,), tokens=whole, said=said, details=""))
    return found


def _part(memory: int, outline: Outline, run: range, score: float) -> Part:
    inside = outline.statements[run.start : run.stop]
    rows = sorted({each.unit for each in inside})
    vector = outline.vectors[rows].astype(np.float32).sum(axis=0)
    length = float(np.linalg.norm(vector))
    return Part(
        memory=memory,
        statements=run,
        code=(),
        tokens=sum(each.tokens for each in inside),
        score=score,
        vector=vector / length if length > 0.0 else vector,
        said=" ".join(" ".join(each.text for each in inside).casefold().split()),
        details=_details(memory, inside),
    )


def _details(memory: int, statements: Sequence[Statement]) -> str:
    numbers = " ".join(" ".join(_NUMBER.findall(each.text)) for each in statements)
    return f"{numbers} of {memory}" if all(map(_is_labelled, statements)) else numbers


def _runs(statements: Sequence[Statement]) -> Iterator[range]:
    start = tokens = 0
    for place, each in enumerate(statements):
        before = statements[place - 1] if place > start else None
        if before is not None and (
            each.heading != before.heading
            or each.lines.first > before.lines.last + 1
            or tokens + each.tokens > PASSAGE_TOKENS
        ):
            yield range(start, place)
            start, tokens = place, 0
        tokens += each.tokens
    if statements:
        yield range(start, len(statements))


def first_lines(code: Code, tokens: TokenCounter, limit: int) -> Code | None:
    """As many of the code's first lines as fit the limit; None if not even one does."""
    lines = code.block.text.split("\n")
    sizes = tokens.count_all(lines)
    kept = spent = 0
    for size in sizes:
        if spent + size > limit:
            break
        kept, spent = kept + 1, spent + size
    text = "\n".join(lines[:kept])
    if not text.strip():
        return None
    first = code.block.lines.first
    block = replace(code.block, text=text, lines=LineRange(first, first + kept))
    return replace(code, block=block, tokens=spent)


def is_fact(statement: Statement) -> bool:
    """Whether a statement is a short fact: ``Lead: Ada``, a list item, a table row."""
    text = statement.text
    if " | " in text:
        return True
    if statement.tokens > FACT_TOKENS:
        return False
    return _is_labelled(statement) or not _STOPPED.search(text)


def _is_labelled(statement: Statement) -> bool:
    return statement.tokens <= FACT_TOKENS and _NAMED.match(statement.text) is not None


def usual_form(found: Sequence[Statement]) -> Form:
    """Structured if most chosen sentences are short facts, else narrative."""
    facts = sum(is_fact(each) for each in found)
    return Form.STRUCTURED if 2 * facts > len(found) else Form.NARRATIVE
