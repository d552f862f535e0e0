"""Builds the provenance of a note from the origins of its sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from memvault.curation.origins.sentence_digests import SentenceUnit
from memvault.model.provenance import PERSON, Origin, OriginSpan, Provenance


def note_provenance(
    judged: Sequence[tuple[SentenceUnit, Origin]], stamp: str, *, verifiable: bool
) -> Provenance:
    """The provenance of a note, of which each sentence comes with its origin."""
    lines: dict[int, Origin] = {}
    word_chars: dict[Origin, int] = defaultdict(int)
    own_units: list[SentenceUnit] = []
    spoken_words: list[str] = []
    own_properties: list[str] = []
    foreign_words = {unit.words for unit, origin in judged if not origin.is_person}
    for unit, origin in judged:
        if not origin.is_person:
            other = lines.get(unit.line)
            if other is None or origin.trust < other.trust:
                lines[unit.line] = origin
        if unit.is_body:
            word_chars[origin] += len(unit.words)
            if origin.is_person and unit.words not in foreign_words:
                own_units.append(unit)
            elif origin.is_spoken:
                spoken_words.append(unit.words)
        elif origin.is_person:
            own_properties.append(unit.words)
    if not lines:
        return Provenance(stamp=stamp)
    return Provenance(
        origin=max(word_chars, key=lambda origin: word_chars[origin], default=PERSON),
        spans=tuple(_spans(lines)),
        own="\n".join(unit.words for unit in own_units),
        own_numbers=tuple(unit.line for unit in own_units),
        spoken="\n".join(spoken_words),
        own_properties=tuple(own_properties),
        own_parts=tuple(_own_parts(judged, lines)),
        verifiable=verifiable,
        stamp=stamp,
    )


def _own_parts(
    judged: Iterable[tuple[SentenceUnit, Origin]], lines: Mapping[int, Origin]
) -> Iterator[tuple[int, str]]:
    parts: dict[int, str] = defaultdict(str)
    for unit, origin in judged:
        if unit.is_body and unit.line in lines and origin.is_person:
            parts[unit.line] += unit.text
    return ((line, text.rstrip()) for line, text in parts.items())


def _spans(lines: Mapping[int, Origin]) -> Iterator[OriginSpan]:
    """The spans of neighbouring lines with the same origin."""
    first = last = 0
    origin = PERSON
    for line in sorted(lines):
        if first and line == last + 1 and lines[line] == origin:
            last = line
            continue
        if first:
            yield OriginSpan(first, last, origin)
        first = last = line
        origin = lines[line]
    if first:
        yield OriginSpan(first, last, origin)
