"""``python -m memvault.cli``: how a bridge starts the engine of its own installation."""

from memvault.cli import main

main()
