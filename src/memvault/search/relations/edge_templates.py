"""Templates of edges: their sentences, with all names in them masked.

"Lead: Ada Berg. Team: …" gives the templates "Lead: X" and "Team: X" for any person, so a vault of
many edges has few different templates, and a question's words are compared with the relation alone.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from memvault.model.graph import EdgeOrigin, GraphEdge

MASK = "X"
TITLE_TEMPLATE = f"about {MASK}"
_LIST_SEPARATOR = re.compile(r"[\s,;&/]*(?:and|or|&)?\s*")
_TRAILING = re.compile(r"[\s,;]+(?:with|and|or|to|of|at|in|on|for|by|from|&)\s*$")
_UNDERSCORE = re.compile(r"(?<=\w)_(?=\w)")
_MARKUP = str.maketrans("", "", "[]*_`")
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"\w")
_CALENDAR = frozenset((*calendar.month_name[1:], *calendar.day_name))
_LITERALS = (
    re.compile(
        rf"\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}} (?:{'|'.join(calendar.month_name[1:])}) \d{{4}}\b"
    ),
    re.compile(r"\b\d[\d.,]*k?\b"),
    re.compile(r"(?<=[a-z,:] )[A-Z]\w+(?: [A-Z]\w+)*|(?<!\w)[A-Z][a-z]+ [A-Z][a-z]+\b"),
)


@dataclass(frozen=True, slots=True)
class EdgeTemplate:
    """The masked text of an edge: its whole sentence, and locally the words around its target."""

    whole: str
    local: str


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    edge: int = -1  # -1 for a masked span that is no edge's target


def templates_of(
    edges: Sequence[GraphEdge], title: str, names: Iterable[str]
) -> list[EdgeTemplate]:
    """The template of every edge of one note.

    Args:
        edges: all edges of the note, in order; those of one sentence are adjacent.
        title: the note's title.
        names: the note's own names, which are masked too.
    """
    own_names = _OwnNames(names)
    templates: list[EdgeTemplate] = [EdgeTemplate("", "")] * len(edges)
    grouped = groupby(range(len(edges)), key=lambda k: (edges[k].line, edges[k].sentence))
    for _, group in grouped:
        members = list(group)
        sentence = edges[members[0]].sentence
        if sentence == title:
            for k in members:  # names in a title are adjacent without being related
                templates[k] = EdgeTemplate(TITLE_TEMPLATE, TITLE_TEMPLATE)
            continue
        for k, whole, local in _masked(sentence, edges, members, own_names):
            edge = edges[k]
            templates[k] = EdgeTemplate(_with_relation(edge, whole), _with_relation(edge, local))
    return templates


def literals(sentence: str) -> list[tuple[int, int]]:
    """Places of dates, numbers and capitalised names in a sentence, none overlapping another."""
    places: list[tuple[int, int]] = []
    for pattern in _LITERALS:
        for match in pattern.finditer(sentence):
            if _is_free(*match.span(), places) and match[0] not in _CALENDAR:
                places.append(match.span())
    return sorted(places)


def _is_free(start: int, end: int, occupied: Iterable[tuple[int, int]]) -> bool:
    """Whether a place overlaps none of these places."""
    return all(end <= other_start or other_end <= start for other_start, other_end in occupied)


class _OwnNames:
    """Finds a note's own names.

    The pattern is compiled only for a note that contains one of them, since compiling takes longer
    than all other work on a short note.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = sorted(filter(None, names), key=len, reverse=True)
        self._lower = [name.lower() for name in self._names]
        self._pattern: re.Pattern[str] | None = None

    def spans(self, sentence: str) -> list[tuple[int, int]]:
        lower = sentence.lower()
        if not any(name in lower for name in self._lower):
            return []
        if self._pattern is None:
            alternatives = "|".join(map(re.escape, self._names))
            self._pattern = re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)", re.I)
        return [match.span() for match in self._pattern.finditer(sentence)]


def _with_relation(edge: GraphEdge, text: str) -> str:
    """The text, after the relation's name if a person named it and the text does not contain it."""
    is_named = edge.origin in (EdgeOrigin.FIELD, EdgeOrigin.FRONTMATTER)
    relation = edge.relation.replace("_", " ")
    if is_named and relation.lower() not in text.lower():
        return f"{relation}: {text or MASK}"
    return text


def _masked(
    sentence: str, edges: Sequence[GraphEdge], members: list[int], own_names: _OwnNames
) -> Iterable[tuple[int, str, str]]:
    """Edge, whole template and local template, for the edges of one sentence."""
    spans: list[_Span] = []
    for k in members:
        start, end = edges[k].place, edges[k].place + edges[k].length
        if start >= 0:
            spans.append(_Span(start, end, k))
    occupied = [(span.start, span.end) for span in spans]
    for start, end in (*own_names.spans(sentence), *literals(sentence)):
        if _is_free(start, end, occupied):
            spans.append(_Span(start, end))
            occupied.append((start, end))
    lists = _lists(sentence, sorted(spans, key=lambda span: (span.start, span.end)))
    whole = _whole(sentence, lists)
    edges_with_span = {span.edge for span in spans}
    for k in members:
        if k not in edges_with_span:
            yield k, whole, whole
    for index, group in enumerate(lists):
        local = _local(sentence, lists, index)
        for span in group:
            if span.edge >= 0:
                yield span.edge, whole, local


def _lists(sentence: str, spans: list[_Span]) -> list[list[_Span]]:
    """The spans in groups: those separated only by commas or "and" form one list."""
    lists: list[list[_Span]] = []
    end = 0
    for span in spans:
        if lists and _LIST_SEPARATOR.fullmatch(sentence[end : span.start]):
            lists[-1].append(span)
        else:
            lists.append([span])
        end = max(end, span.end)
    return lists


def _whole(sentence: str, lists: list[list[_Span]]) -> str:
    """The sentence with one mask for each list."""
    text, position = "", 0
    for group in lists:
        text += sentence[position : group[0].start] + MASK
        position = max(span.end for span in group)
    return _clean(text + sentence[position:])


def _local(sentence: str, lists: list[list[_Span]], index: int) -> str:
    """The words between the list before and the list after."""
    group = lists[index]
    start = max(s.end for s in lists[index - 1]) if index else 0
    end = lists[index + 1][0].start if index + 1 < len(lists) else len(sentence)
    before = sentence[start : group[0].start]
    after = sentence[max(span.end for span in group) : end]
    if index and not _WORD.search(before):
        before = f" {MASK}{before}"
    return _clean(before + MASK + _TRAILING.sub("", after))


def _clean(text: str) -> str:
    if "_" in text:
        text = _UNDERSCORE.sub(" ", text)
    text = text.replace("::", ":").translate(_MARKUP).replace(" | ", ": ", 1)
    return _SPACE.sub(" ", text).strip(" ,;.|")
