"""Makes a context that fits a budget from recalled memories, in the notes' own sentences."""
