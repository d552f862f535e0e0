"""Something in the memory that a person could put right."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from memvault.model.memory import Tombstone


class Actor(BaseModel):
    """Who did it: an AI client, a person, or memvault itself."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["client", "person", "system"]
    name: str = ""


class ChangeKind(StrEnum):
    """What was done, as a past participle."""

    CREATED = "created"
    IMPORTED = "imported"
    IMPORT_UPDATED = "import_updated"
    PREFERENCE_SET = "preference_set"
    MERGED = "merged"
    ANNOTATED = "annotated"
    BOOSTED = "boosted"
    LIFECYCLE_SET = "lifecycle_set"
    VERIFIED = "verified"
    PROPERTY_SET = "property_set"
    FORGOTTEN = "forgotten"
    PURGED = "purged"
    RESTORED = "restored"
    EDITED = "edited"
    MANIFEST_APPLIED = "manifest_applied"
    COMPRESSED = "compressed"
    CAPTURED = "captured"
    UNDONE = "undone"


class FileChange(BaseModel):
    """One file of a change. ``before`` and ``after`` are blake2b-128 of its bytes, in hex, None
    where no file stood at ``path``. ``moved_to`` is where the file went, its bytes as before."""

    model_config = ConfigDict(frozen=True)

    path: str
    before: str | None = None
    after: str | None = None
    moved_to: str | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.path, self.moved_to) if self.moved_to else (self.path,)


class FactKind(StrEnum):
    JOINED = "joined"  # concepts without notes that are one concept from now on
    IMPORTANCE = "importance"


class Fact(BaseModel):
    """What a change says of concepts that have no note to hold it.

    Attributes:
        node_ids: the concepts' nodes in the graph; of ``joined`` those that are no more.
        names: what they go by.
        into: of ``joined``, the name of the concept that they are now.
        into_id: its node.
        into_kind: its kind.
        value: of ``importance``, in [0, 1].
    """

    model_config = ConfigDict(frozen=True)

    kind: FactKind
    node_ids: tuple[str, ...]
    names: tuple[str, ...]
    into: str | None = None
    into_id: str | None = None
    into_kind: str | None = None
    value: float | None = None


class Change(BaseModel):
    """Something done to the vault, all of it or nothing.

    Attributes:
        reversal_hash: names the change, so that it can be taken back.
        client: the client through which it came, empty for a person's own and the system's.
        node_ids, names: the memories and concepts that it is about.
        facts: what it says of concepts without notes.
        merged_from: ids of what was merged into ``node_ids``.
        undoes: the changes that this one took back.
        undone_by: the change that took this one back, if one did and was not itself taken back.
        forgot: what it forgot, to be restored by these.
        restored: reversal hashes of what was forgotten and is there again.
        undoable: whether taking it back can be tried at all.
    """

    model_config = ConfigDict(frozen=True)

    reversal_hash: str
    kind: ChangeKind
    at: datetime
    actor: Actor
    client: str = ""
    rationale: str = ""
    reason: str | None = None
    node_ids: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    files: tuple[FileChange, ...] = ()
    facts: tuple[Fact, ...] = ()
    merged_from: tuple[str, ...] = ()
    undoes: tuple[str, ...] = ()
    forgot: tuple[Tombstone, ...] = ()
    restored: tuple[str, ...] = ()
    undone_by: str | None = None
    undoable: bool = True

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that it touched, each once."""
        return tuple(dict.fromkeys(path for file in self.files for path in file.paths))


class Priority(StrEnum):
    HIGH = "high"  # answers may be wrong
    MEDIUM = "medium"
    LOW = "low"  # answers may lack something


class TaskType(StrEnum):
    """In the order in which tasks of one priority are shown."""

    MALFORMED_FRONTMATTER = "malformed_frontmatter"
    MALFORMED_TEXT = "malformed_text"
    CONFLICTING_FACTS = "conflicting_facts"
    UNVERIFIED_CRITICAL = "unverified_critical"
    NEAR_DUPLICATES = "near_duplicates"
    STALE_FACT = "stale_fact"
    SUPERSEDED = "superseded"
    UNRESOLVED_LINKS = "unresolved_links"
    ORPHAN = "orphan"


class Settling(BaseModel):
    """A call that settles a task once a person agrees. Still to be added are a rationale and, where
    a note is to be stored, what it says."""

    model_config = ConfigDict(frozen=True)

    tool: str
    arguments: dict[str, Any]

    @classmethod
    def by(cls, tool: str, **arguments: Any) -> Settling:
        return cls(tool=tool, arguments=arguments)


_PRESSING = {priority: place for place, priority in enumerate(Priority)}
_FIRST = {task_type: place for place, task_type in enumerate(TaskType)}


class CurationTask(BaseModel):
    """``target_nodes`` are memory ids and ``paths`` their notes, in the same order.

    Each of ``settled_by`` settles it, the best first. Where no tool can, ``detail`` says what does.
    """

    model_config = ConfigDict(frozen=True)

    task_type: TaskType
    target_nodes: tuple[str, ...]
    paths: tuple[str, ...]
    priority: Priority
    detail: str
    settled_by: tuple[Settling, ...] = ()

    @property
    def order(self) -> tuple[int, int, tuple[str, ...]]:
        """Most pressing first, then by kind and path."""
        return _PRESSING[self.priority], _FIRST[self.task_type], self.paths
