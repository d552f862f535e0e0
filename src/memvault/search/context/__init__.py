"""From recalled memories to a context that fits a budget, every sentence of it a note's own."""
