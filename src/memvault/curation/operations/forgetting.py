"""Forgetting as part of a larger change."""

from __future__ import annotations

from memvault.curation.changes.plan import Forgetting
from memvault.curation.changes.staging import Staging
from memvault.curation.targets import Target, concept_ids, names_of_memory
from memvault.model.graph import NodeKind


def stage_forgetting(staging: Staging, target: Target) -> Forgetting:
    """Send a note to the trash, or leave a concept without one out of the graph.

    Raises:
        NoteNotFound: the note is gone already.
    """
    if target.note is not None:
        staging.read(target.note.path)
    forgetting = Forgetting(
        name=target.name,
        kind=target.kind,
        node_ids=target.node_ids,
        hidden=tuple(sorted(hidden_by(target))),
        path=target.note.path if target.note else None,
    )
    staging.forget(forgetting)
    return forgetting


def hidden_by(target: Target) -> frozenset[str]:
    """The nodes without a note that the graph leaves out while this is forgotten."""
    if target.note is not None:
        return concept_ids(names_of_memory(target.note))
    own = frozenset(target.node_ids)
    return own if target.kind == NodeKind.TAG else own | concept_ids([target.name])
