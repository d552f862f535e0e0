"""How fast the storage layer writes and reads memories whose vectors are given.

``python -m tests.benchmarks.bench_storage [--count N] [--chunks N]``

One memory written is: its chunk's dense vector, BM25 vector, text and labels in the vector
store; its node in the graph; its outline and its catalogue record in the key-value store; in the
order of the indexer, in batches of 512, flushed after every 2,000 and at the end. Not counted:
reading and parsing a note, embedding it, and making what is handed over. *Sequential* is one
thread that writes batch after batch; *50 writers* are 50 threads that write their share each.
"""

from __future__ import annotations

import argparse
import gc
import random
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import psutil

from indexer.catalogue import NAMESPACE, UNFLUSHED
from indexer.change_writer import FLUSH_AFTER
from memvault.config.settings import Settings
from memvault.model.graph import GraphNode, NoteGraph
from memvault.model.memory import Lifecycle, Memory, id_of_path
from memvault.model.note import Chunk, ChunkSize, EmbeddedChunk, LineRange, Vector
from memvault.model.search import Scope
from memvault.search.context.note_text import NOTE_TEXTS, NoteText
from memvault.stores.open import Stores, open_stores
from memvault.stores.vectors.edge import EdgeVectorStore
from memvault.text.units import Unit
from tests.benchmarks.figures import Figure, show
from tests.benchmarks.generated_vault import Prose
from tests.chunk_hits import chunk_hits

DIMENSION = 384
WRITERS = 50
BATCH = 512
SETTINGS = Settings()
Written = tuple[Memory, list[EmbeddedChunk], NoteGraph, bytes, bytes]


def memories(count: int, seed: int = 1) -> list[Written]:
    """Short memories of one passage, two English sentences each, as an AI client stores them."""
    dice = np.random.default_rng(seed)
    directions = dice.standard_normal((count, DIMENSION)).astype(np.float32)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    prose = Prose(random.Random(seed))
    return [_memory(number, directions[number], prose.paragraph(2)) for number in range(count)]


def _memory(number: int, vector: Vector, text: str) -> Written:
    path = f"permanent/Memory {number}.md"
    memory = Memory(
        id=id_of_path(path),
        path=path,
        title=f"Memory {number}",
        lifecycle=Lifecycle.PERMANENT,
        project=None if number % 3 else f"project {number % 7}",
        tags=("storage",),
        created_at=datetime.fromtimestamp(1_700_000_000 + number, UTC),
    )
    covers = (ChunkSize.SECTION, ChunkSize.NOTE)
    chunk = Chunk(memory.id, ChunkSize.PASSAGE, 0, "", LineRange(8, 12), text, memory.title, covers)
    node = GraphNode(memory.id, memory.type, memory.title, path, memory.project)
    record = memory.model_dump_json().encode()
    outline = NoteText("0" * 32, [Unit(text, chunk.lines, (), 50)], [text], [50], [], [])
    return memory, [EmbeddedChunk(chunk, vector)], NoteGraph(node), outline.packed(), record


class Unflushed:
    """The paths that all writers have not flushed yet."""

    def __init__(self, stores: Stores) -> None:
        self.paths: list[str] = []
        self._stores = stores
        self._lock = threading.Lock()

    def flush(self, at_least: int = 1) -> None:
        with self._lock:
            some = self.paths[:]
            if len(some) >= at_least:
                self._stores.vectors.flush()
                self._stores.keyvalue.delete(UNFLUSHED, some)
                del self.paths[: len(some)]


def write(stores: Stores, share: list[Written], unflushed: Unflushed) -> None:
    """As the indexer writes: chunks, graph, the records with a mark until they are flushed."""
    for start in range(0, len(share), BATCH):
        batch = share[start : start + BATCH]
        stores.vectors.replace([(memory, chunks) for memory, chunks, *_ in batch])
        stores.graph.replace([graph for _, _, graph, *_ in batch])
        written = {
            NOTE_TEXTS: {memory.path: row for memory, *_, row, _ in batch},
            UNFLUSHED: {memory.path: b"" for memory, *_ in batch},
            NAMESPACE: {memory.path: row for memory, *_, row in batch},
        }
        stores.keyvalue.change({}, written)
        unflushed.paths += written[UNFLUSHED]
        unflushed.flush(FLUSH_AFTER)


