"""Frontmatter: read even if malformed, and edited by key without changing other bytes."""
