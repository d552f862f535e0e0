"""The parts of a context: the sentences, tables, passages and code of which some are selected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import numpy.typing as npt

from memvault.model.note import LineRange, normalised
from memvault.model.search import Hit
from memvault.search.context.forms import ContextForm
from memvault.search.context.outline import Code, Outline, Statement
from memvault.search.context.scoring import Scores, greatest_score
from memvault.text.tokens import TokenCounter

MIN_SHARE_UNUSED = 0.2  # of the best score, below which a sentence is left out in any case
MIN_SHARE_OF_NOTE = 0.5  # of the best sentence of its note, below which a sentence is left out
PASSAGE_TOKENS = 120  # most tokens of a raw passage
FENCE_TOKENS = 10  # tokens of the two fences around code
FACT_TOKENS = 20  # most tokens of a short fact

_COLONS = (":", "：")
_ITEM = re.compile(r"( *)(?:[-*+]|\d+[.)]) ")
_LABEL = re.compile(r"[^.!?:|]{1,40}::? ")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_STOPPED = re.compile(r"[.!?…。！？][\"'”’)\]*]*\Z")


@dataclass(slots=True)
class Source:
    """A recalled memory whose sentences a context may quote.

    Attributes:
        place: its index among the recalled memories.
        properties: those that the question asks for, which are shown with its sentences; none of a
            memory without text: there they are its sentence.
    """

    place: int
    hit: Hit
    outline: Outline
    scores: Scores
    properties: tuple[str, ...] = ()
    has_text: bool = True


@dataclass(frozen=True, slots=True)
class Part:
    """A unit of selection: indexes of sentences and code in one memory's outline.

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


@dataclass(frozen=True, slots=True)
class Leading:
    """The memory that leads a context: its best sentence is chosen before all others, or all of
    its sentences if ``is_whole``."""

    memory: int
    is_whole: bool = False


def sentence_parts(
    sources: Sequence[Source],
    leading: Leading | None,
    *,
    linked: Sequence[int] = (),
    max_table_tokens: int,
    max_list_tokens: int,
) -> list[Part]:
    """Each sentence as one part, a line that ends in a colon with the list below it, and each
    short table of the leading memory.

    Sentences are left out that score below `MIN_SHARE_UNUSED` of the best sentence, or below
    `MIN_SHARE_OF_NOTE` of the best of their note: a long note must not fill the context.

    Args:
        leading: its best sentence, or all of them, are kept in any case.
        linked: memories of which the best sentence is kept in any case.
        max_table_tokens: of a table that is one part; 0 if all rows are parts of their own.
        max_list_tokens: of a list with the line above it; the items that are too many are parts
            of their own.
    """
    parts: list[Part] = []
    least = MIN_SHARE_UNUSED * greatest_score([source.scores for source in sources])
    for source in sources:
        best_of_note = float(source.scores.statements.max(initial=0.0))
        threshold, list_tokens = max(least, MIN_SHARE_OF_NOTE * best_of_note), max_list_tokens
        tables: list[Part] = []
        if leading is not None and leading.memory == source.place:
            rows_of_tables = _tables(source.outline.statements)
            tables = [
                table
                for table in (_rows_part(source, rows) for rows in rows_of_tables)
                if table.tokens <= max_table_tokens and table.score >= least
            ]
            threshold = min(threshold, best_of_note)
            if leading.is_whole:
                threshold, list_tokens = 0.0, 0
        elif source.place in linked:
            threshold = min(threshold, best_of_note)
        parts += tables
        parts += _sentences_and_lists(
            source, tables, threshold=threshold, max_list_tokens=list_tokens
        )
    return parts


def _sentences_and_lists(
    source: Source, tables: Sequence[Part], *, threshold: float, max_list_tokens: int
) -> Iterator[Part]:
    """The sentences of a note from a score on that no table has, each with the list below it."""
    in_parts = {index for table in tables for index in table.statements}
    statements = source.outline.statements
    for index, statement in enumerate(statements):
        is_low = source.scores.statements[index] < threshold
        if not statement.shown or is_low or index in in_parts:
            continue
        rows = list_below(statements, index, max_list_tokens)
        in_parts.update(rows)
        yield _rows_part(source, rows) if len(rows) > 1 else _sentence(source, index)


def _rows_part(source: Source, rows: range) -> Part:
    """Several sentences as one part, with the score of the best of them."""
    return _part(source, rows, float(source.scores.statements[rows.start : rows.stop].max()))


def list_below(statements: Sequence[Statement], index: int, max_tokens: int) -> range:
    """The indexes of a line that ends in a colon and of the first items of the list below it, which
    it says nothing without; only ``index`` for any other line."""
    line, end = statements[index], index + 1
    tokens, depth = line.tokens, _depth(line)
    while line.text.endswith(_COLONS) and end < len(statements):
        item, previous = statements[end], statements[end - 1]
        tokens += item.tokens
        is_same_line = item.lines.first == previous.lines.last and end > index + 1
        is_item = item.lines.first <= previous.lines.last + 2 and _depth(item) > depth
        if tokens > max_tokens or item.heading != line.heading or not (is_item or is_same_line):
            break
        end += 1
    return range(index, end)


