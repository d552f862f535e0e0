"""The passage of a note that answers a question: whole sentences, word for word, in order."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from memvault.model.memory import Memory
from memvault.model.note import LineRange
from memvault.model.search import Hit
from memvault.search.added_by_others import CUT, Addition, additions
from memvault.search.context.outline import Code, Floats, Outline, Outlines, Statement
from memvault.search.context.properties import (
    PropertyChooser,
    first_properties,
    lines_with_writers,
    named_properties,
)
from memvault.search.context.scoring import Scores, are_of_time, scores
from memvault.search.context.sentence_arrays import Layout
from memvault.search.question_forms import is_answered_with_digits, questions_in
from memvault.search.times.question_time import QuestionTime
from memvault.search.times.time_spans import Calendar
from memvault.text.encoders.embedding import Embedder
from memvault.text.words import cut_at_word
from memvault.vault.markdown.wikilink import without_wikilinks

_ByQuestion = Sequence[Floats]  # the scores of the sentences, (n,), for each question
_ADDED_DIVISOR = 2  # half as much as the excerpt, at most, is for what others added next to it
UNNAMED_DIVISOR = 4  # a quarter of an excerpt at most is for properties that nobody asked for
READ_WHOLE = 10  # notes whose every sentence is compared; of later ones only the passage found
_MAX_LENGTH_FACTOR = 2  # times the limit: a sentence longer than that is cut at a word
# A sentence is often completed by the next one ("When was it?" "In May") and prepared by the one
# before; a label ("To fold all:", a callout's title) says nothing without what follows it.
_AFTER, _AFTER_LABEL, _BEFORE = 0.5, 0.75, 0.25
# Share of the best sentence's worth; sentences after the best replace any that is worth less.
_MIN_SHARE = 0.6
_LABEL_CHARS = 60
_ENDED = re.compile(r"[.!。！…|][\"'”’)\]*]*\Z")
_HAS_NUMBER = re.compile(r"\d")
_NUMBER_BONUS = 0.25  # share that a sentence with a number gains if a number is asked for
_NOT_SHOWN = 2.0  # more than any score; taken off those of sentences that are not shown


class Excerpt(NamedTuple):
    """``heading`` is the path of headings above its best sentence, joined by `` > ``; ``lines`` are
    the note's lines that contain it, from line 1 if it begins with properties. ``own_only`` is
    whether it is the person's own part of a note that others wrote in, too; ``additions`` are then
    what others wrote next to it."""

    text: str
    heading: str
    lines: LineRange
    own_only: bool = False
    additions: tuple[Addition, ...] = ()


class Excerpts:
    """Chooses excerpts of the notes found. Thread-safe.

    Args:
        outlines: of the notes, which others may use, too.
        own_only: withhold properties that others set.
        calendar: today, in the person's calendar.
    """

    def __init__(
        self,
        outlines: Outlines,
        embedder: Embedder,
        *,
        own_only: bool = False,
        calendar: Callable[[], Calendar] = Calendar,
    ) -> None:
        self._outlines = outlines
        self._embedder = embedder
        self._chooser = PropertyChooser(embedder)
        self._own_only = own_only
        self._calendar = calendar

    def of(
        self,
        query: str,
        hits: Sequence[Hit],
        limits: Sequence[int],
        *,
        fully_read: int = READ_WHOLE,
    ) -> list[Excerpt]:
        """For each memory the properties that the question names, and the sentences most relevant
        to it, as many as fit.

        Sentences are scored as for a distilled context (`scoring`), by their neighbours, and by
        whether they name a day of the time that the question asks about. ``…`` marks an omission;
        if an excerpt joins parts below different headings, each part has its heading.

        Args:
            hits: best first.
            limits: UTF-8 bytes for each memory, about four for a token of English; one sentence is
                shown even if it is longer.
            fully_read: memories compared sentence by sentence; of others only the passage found.
        """
        questions = [query, *questions_in(query)]
        time = QuestionTime.read(query, self._calendar())
        vectors = [self._embedder.begin_query(question) for question in questions]
        outlines = self._read_outlines(hits, fully_read)
        by_question = [
            scores(question, vector(), hits, outlines)
            for question, vector in zip(questions, vectors, strict=True)
        ]
        excerpts = []
        for hit, outline, scores_of_note, limit in zip(
            hits, outlines, zip(*by_question, strict=True), limits, strict=True
        ):
            answering = self._chooser.answering(hit.memory, query)
            lines = self._with_writers(query, hit.memory, answering)
            excerpt = Excerpt(hit.text, hit.heading, hit.lines)
            if outline.statements:
                with_code = (
                    _with_code(question, note_scores, outline)
                    for question, note_scores in zip(questions, scores_of_note, strict=True)
                )
                scored = [_with_days(time, hit.memory, outline, each) for each in with_code]
                room = limit - min(_size(lines), limit // 2)
                excerpt = _excerpt(hit, outline, scored, room)
            further = self._further_properties(query, hit.memory, lines, excerpt, limit)
            excerpts.append(_with_properties([*lines, *further], excerpt))
        return excerpts

    def _read_outlines(self, hits: Sequence[Hit], count: int) -> list[Outline]:
        """The outlines of the first notes; of later ones, and where a note has no sentences, those
        of the passages found."""
        outlines = [
            outline
            if outline is not None and outline.statements
            else self._outlines.of_passage(hit, outline.code if outline is not None else ())
            for hit, outline in zip(hits[:count], self._outlines.of(hits[:count]), strict=True)
        ]
        return outlines + [self._outlines.of_passage(hit) for hit in hits[count:]]

    def _further_properties(
        self, query: str, memory: Memory, lines: Sequence[str], excerpt: Excerpt, limit: int
    ) -> list[str]:
        """Properties besides these lines, in room that the excerpt leaves, unless the question
        names some: they may answer it in other words."""
        if memory.provenance.is_mixed:  # a client's property would make the excerpt a client's
            return []
        if named_properties(memory, query):
            return []
        room = limit - _size(lines) - len(excerpt.text.encode())
        further = first_properties(memory, min(limit // UNNAMED_DIVISOR, room), excluded=lines)
        return self._with_writers(query, memory, further)

    def _with_writers(self, query: str, memory: Memory, lines: Sequence[str]) -> list[str]:
        return lines_with_writers(memory, lines, query, withhold=self._own_only)


def _size(lines: Sequence[str]) -> int:
    """The bytes of these lines with their ends."""
    return sum(len(line.encode()) + 1 for line in lines)


def _with_properties(properties: Sequence[str], excerpt: Excerpt) -> Excerpt:
    if not properties:
        return excerpt
    text = "\n".join([*map(without_wikilinks, properties), excerpt.text]).rstrip()
    lines = LineRange(1, excerpt.lines.last)
    return Excerpt(text, excerpt.heading, lines, additions=excerpt.additions)


def _with_code(question: str, scores: Scores, outline: Outline) -> Floats:
    """(n,) the score of each sentence for a question, 0 for a sentence that is not shown.

    Code raises the score of the sentence that introduces it to its own, else of the one after it.
    """
    is_shown = outline.layout.byte_counts > 0
    with_code = scores.statements * is_shown
    if is_answered_with_digits(question):
        has_number = [bool(_HAS_NUMBER.search(each.text)) for each in outline.statements]
        with_code *= 1.0 + _NUMBER_BONUS * np.array(has_number, np.bool_)
    for code, score in zip(outline.code, scores.code, strict=True):
        index = code.lead if code.lead is not None else code.follower
        if index is not None and is_shown[index]:
            with_code[index] = max(with_code[index], score)
    return with_code


def _with_days(
    time: QuestionTime | None, memory: Memory, outline: Outline, scores: Floats
) -> Floats:
    """The scores; sentences that name a day of the time, or whose headings do, gain the score of
    the best one."""
    if time is None:
        return scores
    of_time = np.array(are_of_time(time, memory, outline), np.bool_)
    return scores + (scores.max() or 1.0) * (of_time & (outline.layout.byte_counts > 0))


def _excerpt(hit: Hit, outline: Outline, scores: _ByQuestion, limit: int) -> Excerpt:
    """The best sentences of a note; ``scores`` are those of its sentences for each question."""
    memory, provenance = hit.memory, hit.memory.provenance
    of_others = outline.written_by_others(memory)
    whole, outline = outline, outline.of_best_author(memory, scores)
    statements, sizes = outline.statements, outline.layout.byte_counts.tolist()
    chosen = _best_places(outline, scores, limit)
    room = limit - sum(sizes[index] for index in chosen)
    code: dict[Code, int] = {}
    room -= _add_code(code, outline, chosen, room)
    neighbours = _neighbours(outline.layout, chosen, room)
    chosen += neighbours
    room -= sum(sizes[index] for index in neighbours)
    room -= _add_code(code, outline, chosen, room)
    if sum(sizes) - sum(sizes[index] for index in chosen) <= room:
        chosen += [index for index, size in enumerate(sizes) if size and index not in chosen]
    elif room > limit // 2:
        chosen += _following(sizes, chosen, room)
    best_sentence = statements[chosen[0]]
    if len(chosen) == 1 and sizes[chosen[0]] > _MAX_LENGTH_FACTOR * limit:
        text = f"{cut_at_word(best_sentence.shown, _MAX_LENGTH_FACTOR * limit)} {CUT}"
    else:
        cut = {piece.lead for piece in outline.code if piece.lead is not None and piece not in code}
        text = text_of_excerpt(memory.title, statements, sorted(chosen), code, cut)
    ranges = [statements[index].lines for index in chosen] + [block.lines for block in code]
    first, last = min(lines.first for lines in ranges), max(lines.last for lines in ranges)
    has_foreign = not of_others.isdisjoint(chosen) or not all(
        provenance.of_lines(block.lines).is_person for block in code
    )
    own_only = provenance.is_mixed and not has_foreign
    return Excerpt(
        text,
        " > ".join(best_sentence.heading),
        LineRange(first, last),
        own_only,
        tuple(
            _cut(each, limit)
            for each in additions(hit, whole, outline, chosen, limit // _ADDED_DIVISOR)
        ),
    )


def _cut(addition: Addition, limit: int) -> Addition:
    """The addition, cut at a word if it is longer than so many bytes."""
    if len(addition.text.encode()) <= limit:
        return addition
    return addition._replace(text=f"{cut_at_word(addition.text, limit)} {CUT}")


def _worth(outline: Outline, scores: Floats) -> Floats:
    """(n,) the scores, increased by a share of the neighbours' scores and relative to the best; -1
    for a sentence not shown."""
    numbers = outline.layout.heading_numbers
    adjacent = numbers[1:] == numbers[:-1]  # (n - 1,) whether a sentence and the next are
    is_label = np.array([_is_label(each.text) for each in outline.statements[:-1]], np.bool_)
    worth = scores.copy()
    worth[1:] += adjacent * np.where(is_label, _AFTER_LABEL, _AFTER) * scores[:-1]
    worth[:-1] += adjacent * _BEFORE * scores[1:]
    worth[outline.layout.byte_counts == 0] = -1.0
    greatest = worth.max()
    return worth / greatest if greatest > 0.0 else worth


@lru_cache(maxsize=20_000)
def _is_label(text: str) -> bool:
    if text.endswith((":", "?", "：", "？")):
        return True
    return len(text) < _LABEL_CHARS and " | " not in text and not _ENDED.search(text)


def _best_places(outline: Outline, scores: _ByQuestion, limit: int) -> list[int]:
    """For each question its best sentence, then the worthiest ones that fit into ``limit`` bytes;
    the first is chosen even if it does not fit."""
    sizes = outline.layout.byte_counts
    worth = np.stack([_worth(outline, of_question) for of_question in scores]).max(axis=0)
    order = np.argsort(-worth, kind="stable")
    best_by_question = [
        int(np.where(sizes > 0, of_question, of_question - _NOT_SHOWN).argmax())
        for of_question in scores
    ]
    chosen = best_by_question[:1]
    room = limit - int(sizes[chosen[0]])
    for index in (*best_by_question, *order[worth[order] >= _MIN_SHARE].tolist()):
        size = int(sizes[index])
        if 0 < size <= room and index not in chosen:
            chosen.append(index)
            room -= size
    return chosen


def _neighbours(layout: Layout, chosen: Sequence[int], room: int) -> list[int]:
    """The sentences next to the chosen ones in their sections that fit into so many bytes."""
    neighbours: list[int] = []
    used_places = set(chosen)
    sizes, headings = layout.byte_counts.tolist(), layout.heading_numbers.tolist()
    for index in chosen:
        for direction in (range(index + 1, len(sizes)), range(index - 1, -1, -1)):
            for neighbour in direction:
                if headings[neighbour] != headings[index]:
                    break
                if neighbour in used_places:
                    continue
                size = sizes[neighbour]
                if size > room:
                    break
                if size:
                    neighbours.append(neighbour)
                    used_places.add(neighbour)
                room -= size
    return neighbours


def _following(sizes: Sequence[int], chosen: Sequence[int], room: int) -> list[int]:
    """The sentences after the best one, across sections, as many as fit into so many bytes: for a
    best sentence in a short section.

    Args:
        sizes: of all sentences, in bytes.
    """
    following: list[int] = []
    for index in range(chosen[0] + 1, len(sizes)):
        if index not in chosen and sizes[index]:
            if sizes[index] > room:
                break
            following.append(index)
            room -= sizes[index]
    return following


def _add_code(code: dict[Code, int], outline: Outline, chosen: Sequence[int], room: int) -> int:
    """Add the code that chosen sentences introduce, or else explain, as far as it fits.

    Each piece is added with the index of its sentence, the best sentence's first. Returns the
    number of bytes added, at most ``room``.
    """
    ranks = {index: rank for rank, index in enumerate(chosen)}
    candidates = [
        (ranks[index], number, index)
        for number, piece in enumerate(outline.code)
        if piece not in code
        and (index := next((p for p in (piece.lead, piece.follower) if p in ranks), None))
        is not None
    ]
    added_bytes = 0
    for _, number, index in sorted(candidates):
        piece = outline.code[number]
        size = len(piece.block.text.encode())
        if added_bytes + size <= room:
            code[piece] = index
            added_bytes += size
    return added_bytes


def text_of_excerpt(
    title: str,
    statements: Sequence[Statement],
    chosen: Sequence[int],
    code: Mapping[Code, int],
    without_code: Collection[int],
) -> str:
    """The chosen sentences as they follow each other in the note; ``…`` is the code of those in
    ``without_code``."""
    headings = {statements[index].heading for index in chosen}
    text = CUT + " " if any(statement.shown for statement in statements[: chosen[0]]) else ""
    for position, index in enumerate(chosen):
        statement = statements[index]
        previous = statements[chosen[position - 1]] if position else None
        if len(headings) > 1 and (previous is None or previous.heading != statement.heading):
            text = f"{text.rstrip()}\n{_heading(title, statement.heading)}\n".lstrip("\n")
        pieces = sorted(
            (piece for piece, piece_place in code.items() if piece_place == index),
            key=lambda piece: piece.lines,
        )
        for piece in pieces:
            if piece.lead != index:  # code that comes before its sentence
                text = f"{text.rstrip()}\n{piece.fenced}\n".lstrip("\n")
        following = chosen[position + 1] if position + 1 < len(chosen) else None
        code_below = [f"\n{piece.fenced}" for piece in pieces if piece.lead == index]
        if index in without_code:
            code_below.append(f"\n{CUT}")
        text += "".join((statement.shown, *code_below, _gap(statements, index, following)))
    return text.strip()


def _heading(title: str, heading: Sequence[str]) -> str:
    path = heading[1:] if heading and heading[0].casefold() == title.casefold() else heading
    return f"[{' > '.join(path) or title}]"


def _gap(statements: Sequence[Statement], index: int, following: int | None) -> str:
    """The text between a sentence and the next one that is shown."""
    skipped = any(statement.shown for statement in statements[index + 1 : following])
    mark = f" {CUT}" if skipped else ""
    if following is None:
        return mark
    is_new_line = statements[following].lines.first > statements[index].lines.last
    return mark + ("\n" if is_new_line else " ")
