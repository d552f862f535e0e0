"""Stores a memory as a new, readable note.

Lifecycle. A lifecycle that the client names is used, as the person's request; the journal records
who asked. Otherwise a memory is temporary, as facts are (triple FR-02), or ephemeral if its type
says that it records a session or a day (FR-03). So no client makes a memory permanent on its own,
and no memory worth keeping fades. Only a preference is permanent by default (FR-01).

Folders. See `NoteFolders`.

Names. A name by which notes link to another note gets a number, so that no link changes its target.

Retries. Clients repeat calls whose answer they lost. If the same memory is stored again within ten
minutes, the existing note is returned, unless somebody changed it since.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from typing import Any, Literal
from uuid import uuid4

from memvault.curation.changes.curator import ChangeResult, Curator, Described
from memvault.curation.changes.plan import Attribution
from memvault.curation.changes.staging import Staging, numbered_paths
from memvault.curation.link_targets import LinkTargets
from memvault.curation.operations.draft import Draft, file_kind
from memvault.curation.operations.merge import MergeIndex, check_aliases
from memvault.curation.operations.note_types import known_type
from memvault.curation.origins.provenance import WEB
from memvault.model.change import ChangeKind
from memvault.model.errors import InvalidParams
from memvault.model.memory import Lifecycle, Memory
from memvault.model.moments import day_of
from memvault.text.secrets import find_secrets
from memvault.text.words import name_key
from memvault.vault.compose import (
    closed,
    compose_note,
    first_heading,
    importance_word,
    related_line,
    title_of,
)
from memvault.vault.file_names import is_agent_file, safe_name
from memvault.vault.files import Vault
from memvault.vault.links import keys_of, wikilink
from memvault.vault.write import storage_errors

RETRY_WINDOW = timedelta(minutes=10)
SESSION_TYPES = frozenset({"session", "conversation", "chat", "log", "journal", "daily"})

_STAMP = re.compile(rb"^(?:id|created): .*\n", re.MULTILINE)
_CREATED = re.compile(rb"^created: (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class StoredNote:
    """The note of a stored memory; ``id`` is None if the note existed already."""

    path: str
    title: str
    id: str | None


def remember(
    curator: Curator,
    draft: Draft,
    targets: LinkTargets | None = None,
    index: MergeIndex | None = None,
    *,
    kind: Literal["client", "person"] = "client",
) -> ChangeResult[StoredNote]:
    """Write the draft as a new note.

    Args:
        targets: the notes to which it links, and names to which it links that no note has yet.
        index: gives the shortest names for links; without it links have whole paths.
        kind: who wrote the text.

    Raises:
        InvalidParams: the bytes have an unknown file format, or `check_aliases`.
        OutsideVault, StorageError, DiskFull: see `Curator.apply`.
    """
    why = Attribution(
        draft.client or "", draft.rationale, kind=kind, session=draft.session or "", call=draft.call
    )

    def stage(staging: Staging) -> Described[StoredNote]:
        stored = _stage(
            staging, draft, targets or LinkTargets(), index, curator.now(), by_client=why.by_client
        )
        return stored, (stored.title,), (stored.id,) if stored.id else ()

    return curator.perform_described(stage, ChangeKind.CREATED, why, alone=True)


def _stage(
    staging: Staging,
    draft: Draft,
    targets: LinkTargets,
    index: MergeIndex | None,
    now: datetime,
    *,
    by_client: bool,
) -> StoredNote:
    """Stage the note of a draft and its attachment, if any."""
    title = _title(draft, now)
    lifecycle = lifecycle_of(draft)
    folder, project = _folder_of(staging.vault, lifecycle, draft.project, now)
    name = _free_name(folder, title, index, by_client=by_client)
    source = f"{folder}/{name}.md"
    stems = map(safe_name, targets.unwritten)
    new_links = [f"[[{stem}]]" for stem in stems if stem != safe_name(title)]
    known_links = [_link(memory, source, index) for memory in targets.notes]
    related_to = list(dict.fromkeys(known_links + new_links))
    properties = _properties(draft, lifecycle, project, now)
    suffix = _suffix(draft)
    embed = f"{name}{suffix}" if suffix else None
    note = compose_note(properties, _body(draft, embed, related_to))
    stored_path = _stored_already(staging.vault, source, note, now)
    if stored_path is not None:
        return StoredNote(stored_path, title, None)
    if suffix and draft.data is not None:
        attachment = staging.create_note(folder, name, draft.data, suffix=suffix)
        embed = PurePosixPath(attachment).name
        note = compose_note(properties, _body(draft, embed, related_to))
    if draft.is_fetched:
        staging.memo[WEB] = "true"
    path = staging.create_note(folder, name, note)
    if by_client and index is not None:
        check_aliases(staging, path, index)
    return StoredNote(path, title, properties["id"])


def _free_name(folder: str, title: str, index: MergeIndex | None, *, by_client: bool) -> str:
    """The file name for a title, with a number if links of that name lead to a note elsewhere, or
    if AI agents would obey a client's note of that name."""
    for path in numbered_paths(f"{folder}/{safe_name(title)}.md", first=2):
        name = PurePosixPath(path).stem
        if by_client and is_agent_file(path):
            continue
        if index is None or index.links.resolve(name, "") in (None, path):
            break
        if not index.linking(keys_of(path, ())):
            break
    return name


