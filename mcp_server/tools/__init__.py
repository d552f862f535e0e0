"""The tools, by what they are for. Each validates, makes one call and shapes the answer."""
