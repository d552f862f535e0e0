"""What a person can do to a memory: each function stages it, none changes a note."""
