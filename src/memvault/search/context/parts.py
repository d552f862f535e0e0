"""What each form of a context chooses among: sentences, whole passages, or code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from memvault.model.note import LineRange
from memvault.search.context.forms import Form
from memvault.search.context.outline import Code, Outline, Statement
from memvault.search.context.scoring import Scores
from memvault.search.context.selection import LEAST, Part
from memvault.text.embedding import TokenCounter

PASSAGE_TOKENS = 120  # of a raw passage, after which the next sentence begins another
FENCE_TOKENS = 10  # of the two fences around code
FACT_TOKENS = 20  # most of a short fact

_NAMED = re.compile(r"[^.!?:|]{1,40}::? ")
_STOPPED = re.compile(r"[.!?…。！？][\"'”’)\]*]*\Z")


def sentences(
    outlines: Sequence[Outline], scores: Sequence[Scores], least: float = LEAST
) -> list[Part]:
    """Each sentence by itself, but for those whose score is below this share of the best."""
    found = []
    best = max((float(own.statements.max()) for own in scores if own.statements.size), default=0.0)
    for memory, (outline, own) in enumerate(zip(outlines, scores, strict=True)):
        vectors = outline.vectors.astype(np.float32)
        found += [
            Part(
                memory=memory,
                statements=range(place, place + 1),
                code=(),
                tokens=each.tokens,
                score=float(own.statements[place]),
                vector=vectors[each.unit],
                said=each.text.casefold(),
            )
            for place, each in enumerate(outline.statements)
            if own.statements[place] >= least * best
        ]
    return found


def passages(outlines: Sequence[Outline], scores: Sequence[Scores]) -> list[Part]:
    """What stands together, without a blank line between, cut where it gets long; and code."""
    found = []
    for memory, (outline, own) in enumerate(zip(outlines, scores, strict=True)):
        for run in _runs(outline.statements):
            among = own.statements[run.start : run.stop]
            found.append(_part(memory, outline, run, float((among.max() + among.mean()) / 2)))
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
            found.append(replace(part, code=(place,), tokens=whole, said=said))
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
    )


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
    """A short line that says one thing: ``Lead: Ada``, a list's item, a table's row."""
    text = statement.text
    if statement.tokens > FACT_TOKENS:
        return False
    return bool(_NAMED.match(text)) or " | " in text or not _STOPPED.search(text)


def usual_form(found: Sequence[Statement]) -> Form:
    """Structured where most of what was chosen are short facts, else narrative."""
    facts = sum(is_fact(each) for each in found)
    return Form.STRUCTURED if 2 * facts > len(found) else Form.NARRATIVE
