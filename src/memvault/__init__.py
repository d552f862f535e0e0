"""memvault: a person's Obsidian vault as the memory of every AI they use."""

__version__ = "0.1.0"
