"""Loads pgmpy when it is first needed, without PyTorch: it takes seconds."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

NAMES = ("pgmpy.models", "pgmpy.factors.discrete", "pgmpy.inference")
_importing = threading.Lock()
_loading = threading.Event()
_loaded = threading.Event()


@dataclass(frozen=True, slots=True)
class Pgmpy:
    models: ModuleType
    factors: ModuleType
    inference: ModuleType


class _WithoutTorch:
    """Hides PyTorch from one thread's imports.

    pgmpy's dependencies import it if it is installed (10 s and 500 MB), but nothing here uses it.
    """

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> None:
        if name.partition(".")[0] == "torch" and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"{name} is not needed here", name=name)


def load_pgmpy() -> Pgmpy:
    """Import pgmpy, or wait for the import under way."""
    with _importing:
        _loading.set()
        hiding = _WithoutTorch()
        sys.meta_path.insert(0, hiding)
        try:
            with warnings.catch_warnings():
                # pgmpy warns about its own modules.
                warnings.simplefilter("ignore", FutureWarning)
                loaded = Pgmpy(*(import_module(name) for name in NAMES))
                _loaded.set()
                return loaded
        finally:
            sys.meta_path.remove(hiding)


def pgmpy_if_loaded() -> Pgmpy | None:
    """pgmpy, or None while it loads; the first call starts loading it."""
    if not _loading.is_set():
        _loading.set()
        # Not run by the worker, which may be busy for minutes while questions wait for pgmpy.
        threading.Thread(target=load_pgmpy, name="memvault-pgmpy", daemon=True).start()
    return load_pgmpy() if _loaded.is_set() else None
