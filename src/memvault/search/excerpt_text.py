"""Joins the sentences and the code that were chosen for an excerpt, as they follow each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memvault.search.context.outline import Code, Statement

CUT = "…"


def text_of_excerpt(
    title: str, statements: Sequence[Statement], chosen: Sequence[int], code: Mapping[Code, int]
) -> str:
    """The chosen sentences as they follow each other in the note."""
    headings = {statements[place].heading for place in chosen}
    text = CUT + " " if any(statement.shown for statement in statements[: chosen[0]]) else ""
    for position, place in enumerate(chosen):
        statement = statements[place]
        previous = statements[chosen[position - 1]] if position else None
        if len(headings) > 1 and (previous is None or previous.heading != statement.heading):
            text = f"{text.rstrip()}\n{_heading(title, statement.heading)}\n".lstrip("\n")
        pieces = sorted(
            (piece for piece, piece_place in code.items() if piece_place == place),
            key=lambda piece: piece.lines,
        )
        for piece in pieces:
            if piece.lead != place:
                text = f"{text.rstrip()}\n{piece.fenced}\n".lstrip("\n")
        text += statement.shown
        for piece in pieces:
            if piece.lead == place:
                text += f"\n{piece.fenced}"
        text += _gap(
            statements, place, chosen[position + 1] if position + 1 < len(chosen) else None
        )
    return text.strip()


def _heading(title: str, heading: Sequence[str]) -> str:
    path = heading[1:] if heading and heading[0].casefold() == title.casefold() else heading
    return f"[{' > '.join(path) or title}]"


def _gap(statements: Sequence[Statement], place: int, following: int | None) -> str:
    """The text between a sentence and the next one that is shown."""
    skipped = any(statement.shown for statement in statements[place + 1 : following])
    mark = f" {CUT}" if skipped else ""
    if following is None:
        return mark
    is_new_line = statements[following].lines.first > statements[place].lines.last
    return mark + ("\n" if is_new_line else " ")


def cut_at_word(text: str, limit: int) -> str:
    """At most ``limit`` bytes of a text, cut after a word if one ends in their second half."""
    head = text.strip().encode()[:limit].decode(errors="ignore")
    word = max(head.rfind(" "), head.rfind("\n"))
    return (head[:word] if word >= len(head) // 2 else head).rstrip()
