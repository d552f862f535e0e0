"""``manifest.md``: lists the concepts of a vault; a person's edits of it are applied."""
