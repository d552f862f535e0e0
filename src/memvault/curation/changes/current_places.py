"""Where the notes of a change are by now, if another program has renamed them since."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memvault.curation.changes.history import History
from memvault.curation.changes.staging import Staging, is_in_trash
from memvault.curation.moved_paths import MovedPaths
from memvault.model.change import Change, FileChange
from memvault.vault.frontmatter.fences import claimed_id
from memvault.vault.parse import content_hash


@dataclass(frozen=True, slots=True)
class CurrentPlaces:
    """Finds notes by the id that they state, others by the renames in the journal.

    Attributes:
        path_of_note: gives the path at which the note with an id was last seen, or None.
    """

    history: History
    moved: MovedPaths
    path_of_note: Callable[[str], str | None]

    def renamed(self, change: Change, file: FileChange, staging: Staging) -> FileChange:
        """The file of a change with the path that its note has now; the same object if the note
        is still at its place, or is not found."""
        place = file.place
        if file.final_hash is None or is_in_trash(place):
            return file
        current = staging.read(place) if staging.exists(place) else None
        if current is not None and content_hash(current) == file.final_hash:
            return file
        note_id = self._stated_id(change, file)
        if not note_id:
            now = self._place_by_renames(change, file, staging)
        elif current is not None and claimed_id(current) == note_id:
            return file
        else:
            now = _staged_place(self.path_of_note(note_id), staging)
        if now is None or now == place:
            return file
        if now == file.path:  # moved back by hand
            return file.model_copy(update={"moved_to": None, "after": file.final_hash})
        return file.model_copy(update={"moved_to" if file.moved_to else "path": now})

    def _place_by_renames(self, change: Change, file: FileChange, staging: Staging) -> str | None:
        """The place of the one note that was at the file's place and is the change's by its id or
        its bytes; None if there are several."""
        found = set()
        for path in (file.path, *self.moved.places_of(file.place)):
            now = _staged_place(path, staging)
            if now is None or now == file.place:
                continue
            if (
                self.moved.id_at(path) in change.node_ids
                or content_hash(staging.read(now)) == file.final_hash
            ):
                found.add(now)
        return found.pop() if len(found) == 1 else None

    def _stated_id(self, change: Change, file: FileChange) -> str:
        """The id that the note states; "" if it states none."""
        if file.note_id is not None:
            return file.note_id
        before = self.history.content(file.before) if file.before else None
        return claimed_id(before) if before is not None else _id_of_created(change, file)

    def is_known(self, change: Change, file: FileChange) -> bool:
        """Whether the note that the change created in this file was last seen somewhere."""
        return self.path_of_note(_id_of_created(change, file)) is not None


def _staged_place(path: str | None, staging: Staging) -> str | None:
    """The staged place of the file that is at this path in the vault; None if there is none.

    A foreign entry of the journal may name any path.
    """
    if path is None or not staging.vault.is_taken(path):
        return None
    now = staging.place_of(path)
    return now if staging.exists(now) else None


def _id_of_created(change: Change, file: FileChange) -> str:
    """The id of the note that the change created in this file; "" if it is not known."""
    created = [created_file for created_file in change.files if created_file.before is None]
    ids = zip(created, change.node_ids, strict=True) if len(created) == len(change.node_ids) else ()
    return next((note_id for created_file, note_id in ids if created_file == file), "")
