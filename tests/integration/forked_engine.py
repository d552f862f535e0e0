"""The engine as `memvault serve` runs it, without the time that a new process takes to import it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path

from memvault.config.paths import StateFolder
from tests.forks import forks_of


def engine_forks() -> BaseContext:
    return forks_of("tests.integration.engine_imports")


def start_engine(vault: Path, state: StateFolder, variables: Mapping[str, str]) -> BaseProcess:
    """An engine of the vault that logs to its state folder; it ends with the run at the latest."""
    state.create()
    given = {**variables, "MEMVAULT_STATE": str(state.root.parent)}
    engine = engine_forks().Process(target=_serve, args=(vault, state.log, given), daemon=True)
    engine.start()
    return engine


def _serve(vault: Path, log: Path, variables: Mapping[str, str]) -> None:
    from memvault.cli.app import run

    os.environ.update(variables)
    with log.open("ab") as file:
        for output in (sys.stdout, sys.stderr):
            os.dup2(file.fileno(), output.fileno())
    sys.exit(run(["--vault", str(vault), "serve"]))
