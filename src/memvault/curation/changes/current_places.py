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
        """The file of a change with the path that its note has now; the same object if its place
        is still as the change left it, or the note is not found."""
        place = file.place
        current = staging.read(place) if staging.exists(place) else None
        is_as_left = current is not None and content_hash(current) == file.final_hash
        if is_as_left or file.final_hash is None or is_in_trash(place):
            return file
        note_id = self._stated_id(change, file)
        if note_id and current is not None and claimed_id(current) == note_id:
            return file
        known = [file.path, *self.moved.places_of(place)]
        paths = [self.path_of_note(note_id)] if note_id else known
        found = {
            now
            for path in paths
            if path is not None
            and staging.vault.is_taken(path)  # a foreign entry of the journal may name any path
            and (now := staging.place_of(path)) != place
            and staging.exists(now)
            and (
                note_id
                or self.moved.id_at(path) in change.node_ids
                or content_hash(staging.read(now)) == file.final_hash
            )
        }
        if len(found) != 1:
            return file
        now = found.pop()
        if now == file.path:  # moved back by hand
            return file.model_copy(update={"moved_to": None, "after": file.final_hash})
        return file.model_copy(update={"moved_to" if file.moved_to else "path": now})

    def is_known(self, change: Change, file: FileChange) -> bool:
        """Whether the note that the change created in this file was last seen somewhere."""
        return self.path_of_note(_id_of_created(change, file)) is not None

    def _stated_id(self, change: Change, file: FileChange) -> str:
        """The id that the note states; "" if it states none."""
        if file.note_id is not None:
            return file.note_id
        before = self.history.content(file.before) if file.before else None
        return claimed_id(before) if before is not None else _id_of_created(change, file)


def _id_of_created(change: Change, file: FileChange) -> str:
    """The id of the note that the change created in this file; "" if it is not known."""
    created = [created_file for created_file in change.files if created_file.before is None]
    ids = zip(created, change.node_ids, strict=True) if len(created) == len(change.node_ids) else ()
    return next((note_id for created_file, note_id in ids if created_file == file), "")
