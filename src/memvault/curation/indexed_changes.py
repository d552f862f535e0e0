"""Performs changes of the vault and updates the indexes for them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TypeVar

from memvault.curation.changes.curator import ChangeResult, Curator
from memvault.curation.changes.plan import Attribution
from memvault.curation.changes.staging import Staging
from memvault.curation.operations.merge import MergeIndex
from memvault.curation.targets import Target, raise_if_excluded, resolve
from memvault.model.change import ChangeKind
from memvault.model.errors import NoteNotFound
from memvault.stores.graph import GraphStore
from memvault.stores.graph_view import GraphView
from memvault.stores.keyvalue import KeyValueStore

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class IndexedVault:
    """The vault as it is indexed now; ``notes`` is the part that merging needs."""

    notes: MergeIndex
    edges: GraphView
    graph: GraphStore
    keyvalue: KeyValueStore


@dataclass(eq=False)
class IndexedChanges:
    """Performs staged changes, and indexes the notes that they changed. Thread-safe.

    Attributes:
        indexed: gives the current indexes.
        update_indexes: updates the indexes for these paths.
    """

    curator: Curator
    indexed: Callable[[], IndexedVault]
    update_indexes: Callable[[Collection[str]], object]

    def target(self, name: str) -> Target:
        """Find the note or concept with this id, path, file name, title or alias.

        Raises NoteNotFound (which names the rule that excludes this path), AmbiguousTarget.
        """
        indexed = self.indexed()
        try:
            return resolve(name, indexed.notes.memories, indexed.graph)
        except NoteNotFound:
            raise_if_excluded(name, self.curator.vault.ignore_rules)
            raise

    def _change(
        self,
        name: str,
        kind: ChangeKind,
        stage: Callable[[Staging, Target], Result],
        why: Attribution,
        *,
        preview: bool = False,
    ) -> ChangeResult[Result]:
        """Change the note or concept with this name."""
        target = self.target(name)
        return self._perform(
            lambda staging: stage(staging, target),
            kind, (target.name,), target.node_ids, why, preview=preview,
        )  # fmt: skip

    def _perform(
        self,
        stage: Callable[[Staging], Result],
        kind: ChangeKind,
        names: tuple[str, ...],
        node_ids: tuple[str, ...],
        why: Attribution,
        *,
        preview: bool = False,
    ) -> ChangeResult[Result]:
        """Make the staged change of these notes and concepts, unless it is a preview."""
        done = self.curator.perform(stage, kind, names, node_ids, why, preview=preview)
        return self._indexed_after(done)

    def _indexed_after(self, done: ChangeResult[Result]) -> ChangeResult[Result]:
        if done.change is not None:
            self.update_indexes(done.change.paths)
        return done
