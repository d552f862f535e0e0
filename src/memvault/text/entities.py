"""Finds entities that are not names of the vault, by a trained pipeline."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from memvault.model.note import ParsedNote
from memvault.model.priority import make_way
from memvault.text.spacy_pipeline import (
    FoundEntity,
    load_trained_pipeline,
    passages_of,
    settled,
)

BATCH = 8  # passages per run of the pipeline (some 25 ms); questions go first between runs


class EntityPipeline:
    """spaCy's trained pipeline, for entities that are not names of the vault.

    It finds people, organisations, places, dates, products, events and works. Thread-safe; calls
    run one at a time.
    """

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline
        self._lock = threading.Lock()

    def find(self, notes: Sequence[ParsedNote]) -> list[tuple[FoundEntity, ...]]:
        """The entities of each note, ordered by position.

        They depend on the note's text only, so they can be cached.
        """
        found: list[list[tuple[FoundEntity, bool]]] = [[] for _ in notes]
        passages = [
            (passage.text, (number, passage))
            for number, note in enumerate(notes)
            for passage in passages_of(note)
        ]
        # The memory zone frees new words, which the vocabulary would otherwise keep forever.
        with self._lock, self._pipeline.memory_zone():
            docs = self._pipeline.pipe(passages, as_tuples=True, batch_size=BATCH)
            for doc, (number, passage) in docs:
                make_way()
                for span in doc.ents:
                    entity = passage.entity(span.start_char, span.end_char, span.label_)
                    if entity is not None:
                        found[number].append(entity)
        return [settled(note, entities) for note, entities in zip(notes, found, strict=True)]


def open_entity_pipeline() -> EntityPipeline | None:
    """Load the trained pipeline (about 3 s); None if the extra ``memvault[ner]`` is missing."""
    pipeline = load_trained_pipeline()
    return None if pipeline is None else EntityPipeline(pipeline)
