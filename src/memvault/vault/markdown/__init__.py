"""One markdown-it parser for notes; what Obsidian adds to Markdown are its plugins."""

from memvault.vault.markdown.parser import parse_markdown

__all__ = ["parse_markdown"]
