"""How fast the storage layer writes and reads memories whose vectors are given.

``python -m tests.benchmarks.bench_storage [--count N] [--chunks N]``

One memory written is: its chunk's dense vector, BM25 vector, text and labels in the vector
store; its node in the graph; its catalogue record in the key-value store; all of it durable
(flushed) before the writer's future ends. Not counted: reading and parsing a note, embedding it,
and making the objects that are handed over. *Sequential* is one thread that submits memory after
memory; *50 writers* are 50 threads that each submit their share; both wait for every future at
the end. *One at a time* waits for each memory before the next.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

from memvault.config.settings import Settings
from memvault.model.chunk import Chunk, ChunkSize, EmbeddedChunk, Vector
from memvault.model.graph import GraphNode, NoteGraph
from memvault.model.memory import Lifecycle, Memory, id_of_path
from memvault.model.note import LineRange
from memvault.model.query import Scope
from memvault.stores.open import Stores, open_stores
from memvault.stores.vectors.edge import EdgeVectorStore
from memvault.stores.writer import BatchWriter

DIMENSION = 384
WRITERS = 50
SETTINGS = Settings()
WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("na", "lo", "rin", "t")]
Written = tuple[Memory, list[EmbeddedChunk], NoteGraph, bytes]


@dataclass(frozen=True, slots=True)
class Figure:
    what: str
    value: float
    unit: str


def memories(count: int, seed: int = 1) -> list[Written]:
    """Short memories of one passage each, as an AI client stores them."""
    dice = np.random.default_rng(seed)
    directions = dice.standard_normal((count, DIMENSION)).astype(np.float32)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return [_memory(number, directions[number], dice) for number in range(count)]


def _memory(number: int, vector: Vector, dice: np.random.Generator) -> Written:
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
    text = " ".join(dice.choice(WORDS, 25))
    covers = (ChunkSize.SECTION, ChunkSize.NOTE)
    chunk = Chunk(memory.id, ChunkSize.PASSAGE, 0, "", LineRange(8, 12), text, memory.title, covers)
    node = GraphNode(memory.id, memory.type, memory.title, path, memory.project)
    record = memory.model_dump_json().encode()
    return memory, [EmbeddedChunk(chunk, vector)], NoteGraph(node), record


def rate(stores: Stores, written: list[Written], writers: int) -> float:
    """Memories a second, from the first submitted to the last durable."""
    writer = BatchWriter(stores, "notes")
    futures: list[list[Future[None]]] = [[] for _ in range(writers)]

    def submit(share: int) -> None:
        futures[share] = [writer.submit(*each) for each in written[share::writers]]

    threads = [threading.Thread(target=submit, args=(share,)) for share in range(writers)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for own in futures:
        for future in own:
            future.result()
    took = time.perf_counter() - began
    writer.close()
    return len(written) / took


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
    figures = []
    for name, writers in (("sequential", 1), (f"{WRITERS} writers", WRITERS)):
        with tempfile.TemporaryDirectory() as folder:
            stores = open_stores(SETTINGS, Path(folder), DIMENSION)
            figures.append(
                Figure(f"memories written, {name}", rate(stores, written, writers), "/s")
            )
            stores.close()
    with tempfile.TemporaryDirectory() as folder:
        stores = open_stores(SETTINGS, Path(folder), DIMENSION)
        writer = BatchWriter(stores, "notes")
        took = p95(100, lambda number: writer.submit(*written[number]).result())
        figures.append(Figure("one at a time, p95", took, "ms"))
        writer.close()
        stores.close()
    return figures


def searching(count: int) -> list[Figure]:
    written = memories(count)
    with tempfile.TemporaryDirectory() as folder:
        before = psutil.Process().memory_info().rss
        store = EdgeVectorStore(Path(folder), DIMENSION)
        store.replace([(memory, chunks) for memory, chunks, _, _ in written])
        store.flush()
        scope = Scope(project="project 3")
        vectors = [chunks[0].vector for _, chunks, _, _ in written[:200]]
        texts = [" ".join(chunks[0].chunk.text.split()[:6]) for _, chunks, _, _ in written[:200]]
        name = f"at {count:,} chunks"
        figures = [
            Figure(
                f"dense, p95 {name}", p95(200, lambda i: store.search_dense(vectors[i], 50)), "ms"
            ),
            Figure(
                f"dense in a project, p95 {name}",
                p95(200, lambda i: store.search_dense(vectors[i], 50, scope=scope)),
                "ms",
            ),
            Figure(
                f"keywords, p95 {name}",
                p95(200, lambda i: store.search_keywords(texts[i], 50)),
                "ms",
            ),
            Figure(
                f"notes with a phrase, p95 {name}",
                p95(50, lambda i: store.containing([texts[i]])),
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
    figures = writing(chosen.count) + searching(chosen.chunks)
    table = Table("storage layer, vectors given", "", "")
    for figure in figures:
        table.add_row(figure.what, f"{figure.value:,.1f}", figure.unit)
    Console().print(table)
    folder = Path(".bench")
    folder.mkdir(exist_ok=True)
    rows = [{"what": f.what, "value": f.value, "unit": f.unit} for f in figures]
    (folder / "storage.json").write_text(json.dumps(rows, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
