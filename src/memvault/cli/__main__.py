"""``python -m memvault.cli``, with which a bridge starts the engine of its own installation."""

from memvault.cli import main

main()
