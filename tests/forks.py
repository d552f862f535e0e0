"""Processes that are forked from one that has already imported what takes long to import."""

from __future__ import annotations

import multiprocessing
from multiprocessing.context import BaseContext

ENGINE = "tests.integration.engine_imports"  # imports nearly all that any module needs


def forks_of(module: str) -> BaseContext:
    """Starts processes from one that has imported the module or an engine; on Windows, new ones.

    A run has one process to fork from, and it imports nothing more once it runs: one that other
    tests started for another module is ended here.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    from multiprocessing.forkserver import _forkserver as server

    if server._preload_modules not in ([module], [ENGINE]):  # type: ignore[attr-defined]
        server._stop()  # type: ignore[attr-defined]
        server.set_forkserver_preload([module])
    return multiprocessing.get_context("forkserver")
