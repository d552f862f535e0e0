"""``memvault mcp``, without what the other commands load."""

from __future__ import annotations

import sys
import traceback

from memvault.cli.arguments import take_global_options
from memvault.cli.places import find_places, require_vault
from memvault.model.errors import InvalidParams


def run_bridge_command(arguments: list[str]) -> int | None:
    """Run the bridge until its client leaves, and give the exit code; None when the arguments
    are for Typer to judge (help, mistakes, another command)."""
    options = take_global_options(arguments)
    if options.rest != ["mcp"]:
        return None
    from mcp_server.bridge import run_bridge
    from mcp_server.launch import Launcher, engine_command

    try:
        places = find_places(options.vault, options.config)
        require_vault(places)
        run_bridge(Launcher(places.state, engine_command(places.vault, places.config)))
    except InvalidParams as error:
        sys.stderr.write(f"memvault: {error.message}\n")
        if options.debug:
            traceback.print_exc()
        return 2
    return 0
