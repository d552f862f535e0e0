"""``memvault mcp``, in a separate file because it must import little: see `memvault.cli`."""

from __future__ import annotations

import sys
import traceback

from memvault.cli.options import find_places, require_vault, take_global_options
from memvault.model.errors import InvalidParams, VaultMissing


def run_bridge_command(arguments: list[str]) -> int | None:
    """Run the bridge until its client leaves; returns the exit code.

    None if Typer must handle the arguments: help, a mistake or another command.
    """
    options = take_global_options(arguments)
    tools = _tools_in(options.rest)
    if tools is None:
        return None
    from mcp_server.engine.bridge import run_bridge
    from mcp_server.engine.launcher import Launcher, engine_command, is_engine_running

    try:
        places = find_places(options.vault, options.config)
        if not is_engine_running(places.state):  # one that runs answers without the vault, too
            require_vault(places)
        command = engine_command(places.vault, places.config)
        run_bridge(Launcher(places.state, command, tools=tools))
    except (InvalidParams, VaultMissing) as error:
        sys.stderr.write(f"memvault: {error.message}\n")
        if options.debug:
            traceback.print_exc()
        return 2 if isinstance(error, InvalidParams) else 1
    return 0


def _tools_in(rest: list[str]) -> str | None:
    """The tool set of ``mcp`` with these arguments; None if Typer must handle them."""
    match rest:
        case ["mcp"]:
            return "core"
        case ["mcp", "--tools=core" | "--tools=full" as option]:
            return option.partition("=")[2]
        case ["mcp", "--tools", "core" | "full" as value]:
            return value
    return None
