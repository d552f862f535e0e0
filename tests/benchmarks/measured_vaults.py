"""The vault that a benchmark measures, with its state: made for the run, or kept for the next."""

from __future__ import annotations

import os
import shutil
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mcp_server.runtime.container import Container
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from tests.benchmarks.generated_vault import generate

SETTINGS = Settings(index=IndexSettings(ner="off"))


@dataclass(frozen=True)
class MadeVault:
    vault: Path
    state: StateFolder


def parser_for(notes: int, about: str | None) -> ArgumentParser:
    """With the options ``--notes``, of this default, and ``--keep``."""
    parser = ArgumentParser(description=about)
    parser.add_argument("--notes", type=int, default=notes)
    parser.add_argument("--keep", type=Path, help="a folder with vault and state, made if missing")
    return parser


@contextmanager
def made_vault(
    notes: int, keep: Path | None, write: Callable[[Path, int], object] = generate
) -> Iterator[MadeVault]:
    """A vault of so many notes, for processes that are started here too."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = keep or Path(scratch)
        vault = folder / f"vault-{notes}"
        os.environ["MEMVAULT_STATE"] = str(folder / "state")
        if not vault.is_dir():
            vault.mkdir(parents=True)
            write(vault, notes)
        yield MadeVault(vault, StateFolder.of_vault(vault))


@contextmanager
def opened(
    notes: int,
    keep: Path | None,
    write: Callable[[Path, int], object] = generate,
    settings: Settings = SETTINGS,
) -> Iterator[Container]:
    """The same with what an engine answers with, which has read nothing yet."""
    with made_vault(notes, keep, write) as made:
        container = Container(made.vault, settings, made.state)
        try:
            yield container
        finally:
            container.close()


def vault_of(folder: Path) -> Path:
    """The vault of a question set (`run_question_sets` tells its format), or that of Obsidian's help."""
    own = folder / "vault"
    return own if own.is_dir() else folder.parent / "obsidian-help"


@contextmanager
def opened_set(folder: Path, scratch: Path, settings: Settings = SETTINGS) -> Iterator[Container]:
    """What an engine answers with over a copy of a set's vault, indexed and with its words read."""
    vault = scratch / folder.name
    shutil.copytree(vault_of(folder), vault)
    container = Container(vault, settings, StateFolder.of_vault(vault, scratch / "state"))
    try:
        container.start(watch=False)
        container.live.searcher.hybrid.vocabulary.load()
        yield container
    finally:
        container.close()
