"""The command line, ``memvault``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command that the process was started with, and exit with its code.

    ``memvault mcp`` and ``memvault hook`` are started by AI clients, several at a time, and must
    answer at once: they go their own way past Typer, Rich and the library.
    """
    arguments = sys.argv[1:]
    if arguments[:1] == ["hook"]:
        from memvault.cli.hook import run_hook_command

        code = run_hook_command(arguments)
        if code is not None:
            sys.exit(code)
    if "mcp" in arguments:
        from memvault.cli.bridge import run_bridge_command

        code = run_bridge_command(arguments)
        if code is not None:
            sys.exit(code)
    from memvault.cli.app import run

    sys.exit(run(arguments))
