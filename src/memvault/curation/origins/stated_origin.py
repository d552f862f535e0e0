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
_PROPERTY = re.compile(
    rb"(?<![^\r\n])(lifecycle|source|rationale|conversation|imported):[ \t]*([^\r\n]*)"
)


def stated_origin(data: bytes) -> Origin | None:
    """The origin that the frontmatter of a note with an id states; None if it states none.

    The notes that memvault stores have a lifecycle and a source, which clients may leave empty;
    those of clients have a rationale, too, and imported ones the provider's own id.
    """
    stated = dict(_PROPERTY.findall(split_frontmatter(data)[0]))
    is_stored = stated.pop(b"lifecycle", None) is not None
    source = stated.pop(b"source", None)
    if source is None or not is_stored or not stated:
        return None
    kind = OriginKind.CLIENT if b"rationale" in stated else OriginKind.IMPORT
    return Origin(kind=kind, name=source.decode("utf-8", "replace").strip(" \t\"'"))


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
