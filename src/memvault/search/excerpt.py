"""The passage of a note that answers a question: whole sentences, word for word, in order."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from memvault.model.note import LineRange
from memvault.model.search import Hit
from memvault.search.context.forms import fenced
from memvault.search.context.outline import Code, Outline, Outlines, Statement
from memvault.search.context.scoring import Scores, scores
from memvault.text.embedding import Embedder

CUT = "…"
READ_WHOLE = 5  # notes whose every sentence is compared; of later ones the passage that was found
_LONGEST = 2  # times the limit: a sentence longer than that is cut at a word
# A sentence is often completed by the next one ("When was it?" "In May") and prepared by the one
# before; a label ("To fold all:", a callout's title) says nothing without what follows it.
_AFTER, _AFTER_LABEL, _BEFORE = 0.5, 0.75, 0.25
_LEAST = 0.6  # of the best sentence's worth: what is worth less makes way for what follows the best
_LABEL_CHARS = 60
_ENDED = re.compile(r"[.!。！…|][\"'”’)\]*]*\Z")


class Excerpt(NamedTuple):
    """``heading`` is the path of headings above its best sentence, joined by `` > ``; ``lines`` are
    those of the note that hold all of it."""

    text: str
    heading: str
    lines: LineRange


class Excerpts:
    """Chooses what to show of the notes found. Thread-safe.

    Args:
        read: gives a note's bytes by its path, as `Vault.read` does.
    """

    def __init__(self, read: Callable[[str], bytes], embedder: Embedder) -> None:
        self._outlines = Outlines(read, embedder)
        self._embedder = embedder

    def of(self, query: str, found: Sequence[Hit], limits: Sequence[int]) -> list[Excerpt]:
        """Of each memory the sentences that say most to the question, as many as fit.

        Sentences are scored as for a distilled context (`scoring`), and by their neighbours. ``…``
        stands where something was left out; where an excerpt joins parts below different headings,
        each part has its heading.

        Args:
            found: best first.
            limits: UTF-8 bytes for each memory, about four for a token of English; one sentence is
                shown even if it is longer.
        """
        outlines = self._outlines.of(found[:READ_WHOLE])
        outlines += [self._outlines.of_passage(hit) for hit in found[READ_WHOLE:]]
        known = [
            own if own is not None and own.statements else self._outlines.of_passage(hit)
            for hit, own in zip(found, outlines, strict=True)
        ]
        vector = self._embedder.embed_query(query)
        scored = scores(query, vector, found, known)
        return [
            _excerpt(hit.memory.title, outline, own, limit)
            if outline.statements
            else Excerpt(hit.text, hit.heading, hit.lines)
            for hit, outline, own, limit in zip(found, known, scored, limits, strict=True)
        ]


def _excerpt(title: str, outline: Outline, scored: Scores, limit: int) -> Excerpt:
    statements = outline.statements
    own = [
        score if each.shown else 0.0
        for score, each in zip(scored.statements.tolist(), statements, strict=True)
    ]
    chosen = _chosen(statements, own, _worth(statements, own), limit)
    code = _code_of(outline, chosen, limit - sum(_size(statements[place]) for place in chosen))
    best = statements[chosen[0]]
    if len(chosen) == 1 and _size(best) > _LONGEST * limit:
        text = f"{_head(best.shown, _LONGEST * limit)} {CUT}"
    else:
        text = _joined(title, statements, sorted(chosen), code)
    lines = [statements[place].lines for place in chosen] + [each.lines for each in code.values()]
    first, last = min(each.first for each in lines), max(each.last for each in lines)
    return Excerpt(text, " > ".join(best.heading), LineRange(first, last))


def _worth(statements: Sequence[Statement], own: Sequence[float]) -> list[float]:
    """The scores with what neighbours add; below zero for what is not shown by itself."""
    worth = list(own)
    for place, (one, following) in enumerate(pairwise(statements)):
        if one.heading == following.heading:
            worth[place + 1] += (_AFTER_LABEL if _is_label(one.text) else _AFTER) * own[place]
            worth[place] += _BEFORE * own[place + 1]
    return [value if each.shown else -1.0 for value, each in zip(worth, statements, strict=True)]


@lru_cache(maxsize=20_000)
def _is_label(text: str) -> bool:
    if text.endswith((":", "?", "：", "？")):
        return True
    return len(text) < _LABEL_CHARS and " | " not in text and not _ENDED.search(text)


def _chosen(
    statements: Sequence[Statement], own: Sequence[float], worth: Sequence[float], limit: int
) -> list[int]:
    """The sentence with the best score of its own, then the worthiest that fit, then those next to
    them in their sections."""
    order = sorted(range(len(worth)), key=lambda place: (-worth[place], place))
    best = max(
        range(len(own)), key=lambda place: (bool(statements[place].shown), own[place], -place)
    )
    chosen = [best]
    left = limit - _size(statements[best])

    def take(place: int) -> bool:
        nonlocal left
        size = _size(statements[place])
        if place not in chosen and size <= left:
            if size:
                chosen.append(place)
            left -= size
            return True
        return place in chosen

    for place in order:
        if worth[place] >= _LEAST * worth[order[0]]:
            take(place)
    for place in tuple(chosen):
        for step in (1, -1):
            near = place + step
            while 0 <= near < len(statements) and (
                statements[near].heading == statements[place].heading and take(near)
            ):
                near += step
    return chosen


def _size(statement: Statement) -> int:
    return len(statement.shown.encode())


def _code_of(outline: Outline, chosen: Collection[int], left: int) -> dict[int, Code]:
    """Code whose introducing sentence is shown, by the place of that sentence, while it fits."""
    found: dict[int, Code] = {}
    for each in outline.code:
        size = len(each.block.text.encode())
        lead = each.lead
        if lead is not None and lead in chosen and lead not in found and size <= left:
            found[lead] = each
            left -= size
    return found


def _joined(
    title: str, statements: Sequence[Statement], chosen: Sequence[int], code: dict[int, Code]
) -> str:
    """The chosen sentences as they follow each other in the note."""
    headings = {statements[place].heading for place in chosen}
    text = CUT + " " if any(each.shown for each in statements[: chosen[0]]) else ""
    for number, place in enumerate(chosen):
        one = statements[place]
        before = statements[chosen[number - 1]] if number else None
        if len(headings) > 1 and (before is None or before.heading != one.heading):
            text = f"{text.rstrip()}\n{_heading(title, one.heading)}\n".lstrip("\n")
        text += one.shown
        if place in code:
            text += f"\n{fenced(code[place].block)}"
        text += _gap(statements, place, chosen[number + 1] if number + 1 < len(chosen) else None)
    return text.strip()


def _heading(title: str, heading: Sequence[str]) -> str:
    below = heading[1:] if heading and heading[0].casefold() == title.casefold() else heading
    return f"[{' > '.join(below) or title}]"


def _gap(statements: Sequence[Statement], place: int, following: int | None) -> str:
    """What stands between a sentence and the next one that is shown."""
    skipped = any(each.shown for each in statements[place + 1 : following])
    mark = f" {CUT}" if skipped else ""
    if following is None:
        return mark
    is_new_line = statements[following].lines.first > statements[place].lines.last
    return mark + ("\n" if is_new_line else " ")


def _head(text: str, limit: int) -> str:
    """At most ``limit`` bytes of a text, cut after a word if one ends in their second half."""
    head = text.strip().encode()[:limit].decode(errors="ignore")
    word = max(head.rfind(" "), head.rfind("\n"))
    return (head[:word] if word >= len(head) // 2 else head).rstrip()
