"""The passage of a note that answers a question: whole sentences, word for word, in order."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from memvault.model.memory import Memory
from memvault.model.note import LineRange
from memvault.model.search import Hit
from memvault.search.claimed_properties import lines_with_writers
from memvault.search.context.number_questions import is_answered_with_digits
from memvault.search.context.outline import Code, Outline, Outlines, Statement
from memvault.search.context.properties import PropertyChooser, first_properties, named_properties
from memvault.search.context.scoring import Scores, are_of_time, scores
from memvault.search.excerpt_text import CUT, cut_at_word, text_of_excerpt
from memvault.search.single_questions import questions_in
from memvault.search.times.question_time import QuestionTime
from memvault.search.times.time_spans import Calendar
from memvault.text.encoders.embedding import Embedder

_ByQuestion = Sequence[Sequence[float]]  # the scores of the sentences, for each question
UNNAMED_DIVISOR = 4  # a quarter of an excerpt at most is for properties that nobody asked for
READ_WHOLE = 10  # notes whose every sentence is compared; of later ones only the passage found
# Code that plugins of Obsidian replace by query results: the code itself says nothing.
_QUERIES = frozenset(("dataview", "dataviewjs", "tasks"))
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


class Excerpt(NamedTuple):
    """``heading`` is the path of headings above its best sentence, joined by `` > ``; ``lines`` are
    the note's lines that contain it, from line 1 if it begins with properties. ``own_only`` is
    whether it is the person's own part of a note that others wrote in, too."""

    text: str
    heading: str
    lines: LineRange
    own_only: bool = False


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
        named_lines = [
            self._with_writers(query, hit.memory, self._chooser.answering(hit.memory, query))
            for hit in hits
        ]
        excerpts = [
            _excerpt(
                hit.memory,
                outline,
                [
                    _with_days(
                        time, hit.memory, outline, _with_code(question, note_scores, outline)
                    )
                    for question, note_scores in zip(questions, scores_of_note, strict=True)
                ],
                limit - min(sum(len(line.encode()) + 1 for line in lines), limit // 2),
            )
            if outline.statements
            else Excerpt(hit.text, hit.heading, hit.lines)
            for hit, outline, scores_of_note, lines, limit in zip(
                hits, outlines, zip(*by_question, strict=True), named_lines, limits, strict=True
            )
        ]
        return [
            _with_properties(
                [*lines, *self._further_properties(query, hit.memory, lines, excerpt, limit)],
                excerpt,
            )
            for hit, lines, excerpt, limit in zip(hits, named_lines, excerpts, limits, strict=True)
        ]

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
        room = limit - sum(len(line.encode()) + 1 for line in lines) - len(excerpt.text.encode())
        further = first_properties(memory, min(limit // UNNAMED_DIVISOR, room), excluded=lines)
        return self._with_writers(query, memory, further)

    def _with_writers(self, query: str, memory: Memory, lines: Sequence[str]) -> list[str]:
        return lines_with_writers(memory, lines, query, withhold=self._own_only)


def _with_properties(properties: Sequence[str], excerpt: Excerpt) -> Excerpt:
    if not properties:
        return excerpt
    text = "\n".join([*properties, excerpt.text]).rstrip()
    return Excerpt(text, excerpt.heading, LineRange(1, excerpt.lines.last))


def _with_code(question: str, scores: Scores, outline: Outline) -> list[float]:
    """The score of each sentence for a question, 0 for a sentence that is not shown.

    Code raises the score of the sentence that introduces it to its own, else of the one after it.
    """
    wants_digits = is_answered_with_digits(question)
    with_code = [
        score * (1.0 + _NUMBER_BONUS * (wants_digits and bool(_HAS_NUMBER.search(statement.text))))
        if statement.shown
        else 0.0
        for score, statement in zip(scores.statements.tolist(), outline.statements, strict=True)
    ]
    for code, score in zip(outline.code, scores.code.tolist(), strict=True):
        place = code.lead if code.lead is not None else code.follower
        if place is not None and outline.statements[place].shown:
            with_code[place] = max(with_code[place], score)
    return with_code


def _with_days(
    time: QuestionTime | None, memory: Memory, outline: Outline, scores: list[float]
) -> list[float]:
    """The scores; sentences that name a day of the time, or whose headings do, gain the score of
    the best one."""
    if time is None:
        return scores
    bonus, of_time = max(scores) or 1.0, are_of_time(time, memory, outline)
    return [
        score + bonus * (is_of_time and bool(statement.shown))
        for score, is_of_time, statement in zip(scores, of_time, outline.statements, strict=True)
    ]


def _excerpt(memory: Memory, outline: Outline, scores: _ByQuestion, limit: int) -> Excerpt:
    """The best sentences of a note; ``scores`` are those of its sentences for each question."""
    provenance, of_others = memory.provenance, outline.written_by_others(memory)
    outline = outline.of_best_author(memory, scores)
    statements = outline.statements
    chosen = _best_places(statements, scores, limit)
    room = limit - sum(_byte_count(statements[place]) for place in chosen)
    code: dict[Code, int] = {}
    room -= _add_code(code, outline, chosen, room)
    neighbours = _neighbours(statements, chosen, room)
    chosen += neighbours
    room -= sum(_byte_count(statements[place]) for place in neighbours)
    room -= _add_code(code, outline, chosen, room)
    unchosen = [k for k, s in enumerate(statements) if k not in chosen and _byte_count(s)]
    if sum(_byte_count(statements[place]) for place in unchosen) <= room:
        chosen += unchosen
    elif room > limit // 2:
        chosen += _following(statements, chosen, room)
    best_sentence = statements[chosen[0]]
    if len(chosen) == 1 and _byte_count(best_sentence) > _MAX_LENGTH_FACTOR * limit:
        text = f"{cut_at_word(best_sentence.shown, _MAX_LENGTH_FACTOR * limit)} {CUT}"
    else:
        text = text_of_excerpt(memory.title, statements, sorted(chosen), code)
    ranges = [statements[place].lines for place in chosen] + [block.lines for block in code]
    first, last = min(lines.first for lines in ranges), max(lines.last for lines in ranges)
    has_foreign = not of_others.isdisjoint(chosen) or not all(
        provenance.of_lines(block.lines).is_person for block in code
    )
    own_only = provenance.is_mixed and not has_foreign
    return Excerpt(text, " > ".join(best_sentence.heading), LineRange(first, last), own_only)


def _with_neighbours(statements: Sequence[Statement], scores: Sequence[float]) -> list[float]:
    """The scores, increased by a share of the neighbours' scores; -1 for a sentence not shown."""
    worth = list(scores)
    for place, (statement, following) in enumerate(pairwise(statements)):
        if statement.heading == following.heading:
            share_after = _AFTER_LABEL if _is_label(statement.text) else _AFTER
            worth[place + 1] += share_after * scores[place]
            worth[place] += _BEFORE * scores[place + 1]
    return [
        value if statement.shown else -1.0
        for value, statement in zip(worth, statements, strict=True)
    ]


def _relative_to_best(worth: Sequence[float]) -> list[float]:
    greatest = max(worth)
    return [value / greatest for value in worth] if greatest > 0.0 else list(worth)


@lru_cache(maxsize=20_000)
def _is_label(text: str) -> bool:
    if text.endswith((":", "?", "：", "？")):
        return True
    return len(text) < _LABEL_CHARS and " | " not in text and not _ENDED.search(text)


def _best_places(statements: Sequence[Statement], scores: _ByQuestion, limit: int) -> list[int]:
    """For each question its best sentence, then the worthiest ones that fit into ``limit`` bytes;
    the first is chosen even if it does not fit."""
    by_question = [
        _relative_to_best(_with_neighbours(statements, of_question)) for of_question in scores
    ]
    worth = [max(values) for values in zip(*by_question, strict=True)]
    order = sorted(range(len(worth)), key=worth.__getitem__, reverse=True)
    best_by_question = []
    for of_question in scores:
        ranks = [(bool(s.shown), score) for s, score in zip(statements, of_question, strict=True)]
        best_by_question.append(ranks.index(max(ranks)))
    chosen = best_by_question[:1]
    room = limit - _byte_count(statements[best_by_question[0]])
    for place in (*best_by_question, *(place for place in order if worth[place] >= _MIN_SHARE)):
        size = _byte_count(statements[place])
        if 0 < size <= room and place not in chosen:
            chosen.append(place)
            room -= size
    return chosen


def _neighbours(statements: Sequence[Statement], chosen: Sequence[int], room: int) -> list[int]:
    """The sentences next to the chosen ones in their sections that fit into so many bytes."""
    neighbours: list[int] = []
    used_places = set(chosen)
    for place in chosen:
        heading = statements[place].heading
        for step in (1, -1):
            neighbour = place + step
            while 0 <= neighbour < len(statements) and statements[neighbour].heading == heading:
                if neighbour not in used_places:
                    size = _byte_count(statements[neighbour])
                    if size > room:
                        break
                    if size:
                        neighbours.append(neighbour)
                        used_places.add(neighbour)
                    room -= size
                neighbour += step
    return neighbours


def _following(statements: Sequence[Statement], chosen: Sequence[int], room: int) -> list[int]:
    """The sentences after the best one, across sections, as many as fit into so many bytes: for a
    best sentence in a short section."""
    following: list[int] = []
    for place in range(chosen[0] + 1, len(statements)):
        if place not in chosen and (size := _byte_count(statements[place])):
            if size > room:
                break
            following.append(place)
            room -= size
    return following


def _byte_count(statement: Statement) -> int:
    return len(statement.shown.encode())


def _add_code(code: dict[Code, int], outline: Outline, chosen: Sequence[int], room: int) -> int:
    """Add the code that chosen sentences introduce, or else explain, as far as it fits.

    Each piece is added with the place of its sentence, the best sentence's first. Returns the
    number of bytes added, at most ``room``.
    """
    ranks = {place: rank for rank, place in enumerate(chosen)}
    candidates = [
        (ranks[place], number, place)
        for number, piece in enumerate(outline.code)
        if piece not in code
        and not _is_mere_query(piece, outline)
        and (place := next((p for p in (piece.lead, piece.follower) if p in ranks), None))
        is not None
    ]
    added_bytes = 0
    for _, number, place in sorted(candidates):
        piece = outline.code[number]
        size = len(piece.block.text.encode())
        if added_bytes + size <= room:
            code[piece] = place
            added_bytes += size
    return added_bytes


def _is_mere_query(code: Code, outline: Outline) -> bool:
    """Whether code is a plugin's query, and no sentence introduces it as an example."""
    if code.block.language not in _QUERIES:
        return False
    return code.lead is None or not outline.statements[code.lead].text.endswith(":")
