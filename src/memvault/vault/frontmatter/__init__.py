"""Frontmatter: read even where it is malformed, and edited key by key, byte for byte."""
