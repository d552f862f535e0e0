"""The Markdown parser for notes: markdown-it with plugins for Obsidian's additions."""

from memvault.vault.markdown.parser import parse_markdown

__all__ = ["parse_markdown"]
