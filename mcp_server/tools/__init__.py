"""The tools, by subject. Each validates, makes one call and shapes the answer."""
