"""Processes that are forked from one that has already imported what takes long to import."""

from __future__ import annotations

import multiprocessing
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext


def forks_of(module: str) -> ForkServerContext:
    """Starts processes from one that has imported the module.

    A run has one such process, and it imports nothing more once it runs: so one that another
    module's tests started is ended.
    """
    forkserver._forkserver._stop()  # type: ignore[attr-defined]
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([module])
    return context
