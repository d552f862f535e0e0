"""The language of a note, and the terms by which keyword search finds its chunks."""

from __future__ import annotations

from collections.abc import Sequence

from qdrant_edge import SparseVector

from memvault.model.note import EmbeddedChunk
from memvault.stores.vectors import bm25, languages


def language_of(chunks: Sequence[EmbeddedChunk]) -> str | None:
    """The language of a note, by the text of its longest chunk; see `languages.language_of`."""
    longest_text = max((embedded.chunk.text for embedded in chunks), key=len, default="")
    return languages.language_of(longest_text)


def keyword_vectors(chunks: Sequence[EmbeddedChunk], language: str | None) -> list[SparseVector]:
    """The terms of each chunk of a note in this language, by which it is found."""
    texts = (f"{embedded.chunk.context}\n{embedded.chunk.text}" for embedded in chunks)
    return [bm25.document(text, language) for text in texts]
