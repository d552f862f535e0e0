"""The trained pipeline as the parser of questions."""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from typing import Any

from memvault.text.spacy_loader import load_trained_pipeline

_CARRIER = "I talked to {} yesterday."  # a name alone is no sentence, and is not recognised


class QuestionParser:
    """Parses one question at a time (about 10 ms); methods may be called from any thread."""

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline
        self._lock = threading.Lock()
        self._not_recogniser = [name for name in pipeline.pipe_names if name != "ner"]

    def __call__(self, text: str) -> Any:
        """The text as a spaCy ``Doc`` with tags, lemmas and a dependency tree, without entities."""
        with self._lock:
            return self._pipeline(text, disable=["ner"])

    def people(self, names: Sequence[str]) -> list[bool]:
        """For each name whether the recogniser takes it, whole, for a person's."""
        texts = [_CARRIER.format(name) for name in names]
        with self._lock:
            docs = self._pipeline.pipe(texts, disable=self._not_recogniser)
            return [
                any(e.label_ == "PERSON" and e.text == name for e in doc.ents)
                for name, doc in zip(names, docs, strict=True)
            ]


@functools.cache
def open_question_parser() -> QuestionParser | None:
    """The parser, or None where the extra ``memvault[ner]`` is not installed. Takes 1 to 3 s the
    first time; a process needs one only, whatever it rebuilds or opens again."""
    pipeline = load_trained_pipeline(parser=True)
    return None if pipeline is None else QuestionParser(pipeline)
