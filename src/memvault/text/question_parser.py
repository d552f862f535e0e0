"""The grammar of questions, by spaCy's trained pipeline."""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from typing import Any

from cachetools import LRUCache

from memvault.model.errors import ModelUnavailable
from memvault.text.spacy_pipeline import (
    TRAINED_PACKAGE,
    has_trained_pipeline,
    load_trained_pipeline,
)

_QUESTIONS = 64  # cached questions
_CARRIER = "I talked to {} yesterday."  # a name without a sentence is not recognised


class QuestionParser:
    """Parses one question at a time (about 10 ms). Thread-safe.

    The pipeline is loaded when it is first needed (0.5 s, and 0.8 s to import spaCy) and takes 55
    MB until it is released. The last questions are cached: several tools get the same one, and
    questions that differ only in their names are equal for the parser.
    """

    def __init__(self) -> None:
        self._pipeline: Any = None
        self._parsed: LRUCache[str, Any] = LRUCache(_QUESTIONS)
        self._lock = threading.Lock()

    @property
    def is_loaded(self) -> bool:
        return self._pipeline is not None

    def __call__(self, text: str) -> Any:
        """Parse the text to a spaCy ``Doc`` with tags, lemmas and dependencies."""
        with self._lock:
            if text not in self._parsed:
                self._parsed[text] = self._loaded()(text, disable=["ner"])
            return self._parsed[text]

    def people(self, names: Sequence[str]) -> list[bool]:
        """For each name, whether the recogniser takes the whole name for a person."""
        texts = [_CARRIER.format(name) for name in names]
        with self._lock:
            pipeline = self._loaded()
            unused = [name for name in pipeline.pipe_names if name != "ner"]
            docs = pipeline.pipe(texts, disable=unused)
            return [
                any(entity.label_ == "PERSON" and entity.text == name for entity in doc.ents)
                for name, doc in zip(names, docs, strict=True)
            ]

    def load(self) -> None:
        """Load the pipeline now, so that no question waits for it.

        Raises ModelUnavailable: it cannot be loaded; the log says why.
        """
        with self._lock:
            self._loaded()

    def release(self) -> bool:
        """Unload the pipeline; returns whether it was loaded."""
        with self._lock:
            was_loaded = self.is_loaded
            self._pipeline = None
            self._parsed.clear()
            return was_loaded

    def _loaded(self) -> Any:
        if self._pipeline is None:
            self._pipeline = load_trained_pipeline(parser=True)
        if self._pipeline is None:
            raise ModelUnavailable(f"{TRAINED_PACKAGE} cannot be loaded; see the log")
        return self._pipeline


@functools.cache
def question_parser() -> QuestionParser | None:
    """The parser of this process; None without the extra ``memvault[ner]``."""
    return QuestionParser() if has_trained_pipeline() else None
