"""What others wrote into the person's note, next to the passage of theirs that answers.

A client that adds a task to the person's list, at their request, wrote a line that is a claim: the
list stays the person's words and verified, and the line is shown separately, with its writer.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from memvault.model.note import LineRange
from memvault.search.context.outline import Outline, Statement, states_conflict

MAX_LENGTH_FACTOR = 2  # times the limit: a sentence longer than that is cut at a word


class Addition(NamedTuple):
    """Successive sentences of others in the person's note, with their lines."""

    text: str
    lines: LineRange


def additions(
    whole: Outline, shown: Outline, chosen: Sequence[int], limit: int
) -> tuple[Addition, ...]:
    """The sentences that an outline leaves out, of the sections of the chosen sentences; without
    those that only name a contradicting note, which the verification does.

    Args:
        whole: the note's outline.
        shown: the same outline without the text of others.
        chosen: the places of the sentences that the excerpt shows.
        limit: UTF-8 bytes in all, of the nearest sentences; the first is shown even if longer, but
            cut at twice the limit.
    """
    longest = MAX_LENGTH_FACTOR * limit
    headings = {whole.statements[place].heading for place in chosen}
    left_out = [
        place
        for place, (statement, kept) in enumerate(
            zip(whole.statements, shown.statements, strict=True)
        )
        if statement.shown
        and not kept.shown
        and statement.heading in headings
        and not states_conflict(statement.text)
    ]
    nearest = sorted(left_out, key=lambda place: min(abs(place - other) for other in chosen))
    fitting: list[int] = []
    for place in nearest:
        limit -= len(whole.statements[place].shown.encode())
        if fitting and limit < 0:
            break
        fitting.append(place)
    runs = groupby(enumerate(sorted(fitting)), key=lambda numbered: numbered[1] - numbered[0])
    return tuple(
        _addition([whole.statements[place] for _, place in run], longest) for _, run in runs
    )


def _addition(statements: Sequence[Statement], longest: int) -> Addition:
    lines = LineRange(statements[0].lines.first, statements[-1].lines.last)
    return Addition("\n".join(statement.cut(longest) for statement in statements), lines)
