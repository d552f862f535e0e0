"""``python -m memvault``: the same as the command ``memvault``."""

from memvault.cli import main

main()
