"""The provenance of a note, made from the origins of its sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from memvault.curation.sentence_digests import Unit
from memvault.model.provenance import PERSON, Origin, OriginSpan, Provenance


def provenance_of(
    judged: Sequence[tuple[Unit, Origin]], stamp: str, *, verifiable: bool
) -> Provenance:
    """The provenance of the note with these sentences; see `Provenance` for the arguments."""
    lines: dict[int, Origin] = {}
    share: dict[Origin, int] = defaultdict(int)
    own: list[str] = []
    spoken: list[str] = []
    properties: list[str] = []
    foreign = {unit.words for unit, origin in judged if not origin.is_person}
    for unit, origin in judged:
        if not origin.is_person:
            known = lines.get(unit.line)
            if known is None or origin.trust < known.trust:
                lines[unit.line] = origin
        if unit.is_body:
            share[origin] += len(unit.words)
            if origin.is_person and unit.words not in foreign:
                own.append(unit.words)
            elif origin.is_spoken:
                spoken.append(unit.words)
        elif origin.is_person:
            properties.append(unit.words)
    if not lines:
        return Provenance(stamp=stamp)
    return Provenance(
        origin=max(share, key=lambda origin: share[origin], default=PERSON),
        spans=tuple(_spans(lines)),
        own=" ".join(own),
        spoken=" ".join(spoken),
        own_properties=tuple(properties),
        own_parts=tuple(_own_parts(judged, lines)),
        verifiable=verifiable,
        stamp=stamp,
    )


def _own_parts(
    judged: Iterable[tuple[Unit, Origin]], lines: Mapping[int, Origin]
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
