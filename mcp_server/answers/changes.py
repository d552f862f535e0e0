"""Answers that show changes of the history."""

from __future__ import annotations

from typing import Literal

from mcp_server.answers.base import (
    Answer,
    Filled,
    Lines,
    MemoryNamed,
    Moment,
    Shape,
    optional,
    read_from,
)
from memvault.curation.changes.change_text import description
from memvault.curation.manifest.reading import ManifestAction
from memvault.model.change import Change
from memvault.model.memory import JohariQuadrant, Lifecycle, UTLState

MAX_PATHS = 100  # of a change
MAX_LINES = 100  # of a preview or a conflict


class LineShape(Shape):
    """A line as it is (``before``) and would be (``after``); each is left out where there is none.
    ``line`` is its current number, or that of the line before it."""

    path: str
    line: int
    before: str | None = optional()
    after: str | None = optional()


class Operated(Answer):
    """``lines`` are the first lines that a preview would change; ``reversal_hash`` undoes the
    change, and is left out if nothing changed."""

    preview: bool
    lines: list[LineShape] | None = optional()
    reversal_hash: str | None = optional()


class SetAnswer(Operated):
    """``path`` is left out for a concept without a note; ``proposed_path`` is where a note of the
    new lifecycle belongs."""

    node_id: str
    path: str | None = optional()
    proposed_path: str | None = optional()
    before: str | float | bool | None
    after: str | float | bool | None


class ArchivedAnswer(Operated):
    """``moved`` has the new path of each note by its former one."""

    moved: dict[str, str]


class FolderMovedAnswer(Operated):
    """``path`` is where the folder's notes are now, or would be in a preview; ``moved`` has the new
    path of each by its former one. ``notes_changed`` are other notes whose links were rewritten."""

    moved_from: str
    path: str
    moved: dict[str, str]
    notes_changed: list[str]


class MovedAnswer(Operated):
    """``path`` is where the note is now, or would be in a preview; ``lifecycle`` and ``project``
    are those that it has there. ``notes_changed`` are the notes whose links were rewritten."""

    node_id: str
    moved_from: str
    path: str
    lifecycle: Lifecycle
    project: str | None = optional()
    notes_changed: list[str]


class ContradictedShape(MemoryNamed):
    """An older memory that contradicts the new one, with the lines that do."""

    lines: Lines
    text: str = read_from("snippet")


class RelatedShape(MemoryNamed):
    """An older memory on the same matter as the new one, which may replace what it says in
    ``text``; this is left out where an unverified claim is withheld."""

    lines: Lines | None = optional()
    text: Filled[str] = optional()


class EditedAnswer(Answer):
    """``before`` and ``after`` are the edited span."""

    node_id: str
    path: str
    before: str
    after: str
    preview: bool
    reversal_hash: str | None = optional()
    contradicts: list[ContradictedShape] | None = optional()


class AnnotatedAnswer(Operated):
    node_id: str
    path: str
    before: str | None = optional()
    after: str


class ReconstructedAnswer(Operated):
    node_id: str
    path: str


class MergedAnswer(Operated):
    """``node_id`` is what stays; ``notes_changed`` are paths, also of notes now in the trash."""

    node_id: str
    path: str | None = optional()
    merged_from: list[str]
    notes_changed: list[str]


class ActorShape(Shape):
    type: Literal["agent", "system", "user"]
    id: str


class DoneShape(Shape):
    """A change of the history; ``paths`` are the first hundred."""

    reversal_hash: str
    kind: str
    timestamp: Moment = read_from("at")
    actor: ActorShape
    description: str
    paths: list[str]


class UndoConflictShape(Shape):
    """A change that was not undone, since its note was edited later: ``lines`` are where the note
    differs from what undoing would restore. Both versions are kept."""

    reversal_hash: str
    path: str
    reason: str
    lines: Filled[list[LineShape]] = optional()


class MovedShape(Shape):
    path: str
    to: str


class UndoneAnswer(Operated):
    """``moved`` are the files that move back, also to or from the trash; ``more_moved``
    counts those that are not listed."""

    moved: list[MovedShape] | None = optional()
    more_moved: int | None = optional()
    undone: list[DoneShape]
    conflicts: list[UndoConflictShape]