def _depth(statement: Statement) -> int:
    """How deep in a list a statement is, from 0; -1 if it begins no item."""
    match = _ITEM.match(statement.shown)
    return -1 if match is None else len(match[1])


def _tables(statements: Sequence[Statement]) -> Iterator[range]:
    """The indexes of the rows of each table."""
    keys = [(_is_row(statement), statement.heading) for statement in statements]
    for (is_row, _), run in groupby(range(len(statements)), keys.__getitem__):
        places = list(run)
        if is_row:
            yield range(places[0], places[-1] + 1)


def adjoining_sentences(
    of: Sequence[Part], chosen: Sequence[Part], sources: Sequence[Source]
) -> list[Part]:
    """The sentences next to these of the chosen ones, below the same heading: they often complete
    them ("When was it?" "In May")."""
    places = {(part.memory, index): None for part in chosen for index in part.statements}
    chosen_texts = {part.compared_text for part in chosen}
    parts: dict[tuple[int, int], Part] = {}
    for memory, index in ((part.memory, index) for part in of for index in part.statements):
        statements = sources[memory].outline.statements
        for near in (index + 1, index - 1):
            is_chosen = (memory, near) in places or (memory, near) in parts
            if is_chosen or not 0 <= near < len(statements):
                continue
            if statements[near].shown and statements[near].heading == statements[index].heading:
                parts[memory, near] = _sentence(sources[memory], near)
    return [part for part in parts.values() if part.compared_text not in chosen_texts]


def _sentence(source: Source, index: int) -> Part:
    """One sentence as a part."""
    statement = source.outline.statements[index]
    return Part(
        memory=source.place,
        statements=range(index, index + 1),
        code=(),
        tokens=statement.tokens,
        score=float(source.scores.statements[index]),
        vector=source.outline.vectors[statement.unit].astype(np.float32),
        compared_text=statement.text.casefold(),
        details=_details(source.place, [statement]),
        properties=source.properties,
    )


def passage_parts(sources: Sequence[Source]) -> list[Part]:
    """Sentences without a blank line between them as one part, split if long; and code."""
    parts = []
    for source in sources:
        for run in _runs(source.outline.statements):
            sentences = source.outline.statements[run.start : run.stop]
            if any(sentence.shown for sentence in sentences):  # unlike a table's head
                of_run = source.scores.statements[run.start : run.stop]
                parts.append(_part(source, run, float((of_run.max() + of_run.mean()) / 2)))
    return [*parts, *code_parts(sources, with_leads=False)]


def code_parts(sources: Sequence[Source], *, with_leads: bool = True) -> list[Part]:
    """Each piece of code, with the sentence in front of it if ``with_leads``."""
    parts = []
    for source in sources:
        for index, piece in enumerate(source.outline.code):
            lead = piece.lead if with_leads else None
            run = range(0) if lead is None else range(lead, lead + 1)
            part = _part(source, run, float(source.scores.code[index]))
            parts.append(
                replace(
                    part,
                    code=(index,),
                    tokens=part.tokens + piece.tokens + FENCE_TOKENS,
                    compared_text=piece.block.text,
                    details="",
                    properties=(),
                )
            )
    return parts


def _part(source: Source, run: range, score: float) -> Part:
    """The sentences of a run as one part."""
    sentences = source.outline.statements[run.start : run.stop]
    rows = sorted({sentence.unit for sentence in sentences})
    return Part(
        memory=source.place,
        statements=run,
        code=(),
        tokens=sum(sentence.tokens for sentence in sentences),
        score=score,
        vector=normalised(source.outline.vectors[rows].astype(np.float32).sum(axis=0)),
        compared_text=" ".join(" ".join(s.text for s in sentences).casefold().split()),
        details=_details(source.place, sentences),
        properties=source.properties,
    )


def _details(memory: int, statements: Sequence[Statement]) -> str:
    """The details that differ in texts which do not repeat each other, as `Part` describes."""
    numbers = " ".join(" ".join(_NUMBER.findall(s.text)) for s in statements)
    return f"{numbers} of {memory}" if all(map(_is_labelled, statements)) else numbers


def _runs(statements: Sequence[Statement]) -> Iterator[range]:
    """The indexes of adjacent sentences without a blank line, at most `PASSAGE_TOKENS` together."""
    start = tokens = 0
    for index, statement in enumerate(statements):
        previous = statements[index - 1] if index > start else None
        if previous is not None and (
            statement.heading != previous.heading
            or statement.lines.first > previous.lines.last + 1
            or tokens + statement.tokens > PASSAGE_TOKENS
        ):
            yield range(start, index)
            start, tokens = index, 0
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
    if _is_row(statement):
        return True
    if statement.tokens > FACT_TOKENS:
        return False
    return _is_labelled(statement) or not _STOPPED.search(statement.text)


def _is_row(statement: Statement) -> bool:
    return " | " in statement.text


def _is_labelled(statement: Statement) -> bool:
    return statement.tokens <= FACT_TOKENS and _LABEL.match(statement.text) is not None


def usual_form(statements: Sequence[Statement]) -> ContextForm:
    """Structured if most of these sentences are short facts, else narrative."""
    facts = sum(map(is_fact, statements))
    return ContextForm.STRUCTURED if 2 * facts > len(statements) else ContextForm.NARRATIVE
