"""Tasks about one note: malformed, stale, unverified, without links, or worth promoting."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Protocol

from memvault.curation.changes.client_limits import Excess
from memvault.model.change import CurationTask, Priority, TaskAction, TaskType
from memvault.model.graph import STATED, NodeKind
from memvault.model.memory import Lifecycle, Memory
from memvault.model.moments import is_day
from memvault.model.provenance import OriginKind
from memvault.search.scope import SavedNote
from memvault.stores.graph_view import GraphView
from memvault.text.names import kind_of
from memvault.text.note_graph import EMBED_WEIGHT
from memvault.vault.compose import title_of
from memvault.vault.documents import is_document
from memvault.vault.frontmatter.dates import read_date
from memvault.vault.frontmatter.properties import ARCHIVE, is_archived
from memvault.vault.ignore import MANIFEST
from memvault.vault.links import wikilink
from memvault.vault.note_folders import NoteFolders
from memvault.vault.parse import stem_of
from memvault.vault.session_lines import ItemKind, items_by_heading, without_speaker
from memvault.verification.sensitive_topics import sensitive_topic_of
from memvault.verification.sensitive_words import SensitiveTopic

MAX_PROPOSED = 3  # per session, so that nobody is flooded
_TYPES: dict[str, str] = {ItemKind.DECISION: "decision", ItemKind.PREFERENCE: "preference"}
_ESCAPE = re.compile(r"\\([\[#<^:%])")


def promotion(memory: Memory, data: bytes, linking: Iterable[bytes]) -> CurationTask | None:
    """A task if a captured session holds decisions or preferences that no linking note states.

    Args:
        data: the session's note.
        linking: the notes that link to it; notes with its promoted sentences are among them.
    """
    stated = " ".join(" ".join(note.decode("utf-8", "replace").split()) for note in linking)
    proposed = [(kind, text) for kind, text in _lasting(data) if text not in stated]
    if not proposed:
        return None
    calls = [
        TaskAction.by(
            "store_memory",
            content=text,
            title=title_of(text),
            type=kind,
            lifecycle=str(Lifecycle.PERMANENT),
            project=memory.project,
            link_to=[memory.id],
        )
        for kind, text in proposed[:MAX_PROPOSED]
    ]
    count = "1 decision or preference" if len(proposed) == 1 else f"{len(proposed)} decisions"
    detail = f"{count} of this session may be worth keeping: “{proposed[0][1]}”"
    return CurationTask.about([memory], TaskType.PROMOTION, Priority.LOW, detail, *calls)


def _lasting(data: bytes) -> list[tuple[str, str]]:
    """The type and sentence of each decision and preference, last first."""
    items = [
        (number, _TYPES[heading], _ESCAPE.sub(r"\1", without_speaker(item)))
        for heading, below in items_by_heading(data).items()
        if heading in _TYPES
        for number, item in below
    ]
    return [(kind, " ".join(text.split())) for _, kind, text in sorted(items, reverse=True)]


class IndexedNote(SavedNote, Protocol):
    """A note, and what could not be read of it when it was indexed."""

    @property
    def frontmatter_problem(self) -> str | None: ...

    @property
    def warnings(self) -> tuple[str, ...]: ...


def unreadable_parts(note: IndexedNote) -> list[CurationTask]:
    """A task for each part of the note that cannot be read."""
    notes, tasks = [note.memory], []
    if note.frontmatter_problem:
        detail = f"{note.frontmatter_problem}; correct the YAML in your editor"
        tasks.append(
            CurationTask.about(notes, TaskType.MALFORMED_FRONTMATTER, Priority.HIGH, detail)
        )
    for warning in note.warnings:
        detail = f"{warning} (in your editor)"
        tasks.append(
            CurationTask.about(
                notes, TaskType.MALFORMED_TEXT, Priority.MEDIUM, detail, subject=warning
            )
        )
    return tasks


STALE_AFTER = timedelta(days=180)
IMPORTANT = 0.8
FACTS = frozenset({"fact", "facts"})
RECORDS = frozenset({"session", "meeting", "event", "journal", "daily", "log", "conversation"})
_CONFIRMED_KEYS = frozenset({"verified_on", "reviewed", "updated", "modified", "last_modified"})


def ages_from(
    note: IndexedNote, note_folders: NoteFolders = NoteFolders(), *, states_value: bool = False
) -> datetime | None:
    """The day on which a note was last confirmed; None if it does not go stale.

    Facts and decisions go stale. So do other notes, except records of events, if they are dated
    and state a property that has one value at a time (``states_value``). Ephemeral, pinned and
    archived notes do not; superseded ones are left out by the finder.

    The day is the latest in the note (created, date, verified_on, reviewed, updated), else that of
    its last change on disk. A change on disk does not confirm a dated fact, since a sync tool or
    memvault may write the file without anybody reading it.
    """
    memory = note.memory
    goes_stale = memory.type in FACTS or kind_of(memory) == NodeKind.DECISION
    if states_value and memory.date is None and memory.type not in RECORDS:
        goes_stale = goes_stale or _names_day(note)
    is_kept = memory.pinned or memory.lifecycle is Lifecycle.EPHEMERAL
    is_kept = is_kept or is_archived(note_folders.relative(memory.path))
    return last_confirmed(note) if goes_stale and not is_kept else None


def outdated(memory: Memory, confirmed: datetime, now: datetime) -> CurationTask | None:
    """A task if a fact was last confirmed too long ago."""
    if now - confirmed <= STALE_AFTER:
        return None
    days = (now - confirmed).days
    return CurationTask.about(
        [memory],
        TaskType.STALE_FACT,
        Priority.MEDIUM if memory.importance >= IMPORTANT else Priority.LOW,
        f"not confirmed for {days} days; verify it if it is still true, else forget it",
        TaskAction.by("verify_memory", target=memory.id, verified=True),
    )


def last_confirmed(note: IndexedNote) -> datetime:
    """The latest day in the note's properties, else the day on which the person saved it."""
    memory = note.memory
    # A note that does not say when it was created counts as created when it was saved.
    created = memory.created_at if memory.created_at != note.changed_at else None
    stated = [created, memory.date, *_days_confirmed(memory)]
    return max((day for day in stated if day is not None), default=note.changed_at)


