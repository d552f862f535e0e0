"""A chunk: a span of a note that is embedded and searched."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID, uuid5

import numpy as np
import numpy.typing as npt

from memvault.model.note import LineRange

Vector = npt.NDArray[np.float32]  # (dim,), L2-normalised


class ChunkSize(StrEnum):
    """Every text is searched at several sizes at once; a note's chunks of one size cover it."""

    PASSAGE = "passage"  # fits the model's window
    SECTION = "section"  # Max-Min semantic chunk, 200-500 tokens
    NOTE = "note"  # the whole note


@dataclass(frozen=True, slots=True)
class Chunk:
    """``text`` is what people see; ``context`` (title, headings, date) is searched with it.

    A text that is all there is of a larger size too (a note of one passage) is one chunk of its
    smallest size and ``covers`` names the others; a search of any of its ``sizes`` finds it.
    """

    note_id: str
    size: ChunkSize
    ordinal: int  # position among the note's chunks of this size
    heading: str  # ``A > B``, empty above the first heading
    lines: LineRange
    text: str
    context: str = ""
    covers: tuple[ChunkSize, ...] = ()

    @property
    def sizes(self) -> tuple[ChunkSize, ...]:
        return (self.size, *self.covers)

    @property
    def id(self) -> str:
        """Deterministic: UUIDv5 of note, size and ordinal."""
        return str(uuid5(UUID(self.note_id), f"{self.size}:{self.ordinal}"))


@dataclass(frozen=True, slots=True)
class EmbeddedChunk:
    chunk: Chunk
    vector: Vector
