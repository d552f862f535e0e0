"""The language of a note, and the terms by which keyword search finds its chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from qdrant_edge import SparseVector

from memvault.model.memory import Memory
from memvault.model.note import EmbeddedChunk
from memvault.stores.vectors import bm25, languages
from memvault.stores.vectors.payload import payloads


def language_of(chunks: Sequence[EmbeddedChunk]) -> str | None:
    """The language of a note, by the text of its longest chunk; see `languages.language_of`."""
    longest_text = max((embedded.chunk.text for embedded in chunks), key=len, default="")
    return languages.language_of(longest_text)


def with_payload_and_terms(
    memory: Memory, chunks: Sequence[EmbeddedChunk]
) -> Iterator[tuple[EmbeddedChunk, dict[str, Any], SparseVector]]:
    """Each chunk of a note with its payload, and with the terms by which it is found."""
    language = language_of(chunks)
    note_payloads = payloads(memory, [embedded.chunk for embedded in chunks], language)
    for embedded, payload in zip(chunks, note_payloads, strict=True):
        text = f"{embedded.chunk.context}\n{embedded.chunk.text}"
        yield embedded, payload, bm25.document(text, language)