def _names_day(note: IndexedNote) -> bool:
    """Whether the note states when it was created or confirmed, or when it happened."""
    memory, saved = note.memory, {note.changed_at}
    if (first_saved := memory.provenance.mtime_ns) is not None:  # a client changed it since
        saved.add(datetime.fromtimestamp(first_saved / 1e9, tz=UTC))
    is_stated = memory.created_at not in saved or memory.date is not None
    return is_stated or any(_days_confirmed(memory))


def _days_confirmed(memory: Memory) -> Iterator[datetime | None]:
    return (
        read_date(value)
        for key, value in memory.metadata.items()
        if key.casefold() in _CONFIRMED_KEYS
    )


UNTOUCHED_AFTER = timedelta(days=365)
_DONE = frozenset({
    "done", "completed", "complete", "finished", "closed", "cancelled", "canceled", "abandoned",
})  # fmt: skip


def finished_projects(
    notes: Iterable[IndexedNote], now: datetime, note_folders: NoteFolders
) -> Iterator[CurationTask]:
    """A task for each project folder that is done or unchanged for a year (triple FR-07).

    A project is done if its note says so: a note of type project, in the folder or with its name.
    """
    folders: dict[str, list[IndexedNote]] = defaultdict(list)
    statuses: dict[str, str] = {}
    for note in notes:
        memory = note.memory
        folder = _project_folder(note_folders.relative(memory.path))
        if folder:
            folders[folder].append(note)
        if memory.type == NodeKind.PROJECT:
            name = folder or memory.title
            statuses[name.casefold()] = str(memory.metadata.get("status", "")).strip().casefold()
    for folder, notes_below in folders.items():
        days = (now - max(note.changed_at for note in notes_below)).days
        if statuses.get(folder.casefold(), "") in _DONE:
            state = "is finished"
        elif days > UNTOUCHED_AFTER.days:
            state = f"was not changed for {days} days"
        else:
            continue
        first = min(notes_below, key=lambda note: note.memory.path).memory
        count = "its note" if len(notes_below) == 1 else f"its {len(notes_below)} notes"
        paths = [note.memory.path for note in notes_below]
        around = {path.removesuffix(note_folders.relative(path)) for path in paths}
        archives = " and ".join(f"{start}{ARCHIVE}/{folder}/" for start in sorted(around))
        yield CurationTask.about(
            [first],
            TaskType.FINISHED_PROJECT,
            Priority.LOW,
            f"the project {folder} {state}; move {count} to {archives}",
            TaskAction.by("archive_project", project=folder),
        )


def _project_folder(path: str) -> str:
    """The name of the project's folder that a note is in; "" for none."""
    top, _, below = path.partition("/")
    folder, is_in_folder, _ = below.partition("/")
    return folder if is_in_folder and top.casefold() == "projects" else ""


CRITICAL_TYPES = frozenset({*(topic.value for topic in SensitiveTopic), "contract", "invoice"})


def unverified(note: IndexedNote) -> CurationTask | None:
    """A task for what somebody else wrote on a sensitive matter and the person has not verified.

    Legal, financial, medical and policy matters are sensitive (triple 2.6), by the title, the tags
    and the names of the properties. Only what a client stored, facts, decisions and notes of a
    critical type count, and no ephemeral ones.
    """
    memory = note.memory
    is_confirmed = memory.verified or memory.provenance.is_person
    if is_confirmed or memory.lifecycle is Lifecycle.EPHEMERAL:
        return None
    is_stored = memory.provenance.origin.kind in (OriginKind.CLIENT, OriginKind.WEB)
    is_fact = memory.type in CRITICAL_TYPES | FACTS or kind_of(memory) == NodeKind.DECISION
    if not is_stored and not is_fact:
        return None
    topic = _sensitive_topic(memory)
    if topic is None:
        return None
    return CurationTask.about(
        [memory],
        TaskType.UNVERIFIED_CRITICAL,
        Priority.MEDIUM,
        f"unverified {topic} information; hidden from AI clients until you verify it",
        TaskAction.by("verify_memory", target=memory.id, verified=True),
    )


