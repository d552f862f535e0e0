"""Changes to the vault, and curation tasks: what a person could correct."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel

from memvault.model.memory import Memory, Tombstone


class Actor(BaseModel, frozen=True):
    """Who made a change: an AI client, a person, or memvault itself."""

    kind: Literal["client", "person", "system"]
    name: str = ""
    session: str = ""  # of a client


SYSTEM = Actor(kind="system", name="memvault")


class ChangeKind(StrEnum):
    """Kinds of changes, as past participles."""

    CREATED = "created"
    IMPORTED = "imported"
    IMPORT_UPDATED = "import_updated"
    PREFERENCE_SET = "preference_set"
    MERGED = "merged"
    ANNOTATED = "annotated"
    BOOSTED = "boosted"
    LIFECYCLE_SET = "lifecycle_set"
    MOVED = "moved"
    ARCHIVED = "archived"
    VERIFIED = "verified"
    PROPERTY_SET = "property_set"
    FORGOTTEN = "forgotten"
    PURGED = "purged"
    RESTORED = "restored"
    EDITED = "edited"
    MANIFEST_APPLIED = "manifest_applied"
    COMPRESSED = "compressed"
    CAPTURED = "captured"
    FADED = "faded"
    RECONSTRUCTED = "reconstructed"
    DREAMED = "dreamed"  # a dream proposed it, and the person accepted it
    UNDONE = "undone"


class FileChange(BaseModel, frozen=True):
    """One file of a change.

    ``before`` and ``after`` are the blake2b-128 hashes of its bytes in hex, None where no file
    was at ``path``. ``moved_to`` is the new path of a file that was moved; then ``after`` is None
    unless the change also edited it.
    """

    path: str
    before: str | None = None
    after: str | None = None
    moved_to: str | None = None
    added: tuple[str, ...] = ()  # digests of the sentences that it added (`curation.origins`)
    carried: tuple[str, ...] = ()  # digests of those that it had from another note of the change
    # Digests of the sentences in which only links changed, each with that of the earlier sentence.
    relinked: dict[str, str] = {}
    # Of a client's change: what `curation.origins.reframing.reframed` returns.
    reframed: tuple[str, ...] = ()
    own_places: tuple[str, ...] = ()
    new_places: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()  # empty in older journals
    beside: tuple[str, ...] = ()  # digests of earlier sentences, which a renamed note still has
    note_id: str | None = None  # in its frontmatter, "" if it has none; None in older journals
    was_verified: bool = False  # whether it had ``verified: true`` before
    mtime_ns: int | None = None  # when it was saved before the change; None in older journals

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.path, self.moved_to) if self.moved_to else (self.path,)

    @property
    def place(self) -> str:
        """The file's path after the change."""
        return self.moved_to or self.path

    @property
    def final_hash(self) -> str | None:
        """The hash of the bytes that the change left; None if it deleted the file."""
        return self.after or (self.before if self.moved_to else None)


class FactKind(StrEnum):
    JOINED = "joined"  # concepts without notes were merged into one
    IMPORTANCE = "importance"


class Fact(BaseModel, frozen=True):
    """A fact about concepts without a note, which only the journal can hold.

    Attributes:
        node_ids: the concepts' nodes in the graph; for ``joined``, the nodes that were removed.
        names: the concepts' names.
        into, into_id, into_kind: for ``joined``, name, node id and kind of the merged concept.
        value: for ``importance``, in [0, 1].
    """

    kind: FactKind
    node_ids: tuple[str, ...]
    names: tuple[str, ...]
    into: str | None = None
    into_id: str | None = None
    into_kind: str | None = None
    value: float | None = None


MARKED_RIGHT = "verified"  # key in the memo of a change; "true" or "false"