class LineageEntry(Shape):
    timestamp: Moment = read_from("at")
    change_type: Literal[
        "created", "merged", "annotated", "dreamed", "boosted", "pruned", "restored"
    ]
    actor: ActorShape
    description: str
    content_before: str | None = optional()
    content_after: str | None = optional()
    reversal_hash: str | None = optional()


class LineageAnswer(Answer):
    """``current_content`` is empty without a note."""

    node_id: str
    current_content: str
    lineage: list[LineageEntry]
    merged_from: list[str]
    forked_to: list[str]


class LogEntry(Shape):
    timestamp: Moment = read_from("at")
    action: Literal["quarantine", "prune", "merge", "dream_consolidation", "adversarial_block"]
    node_ids: list[str]
    reason: str
    details: str
    recoverable: bool
    recovery_tool: str | None = optional()


class LogsAnswer(Answer):
    entries: list[LogEntry]
    explanation_for_user: str


class ForgottenAnswer(Answer):
    """``node_ids`` and ``paths`` are what no tool shows any more, or would no longer in a preview.

    ``restorable_until`` is left out for a concept without a note, of which nothing is deleted, and
    for what is deleted at once. ``linked_from`` are notes that link to it or name it; they are not
    changed. ``deletion`` answers the wish to delete for good: ``done``, or ``proposed`` to the
    person, as the note holds words of theirs and stays where it is; in a preview what it would be.
    """

    name: str
    node_ids: list[str]
    paths: list[str]
    preview: bool
    restorable_until: Moment | None = optional()
    reversal_hash: str | None = optional()
    linked_from: list[str] | None = optional()
    deletion: Literal["done", "proposed"] | None = optional()


class RestoredAnswer(Answer):
    """``paths`` is the note's current path; empty for a concept without a note."""

    name: str
    node_ids: list[str]
    paths: list[str]
    reversal_hash: str


class StoredAnswer(Answer):
    node_id: str
    path: str
    created_at: Moment
    johari_quadrant: JohariQuadrant
    utl_state: UTLState
    reversal_hash: str | None = optional()
    contradicts: list[ContradictedShape] | None = optional()
    related: Filled[list[RelatedShape]] = optional()


class SimilarPreference(Shape):
    """A preference whose key has a word of the one that was asked for."""

    key: str
    value: str
    path: str
    line: int


class PreferenceAnswer(Answer):
    """``value`` and ``path`` are null for a preference that the person never stated; ``similar``
    and ``keys`` are then those that they did state; ``reversal_hash`` undoes what was set."""

    key: str
    value: str | None
    path: str | None
    line: int | None = optional()
    reversal_hash: str | None = optional()
    similar: Filled[list[SimilarPreference]] = optional()
    keys: Filled[list[str]] = optional()


class TouchedShape(Shape):
    """A note that changes; without ``lines`` the whole note goes to the trash."""

    path: str
    lines: Filled[list[LineShape]] = optional()


class ManifestChangeShape(Shape):
    """``line`` is of the manifest, left out for a line that was deleted; ``says`` what else
    there is to know, such as that a concept means several notes, or none."""

    action: ManifestAction
    target_concepts: list[str] = read_from("concepts")
    resolved_node_ids: list[str] = read_from("node_ids")
    notes: list[TouchedShape]
    line: int | None = optional()
    says: Filled[str] = optional()


class ReloadedAnswer(Answer):
    """``errors`` name the lines of the manifest for which nothing was, or could be, applied.
    ``confirm_needed`` says why applying wants ``confirm``."""

    path: str
    preview: bool
    changes_detected: list[ManifestChangeShape]
    changes_total: int
    applied: bool
    errors: list[str]
    confirm_needed: str | None = optional()
    reversal_hash: str | None = optional()


_TYPES: dict[str, Literal["agent", "system", "user"]] = {
    "client": "agent", "person": "user", "system": "system",
}  # fmt: skip


def actor_shape(change: Change) -> ActorShape:
    """The actor in the words of graph-tools: a client is an agent, the person a user."""
    kind = _TYPES[change.actor.kind]
    return ActorShape(type=kind, id=change.actor.name or change.actor.kind)


def done_shape(change: Change) -> DoneShape:
    return DoneShape.of(
        change, actor=actor_shape(change), description=description(change),
        paths=list(change.paths)[:MAX_PATHS],
    )  # fmt: skip