def rate(stores: Stores, written: list[Written], writers: int) -> float:
    """Memories a second, from the first written to the last durable."""
    shares = [written[number::writers] for number in range(writers)]
    unflushed = Unflushed(stores)
    with ThreadPoolExecutor(writers) as pool:
        began = time.perf_counter()
        for done in [pool.submit(write, stores, share, unflushed) for share in shares]:
            done.result()
        unflushed.flush()
        return len(written) / (time.perf_counter() - began)


def p95(calls: int, call: Callable[[int], object]) -> float:
    """Milliseconds."""
    times = []
    for number in range(calls):
        began = time.perf_counter()
        call(number)
        times.append(time.perf_counter() - began)
    return float(np.percentile(times, 95)) * 1e3


def writing(count: int) -> list[Figure]:
    written = memories(count)
    gc.freeze()  # as the engine does with what it has loaded
    figures = []
    for name, writers in (("sequential", 1), (f"{WRITERS} writers", WRITERS)):
        with tempfile.TemporaryDirectory() as folder:
            stores = open_stores(SETTINGS, Path(folder), DIMENSION)
            figures.append(
                Figure(
                    f"memories written, {name}",
                    rate(stores, written, writers),
                    "/s",
                    "10,000",
                    "15,000",
                )
            )
            stores.close()
    with tempfile.TemporaryDirectory() as folder:
        stores = open_stores(SETTINGS, Path(folder), DIMENSION)

        def one(number: int) -> None:
            unflushed = Unflushed(stores)
            write(stores, [written[number]], unflushed)
            unflushed.flush()

        took = p95(100, one)
        figures.append(Figure("one memory by itself, p95", took, "ms"))
        stores.close()
    return figures


def searching(count: int) -> list[Figure]:
    written = memories(count)
    with tempfile.TemporaryDirectory() as folder:
        before = psutil.Process().memory_info().rss
        store = EdgeVectorStore(Path(folder), DIMENSION)
        store.replace([(memory, chunks) for memory, chunks, *_ in written])
        store.flush()
        scope = Scope(project="project 3")
        vectors = [chunks[0].vector for _, chunks, *_ in written[:200]]
        texts = [" ".join(chunks[0].chunk.text.split()[:6]) for _, chunks, *_ in written[:200]]
        name = f"at {count:,} chunks"
        figures = [
            Figure(
                f"dense, p95 {name}",
                p95(200, lambda i: chunk_hits(store, store.rank_dense(vectors[i], 50))),
                "ms",
            ),
            Figure(
                f"dense in a project, p95 {name}",
                p95(
                    200, lambda i: chunk_hits(store, store.rank_dense(vectors[i], 50, scope=scope))
                ),
                "ms",
            ),
            Figure(
                f"keywords, p95 {name}",
                p95(200, lambda i: chunk_hits(store, store.rank_keywords(texts[i], 50))),
                "ms",
            ),
            Figure(
                f"notes with a name, p95 {name}",
                p95(50, lambda i: store.containing([written[i][0].title])),
                "ms",
            ),
        ]
        used = sum(
            file.stat().st_blocks * 512 for file in Path(folder).rglob("*") if file.is_file()
        )
        logged = sum(file.stat().st_blocks * 512 for file in Path(folder).rglob("wal/*"))
        figures.append(Figure(f"disk, log apart, {name}", (used - logged) / 1e6, "MB"))
        grown = psutil.Process().memory_info().rss - before
        figures.append(Figure(f"memory of the vector store {name}", grown / 1e6, "MB"))
        store.close()
        began = time.perf_counter()
        store = EdgeVectorStore(Path(folder), DIMENSION)
        figures.append(Figure(f"opening {name}", (time.perf_counter() - began) * 1e3, "ms"))
        store.close()
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="memories written")
    parser.add_argument("--chunks", type=int, default=50_000, help="chunks searched")
    chosen = parser.parse_args()
    show("storage", writing(chosen.count) + searching(chosen.chunks))


if __name__ == "__main__":
    main()
