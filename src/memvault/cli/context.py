"""What the commands share: where the vault is, the engine, the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from memvault.cli.options import Places, find_places, require_vault

# What only some commands need is imported when they run: `--help` should answer at once.
if TYPE_CHECKING:
    from mcp_server.engine.client import EngineClient
    from memvault.config.settings import Settings

console = Console(highlight=False)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def places_of(context: typer.Context, *, must_exist: bool = True) -> Places:
    """The vault and state folder that the command line, environment or configuration name."""
    options = context.find_root().params
    places = find_places(options["vault"], options["config"])
    if must_exist:
        require_vault(places)
    return places


def settings_of(places: Places) -> Settings:
    from memvault.config.settings import load_settings

    return load_settings(places.config_file)


@contextmanager
def engine_of(places: Places, *, wait: bool = True) -> Iterator[EngineClient]:
    """The vault's engine, started if need be, with a word to the person while that takes long.

    Unless told not to ``wait``, its indexes are open.
    """
    from mcp_server.engine.client import connect
    from mcp_server.engine.launcher import Launcher, engine_command

    launcher = Launcher(places.state, engine_command(places.vault, places.config))
    with console.status("Starting the engine …") as waiting:

        def tell(doing: str) -> None:
            waiting.update(f"memvault is {doing} …")

        with connect(launcher, places.state, tell if wait else None) as engine:
            waiting.stop()
            yield engine


def print_json(value: Any) -> None:
    """One JSON document on stdout, for programs: no colours, no wrapping."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))
