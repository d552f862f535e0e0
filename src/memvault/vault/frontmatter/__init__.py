"""Frontmatter: read even if it is malformed, and edited key by key, byte for byte."""
