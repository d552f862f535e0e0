"""Loaded by each Python process that has this folder in its path: one that would run an engine of
memvault has it forked."""

import os
import sys

address = os.environ.get("FORKED_ENGINES")
if address and {"memvault.cli", "serve"} <= set(sys.orig_argv):
    from tests.integration.fork_engine import main

    after_module = sys.orig_argv.index("memvault.cli") + 1
    os._exit(main(address, sys.orig_argv[after_module:], "memvault"))
