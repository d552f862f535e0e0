"""What others wrote into the person's note, next to the passage of theirs that answers.

A client that adds a task to the person's list, at their request, wrote a line that is a claim: the
list stays the person's words and verified, and the line is shown separately, with its writer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from memvault.model.memory import Memory
from memvault.model.note import LineRange
from memvault.model.search import Hit
from memvault.search.context.outline import Outline, Statement, states_conflict

CUT = "…"


class Addition(NamedTuple):
    """Successive sentences of one writer in the person's note, with their lines."""

    text: str
    lines: LineRange


def additions(
    hit: Hit, whole: Outline, shown: Outline, chosen: Sequence[int], limit: int
) -> tuple[Addition, ...]:
    """The sentences that an outline leaves out, of the sections of the chosen sentences; without
    those that only name a contradicting note which the hit's verification names, too.

    Args:
        whole: the note's outline.
        shown: the same outline without the text of others.
        chosen: the indexes of the sentences that the excerpt shows.
        limit: UTF-8 bytes in all, of the nearest sentences; the first is returned even if longer.
            A last ``…`` marks that there are more.
    """
    left_out = _left_out(hit, whole, shown, chosen)
    nearest = sorted(left_out, key=lambda index: min(abs(index - other) for other in chosen))
    fitting: list[int] = []
    for index in nearest:
        limit -= len(whole.statements[index].shown.encode())
        if fitting and limit < 0:
            break
        fitting.append(index)
    added = [_addition(run) for run in _runs(hit.memory, whole, sorted(fitting))]
    if len(fitting) < len(left_out):
        added[-1] = added[-1]._replace(text=f"{added[-1].text} {CUT}")
    return tuple(added)


def _left_out(hit: Hit, whole: Outline, shown: Outline, chosen: Sequence[int]) -> list[int]:
    """The indexes of the sentences that `additions` are made of."""
    headings = {whole.statements[index].heading for index in chosen}
    contradicting = {evidence.title for evidence in hit.verification.contradicted_by}
    return [
        index
        for index, (statement, kept) in enumerate(
            zip(whole.statements, shown.statements, strict=True)
        )
        if statement.shown
        and not kept.shown
        and statement.heading in headings
        and not (states_conflict(statement.text) and _behind_label(statement) in contradicting)
    ]


def _behind_label(statement: Statement) -> str:
    """What follows the first colon: ``Plan B`` in ``Superseded by: Plan B``."""
    return statement.text.partition(":")[2].strip(" :")


def _runs(memory: Memory, outline: Outline, places: Sequence[int]) -> Iterator[list[Statement]]:
    """Successive sentences of one writer."""

    def run_of(numbered: tuple[int, int]) -> tuple[int, str]:
        number, index = numbered
        statement = outline.statements[index]
        origin = memory.provenance.of_sentence(statement.text, statement.lines)
        return index - number, origin.writer

    for _, run in groupby(enumerate(places), run_of):
        yield [outline.statements[index] for _, index in run]


def _addition(statements: Sequence[Statement]) -> Addition:
    lines = LineRange(statements[0].lines.first, statements[-1].lines.last)
    return Addition("\n".join(statement.shown for statement in statements), lines)