class Change(BaseModel, frozen=True):
    """An atomic change of the vault.

    Attributes:
        reversal_hash: identifies the change; undo takes it.
        client: the client that requested it; empty for a person's and the system's changes.
        node_ids, names: the memories and concepts concerned.
        facts: facts about concepts without notes.
        merged_from: ids of the memories that were merged into ``node_ids``.
        undoes: reversal hashes of the changes that this change undid.
        undone_by: the change that undid this one, unless that was itself undone.
        forgot: tombstones of the forgotten memories and concepts.
        restored: reversal hashes of the forgettings whose memories were restored.
        folders: those that did not exist before it.
        memo: data that the operation needs again; of an import, the hash of each text by the id
            of its note; of a verification, whether the note was marked as right (`MARKED_RIGHT`).
        undoable: whether undo can be attempted.
        call: the key of the call that made it; "" if it had none.
        position: as `order`, where that differs from ``at``.
    """

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
    folders: tuple[str, ...] = ()
    memo: dict[str, str] = {}
    undone_by: str | None = None
    undoable: bool = True
    call: str = ""
    position: datetime | None = None

    @property
    def order(self) -> datetime:
        """The time by which changes are sorted.

        It is later than that of the change before, even if the clock was set back in between.
        """
        return self.position or self.at

    @property
    def paths(self) -> tuple[str, ...]:
        """All distinct paths of the changed files."""
        return tuple(dict.fromkeys(path for file in self.files for path in file.paths))


class Priority(StrEnum):
    HIGH = "high"  # answers may be wrong
    MEDIUM = "medium"
    LOW = "low"  # answers may be incomplete


class TaskType(StrEnum):
    """Kinds of tasks; tasks of equal priority are listed in this order."""

    MALFORMED_FRONTMATTER = "malformed_frontmatter"
    MALFORMED_TEXT = "malformed_text"
    CLIENT_ACTIVITY = "client_activity"
    CONFLICTING_FACTS = "conflicting_facts"
    UNVERIFIED_CRITICAL = "unverified_critical"
    NEAR_DUPLICATES = "near_duplicates"
    STALE_FACT = "stale_fact"
    SUPERSEDED = "superseded"
    UNRESOLVED_LINKS = "unresolved_links"
    ORPHAN = "orphan"
    PROMOTION = "promotion"
    FINISHED_PROJECT = "finished_project"
    MISSING_LINK = "missing_link"
    CLUSTER_SUMMARY = "cluster_summary"
    OPEN_QUESTION = "open_question"
    ANSWERED_QUESTION = "answered_question"


class TaskAction(BaseModel, frozen=True):
    """A tool call that resolves a task once a person agrees.

    The caller adds a rationale and, where the tool stores a note, its content."""

    tool: str
    arguments: dict[str, Any]

    @classmethod
    def by(cls, tool: str, **arguments: Any) -> TaskAction:
        return cls(tool=tool, arguments=arguments)


_PRESSING = {priority: place for place, priority in enumerate(Priority)}
_FIRST = {task_type: place for place, task_type in enumerate(TaskType)}


class CurationTask(BaseModel, frozen=True):
    """A defect of the vault that a person can correct.

    ``target_nodes`` are memory ids and ``paths`` their notes, in the same order. Each call of
    ``settled_by`` resolves the task, the best first. Where no tool can, ``detail`` says what to do.
    ``proposal`` is the key of what a dream proposes. ``subject`` distinguishes the task from others
    of its type about the same notes.
    """

    task_type: TaskType
    target_nodes: tuple[str, ...]
    paths: tuple[str, ...]
    priority: Priority
    detail: str
    settled_by: tuple[TaskAction, ...] = ()
    proposal: str = ""
    subject: str = ""

    @classmethod
    def about(
        cls,
        memories: Sequence[Memory],
        task_type: TaskType,
        priority: Priority,
        detail: str,
        *settled_by: TaskAction,
        proposal: str = "",
        subject: str = "",
    ) -> CurationTask:
        """A task whose targets are the notes of these memories."""
        return cls(
            task_type=task_type,
            target_nodes=tuple(memory.id for memory in memories),
            paths=tuple(memory.path for memory in memories),
            priority=priority,
            detail=detail,
            settled_by=settled_by,
            proposal=proposal,
            subject=subject,
        )

    @property
    def order(self) -> tuple[int, int, tuple[str, ...]]:
        """Sort key: priority, then kind, then paths."""
        return _PRESSING[self.priority], _FIRST[self.task_type], self.paths
