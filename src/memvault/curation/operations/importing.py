"""Imports of conversations: each becomes a session note, once; one import is one change.

A note is recognised by its id, wherever the person moved it. If a conversation continued since,
only the body of its note is updated, and only if that body is still as it was imported: the history
keeps its hash. Notes that the person changed or removed stay so, and an older export takes no turn
away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from memvault.curation.changes.curator import Curator, Described
from memvault.curation.changes.history import History
from memvault.curation.changes.plan import Attribution
from memvault.curation.changes.staging import Staging
from memvault.curation.origins.provenance import SOURCE, spoken_key
from memvault.curation.origins.sentence_digests import added
from memvault.model.change import ChangeKind
from memvault.model.errors import NoteNotFound, StorageError
from memvault.model.moments import day_of
from memvault.vault.compose import compose_note
from memvault.vault.conversations.conversation import (
    NAMES,
    Conversation,
    Exported,
    Provider,
    UnreadableEntry,
)
from memvault.vault.conversations.export_files import read_export
from memvault.vault.files import Vault
from memvault.vault.frontmatter.fences import claimed_id, split_frontmatter
from memvault.vault.ignore import UNKNOWN
from memvault.vault.parse import content_hash

_FADED = re.compile(rb"^faded:", re.MULTILINE)
_IMPORTED = re.compile(rb"^(?:conversation|imported):", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SkippedConversation:
    """A conversation whose note was not updated, and why."""

    title: str
    path: str | None
    reason: str


@dataclass(slots=True)
class ImportReport:
    """The result of an import, by path; ``unchanged`` counts conversations that exist already."""

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: int = 0
    left_alone: list[SkippedConversation] = field(default_factory=list)
    skipped: list[UnreadableEntry] = field(default_factory=list)


def import_conversations(
    curator: Curator,
    source: Path,
    provider: Provider,
    *,
    progress: Callable[[int], None] | None = None,
) -> ImportReport:
    """Import the new conversations of an export file, zip or folder as one change.

    Args:
        progress: called after each conversation with the number read so far.

    Raises:
        InvalidParams: the source is not an export of this provider.
        StorageError, DiskFull: nothing was imported.
    """
    imported_hashes = _imported_texts(curator.history)
    why = Attribution("", f"Imported from {NAMES[provider]}.", kind="person")

    def stage(staging: Staging) -> Described[ImportReport]:
        run = _Import(staging, imported_hashes, curator.now())
        for done, item in enumerate(read_export(source, provider), 1):
            run.add(item)
            if progress is not None:
                progress(done)
        staging.memo |= {SOURCE: provider, **run.texts}
        return run.report, tuple(run.titles), tuple(run.texts)

    return curator.perform_described(stage, ChangeKind.IMPORTED, why).result


class _Import:
    """Stages the conversations of one export.

    Args:
        imported_hashes: the hash of each text that was imported before, by the id of its note.
    """

    def __init__(self, staging: Staging, imported_hashes: Mapping[str, str], now: datetime) -> None:
        self._staging = staging
        self._now = now
        self._hashes = dict(imported_hashes)
        self._paths = _imported_notes(staging.vault)
        self.report = ImportReport()
        self.titles: list[str] = []
        self.texts: dict[str, str] = {}  # like `_hashes`, for notes that are added or updated

    def add(self, item: Exported | UnreadableEntry) -> None:
        if isinstance(item, UnreadableEntry):
            self.report.skipped.append(item)
            return
        note = compose_note(item.properties(), item.body())
        path = self._paths.get(item.id)
        if path is not None:
            self._update(item, path, _body(note))
        elif item.id in self._hashes:
            self._leave(item, None, "its note was removed")
        else:
            day = day_of(item.created or self._now)
            folder = self._staging.vault.folders.of(item.lifecycle, item.project, day)
            path = self._staging.create_note(folder, item.title, note)
            self._paths[item.id] = path
            self.report.added.append(path)
            self._imported(item, path, note)

    def _update(self, conversation: Exported, path: str, body: bytes) -> None:
        """Replace the body if it is still the imported one; the frontmatter keeps its bytes."""
        data = self._staging.read(path)
        current = _body(data)
        imported_hash = self._hashes.get(conversation.id)
        has_faded = _FADED.search(data[: len(data) - len(current)]) is not None
        is_older = current.startswith(body + b"\n")  # what follows is in later paragraphs
        if current == body or is_older or (has_faded and content_hash(body) == imported_hash):
            self.report.unchanged += 1
        elif has_faded:
            self._leave(conversation, path, "its note has faded; bring back its full text first")
        elif content_hash(current) != imported_hash:
            self._leave(conversation, path, "its note was edited")
        else:
            changed = data[: len(data) - len(current)] + body
            self._staging.write(path, changed)
            self.report.updated.append(path)
            self._imported(conversation, path, changed)

    def _leave(self, conversation: Exported, path: str | None, reason: str) -> None:
        self.report.left_alone.append(SkippedConversation(conversation.title, path, reason))

    def _imported(self, conversation: Exported, path: str, note: bytes) -> None:
        self.titles.append(conversation.title)
        self.texts[conversation.id] = self._hashes[conversation.id] = content_hash(_body(note))
        if digests := added(None, _spoken(conversation)):
            self._staging.memo[spoken_key(path)] = " ".join(digests)


def _imported_texts(history: History) -> dict[str, str]:
    """The hash of each imported text, by the id of its note, without undone imports."""
    kinds = {ChangeKind.IMPORTED, ChangeKind.IMPORT_UPDATED}
    newest_first = history.changes(kinds=kinds)
    active = [change for change in newest_first if change.undone_by is None]
    return {key: text for change in reversed(active) for key, text in change.memo.items()}


def _imported_notes(vault: Vault) -> dict[str, str]:
    """The paths of the notes that came from an import, by id."""
    if vault.ignore_rules.are_unknown:  # they would count as removed
        raise StorageError(UNKNOWN)
    paths: dict[str, str] = {}
    for stat in vault.walk():
        try:
            note = vault.read(stat.path)
        except NoteNotFound:  # gone since it was listed
            continue
        note_id = claimed_id(note)
        if note_id and _IMPORTED.search(split_frontmatter(note)[0]):
            paths.setdefault(note_id, stat.path)
    return paths


def _spoken(conversation: Exported) -> bytes:
    """The person's turns of the conversation, plain and as its note words them."""
    if not isinstance(conversation, Conversation):
        return b""
    turns = [turn.text for turn in conversation.turns if turn.is_person]
    return "\n\n".join([*turns, *(f"You: {text}" for text in turns)]).encode()


def _body(note: bytes) -> bytes:
    return re.sub(rb"\A\r?\n", b"", split_frontmatter(note)[1])
