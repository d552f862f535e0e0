"""Prepares and writes batches of notes; the next ones are embedded meanwhile."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextvars import copy_context
from dataclasses import dataclass
from datetime import date
from functools import partial

from indexer.catalogue import FORMAT, Catalogue, NoteRecord
from indexer.change_set import ChangeSet
from indexer.graph_writer import GraphWriter, sentences_between_notes
from indexer.note_reading import NoteReading
from memvault.curation.operations.preferences import preference_rows
from memvault.model.graph import NoteGraph, NotesIndexed
from memvault.model.memory import Memory, id_of_path
from memvault.model.note import (
    Block,
    ChunkSize,
    EmbeddedChunk,
    Link,
    ParsedNote,
    Vector,
    mean_vector,
)
from memvault.model.priority import AwaitedLock, make_way
from memvault.search.context.note_text import NOTE_TEXTS, NoteText, note_texts
from memvault.search.property_text import is_version
from memvault.search.times.time_expressions import single_days
from memvault.stores.open import Stores
from memvault.text.chunking import chunk_notes
from memvault.text.encoders.embedding import Embedder
from memvault.text.names import Name
from memvault.text.units import units_of
from memvault.vault.frontmatter.properties import UNDERSTOOD
from memvault.vault.links import link_key

MAX_BATCH = 128  # notes written and committed together
BATCHES_AHEAD = 2  # embedded while one is written: one prepares texts while the encoder runs
NOTES_AHEAD = 16  # embedded at a time while others are still read
_FILE_DATE_KEY = re.compile("creat|updat|modif|edit|chang|verif|publish|import|sync", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PreparedNote:
    """A note with all data to be written; ``packed_text`` is None for a long note."""

    reading: NoteReading
    memory: Memory
    names: tuple[Name, ...]
    graph: NoteGraph
    chunks: list[EmbeddedChunk]
    packed_text: bytes | None


@dataclass(frozen=True, slots=True)
class Batch:
    """Notes that are written together; ``version`` is that of the names in their edges."""

    notes: list[PreparedNote]
    version: int


class EmbeddingAhead:
    """Embeds some notes while others are still read, so that the encoder need not wait.

    It stops at notes whose vectors are cached.
    """

    def __init__(self, embedder: Embedder, executor: Executor) -> None:
        self._embedder = embedder
        self._executor = executor
        self._texts: dict[str, NoteText] = {}
        self._waiting: list[NoteReading] = []
        self._running: Future[bool] | None = None

    def add(self, reading: NoteReading) -> None:
        if len(self._waiting) < NOTES_AHEAD:
            self._waiting.append(reading)
        elif self._running is None or (self._running.done() and self._running.result()):
            batch, self._waiting = self._waiting, [reading]
            self._running = self._executor.submit(copy_context().run, self._embed, batch)

    def _embed(self, readings: Sequence[NoteReading]) -> bool:
        """Embed these notes; returns whether any text was not cached."""
        before = self._embedder.reads.misses
        texts = note_texts(
            [(reading.note, reading.data) for reading in readings], self._embedder.tokens
        )
        pieces = {path: text.pieces for path, text in texts.items()}
        units = units_of([reading.note for reading in readings], self._embedder, pieces)
        self._embedder.embed([unit.text for note_units in units for unit in note_units])
        self._texts |= texts
        return self._embedder.reads.misses > before

    def take_texts(self, readings: Sequence[NoteReading]) -> dict[str, NoteText]:
        """The texts of those of the notes that were embedded ahead, by path."""
        if self._running is not None:
            self._running.result()
        texts = {}
        for reading in readings:
            text = self._texts.pop(reading.note.path, None)
            if text is not None and text.content_hash == reading.note.content_hash:
                texts[reading.note.path] = text
        return texts


@dataclass(frozen=True, slots=True)
class BatchWriter:
    """Prepares, writes and removes the notes of a change set.

    Attributes:
        lock: held while names are read; `write` is called with it.
    """

    stores: Stores
    catalogue: Catalogue
    graphs: GraphWriter
    embedder: Embedder
    lock: AwaitedLock

    def prepared(
        self, changes: ChangeSet, executor: Executor, ahead: EmbeddingAhead
    ) -> Iterator[Batch]:
        """The batches, ready to be written; the next ones are embedded meanwhile."""
        waiting: deque[Future[Batch]] = deque()
        for readings in changes.batches(MAX_BATCH):
            linked = self._linked(readings, changes)
            work = partial(self._prepared, readings, *linked, changes.names, ahead=ahead)
            waiting.append(executor.submit(copy_context().run, work))
            if len(waiting) > BATCHES_AHEAD:
                yield waiting.popleft().result()
        for batch in waiting:
            yield batch.result()

    def _linked(
        self, readings: Sequence[NoteReading], changes: ChangeSet
    ) -> tuple[list[tuple[ParsedNote, Memory]], tuple[NoteGraph, ...], int]:
        """The notes with their memories, their edges, and the version of the names in the edges."""
        with self.lock.after_others():
            notes = [(reading.note, changes.memories[reading.note.path]) for reading in readings]
            return notes, self.graphs.graphs_of(notes), self.graphs.version

    def _prepared(
        self,
        readings: Sequence[NoteReading],
        notes: Sequence[tuple[ParsedNote, Memory]],
        graphs: Sequence[NoteGraph],
        version: int,
        names: Mapping[str, tuple[Name, ...]],
        *,
        ahead: EmbeddingAhead,
    ) -> Batch:
        texts = ahead.take_texts(readings)
        unread_notes = [
            (unread.note, unread.data) for unread in readings if unread.note.path not in texts
        ]
        texts |= note_texts(unread_notes, self.embedder.tokens)
        pieces = {path: text.pieces for path, text in texts.items()}
        also = sentences_between_notes(graphs)
        chunks = chunk_notes(notes, self.embedder, pieces=pieces, extra_texts=also)
        packed_texts = {path: text.packed() for path, text in texts.items()}
        return Batch(
            [
                PreparedNote(
                    reading, memory, names[note.path], graph, rows, packed_texts.get(note.path)
                )
                for reading, (note, memory), graph, rows in zip(
                    readings, notes, graphs, chunks, strict=True
                )
            ],
            version,
        )

    def remove(self, deleted: Collection[str], stale: Collection[str]) -> NotesIndexed:
        """Remove deleted notes by path, and the data under ids that notes no longer have."""
        if stale:
            self.stores.vectors.remove(stale)
            self.stores.graph.remove(stale)
        delete, _ = preference_rows(self.stores.keyvalue, dict.fromkeys(deleted))
        self.catalogue.commit([], deleted, delete={**delete, NOTE_TEXTS: deleted})
        return NotesIndexed(frozenset(deleted), removed=frozenset(stale))

    def write(self, batch: Batch, paths: Collection[str]) -> NotesIndexed:
        """Write the batch's notes at these paths, and commit their records last."""
        due_notes = [note for note in batch.notes if note.memory.path in paths]
        graphs = tuple(note.graph for note in due_notes)
        if batch.version != self.graphs.version:
            graphs = self.graphs.graphs_of([(note.reading.note, note.memory) for note in due_notes])
            self.embedder.embed(list(sentences_between_notes(graphs)))
        self.stores.vectors.replace([(note.memory, note.chunks) for note in due_notes])
        make_way()
        self.graphs.write(graphs)
        notes = {note.memory.path: note.reading.note for note in due_notes}
        delete, write = preference_rows(self.stores.keyvalue, notes)
        texts = {
            note.memory.path: note.packed_text for note in due_notes if note.packed_text is not None
        }
        self.catalogue.commit(
            [self._record(note) for note in due_notes],
            unflushed=True,
            delete=delete,
            write={**write, NOTE_TEXTS: texts},
        )
        vectors = {note.memory.id: _vector_of(note.chunks) for note in due_notes}
        return NotesIndexed(frozenset(notes), graphs, vectors)

    def _record(self, prepared: PreparedNote) -> NoteRecord:
        make_way()
        reading, note = prepared.reading, prepared.reading.note
        targets = {link.target for link in note.links if link.target}
        problem = note.frontmatter_problem
        return NoteRecord(
            memory=prepared.memory,
            size=reading.stat.size,
            mtime_ns=reading.stat.mtime_ns,
            claimed_id=reading.claimed_id,
            own_id="" if reading.own_id == id_of_path(reading.note.path) else reading.own_id,
            link_keys=tuple(sorted({link_key(target) for target in targets})),
            names=prepared.names,
            days=_days_of(note, prepared.memory),
            open_tasks=tuple(task.text for task in note.tasks if not task.done),
            chunks=len(prepared.chunks),
            frontmatter_problem=f"line {problem.line}: {problem.message}" if problem else None,
            warnings=(*note.warnings, *self._too_many_links(note.path)),
            format=FORMAT,
        )

    def _too_many_links(self, path: str) -> list[str]:
        left_out = self.graphs.unindexed_edges(path)
        text = f"too many links: {left_out:,} are not in the graph; split the note"
        return [text] if left_out else []


def _days_of(note: ParsedNote, memory: Memory) -> tuple[date, ...]:
    """The days that the note names, except days of file changes and days that it only links to.

    "Tomorrow" is relative to the note's own day.
    """
    note_day = memory.moment.date()
    lines = [
        f"{key}: {value}"
        for key, value in note.frontmatter.items()
        if not (key in UNDERSTOOD or _FILE_DATE_KEY.search(key) or is_version(key))
    ]
    lines += [heading.text for heading in note.headings]
    lines += [block.text for block in note.blocks if not _is_navigation(block, note.links)]
    return single_days("\n".join(lines), note_day)


def _is_navigation(block: Block, links: Sequence[Link]) -> bool:
    """Whether the block is only links, such as those to the previous and next day."""
    link_texts = [link.shown or link.target for link in links if link.sentence == block.text]
    other_text = block.text
    for link_text in link_texts:
        other_text = other_text.replace(link_text, "", 1)
    return len(link_texts) > 1 and not any(map(str.isalnum, other_text))


def _vector_of(chunks: Sequence[EmbeddedChunk]) -> Vector | None:
    """The vector of a note's whole text."""
    return mean_vector([row.vector for row in chunks if ChunkSize.NOTE in row.chunk.sizes])
