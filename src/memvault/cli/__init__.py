"""The command line, ``memvault``.

AI clients start ``memvault mcp`` and ``memvault hook``, often several at a time, and wait for them.
So these commands run without Typer, Rich and the library that the other commands load.
"""

from __future__ import annotations

import gc
import sys

# New objects that trigger a garbage collection. With Python's default, 700, loading the modules
# triggers many: 0.2 s of an engine's start.
_YOUNG = 50_000


def main() -> None:
    """Run the command of this process, and exit with its code."""
    try:
        _run()
    except KeyboardInterrupt:  # while modules are loaded
        sys.exit(130)


def _run() -> None:
    gc.set_threshold(_YOUNG, 20, 100)
    arguments = sys.argv[1:]
    if arguments[:1] == ["hook"] and not {"-h", "--help"} & set(arguments):
        from memvault.cli.hook import run_hook_process

        run_hook_process(arguments)
    if "mcp" in arguments:
        from memvault.cli.bridge import run_bridge_command

        code = run_bridge_command(arguments)
        if code is not None:
            sys.exit(code)
    from memvault.cli.app import run

    sys.exit(run(arguments))
