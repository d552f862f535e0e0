"""The actions that tools, pages and the command line share; each is one change of the vault.

An action resolves its targets, stages the operation, makes the change unless it is a preview, and
updates the indexes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from memvault.curation.changes.change_folders import remove_left_folders
from memvault.curation.changes.curator import ChangeResult, Described
from memvault.curation.changes.forgetting import (
    Restored,
    stage_forgetting,
    stage_restoring,
)
from memvault.curation.changes.plan import Attribution
from memvault.curation.changes.staging import Staging
from memvault.curation.changes.undo import UndoResult
from memvault.curation.indexed_changes import IndexedChanges
from memvault.curation.link_targets import LinkTargets, find_link_targets
from memvault.curation.operations.annotate import stage_annotation
from memvault.curation.operations.brief import Brief, stage_brief
from memvault.curation.operations.draft import Draft
from memvault.curation.operations.edit import EditResult, NoteEdit, stage_edit, stage_rewriting
from memvault.curation.operations.fade import last_fading, stage_reconstruction
from memvault.curation.operations.merge import MergeResult, check_aliases, stage_merge
from memvault.curation.operations.move import (
    Move,
    archive_paths,
    lifecycle_path,
    stage_move,
    stage_moves,
)
from memvault.curation.operations.move_folder import (
    FolderMove,
    notes_in,
    source_folder,
    stage_folder_move,
)
from memvault.curation.operations.preferences import Preference, get_preference, set_preference
from memvault.curation.operations.properties import (
    PropertyChange,
    stage_importance,
    stage_lifecycle,
    stage_pin,
    stage_tags,
    stage_verification,
)
from memvault.curation.operations.remember import remember, secrets_in
from memvault.curation.targets import Target
from memvault.model.change import Change, ChangeKind
from memvault.model.memory import Lifecycle
from memvault.model.moments import day_of
from memvault.vault.compose import compose_note
from memvault.vault.file_names import safe_name


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory that was stored.

    Attributes:
        links: what the names in ``link_to`` mean; the note links to all but the ``unlinked`` ones.
        secrets: the kinds of secrets in the text.
    """

    path: str
    change: Change | None
    links: LinkTargets
    secrets: tuple[str, ...]


