"""Conversations in: each becomes a session note, once.

A note is known again by its id, wherever the person moved it. A conversation that went on since
is brought up to date in its note's body alone, and only while that body is as it was imported:
its hash stands in the journal. What the person changed or removed stays as they left it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

from memvault.curation.changes.journal_decoder import with_versions
from memvault.curation.provenance import ADDED, SPOKEN, added
from memvault.model.errors import NoteNotFound
from memvault.vault.compose import compose_note
from memvault.vault.conversations import Conversation, Exported, Provider, Unreadable, read_export
from memvault.vault.files import Vault
from memvault.vault.journal import Actor, Journal, JournalEntry
from memvault.vault.version_store import VersionStore

_HEAD = re.compile(
    rb"(?:\xef\xbb\xbf)?---[ \t]*\r?\n.*?^---[ \t]*\r?\n(?:\r?\n)?", re.DOTALL | re.MULTILINE
)
_ID = re.compile(rb"^id:[ \t]*[\"']?([0-9A-Fa-f-]{36})[\"']?[ \t]*\r?$", re.MULTILINE)
_IMPORTED = re.compile(rb"^(?:conversation|imported):", re.MULTILINE)
_KINDS = frozenset({"imported", "import_updated"})


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """A conversation whose note the import did not touch though it could have."""

    title: str
    path: str | None
    reason: str


@dataclass(slots=True)
class ImportReport:
    """What an import did, by path; ``unchanged`` counts the conversations already there."""

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: int = 0
    left_alone: list[LeftAlone] = field(default_factory=list)
    skipped: list[Unreadable] = field(default_factory=list)


def import_conversations(
    vault: Vault,
    journal: Journal,
    source: Path,
    provider: Provider,
    *,
    progress: Callable[[int], None] | None = None,
) -> ImportReport:
    """Read an export file, zip or folder and write what is new in it.

    Args:
        progress: called after each conversation with the number done so far.

    Raises:
        InvalidParams: the source is not an export of this provider.
        StorageError, DiskFull: a note cannot be written; those before it are.
    """
    return _Import(vault, journal).run(source, provider, progress)


class _Import:
    def __init__(self, vault: Vault, journal: Journal) -> None:
        self._vault = vault
        self._journal = journal
        self._contents = VersionStore(vault)
        self._report = ImportReport()
        self._hashes: dict[str, str] = {
            entry.note_id: str(entry.data.get("body_hash"))
            for entry in journal.entries()
            if entry.kind in _KINDS and entry.note_id
        }
        self._paths = _imported_notes(vault)

    def run(
        self, source: Path, provider: Provider, progress: Callable[[int], None] | None
    ) -> ImportReport:
        for done, item in enumerate(read_export(source, provider), 1):
            if isinstance(item, Unreadable):
                self._report.skipped.append(item)
            else:
                self._take(item)
            if progress is not None:
                progress(done)
        return self._report

    def _take(self, conversation: Exported) -> None:
        note = compose_note(conversation.properties(), conversation.body())
        path = self._paths.get(conversation.id)
        if path is not None:
            self._update(conversation, path, _body(note))
        elif conversation.id in self._hashes:
            self._leave(conversation, None, "its note was removed")
        else:
            path = self._vault.create(conversation.folder, conversation.title, note)
            self._paths[conversation.id] = path
            self._report.added.append(path)
            self._log("imported", conversation, path, None, note)

    def _update(self, conversation: Exported, path: str, body: bytes) -> None:
        """Replace the body if it is still the imported one; frontmatter stays byte for byte."""
        there = _body(self._vault.read(path))
        if there == body:
            self._report.unchanged += 1
            return
        imported = self._hashes.get(conversation.id)
        replaced = [b""]

        def change(data: bytes) -> bytes:
            replaced[0] = data
            if _hash(_body(data)) != imported:
                return data
            return data[: len(data) - len(_body(data))] + body

        written = self._vault.edit(path, change)
        if _body(written) != body:
            self._leave(conversation, path, "its note was edited")
            return
        self._report.updated.append(path)
        self._log("import_updated", conversation, path, replaced[0], written)

    def _leave(self, conversation: Exported, path: str | None, reason: str) -> None:
        self._report.left_alone.append(LeftAlone(conversation.title, path, reason))

    def _log(
        self, kind: str, conversation: Exported, path: str, before: bytes | None, note: bytes
    ) -> None:
        body_hash = self._hashes[conversation.id] = _hash(_body(note))
        entry = JournalEntry(
            ts=datetime.now(UTC),
            kind=kind,
            actor=Actor(kind="person"),
            note_id=conversation.id,
            path=path,
            data={
                "source": conversation.provider,
                "conversation": conversation.external_id,
                "body_hash": body_hash,
                ADDED: added(before, note),
                SPOKEN: added(None, _spoken(conversation)),
            },
        )
        self._journal.append(with_versions(entry, self._contents, before, note))


def _imported_notes(vault: Vault) -> dict[str, str]:
    """The paths of the notes that came from an import, by id."""
    paths: dict[str, str] = {}
    for stat in vault.walk():
        try:
            head = _HEAD.match(vault.read(stat.path))
        except NoteNotFound:  # gone since it was listed
            continue
        if head is None or not _IMPORTED.search(head[0]):
            continue
        found = _ID.search(head[0])
        if found is not None:
            paths.setdefault(found[1].decode("ascii").lower(), stat.path)
    return paths


def _spoken(conversation: Exported) -> bytes:
    """What the person said in the conversation, also as its note has it."""
    if not isinstance(conversation, Conversation):
        return b""
    said = [turn.text for turn in conversation.turns if turn.is_person]
    return "\n\n".join([*said, *(f"You: {text}" for text in said)]).encode()


def _body(note: bytes) -> bytes:
    head = _HEAD.match(note)
    return note[head.end() :] if head else note


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
