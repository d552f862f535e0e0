"""Who wrote a note whose history is not in this vault, by the properties that memvault gave it.

Sync tools that leave out folders whose name begins with a dot bring the notes without the journal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from memvault.curation.origins.sentence_digests import SentenceUnit
from memvault.curation.origins.sentence_origins import SentenceOrigins
from memvault.model.provenance import Origin, OriginKind
from memvault.vault.frontmatter.fences import split_frontmatter

_ID = "id:"  # the property that no client can write into a note that is there
_PROPERTY = re.compile(rb"(?<![^\r\n])(source|rationale|conversation|imported):[ \t]*([^\r\n]+)")


def stated_origin(data: bytes) -> Origin | None:
    """The origin that the frontmatter of a note with an id states; None if it states none.

    The notes that clients store have a source and a rationale, imported ones a source and the
    provider's own id.
    """
    stated = dict(_PROPERTY.findall(split_frontmatter(data)[0]))
    name = stated.pop(b"source", b"").decode("utf-8", "replace").strip(" \t\"'")
    if not name or not stated:
        return None
    kind = OriginKind.CLIENT if b"rationale" in stated else OriginKind.IMPORT
    return Origin(kind=kind, name=name)


def is_recorded(sentences: Iterable[SentenceUnit], records: Iterable[SentenceOrigins]) -> bool:
    """Whether the journal says who stored a note that states its origin, or that the person
    verified it."""
    id_line = {
        digest
        for unit in sentences
        if not unit.is_body and unit.text.startswith(_ID)
        for digest in unit.digests
    }
    return any(
        record.whole is not None
        or not id_line.isdisjoint(record.origins)
        or any(adoption.is_valid for adoption in record.adoptions.values())
        for record in records
    )
