"""The notes that a new memory links to, found by the names that a client gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from memvault.curation.operations.draft import MAX_TITLE_CHARS
from memvault.curation.targets import nearest_names, resolve_note
from memvault.model.errors import AmbiguousTarget, NoteNotFound
from memvault.model.graph import is_uuid
from memvault.model.memory import Memory
from memvault.search.scope import MemoryLookup


@dataclass(frozen=True, slots=True)
class LinkTargets:
    """What the names of links mean.

    Attributes:
        notes: the notes that have one of the names.
        unwritten: names that no note has yet but may be given to one, each with similar names.
        unlinked: the other names, ids and paths that match no note (with similar names) or several
            (with their paths).
    """

    notes: list[Memory] = field(default_factory=list)
    unwritten: dict[str, list[str]] = field(default_factory=dict)
    unlinked: dict[str, list[str]] = field(default_factory=dict)


def find_link_targets(names: Sequence[str], memories: MemoryLookup) -> LinkTargets:
    targets = LinkTargets()
    for name in names:
        try:
            targets.notes.append(resolve_note(name, memories))
        except AmbiguousTarget as error:
            targets.unlinked[name] = [note["path"] for note in error.data["candidates"]]
        except NoteNotFound:
            missing = targets.unwritten if _is_future_name(name) else targets.unlinked
            missing[name] = nearest_names(name, memories)
    return targets


def _is_future_name(name: str) -> bool:
    """Whether a name that no note has may be given to a note later: it is no id, path or tag.

    A wikilink of its `safe_name` then resolves once a note of this name is stored.
    """
    name = name.strip()
    return (
        len(name) <= MAX_TITLE_CHARS
        and any(map(str.isalnum, name))
        and not name.startswith("#")
        and not any(slash in name for slash in "/\\")
        and not is_uuid(name)
    )
