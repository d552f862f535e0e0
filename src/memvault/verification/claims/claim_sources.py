"""Where a claim is from: its note and place, and whose words it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from memvault.model.memory import Memory, MemoryOf
from memvault.model.note import LineRange
from memvault.model.provenance import Origin, OriginKind, plain_words
from memvault.model.search import Conflict
from memvault.model.verification import ConflictKind
from memvault.vault.frontmatter.dates import read_date
from memvault.verification.claims.claims import Claim, ClaimSource

_DAY = re.compile(r"\A\d{4} \d\d \d\d ")  # in front of an annotation, as `plain_words` leaves it


def source_of(memory: Memory, heading: str, lines: LineRange) -> ClaimSource:
    """The source of the claims in a passage of a memory."""
    day = memory.date.date() if memory.date is not None else None
    if day is not None and not is_own_day(day, memory):
        day = None
    return ClaimSource(
        memory.id, memory.path, memory.title, heading, lines, memory.type, memory.project, day
    )


def is_own_day(day: date, memory: Memory) -> bool:
    """Whether a note's day is from its path or its writer's properties.

    A client may have set a day in the person's note; that is not its own day.
    """
    provenance = memory.provenance
    if not provenance.is_mixed:
        return True
    texts = (memory.path, *provenance.own_properties)
    moments = (read_date(text) for text in texts)
    digits = f"{day:%Y %m %d}"  # as `plain_words` leaves a date
    return any(moment is not None and moment.date() == day for moment in moments) or any(
        digits in text for text in texts
    )


def origin_of_claim(claim: Claim, memory: Memory | None) -> Origin:
    """The origin of a claim of this memory."""
    if memory is None:
        return Origin(kind=OriginKind.MEMVAULT)
    if claim.source.is_property:
        return memory.provenance.of_property(claim.sentence)
    return memory.provenance.of_sentence(claim.sentence, claim.source.lines)


def is_claimed(conflict: Conflict, memory_of: MemoryOf) -> bool:
    """Whether the person nowhere wrote the sentence that states a conflict."""
    side = next(side for side in conflict.sides if side.line is not None)
    memory = memory_of(side.node.id)
    if memory is None or side.line is None:
        return True
    provenance, line = memory.provenance, LineRange(side.line, side.line)
    if provenance.of_sentence(side.text, line).is_person:
        return False
    own_sentences = (_DAY.sub("", words) for words in provenance.own.split("\n"))
    return plain_words(side.text) not in own_sentences


def is_outdating(conflict: Conflict, memory_of: MemoryOf) -> bool:
    """Whether a supersession outdates its second side.

    What another states of the person's note does not, until the person confirms it.
    """
    outdated = memory_of(conflict.sides[1].node.id)
    is_own = outdated is not None and not outdated.is_claim
    return not (is_own and is_claimed(conflict, memory_of))


def outdated_notes(conflicts: Iterable[Conflict], memory_of: MemoryOf) -> frozenset[str]:
    """The ids of the notes that supersessions among these conflicts outdate."""
    return frozenset(
        conflict.sides[1].node.id
        for conflict in conflicts
        if conflict.kind is ConflictKind.SUPERSESSION and is_outdating(conflict, memory_of)
    )