class Actions(IndexedChanges):
    """Changes the vault and updates the indexes. Thread-safe.

    Every method raises MemvaultError if it fails, and then nothing was changed.
    """

    # -- new notes ------------------------------------------------------------------------------

    def store(self, draft: Draft, *, kind: Literal["client", "person"] = "client") -> StoredMemory:
        """Write a memory as a new note.

        A link to a name that no note has yet is written all the same. A link to several notes, or
        to an unknown id or path, is left out.

        Args:
            kind: who wrote the text.
        """
        index = self.indexed().notes
        targets = find_link_targets(draft.link_to, index.memories)
        done = remember(self.curator, draft, targets, index, kind=kind)
        self.update_indexes([done.result.path])
        secrets = tuple(sorted(set(secrets_in(draft).values())))
        return StoredMemory(done.result.path, done.change, targets, secrets)

    def write(self, title: str, text: str, why: Attribution, *, next_to: str) -> ChangeResult[str]:
        """Create a note with this title in the folder of the note at ``next_to``."""
        name = title.rpartition("/")[2]
        stem = safe_name(name)
        body = text.replace("\r\n", "\n").strip() + "\n"
        data = body.encode() if stem == name else compose_note({"aliases": [name]}, body)
        folder = next_to.rpartition("/")[0]
        path = f"{folder}/{stem}.md" if folder else f"{stem}.md"
        return self._perform(
            lambda staging: staging.create(path, data), ChangeKind.CREATED, (title,), (), why
        )

    def compress(
        self, brief: Brief, why: Attribution, kind: ChangeKind = ChangeKind.COMPRESSED
    ) -> ChangeResult[str]:
        """Write a brief; its sources go where the brief says."""
        now, ids = self.curator.now(), tuple(source.id for source in brief.sources)
        return self._perform(
            lambda staging: stage_brief(staging, brief, now),
            kind, (brief.title,), ids, why,
        )  # fmt: skip

    def set_preference(self, key: str, value: str, why: Attribution) -> ChangeResult[Preference]:
        """Set a preference in the note that has the key, else in preferences.md."""
        present = get_preference(self.indexed().keyvalue, self.curator.vault.folders, key)
        path = present.path if present else None
        done = set_preference(self.curator, key, value, why, path=path)
        self.update_indexes([done.result.path])
        return done

    # -- existing notes -------------------------------------------------------------------------

    def edit(
        self, name: str, edit: NoteEdit, why: Attribution, *, preview: bool = False
    ) -> ChangeResult[EditResult]:
        index = self.indexed().notes

        def stage(staging: Staging, target: Target) -> EditResult:
            edited = stage_edit(staging, target, edit)
            if why.by_client:
                check_aliases(staging, edited.path, index)
            return edited

        return self._change(name, ChangeKind.EDITED, stage, why, preview=preview)

    def rewrite(
        self,
        name: str,
        rewritten: Callable[[bytes], bytes],
        version: str,
        why: Attribution,
        kind: ChangeKind = ChangeKind.EDITED,
    ) -> ChangeResult[None]:
        """Rewrite a note if its content hash is still ``version``.

        Raises NoteConflict: somebody saved it in the meantime; their text stays.
        """

        return self._change(name, kind, lambda s, t: stage_rewriting(s, t, rewritten, version), why)

    def annotate(
        self,
        name: str,
        text: str,
        why: Attribution,
        kind: ChangeKind = ChangeKind.ANNOTATED,
        *,
        preview: bool = False,
    ) -> ChangeResult[str]:
        """Add a remark to a note; of a client's on a concept, the new note is not permanent."""
        today = day_of(self.curator.now())
        lifecycle = Lifecycle.TEMPORARY if why.by_client else None
        return self._change(
            name, kind, lambda s, t: stage_annotation(s, t, text, today, lifecycle=lifecycle), why,
            preview=preview,
        )  # fmt: skip

    def set_importance(
        self,
        name: str,
        why: Attribution,
        *,
        importance: float | None = None,
        delta: float | None = None,
        preview: bool = False,
    ) -> ChangeResult[PropertyChange]:
        def stage(staging: Staging, target: Target) -> PropertyChange:
            history = self.curator.history
            return stage_importance(
                staging,
                target,
                importance=importance,
                delta=delta,
                concept_importance=history.importance_of(target.node_ids),
            )

        return self._change(name, ChangeKind.BOOSTED, stage, why, preview=preview)

    def set_lifecycle(
        self,
        name: str,
        lifecycle: Lifecycle,
        why: Attribution,
        *,
        move: bool = False,
        preview: bool = False,
    ) -> ChangeResult[PropertyChange]:
        """Set the lifecycle; with ``move`` the note goes to that lifecycle's folder."""
        index, folders = self.indexed().notes, self.curator.vault.folders

        def stage(staging: Staging, target: Target) -> PropertyChange:
            done, note = stage_lifecycle(staging, target, lifecycle), target.note
            proposed = lifecycle_path(note, lifecycle, folders) if note is not None else None
            if note is None or proposed is None or not move:
                return replace(done, proposed_path=proposed)
            moved = stage_moves(
                staging, index, [note], {note.path: proposed}, reads_as_before=why.by_client
            )
            return replace(done, path=moved[note.path])

        return self._change(name, ChangeKind.LIFECYCLE_SET, stage, why, preview=preview)

    def move(
        self, name: str, destination: str, why: Attribution, *, preview: bool = False
    ) -> ChangeResult[Move]:
        """Move a note to a folder, or to a path that ends in ``.md``."""
        index = self.indexed().notes
        return self._change(
            name, ChangeKind.MOVED,
            lambda s, t: stage_move(s, index, t, destination, reads_as_before=why.by_client),
            why, preview=preview,
        )  # fmt: skip

    def move_folder(
        self, folder: str, destination: str, why: Attribution, *, preview: bool = False
    ) -> ChangeResult[FolderMove]:
        """Move the notes of a folder (`stage_folder_move`), and remove it if it is empty then.

        Raises NoteNotFound: the folder has no notes.
        """
        index, folder = self.indexed().notes, source_folder(self.curator.vault, folder)
        notes = notes_in(index.memories.all(), folder)
        done = self._perform(
            lambda staging: stage_folder_move(
                staging, index, folder, notes, destination, reads_as_before=why.by_client
            ),
            ChangeKind.MOVED, (folder,), tuple(note.id for note in notes), why, preview=preview,
        )  # fmt: skip
        if done.change is not None:
            remove_left_folders(self.curator.vault, done.result.moved_from, done.result.moved)
        return done

    def archive_project(
        self, project: str, why: Attribution, *, preview: bool = False
    ) -> ChangeResult[dict[str, str]]:
        """Move the notes of a project's folder to the archive; gives their new paths.

        Raises NoteNotFound: the project has no folder.
        """
        index = self.indexed().notes
        moves = archive_paths(index.memories.all(), project, self.curator.vault.folders)
        notes = [note for path in moves if (note := index.memories.by_path(path)) is not None]
        return self._perform(
            lambda staging: stage_moves(
                staging, index, notes, moves, reads_as_before=why.by_client
            ),
            ChangeKind.ARCHIVED, (project,), tuple(note.id for note in notes), why, preview=preview,
        )  # fmt: skip

    def verify(
        self, name: str, why: Attribution, *, verified: bool, by: str, preview: bool = False
    ) -> ChangeResult[PropertyChange]:
        today = day_of(self.curator.now())
        return self._change(
            name,
            ChangeKind.VERIFIED,
            lambda s, t: stage_verification(s, t, verified=verified, by=by, on=today),
            why,
            preview=preview,
        )

    def pin(self, name: str, why: Attribution, *, pinned: bool) -> ChangeResult[PropertyChange]:
        return self._change(
            name, ChangeKind.PROPERTY_SET, lambda s, t: stage_pin(s, t, pinned=pinned), why
        )

    def set_tags(
        self, name: str, tags: Sequence[str], why: Attribution
    ) -> ChangeResult[PropertyChange]:
        return self._change(name, ChangeKind.PROPERTY_SET, lambda s, t: stage_tags(s, t, tags), why)

    def reconstruct(
        self, name: str, why: Attribution, *, preview: bool = False
    ) -> ChangeResult[str]:
        """Bring back the full text of a faded note; gives its path."""
        history = self.curator.history

        def stage(staging: Staging, target: Target) -> str:
            last = last_fading(history, target.note) if target.note is not None else None
            return stage_reconstruction(staging, target, last, history.content)

        return self._change(name, ChangeKind.RECONSTRUCTED, stage, why, preview=preview)

    def merge(
        self, sources: Sequence[str], target: str, why: Attribution, *, preview: bool = False
    ) -> ChangeResult[MergeResult]:
        """Merge the sources into the target, which may be one of them."""
        index, into = self.indexed().notes, self.target(target)
        merged = [self.target(name) for name in sources]
        names = tuple(dict.fromkeys(concerned.name for concerned in (into, *merged)))
        return self._perform(
            lambda staging: stage_merge(staging, index, merged, into),
            ChangeKind.MERGED, names, into.node_ids, why, preview=preview,
        )  # fmt: skip

    # -- forgetting and undoing -----------------------------------------------------------------

    def forget(
        self,
        targets: Sequence[Target],
        why: Attribution,
        *,
        permanent: bool = False,
        preview: bool = False,
    ) -> ChangeResult[None]:
        """Forget notes and concepts as one change; ``permanent`` deletes the notes at once."""

        def stage(staging: Staging) -> None:
            for target in targets:
                stage_forgetting(staging, target, permanent=permanent)

        names = tuple(target.name for target in targets)
        ids = tuple(key for target in targets for key in target.node_ids)
        return self._perform(stage, ChangeKind.FORGOTTEN, names, ids, why, preview=preview)

    def restore(self, name: str, why: Attribution) -> ChangeResult[Restored]:
        """Restore the forgotten note or concept with this hash, id, path or name."""
        curator = self.curator

        def stage(staging: Staging) -> Described[Restored]:
            restored = stage_restoring(
                staging, curator.tombstones, curator.history, name, curator.now()
            )
            return restored, (restored.tombstone.name,), restored.tombstone.node_ids

        done = curator.perform_described(stage, ChangeKind.RESTORED, why)
        return self._indexed_after(done)

    def undo(
        self, reversal_hashes: Sequence[str], why: Attribution, *, preview: bool = False
    ) -> UndoResult:
        undone = self.curator.undo(reversal_hashes, why, preview=preview)
        if undone.change is not None:
            self.update_indexes(undone.change.paths)
        return undone
