"""Links between notes: resolved as Obsidian does, and rewritten when their target moves."""