def lifecycle_of(draft: Draft) -> Lifecycle:
    """The lifecycle that the draft names, else that of the rule above."""
    kind = known_type(draft.type or "")
    if draft.lifecycle is not None:
        return draft.lifecycle
    if kind == "preference":
        return Lifecycle.PERMANENT
    is_record = kind in SESSION_TYPES and not draft.project
    return Lifecycle.EPHEMERAL if is_record else Lifecycle.TEMPORARY


def _title(draft: Draft, now: datetime) -> str:
    """The draft's title, else its first words; without secrets, which a file name would expose."""
    secrets = secrets_in(draft)
    for title in (draft.title, title_of(draft.content or ""), title_of(draft.rationale)):
        is_secret = any(secret in (title or "") for secret in secrets)
        if title and not is_secret and not find_secrets(title):
            return title
    return f"Memory of {day_of(now).isoformat()}"


def secrets_in(draft: Draft) -> dict[str, str]:
    """The secrets in the texts of a draft, each with its kind."""
    texts = (draft.content or "", draft.title or "", draft.rationale, *draft.link_to)
    return {
        text[secret.start : secret.end]: secret.kind
        for text in texts
        for secret in find_secrets(text)
    }


def _folder_of(
    vault: Vault, lifecycle: Lifecycle, project: str | None, now: datetime
) -> tuple[str, str | None]:
    """The folder, and the project as its folder spells it.

    For example, ``aurora-west`` means an existing ``Aurora West``.
    """
    folder = vault.note_folder(vault.folders.of(lifecycle, project, day_of(now)))
    if not project:
        return folder, None
    project_folder = _project_folder(vault, safe_name(project))
    if project_folder is None:
        return folder, project
    is_project = lifecycle is Lifecycle.TEMPORARY
    return vault.folders.within("/".join(project_folder)) if is_project else folder, (
        project if project_folder[1] == safe_name(project) else project_folder[1]
    )


def _project_folder(vault: Vault, name: str) -> tuple[str, str] | None:
    """The folder of projects, and in it that of the project with this name or a similar spelling,
    as each is written."""
    around = vault.root / vault.note_folder(vault.folders.chosen)
    if not around.is_dir():
        return None
    with storage_errors("projects"):
        tops = [folder.name for folder in around.iterdir() if folder.name.casefold() == "projects"]
        alike = [
            (top, folder.name)
            for top in sorted(tops, reverse=True)
            if (around / top).is_dir()
            for folder in sorted((around / top).iterdir())
            if name_key(folder.name) == name_key(name) and folder.is_dir()
        ]
    return min(
        alike,
        key=lambda candidate: (candidate[1] != name, candidate[1].casefold() != name.casefold()),
        default=None,
    )


def _properties(
    draft: Draft, lifecycle: Lifecycle, project: str | None, now: datetime
) -> dict[str, Any]:
    """The frontmatter in the documented order, without keys that have their default value."""
    keys: dict[str, Any] = {
        "id": str(uuid4()),
        "lifecycle": str(lifecycle),
        "type": draft.type,
        "project": project,
        "importance": importance_word(draft.importance),
        "tags": list(draft.tags) or None,
        "created": now.astimezone(UTC),
        "rationale": draft.rationale,
        "source": draft.client,
        "modality": draft.modality if draft.modality != "text" else None,
    }
    return {key: value for key, value in keys.items() if value is not None} | draft.metadata


def _suffix(draft: Draft) -> str | None:
    if draft.data is None:
        return None
    kind = file_kind(draft.data)
    if kind is None or kind.modality != draft.modality:
        raise InvalidParams(
            f"content_base64 is no {draft.modality} of a format that Obsidian shows "
            "(PNG, JPEG, GIF, WebP, BMP, AVIF; MP3, WAV, OGG, FLAC, M4A; MP4, MOV, WebM, MKV)"
        )
    return kind.suffix


def _body(draft: Draft, embed: str | None, related: list[str]) -> str:
    """The text under its title; for a file, its embed with the rationale as description."""
    content = draft.content if embed is None else f"![[{embed}]]\n\n{draft.rationale}"
    parts = [(content or "").strip("\n")]
    if draft.title and (first_heading(parts[0]) or "").casefold() != draft.title.casefold():
        parts.insert(0, f"# {draft.title}")
    if related:
        parts = [closed("\n\n".join(parts)), related_line(related)]
    return "\n\n".join(parts)


def _link(memory: Memory, source: str, index: MergeIndex | None) -> str:
    takes_its_name = (
        PurePosixPath(memory.path).stem.casefold() == PurePosixPath(source).stem.casefold()
    )
    links = None if takes_its_name or index is None else index.links
    return wikilink(memory.path, source, links)


def _stored_already(vault: Vault, source: str, note: bytes, now: datetime) -> str | None:
    """The path of a note from the last ten minutes that differs only in its id and time."""
    new_text = _without_stamp(note)
    for path in numbered_paths(source, first=2):
        if (stat := vault.stat(path)) is None:
            break
        if now.timestamp() - stat.mtime_ns / 1e9 < RETRY_WINDOW.total_seconds():
            data = vault.read(path)
            if _without_stamp(data) == new_text and _is_recent(data, now):
                return path
    return None


def _without_stamp(note: bytes) -> bytes:
    head, mark, body = note.partition(b"\n---\n")
    return _STAMP.sub(b"", head + b"\n", count=2) + mark + body


def _is_recent(note: bytes, now: datetime) -> bool:
    match = _CREATED.search(note.partition(b"\n---\n")[0])
    if match is None:
        return False
    try:
        created = datetime.fromisoformat(match[1].decode("ascii"))
    except ValueError:
        return False
    return abs(now - created) <= RETRY_WINDOW