def _sensitive_topic(memory: Memory) -> str | None:
    if memory.type in CRITICAL_TYPES:
        return memory.type
    words = " ".join((memory.title, *memory.tags, *memory.metadata)).replace("_", " ")
    topic = sensitive_topic_of(words)
    return topic.value if topic else None


_MANIFEST_NAME = MANIFEST.removesuffix(".md")  # in the vault, but not indexed
NAMED = 10  # most missing notes that one task lists


def missing_notes(memory_id: str, edges: GraphView) -> tuple[str, ...]:
    """The names that a note links to and no note has."""
    # A relation to a name that is not a link has an edge with less weight.
    links = (
        edge
        for edge in edges.stated_by(memory_id)
        if edge.origin in STATED and edge.weight >= EMBED_WEIGHT
    )
    targets = (edges.node(edge.target) for edge in links)
    names = {node.name for node in targets if node and node.path is None}
    return tuple(
        sorted(name for name in names if name.casefold() != _MANIFEST_NAME and not is_day(name))
    )


def unresolved(memory: Memory, names: Sequence[str]) -> CurationTask:
    detail = "no note exists for: " + ", ".join(names[:NAMED])
    call = TaskAction.by("store_memory", title=names[0])
    return CurationTask.about([memory], TaskType.UNRESOLVED_LINKS, Priority.LOW, detail, call)


class Orphans:
    """Finds the notes without a connection to another note; updated as notes change.

    An entity that two notes name connects them, a day does not. Ephemeral and daily notes are left
    out, and so are documents, which have no links. Not thread-safe.
    """

    def __init__(self, edges: GraphView) -> None:
        self._edges = edges
        # Id of a note → id of a note connected to it; valid until one of the two changes.
        self._connected_to: dict[str, str] = {}

    def find(self, memories: Mapping[str, Memory], changed: Collection[str]) -> list[Memory]:
        """The notes without a connection, by path.

        Args:
            memories: every note, by id.
            changed: ids of the notes that were written, relinked or removed since the last call.
        """
        if len(memories) < 2:
            self._connected_to.clear()
            return []
        former, self._connected_to = self._connected_to, {}
        namers: dict[str, tuple[str, ...]] = {}  # entity → at most two notes that name it
        orphans: list[Memory] = []
        for key, memory in memories.items():
            needs_no_link = is_document(memory.path) or is_day(stem_of(memory.path))
            if needs_no_link or memory.lifecycle is Lifecycle.EPHEMERAL:
                continue
            connected = former.get(key)
            if connected is None or key in changed or connected in changed:
                connected = self._connected_note(key, namers)
            if connected is None:
                orphans.append(memory)
            else:
                self._connected_to[key] = connected
        return sorted(orphans, key=lambda memory: memory.path)

    def _connected_note(self, key: str, namers: dict[str, tuple[str, ...]]) -> str | None:
        """A note connected to this one, or None.

        Its own relations are tried first, since a hub has many incoming edges.
        """
        for edge in self._edges.stated_by(key):
            target = edge.target
            node = self._edges.node(target)
            if target == key:
                continue
            if node is not None and node.path is not None:
                return target
            if node is not None and node.kind == NodeKind.DATE:
                continue
            if target not in namers:
                sources = dict.fromkeys(edge.source for edge in self._edges.of(target))
                namers[target] = tuple(islice(sources, 2))
            other = next((namer for namer in namers[target] if namer != key), None)
            if other is not None:
                return other
        return next((e.source for e in self._edges.of(key) if e.source != key), None)


def orphan(memory: Memory, nearest: Memory | None) -> CurationTask:
    """A task for a note without connections; suggests a link to the most similar note."""
    hint = f"; the most similar note is {nearest.path}" if nearest else ""
    calls = remarks(memory, f"Related: {wikilink(nearest.path, memory.path)}") if nearest else ()
    detail = f"not connected to any other note{hint}"
    return CurationTask.about([memory], TaskType.ORPHAN, Priority.LOW, detail, *calls)


def remarks(memory: Memory, text: str) -> tuple[TaskAction, ...]:
    """The calls that add a remark to a note, either of which settles a task."""
    return (
        TaskAction.by("annotate_node", target=memory.id, note=text),
        TaskAction.by("edit_memory", target=memory.id, operation="append", content=text),
    )


def client_tasks(
    excesses: Iterable[Excess], memory_at: Callable[[str], Memory | None]
) -> list[CurationTask]:
    """A task for each client with excessive activity."""
    tasks = []
    for excess in excesses:
        memories = [memory for path in excess.paths if (memory := memory_at(path)) is not None]
        if memories:
            client = excess.client or "an unnamed client"
            tasks.append(
                CurationTask.about(
                    memories,
                    TaskType.CLIENT_ACTIVITY,
                    Priority.MEDIUM,
                    f"{client} {excess.activity}; undo all its changes of that day, or "
                    "dismiss this if you asked for them",
                    TaskAction.by("undo_change", client=excess.client, day=excess.day),
                    subject=f"{excess.day} {client}",
                )
            )
    return tasks
