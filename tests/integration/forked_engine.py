"""Engines in processes of their own, without the time that a new process takes to import one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from memvault.config.paths import StateFolder
from tests.forks import ENGINE, forks_of
from tests.integration.fork_engine import answer_commands
from tests.waiting import PATIENCE_SECONDS, until


def engine_forks() -> BaseContext:
    return forks_of(ENGINE)


@pytest.fixture(scope="module")
def forked_engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Bridges, hooks and commands of the module's tests have their engines forked."""
    if not hasattr(os, "fork"):
        yield
        return
    address = tmp_path_factory.mktemp("engines") / "fork"
    process = engine_forks().Process(target=answer_commands, args=(str(address),), daemon=True)
    process.start()
    until(address.exists)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORKED_ENGINES", str(address))
        yield
    process.kill()


def start_engine(vault: Path, state: StateFolder, variables: Mapping[str, str]) -> BaseProcess:
    """The engine of the vault, as `memvault serve` runs it."""
    given = {**variables, "MEMVAULT_STATE": str(state.root.parent)}
    return start_logged(engine_forks(), state, _serve, vault, given)


def start_logged(
    forks: BaseContext, state: StateFolder, run: Callable[..., int | None], *arguments: Any
) -> BaseProcess:
    """A process that logs to the state folder; it ends with the tests at the latest."""
    state.create()
    process = forks.Process(target=_logged, args=(state.log, run, arguments), daemon=True)
    process.start()
    return process


def exit_code(process: BaseProcess) -> int | None:
    """As soon as it has ended; None if it does not end."""
    process.join(PATIENCE_SECONDS)
    return process.exitcode


def _logged(log: Path, run: Callable[..., int | None], arguments: tuple[Any, ...]) -> None:
    with log.open("ab") as file:
        for output in (sys.stdout, sys.stderr):
            os.dup2(file.fileno(), output.fileno())
    sys.exit(run(*arguments))


def _serve(vault: Path, variables: Mapping[str, str]) -> int:
    from memvault.cli.app import run

    os.environ.update(variables)
    return run(["--vault", str(vault), "serve"])
