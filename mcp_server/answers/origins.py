"""Marks the origin of every memory in an answer, and removes unverified claims from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memvault.model.memory import Memory
from memvault.model.note import LineRange
from memvault.model.provenance import Origin, OriginKind

if TYPE_CHECKING:
    from indexer.catalogue import Catalogue

# The fields that quote a note; all others name or measure it.
QUOTATIONS = frozenset({
    "content", "text", "sentence", "said", "snippet", "content_snippet", "opening", "excerpt",
    "quote", "summary", "statement", "rationale", "current_content", "content_before",
    "content_after", "before", "after", "raw_content", "explanation",
})  # fmt: skip
# The fields that show so much of a memory that the person's origin is marked, too.
_TEXTS = frozenset({"content", "text", "current_content", "raw_content"})
_TITLED = frozenset({"title", "name"})


def marked(value: Any, catalogue: Catalogue, *, gated: bool = False) -> Any:
    """The answer with the origin of every memory in it; if ``gated``, without unverified claims."""
    if isinstance(value, list):
        return [marked(item, catalogue, gated=gated) for item in value]
    if not isinstance(value, dict):
        return value
    marked_fields = {
        key: marked(item, catalogue, gated=gated) if isinstance(item, dict | list) else item
        for key, item in value.items()
    }
    memory = _memory(value, catalogue)
    if memory is None:
        return marked_fields
    if value.get("origin") == OriginKind.PERSON:
        return marked_fields  # the tool shows the person's own words alone
    line = value.get("line")
    origin = _origin_of(memory, value.get("lines", None if line is None else [line, line]))
    if origin.is_person:
        is_named = not _TITLED.isdisjoint(value) and not QUOTATIONS.isdisjoint(value)
        if is_named or not _TEXTS.isdisjoint(value):
            marked_fields.setdefault("origin", str(origin.kind))
        return marked_fields
    marked_fields["origin"] = str(origin.kind)
    if origin.name:
        marked_fields["written_by"] = origin.name
    marked_fields.setdefault("verified", memory.verified)
    if gated and not marked_fields["verified"]:
        marked_fields |= {
            key: ""
            for key in marked_fields
            if key in QUOTATIONS and isinstance(marked_fields[key], str)
        }
    return marked_fields


def _memory(shape: Mapping[str, Any], catalogue: Catalogue) -> Memory | None:
    for key in ("stated_in", "path"):  # a quoted sentence is of the note that states it
        place = shape.get(key)
        if isinstance(place, str) and (memory := catalogue.by_path(place)) is not None:
            return memory
    for key in ("id", "node_id"):
        name = shape.get(key)
        if isinstance(name, str) and (memory := catalogue.by_id(name)) is not None:
            return memory
    return None


def _origin_of(memory: Memory, lines: object) -> Origin:
    """The origin of the shown lines, or of the whole note without lines: the person only if all of
    it is theirs."""
    if isinstance(lines, list) and [type(number) for number in lines] == [int, int]:
        return memory.provenance.of_lines(LineRange(*lines))
    return memory.provenance.claimant
